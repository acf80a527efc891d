// Creates and updates many users by external ids.
import { record } from '../audit/audit.store.ts'
import { chooseTimeZone, reachAddress } from '../inbox/reminders.store.ts'
import type { AuditEntry } from '../store/events.ts'
import { inList, lockAll, rowsOf, send, type Write } from '../store/statements.ts'
import {
  findErased,
  forgetErased,
  type Named,
  type Recognition,
} from './erasure/erased-ids.store.ts'
import {
  type AddedUser,
  changeLanguage,
  findUserByExternalId,
  lockUsers,
  type Namespace,
  namespaceOf,
  type Profile,
  profileAfter,
  type User,
  userColumns,
} from './users.store.ts'

export type PutUser = { user: AddedUser; created: boolean }

type Put = {
  newId: string
  externalId: string
  entry?: AuditEntry
  timeZone?: string | null
} & Profile

export type PutUsers = Namespace & {
  at: number
  users: readonly Put[]
  erased?: Recognition | undefined
}

/**
 * In one step, creates users with new external ids and updates the others. An entry has the id
 * `newId` and the event of a creation; a changed user gets `user-changed`. Locks in the order of
 * external ids, so that calls cannot deadlock. Forgets that an id was erased.
 */
export function* putUsers({ at, users, erased, ...of }: PutUsers): Write<PutUser[]> {
  const namespace = namespaceOf(of)
  const offered = new Map(users.map((user) => [user.externalId, user]))
  yield* lockUsers()
  const rows = yield* lockOrAdd(users, { namespace, at, erased })
  const puts = rows.map((row) => {
    const offer = offered.get(row.externalId ?? '') as Put
    const { entry, newId, externalId: _, timeZone, ...given } = offer
    const profile = profileAfter(row, given)
    const user = { ...row, ...profile }
    const fields = Object.keys(profile) as (keyof Profile)[]
    const hasChanged = fields.some((field) => user[field] !== row[field])
    return { before: row, user, hasChanged, created: row.id === newId, entry, timeZone }
  })
  const changed = puts.filter(({ hasChanged }) => hasChanged).map(({ user }) => user)
  if (changed.length > 0)
    yield* send`
      update "user" set display_name = given.value ->> 'displayName', locale = given.value ->> 'locale',
        email = given.value ->> 'email', email_verified_at = cast(given.value ->> 'emailVerifiedAt' as bigint)
      from ${rowsOf(changed)} where "user".id = given.value ->> 'id'`
  // Deliveries lock inboxes in this order.
  const inOrder = puts.toSorted((one, other) => (one.user.id < other.user.id ? -1 : 1))
  for (const { before, user, created, hasChanged, timeZone } of inOrder) {
    if (hasChanged) yield* changeInbox(created ? { ...before, locale: user.locale } : before, user)
    if (timeZone !== undefined) yield* chooseTimeZone(user.id, timeZone)
  }
  yield* record(
    puts.flatMap(({ entry, user, created, hasChanged }): AuditEntry[] => {
      if (entry === undefined || !(created || hasChanged)) return []
      return [created ? entry : { ...entry, event: 'user-changed', userId: user.id }]
    }),
  )
  const byId = new Map(puts.map(({ user, created }) => [user.externalId, { user, created }]))
  return users.map(({ externalId }) => byId.get(externalId) as PutUser)
}

function* changeInbox(before: User, { id, email, emailVerifiedAt, locale }: User): Write<void> {
  if (email !== before.email || emailVerifiedAt !== before.emailVerifiedAt)
    yield* reachAddress(id, emailVerifiedAt !== null)
  if (locale !== before.locale) yield* changeLanguage(id)
}

type Addition = { namespace: string; at: number; erased: Recognition | undefined }

/** A user erased before the lock is added again. */
function* lockOrAdd(
  users: readonly Put[],
  { namespace, at, erased }: Addition,
): Write<AddedUser[]> {
  const sorted = users.toSorted((one, other) => (one.externalId < other.externalId ? -1 : 1))
  const added = sorted.map(({ newId: id, externalId }) => ({ id, externalId, namespace }))
  for (;;) {
    yield* addUnlessErased(added, { at })
    const rows = yield* lockAll<User>`
      select ${userColumns} from "user" u
      where u.external_id ${inList(users.map(({ externalId }) => externalId))} and u.issuer = ${namespace} order by u.external_id`
    if (rows.length < users.length) continue
    const ids = new Set(users.map(({ newId }) => newId))
    // An issuer's id may have been erased.
    const isFor = ({ id }: User) => ids.has(id) || erased?.issuers?.length
    const named = rows.filter(isFor).map(({ externalId }) => ({ namespace, externalId }))
    const again = (yield* forgetErased(erased, named)).map(({ externalId }) => externalId)
    return rows.map((row) => (again.includes(row.externalId) ? { ...row, erased: true } : row))
  }
}

/** Adds no user whose external id is known or was erased, but the caller finds those. */
export function* addUnlessErased(
  users: readonly (Named & { id: string })[],
  { at, erased }: { at: number; erased?: Recognition | undefined },
): Write<void> {
  yield* send`
    insert into "user" (id, external_id, issuer, created_at)
    select given.value ->> 'id', given.value ->> 'externalId', given.value ->> 'namespace', ${at} from ${rowsOf(users)} where true
    on conflict (external_id, issuer) where external_id is not null do nothing`
  const again = yield* findErased(erased, users)
  if (again.length > 0)
    yield* send`delete from "user" where id ${inList(again.map(({ id }) => id))}`
}

type OfToken = Namespace & {
  id: string
  externalId: string
  at: number
  entry: AuditEntry
  erased?: Recognition | undefined
}

/** Undefined for an erased user: no token brings one back. */
export function* addTokenUser({ entry, ...user }: OfToken): Write<User | undefined> {
  yield* lockUsers()
  yield* addUnlessErased([{ ...user, namespace: namespaceOf(user) }], user)
  const found = yield* findUserByExternalId(user)
  if (found?.id === user.id) yield* record([entry])
  return found
}
