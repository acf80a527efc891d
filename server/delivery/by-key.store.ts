// Changes all notifications with a key, 500 inboxes in a write. A row of key_change survives kills.
import { iso } from '../basics/clock.ts'
import {
  archiveAll,
  type Found,
  foundColumns,
  recountAll,
  removeAll,
} from '../inbox/marks.store.ts'
import { type Content, contentOf, givenOf } from '../inbox/notification-json.ts'
import { announce, lockInboxes } from '../inbox/retention.store.ts'
import { givenUser, inUsers, userDigits, userIdOfDigits, userKey } from '../inbox/user-key.ts'
import { all, exists, get, lock, type Read, rowsOf, send, type Write } from '../store/statements.ts'

const maxInboxes = 500

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

/** False if `continueKeyChange` has to go on. */
export function* beginKeyChange({ producerId, inboxes, ...begun }: Beginning): Write<boolean> {
  const { id, application, key, kind, given, at } = begun
  const found = yield* get<{ number: number }>`select number from producer where id = ${producerId}`
  const producer = found?.number ?? null
  const hasEarlier =
    yield* exists`select 1 from key_change where key = ${key} and application = ${application}`
  const isLittle = inboxes <= maxInboxes && !hasEarlier
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

type Noted = Found & Content & { sent_at: string }

/** Returns the last inbox, if more may follow. */
function* changeNext(change: KeyChange, after: string): Write<string | undefined> {
  const { key, application, kind, at } = change
  const next = yield* all<{ user: string }>`
    select ${userDigits} as "user" from notification
    where key = ${key} and application = ${application} and user_id > ${userKey(after)} order by user_id limit ${maxInboxes}`
  const userIds = next.map(({ user }) => userIdOfDigits(user))
  yield* lockInboxes(userIds)
  const users = inUsers(userIds)
  const rows = yield* all<Omit<Noted, 'user'> & { user: string }>`
    select ${userDigits} as "user", ${foundColumns}, n.title, n.body, n.url, n.data, n.look, n.expires_at, n.priority,
      coalesce(n.updated_at, n.created_at) as sent_at
    from notification n join inbox i using (user_id)
    where n.user_id ${users} and i.user_id ${users} and n.key = ${key} and n.application = ${application}`
  const noted = rows
    .filter(({ sent_at }) => sent_at <= iso(at))
    .map((row) => ({ ...row, user: userKey(userIdOfDigits(row.user)) }))
  if (kind === 'delete') yield* removeAll(noted, { at, reason: 'withdrawn' })
  if (kind === 'resolve') yield* archiveAll(noted, at)
  if (kind === 'update') yield* replaceAll(noted, change)
  yield* announce(noted.map(({ user }) => user.id))
  return userIds.length < maxInboxes ? undefined : userIds.at(-1)
}

/** Fields that the change does not give stay. */
function* replaceAll(noted: readonly Noted[], { given, producer, at }: KeyChange): Write<void> {
  const { category: to, ...members } = JSON.parse(given ?? '{}')
  const changes = noted.map((found) => ({
    found,
    after: { ...found, category: to === undefined ? found.category : to },
  }))
  const rows = changes.map(({ found, after: { category } }) => ({
    ...contentOf({ ...givenOf(found), ...members }),
    category,
    userId: found.user.id,
    seq: found.seq,
    version: found.version + 1,
  }))
  if (rows.length === 0) return
  yield* send`
    update notification set title = given.value ->> 'title', body = given.value ->> 'body', url = given.value ->> 'url',
      category = given.value ->> 'category', data = given.value ->> 'data', look = given.value ->> 'look',
      expires_at = given.value ->> 'expires_at', priority = given.value ->> 'priority', producer = ${producer}, updated_at = ${iso(at)},
      changed_version = cast(given.value ->> 'version' as bigint), replaced_version = cast(given.value ->> 'version' as bigint)
    from ${rowsOf(rows)} where user_id = ${givenUser} and seq = cast(given.value ->> 'seq' as bigint)`
  yield* recountAll(changes)
}
