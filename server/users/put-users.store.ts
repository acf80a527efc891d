// Creates and updates many users by their external ids, in one step.
import type { AuditEntry } from '../store/events.ts'
import { inList, lockAll, lockUsers, record, rowsOf, send, type Write } from '../store/statements.ts'
import { findErased, forgetErased, type Named, type Recognition } from './erased-ids.store.ts'
import {
  type AddedUser,
  changeLanguage,
  findUserByExternalId,
  type Namespace,
  namespaceOf,
  type Profile,
  profileAfter,
  type User,
  userColumns,
} from './users.store.ts'

export type PutUser = { user: AddedUser; created: boolean }

type Put = { newId: string; externalId: string; entry?: AuditEntry } & Profile

export type PutUsers = Namespace & { at: number; users: readonly Put[]; erased?: Recognition | undefined }

/**
 * Creates each user whose external id is new for the application and issuer, and updates the others, all in one step. Returns them
 * in the same order, as they are afterwards. No external id is named twice. Of calls at the same time, one creates the user. An
 * audit entry has the id `newId` and the event of a creation; if a field of an existing user changed, it is recorded with that
 * user's id and the event `user-changed`. Locks the users in the order of their external ids, so that two calls cannot deadlock.
 * An erased id, also of an issuer of the application, is forgotten.
 */
export function* putUsers({ at, users, erased, ...of }: PutUsers): Write<PutUser[]> {
  const namespace = namespaceOf(of)
  const offered = new Map(users.map((user) => [user.externalId, user]))
  yield* lockUsers()
  const rows = yield* lockOrAdd(users, { namespace, at, erased })
  const changed: User[] = []
  const inOtherLanguage: string[] = []
  const entries: AuditEntry[] = []
  const put = new Map<string, PutUser>()
  for (const row of rows) {
    const { entry, newId, externalId, ...given } = offered.get(row.externalId ?? '') as Put
    const profile = profileAfter(row, given)
    const after = { ...row, ...profile }
    const created = row.id === newId
    const hasChanged = Object.entries(profile).some(([field, value]) => value !== row[field as keyof Profile])
    if (hasChanged) changed.push(after)
    if (!created && after.locale !== row.locale) inOtherLanguage.push(row.id)
    if (entry !== undefined && created) entries.push(entry)
    else if (entry !== undefined && hasChanged) entries.push({ ...entry, event: 'user-changed', userId: row.id })
    put.set(externalId, { user: after, created })
  }
  if (changed.length > 0)
    yield* send`
      update "user" set display_name = given.value ->> 'displayName', locale = given.value ->> 'locale',
        email = given.value ->> 'email', email_verified_at = cast(given.value ->> 'emailVerifiedAt' as bigint)
      from ${rowsOf(changed)} where "user".id = given.value ->> 'id'`
  // In the order in which deliveries lock inboxes.
  for (const userId of inOtherLanguage.sort()) yield* changeLanguage(userId)
  yield* record(entries)
  return users.map(({ externalId }) => put.get(externalId) as PutUser)
}

type Addition = { namespace: string; at: number; erased: Recognition | undefined }

/** A user can be erased before the lock, and is then added again. */
function* lockOrAdd(users: readonly Put[], { namespace, at, erased }: Addition): Write<AddedUser[]> {
  // In the order in which deliveries create users.
  const sorted = users.toSorted((one, other) => (one.externalId < other.externalId ? -1 : 1))
  const added = sorted.map(({ newId: id, externalId }) => ({ id, externalId, namespace }))
  for (;;) {
    yield* addUnlessErased(added, { at })
    const rows = yield* lockAll<User>`
      select ${userColumns} from "user" u
      where u.external_id ${inList(users.map(({ externalId }) => externalId))} and u.issuer = ${namespace} order by u.external_id`
    if (rows.length < users.length) continue
    const ids = new Set(users.map(({ newId }) => newId))
    // Beside an existing user, the one of an issuer may have been erased.
    const isFor = ({ id }: User) => ids.has(id) || erased?.issuers?.length
    const named = rows.filter(isFor).map(({ externalId }) => ({ namespace, externalId }))
    const again = (yield* forgetErased(erased, named)).map(({ externalId }) => externalId)
    return rows.map((row) => (again.includes(row.externalId) ? { ...row, erased: true } : row))
  }
}

/** Adds users in the given order, but none whose external id is known or was erased. The caller then finds those that are there. */
export function* addUnlessErased(
  users: readonly (Named & { id: string })[],
  { at, erased }: { at: number; erased?: Recognition | undefined },
): Write<void> {
  yield* send`
    insert into "user" (id, external_id, issuer, created_at)
    select given.value ->> 'id', given.value ->> 'externalId', given.value ->> 'namespace', ${at} from ${rowsOf(users)} where true
    on conflict (external_id, issuer) where external_id is not null do nothing`
  const again = yield* findErased(erased, users)
  // By id: a user whom another call has added meanwhile stays.
  if (again.length > 0) yield* send`delete from "user" where id ${inList(again.map(({ id }) => id))}`
}

type OfToken = Namespace & {
  id: string
  externalId: string
  at: number
  entry: AuditEntry
  erased?: Recognition | undefined
}

/** The user whom a token names, created with this id if the external id is new. Undefined if that was erased: no token brings a user back. */
export function* addTokenUser({ entry, ...user }: OfToken): Write<User | undefined> {
  yield* lockUsers()
  yield* addUnlessErased([{ ...user, namespace: namespaceOf(user) }], user)
  const found = yield* findUserByExternalId(user)
  if (found?.id === user.id) yield* record([entry])
  return found
}
