// Changes the notifications that have a key, in all inboxes: replaces members, removes them, or marks them as read and archives them. Each
// write reaches a few inboxes. A change of more is a row of key_change until it has reached the last one, so a kill does not end it.
import { iso } from '../basics/clock.ts'
import { type Content, contentOf, givenOf } from '../inbox/notification-json.ts'
import { type Found, foundColumns } from '../inbox/notification-state.ts'
import { archiveFound, removeAll } from '../inbox/places.store.ts'
import { lockInboxes, maxAtOnce } from '../inbox/retention.store.ts'
import {
  all,
  exists,
  get,
  inUsers,
  lock,
  type Read,
  send,
  signal,
  userDigits,
  userIdOfDigits,
  userKey,
  type Write,
} from '../store/statements.ts'
import { replace } from './delivery.store.ts'

export type Keyed = { key: string; application: string }
/** `given`: the members that an update gives, as JSON text. `producer`: its number. `at` in milliseconds: what was sent later stays as it is. */
export type KeyChange = Keyed & {
  id: string
  kind: 'update' | 'delete' | 'resolve'
  given: string | null
  producer: number | null
  at: number
}

/** How many inboxes have the key, and when its latest notification was sent, in ISO 8601. */
export function* inboxesOf({ key, application }: Keyed): Read<{ inboxes: number; sentAt: string | null }> {
  const found = yield* get<{ inboxes: number; sentAt: string | null }>`
    select count(*) as inboxes, max(coalesce(updated_at, created_at)) as "sentAt" from notification
    where key = ${key} and application = ${application}`
  return found ?? { inboxes: 0, sentAt: null }
}

/** The key of the oldest change that is not done. */
export function* findKeyChange(): Read<Keyed | undefined> {
  return yield* get<Keyed>`select key, application from key_change order by id limit 1`
}

export function* isKeyChangeDone(id: string): Read<boolean> {
  return !(yield* exists`select 1 from key_change where id = ${id}`)
}

type Beginning = Omit<KeyChange, 'producer'> & { producerId: string; inboxes: number }

/** Makes a change of few inboxes, unless an earlier one of the key is not done. False if `continueKeyChange` has to make it. */
export function* beginKeyChange({ producerId, inboxes, ...begun }: Beginning): Write<boolean> {
  const { id, application, key, kind, given, at } = begun
  const found = yield* get<{ number: number }>`select number from producer where id = ${producerId}`
  const producer = found?.number ?? null
  const hasEarlier = yield* exists`select 1 from key_change where key = ${key} and application = ${application}`
  const isLittle = inboxes <= maxAtOnce && !hasEarlier
  const after = isLittle ? yield* changeNext({ ...begun, producer }, '') : ''
  if (after === undefined) return true
  yield* send`
    insert into key_change (id, application, key, kind, given, producer, at, after_user)
    values (${id}, ${application}, ${key}, ${kind}, ${given}, ${producer}, ${at}, ${after})`
  return false
}

/** Makes the oldest change of a key in the next inboxes. Calls at the same time take turns. */
export function* continueKeyChange({ key, application }: Keyed): Write<void> {
  const change = yield* lock<KeyChange & { after_user: string }>`
    select id, application, key, kind, given, producer, at, after_user from key_change
    where key = ${key} and application = ${application} order by id limit 1`
  if (change === undefined) return
  const after = yield* changeNext(change, change.after_user)
  if (after === undefined) yield* send`delete from key_change where id = ${change.id}`
  else yield* send`update key_change set after_user = ${after} where id = ${change.id}`
}

type Noted = Omit<Found, 'user'> & Content & { sent_at: string }

/** Returns the last of the users that it reached; undefined if there are no more. */
function* changeNext(change: KeyChange, after: string): Write<string | undefined> {
  const { key, application, at } = change
  const next = yield* all<{ user: string }>`
    select ${userDigits} as "user" from notification
    where key = ${key} and application = ${application} and user_id > ${userKey(after)} order by user_id limit ${maxAtOnce}`
  const userIds = next.map(({ user }) => userIdOfDigits(user))
  yield* lockInboxes(userIds)
  const users = inUsers(userIds)
  const rows = yield* all<Noted & { user: string }>`
    select ${userDigits} as "user", ${foundColumns}, n.title, n.body, n.url, n.data, n.look, n.expires_at,
      coalesce(n.updated_at, n.created_at) as sent_at
    from notification n join inbox i using (user_id)
    where n.user_id ${users} and i.user_id ${users} and n.key = ${key} and n.application = ${application}`
  for (const { user, ...noted } of rows) {
    const userId = userIdOfDigits(user)
    if (noted.sent_at > iso(at)) continue
    yield* changeOne(userId, noted, change)
    yield* signal({ about: 'inbox', userId })
  }
  return userIds.length < maxAtOnce ? undefined : userIds.at(-1)
}

function* changeOne(userId: string, noted: Noted, { kind, given, producer, at }: KeyChange): Write<void> {
  const found = { ...noted, user: userKey(userId) }
  if (kind === 'delete') yield* removeAll([found], { at, reason: 'withdrawn' })
  if (kind === 'resolve') yield* archiveFound(found, at)
  if (kind !== 'update') return
  const { category = noted.category, ...members } = JSON.parse(given ?? '{}')
  const content = contentOf({ ...givenOf(noted), ...members })
  yield* replace({ content, category, createdAt: iso(at), producer }, { ...noted, userId })
}
