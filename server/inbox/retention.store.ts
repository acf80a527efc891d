// What leaves an inbox without a request, and what comes back: notifications that have expired, are too old or too many, and those whose snooze
// is over. Reads find candidates. Each write locks the inboxes of a few, decides again and changes them, so several nodes can do the same at
// the same time. start/upkeep.ts calls them.
import { iso } from '../basics/clock.ts'
import { firstIdAt } from '../basics/ids.ts'
import {
  all,
  get,
  inUsers,
  lockAll,
  lockDeliveries,
  Part,
  type Read,
  send,
  signal,
  type UserKey,
  userDigits,
  userIdOfDigits,
  userKey,
  type Write,
} from '../store/statements.ts'
import type { OneNotification } from './inbox-state.ts'
import { byId, type Found, foundColumns, isUncovered, isUnreadNow, startOf } from './notification-state.ts'
import { removeFound, wake } from './places.store.ts'

/** How many notifications a write changes: others wait for its locks for some 25 ms. */
export const maxAtOnce = 50
/** If more are removed from an inbox at once, its clients load the list again, and no row of `removal` names them. */
export const maxListed = 1_000
/** More than `maxListed`, and little enough for one turn of the event loop on SQLite. */
const maxRead = 2_000

type OfUser<Row> = Row & { user: string }

function withUserIds<Row extends object>(rows: readonly OfUser<Row>[]): (OfUser<Row> & { userId: string })[] {
  return rows.map((row) => ({ ...row, userId: userIdOfDigits(row.user) }))
}

/** The notifications that have expired, or whose snooze is over. */
export function* findDue(at: number): Read<OneNotification[]> {
  const rows = yield* all<OfUser<{ id: string }>>`
    select * from (
      select ${userDigits} as "user", id from notification where expires_at <= ${iso(at)} order by expires_at limit ${maxRead}
    ) as expired
    union all
    select * from (
      select ${userDigits} as "user", id from notification
      where away = 'snoozed' and away_at <= ${iso(at)} order by away_at limit ${maxRead}
    ) as snoozed`
  return withUserIds(rows)
}

/** Times in ISO 8601: what was last sent before them goes; '' keeps all. What is snoozed counts as unread. */
export type Retention = { readBefore: string; unreadBefore: string }
type Place = { start: string; userId: string }
type OldQuery = { before: number; after: Place; retention: Retention }
export type Old = { old: OneNotification[]; next?: Place }

const idStart = new Part('substr(n.id, 1, 13)', 'n.id')
const latestOf = ({ readBefore, unreadBefore }: Retention) => (readBefore > unreadBefore ? readBefore : unreadBefore)

/**
 * The notifications that are too old, among the next ones in the order of their creation. `next`: after which place the following ones are;
 * undefined at the end.
 */
export function* findOld({ before, after, retention }: OldQuery): Read<Old> {
  const rows = yield* all<OfUser<{ start: string; id: string; is_old: number }>>`
    select ${idStart} as start, ${userDigits} as "user", n.id, case when coalesce(n.updated_at, n.created_at) < case
        when n.away = 'snoozed' or (n.read_at is null and n.seq > i.read_through and n.seq > i.category_through)
          then ${retention.unreadBefore}
        else ${latestOf(retention)}
      end then 1 else 0 end as is_old
    from notification n ${byId} join inbox i using (user_id)
    where ${idStart} < ${firstIdAt(before)} and ${idStart} >= ${after.start}
      and (${idStart} > ${after.start} or user_id > ${userKey(after.userId)})
    order by ${idStart}, user_id limit ${maxRead}`
  const found = withUserIds(rows)
  const last = found.at(-1)
  const old = found.filter(({ is_old }) => is_old === 1)
  if (last === undefined || found.length < maxRead) return { old }
  // A user can get several within a millisecond, of which the limit may have cut some off.
  return { old, next: found.findLast(({ start, user }) => start !== last.start || user !== last.user) ?? last }
}

export type Size = { userId: string; size: number }
const size = new Part('total + archived + snoozed')

/** How many notifications these inboxes have. */
export function* sizesOf(userIds: readonly string[]): Read<Size[]> {
  return withUserIds(
    yield* all<OfUser<Size>>`select ${userDigits} as "user", ${size} as size from inbox where user_id ${inUsers(userIds)}`,
  )
}

/** The same of all inboxes, in pages. */
export function* sizesAfter(userId: string): Read<Size[]> {
  return withUserIds(
    yield* all<OfUser<Size>>`
      select ${userDigits} as "user", ${size} as size from inbox where user_id > ${userKey(userId)}
      order by user_id limit ${maxRead}`,
  )
}

/** Locks them in the order in which a delivery does. */
export function* lockInboxes(userIds: readonly string[]): Write<void> {
  if (userIds.length > 1) yield* lockDeliveries()
  yield* lockAll`select 1 from inbox where user_id ${inUsers(userIds)} order by user_id`
}

type Aged = Found & { expires_at: string | null; sent_at: string }

/** The inbox is locked. */
function* findAged({ userId, id }: OneNotification): Write<Aged | undefined> {
  const user = userKey(userId)
  const found = yield* get<Omit<Aged, 'user'>>`
    select ${foundColumns}, n.expires_at, coalesce(n.updated_at, n.created_at) as sent_at
    from notification n ${byId} join inbox i on i.user_id = n.user_id
    where substr(n.id, 1, 13) = ${startOf(id)} and n.id = ${id} and n.user_id = ${user}`
  return found && { ...found, user }
}

type Settlement = { due: readonly OneNotification[]; unlisted: readonly string[]; at: number; retention?: Retention | undefined }

/**
 * Of these notifications it removes those that have expired or are too old, and wakes those whose snooze is over. What it removes from the
 * inbox of a user in `unlisted` is not listed, and raises no change signal.
 */
export function* settle({ due, unlisted, at, retention }: Settlement): Write<void> {
  const inboxes = Map.groupBy(due, ({ userId }) => userId)
  yield* lockInboxes([...inboxes.keys()])
  for (const [userId, ofUser] of inboxes) {
    const isListed = !unlisted.includes(userId)
    let removed = 0
    for (const one of ofUser) {
      const found = yield* findAged(one)
      const reason = found && (yield* reasonToRemove(found, { at, retention }))
      if (found === undefined || reason === undefined) yield* wake({ ...one, at })
      else yield* removeOne(found, { at, reason, isListed })
      if (reason !== undefined) removed++
    }
    if (isListed && removed > 0) yield* signal({ about: 'inbox', userId })
  }
}

function* reasonToRemove(
  found: Aged,
  { at, retention }: Pick<Settlement, 'at' | 'retention'>,
): Write<Removing['reason'] | undefined> {
  if (found.expires_at !== null && found.expires_at <= iso(at)) return 'expired'
  if (retention === undefined || found.sent_at >= latestOf(retention)) return undefined
  const isUnread = found.away === 'snoozed' || (yield* isUnreadNow(found))
  return found.sent_at < (isUnread ? retention.unreadBefore : retention.readBefore) ? 'retention' : undefined
}

type Removing = { at: number; reason: 'expired' | 'retention'; isListed: boolean }

function* removeOne(found: Found, { isListed, ...removal }: Removing): Write<void> {
  yield* removeFound(found, removal)
  if (isListed) return
  yield* send`delete from removal where user_id = ${found.user} and version > ${found.version}`
  yield* send`update inbox set reset_version = version where user_id = ${found.user}`
}

/** Raises change signals for what was not listed. */
export function* announce(userIds: readonly string[]): Write<void> {
  for (const userId of userIds) yield* signal({ about: 'inbox', userId })
}

/** `isListed` is known after a first part was removed. */
export type Full = { userId: string; isListed?: boolean }
type Box = { size: number; read_through: number; read_version: number; category_through: number }

/**
 * Removes from inboxes with more than `max` notifications the oldest that are read, then the oldest others: `maxAtOnce` in all. Returns the
 * inboxes that still have more.
 */
export function* shrink({ full, max, at }: { full: readonly Full[]; max: number; at: number }): Write<Full[]> {
  yield* lockInboxes(full.map(({ userId }) => userId))
  const rest: Full[] = []
  let left = maxAtOnce
  for (const { userId, ...known } of full) {
    const user = userKey(userId)
    const box = yield* get<Box>`
      select ${size} as size, read_through, read_version, category_through from inbox where user_id = ${user}`
    const excess = (box?.size ?? 0) - max
    if (box === undefined || excess <= 0) continue
    const { isListed = excess <= maxListed } = known
    const count = Math.min(excess, left)
    const read = yield* oldestRead(user, box, count)
    const ids = [...read, ...(yield* oldestOthers(user, read, count - read.length))]
    for (const id of ids) {
      const found = yield* findAged({ userId, id })
      if (found !== undefined) yield* removeOne(found, { at, reason: 'retention', isListed })
    }
    left -= count
    if (count < excess) rest.push({ userId, isListed })
    if (isListed || count === excess) yield* signal({ about: 'inbox', userId })
  }
  return rest
}

const byRead = new Part('indexed by notification_read', '')
const byAway = new Part('indexed by notification_away', '')
const byUnread = new Part('indexed by notification_unread', '')

function* oldestRead(user: UserKey, box: Box, count: number): Write<string[]> {
  const { read_through, read_version, category_through } = box
  const rows = yield* all<{ id: string }>`
    select id from (
      select * from (
        select n.id, n.seq from notification n ${byRead}
        where n.user_id = ${user} and n.read_at is not null and n.away is null order by n.seq limit ${count}
      ) as alone
      union all
      select * from (
        select n.id, n.seq from notification n ${byAway}
        where n.user_id = ${user} and n.away = 'archived' order by n.seq limit ${count}
      ) as archived
      union all
      select * from (
        select n.id, n.seq from notification n ${byUnread}
        where n.user_id = ${user} and n.read_at is null and n.seq <= ${Math.max(read_through, category_through)}
          and ((n.seq <= ${read_through} and coalesce(n.unread_version, -1) < ${read_version}) or not ${isUncovered})
        order by n.seq limit ${count}
      ) as covered
    ) as found order by seq limit ${count}`
  return rows.map(({ id }) => id)
}

/** `read`: all that are read, if there are others to remove. */
function* oldestOthers(user: UserKey, read: readonly string[], count: number): Write<string[]> {
  if (count === 0) return []
  const rows = yield* all<{ id: string }>`
    select id from notification where user_id = ${user} order by seq limit ${read.length + count}`
  return rows.flatMap(({ id }) => (read.includes(id) ? [] : id)).slice(0, count)
}

/**
 * Removes the oldest rows of `removal` that were added before a time, some 200, and lets clients that are behind them begin again. Returns
 * whether there are more.
 */
export function* removeOldRemovals(before: number): Write<boolean> {
  const limit = 200
  const rows = yield* all<OfUser<{ version: number }>>`
    select ${userDigits} as "user", version from removal where at < ${iso(before)} order by at limit ${limit}`
  const found = withUserIds(rows)
  yield* lockInboxes([...new Set(found.map(({ userId }) => userId))])
  for (const { userId, version } of found) {
    const user = userKey(userId)
    yield* send`delete from removal where user_id = ${user} and version = ${version}`
    yield* send`update inbox set reset_version = ${version} where user_id = ${user} and reset_version < ${version}`
  }
  return found.length === limit
}
