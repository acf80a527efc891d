// Changes all notifications with a key. Each write reaches a few inboxes; a row of key_change lasts
// until the last one, so a kill does not end the change.
import { iso } from '../basics/clock.ts'
import { archiveFound, type Found, foundColumns, removeAll } from '../inbox/marks.store.ts'
import { type Content, contentOf, givenOf } from '../inbox/notification-json.ts'
import { lockInboxes, maxAtOnce } from '../inbox/retention.store.ts'
import { inUsers, userDigits, userIdOfDigits, userKey } from '../inbox/user-key.ts'
import { all, exists, get, lock, type Read, send, signal, type Write } from '../store/statements.ts'
import { replace } from './delivery.store.ts'

export type Keyed = { key: string; application: string }
/** What was sent after `at` (milliseconds) stays. */
export type KeyChange = Keyed & {
  id: string
  kind: 'update' | 'delete' | 'resolve'
  given: string | null
  producer: number | null
  at: number
}

export function* inboxesOf({
  key,
  application,
}: Keyed): Read<{ inboxes: number; sentAt: string | null }> {
  const found = yield* get<{ inboxes: number; sentAt: string | null }>`
    select count(*) as inboxes, max(coalesce(updated_at, created_at)) as "sentAt" from notification
    where key = ${key} and application = ${application}`
  return found ?? { inboxes: 0, sentAt: null }
}

export function* findKeyChange(): Read<Keyed | undefined> {
  return yield* get<Keyed>`select key, application from key_change order by id limit 1`
}

export function* isKeyChangeDone(id: string): Read<boolean> {
  return !(yield* exists`select 1 from key_change where id = ${id}`)
}

type Beginning = Omit<KeyChange, 'producer'> & { producerId: string; inboxes: number }

/** False if `continueKeyChange` has to make the change. */
export function* beginKeyChange({ producerId, inboxes, ...begun }: Beginning): Write<boolean> {
  const { id, application, key, kind, given, at } = begun
  const found = yield* get<{ number: number }>`select number from producer where id = ${producerId}`
  const producer = found?.number ?? null
  const hasEarlier =
    yield* exists`select 1 from key_change where key = ${key} and application = ${application}`
  const isLittle = inboxes <= maxAtOnce && !hasEarlier
  const after = isLittle ? yield* changeNext({ ...begun, producer }, '') : ''
  if (after === undefined) return true
  yield* send`
    insert into key_change (id, application, key, kind, given, producer, at, after_user)
    values (${id}, ${application}, ${key}, ${kind}, ${given}, ${producer}, ${at}, ${after})`
  return false
}

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

function* changeNext(change: KeyChange, after: string): Write<string | undefined> {
  const { key, application, at } = change
  const next = yield* all<{ user: string }>`
    select ${userDigits} as "user" from notification
    where key = ${key} and application = ${application} and user_id > ${userKey(after)} order by user_id limit ${maxAtOnce}`
  const userIds = next.map(({ user }) => userIdOfDigits(user))
  yield* lockInboxes(userIds)
  const users = inUsers(userIds)
  const rows = yield* all<Noted & { user: string }>`
    select ${userDigits} as "user", ${foundColumns}, n.title, n.body, n.url, n.data, n.look, n.expires_at, n.priority,
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

function* changeOne(
  userId: string,
  noted: Noted,
  { kind, given, producer, at }: KeyChange,
): Write<void> {
  const found = { ...noted, user: userKey(userId) }
  if (kind === 'delete') yield* removeAll([found], { at, reason: 'withdrawn' })
  if (kind === 'resolve') yield* archiveFound(found, at)
  if (kind !== 'update') return
  const { category = noted.category, ...members } = JSON.parse(given ?? '{}')
  const content = contentOf({ ...givenOf(noted), ...members })
  yield* replace({ content, category, createdAt: iso(at), producer }, { ...noted, userId })
}
