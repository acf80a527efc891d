// What leaves an inbox without a request, and what comes back: notifications that have expired, are too old or too many, and those whose snooze
// is over. Reads find candidates. Each write locks the inboxes of a few, decides again and changes them, so several nodes can do the same at
// the same time. start/upkeep.ts calls them.
import { iso } from '../basics/clock.ts'
import { firstIdAt } from '../basics/ids.ts'
import {
  all,
  givenUser,
  inNumbers,
  lockDeliveries,
  Part,
  type Read,
  rowsOf,
  send,
  sendOnPostgres,
  signal,
  userDigits,
  userIdOfDigits,
  userKey,
  type Write,
} from '../store/statements.ts'
import { countOf } from './inbox-state.ts'
import { type Found, foundColumns, isUncovered, isUnreadNow, lockInbox } from './notification-state.ts'
import { removeAll, wake } from './places.store.ts'
import { findHeld, isHeld } from './security-notices.store.ts'

/** How many notifications a write changes, so that others wait little for its locks. */
export const maxAtOnce = 50
/** Little enough for one turn of the event loop on SQLite. */
const maxRead = 1_000

/** A notification is known by its sequence number: one that is sent again has another. */
export type Candidate = { userId: string; seq: number }

function withUserIds<Row extends { user: string }>(rows: readonly Row[]): (Row & { userId: string })[] {
  return rows.map((row) => ({ ...row, userId: userIdOfDigits(row.user) }))
}

/**
 * The notifications that have expired at `agedAt`, or whose snooze is over. Snoozes of one moment end the oldest first, which keeps their
 * order in the list.
 */
export function* findDue(at: number, agedAt = at): Read<Candidate[]> {
  const rows = yield* all<{ user: string; seq: number }>`
    select * from (
      select ${userDigits} as "user", seq from notification where expires_at <= ${iso(agedAt)} order by expires_at limit ${maxRead}
    ) as expired
    union all
    select * from (
      select ${userDigits} as "user", seq from notification
      where away = 'snoozed' and away_at <= ${iso(at)} and (expires_at is null or expires_at > ${iso(agedAt)})
      order by away_at, user_id, seq limit ${maxRead}
    ) as snoozed`
  return withUserIds(rows)
}

/** Times in ISO 8601: what was last sent before them goes; '' keeps all. What is snoozed stays until it wakes. */
export type Retention = { readBefore: string; unreadBefore: string }
type OldQuery = { before: number; after: { id: string; userId: string }; retention: Retention }
export type Old = { old: Candidate[]; next?: OldQuery['after'] }

const latestOf = ({ readBefore, unreadBefore }: Retention) => (readBefore > unreadBefore ? readBefore : unreadBefore)

/**
 * The notifications that may be too old, among the next ones in the order of their creation. `next`: after which place the following ones
 * are; undefined at the end.
 */
export function* findOld({ before, after, retention }: OldQuery): Read<Old> {
  const user = userKey(after.userId)
  const rows = yield* all<{ user: string; seq: number; id: string; is_old: number }>`
    select n.id, ${userDigits} as "user", n.seq, case when coalesce(n.updated_at, n.created_at) < case
        when n.away = 'snoozed' then ''
        when n.read_at is null and n.seq > i.read_through and n.seq > i.category_through then ${retention.unreadBefore}
        else ${latestOf(retention)}
      end then 1 else 0 end as is_old
    from notification n join inbox i using (user_id)
    where n.id < ${firstIdAt(before)} and n.id >= ${after.id} and (n.id > ${after.id} or user_id > ${user})
    order by n.id, user_id limit ${maxRead}`
  const found = withUserIds(rows)
  const old = found.filter(({ is_old }) => is_old === 1)
  return { old, ...(found.length === maxRead && { next: found.at(-1) as OldQuery['after'] }) }
}

/** What a retention would remove: a row for each user and each month in which the notifications were last sent, the oldest first. */
type OldCount = { userId: string; lastSentIn: string; read: number; unread: number }

export function* countOld({ readBefore, unreadBefore }: Retention): Read<OldCount[]> {
  const rows = yield* all<Omit<OldCount, 'userId'> & { user: string }>`
    select ${userDigits} as "user", substr(sent_at, 1, 7) as "lastSentIn", sum(1 - is_unread) as read, sum(is_unread) as unread
    from (
      select n.user_id, coalesce(n.updated_at, n.created_at) as sent_at,
        case when n.read_at is null and (n.seq > i.read_through or coalesce(n.unread_version, -1) >= i.read_version) and ${isUncovered}
          then 1 else 0 end as is_unread
      from notification n join inbox i on i.user_id = n.user_id where n.away is null or n.away <> 'snoozed'
    ) as sent
    where sent_at < case when is_unread = 1 then ${unreadBefore} else ${readBefore} end
    group by user_id, substr(sent_at, 1, 7) order by 2, 1`
  return withUserIds(rows).map(({ user, ...count }) => count)
}

export type Size = { userId: string; size: number }
const size = new Part(countOf.all)

/** How many notifications the inboxes after that of this user have. */
export function* sizesAfter(userId: string): Read<Size[]> {
  const rows = yield* all<{ user: string; size: number }>`
    select ${userDigits} as "user", ${size} as size from inbox where user_id > ${userKey(userId)}
    order by user_id limit ${maxRead}`
  return withUserIds(rows)
}

/** Locks them in the order in which a delivery does. */
export function* lockInboxes(userIds: readonly string[]): Write<void> {
  if (userIds.length > 1) yield* lockDeliveries()
  // One by one, because Citus locks no rows of several nodes in one statement.
  for (const userId of userIds.toSorted())
    yield* sendOnPostgres`select 1 from inbox where user_id = ${userKey(userId)} for update`
}

type FoundWithTimes = Found & { userId: string; expires_at: string | null; sent_at: string }

/** Those that still have their sequence number, by user; the snoozed ones in the order in which they wake. Their inboxes are locked. */
function* findAgain(candidates: readonly Candidate[]): Write<Map<string, FoundWithTimes[]>> {
  const rows = yield* all<Omit<FoundWithTimes, 'user'>>`
    select given.value ->> 'userId' as "userId", ${foundColumns}, n.expires_at, coalesce(n.updated_at, n.created_at) as sent_at
    from ${rowsOf(candidates)} join notification n on n.user_id = ${givenUser} and n.seq = cast(given.value ->> 'seq' as bigint)
    join inbox i on i.user_id = n.user_id order by coalesce(n.away_at, ''), n.seq`
  const found = rows.map((row) => ({ ...row, user: userKey(row.userId) }))
  return Map.groupBy(found, ({ userId }) => userId)
}

/** `agedAt`: the time at which something has expired, if it is not `at`. */
type Due = { due: readonly Candidate[]; at: number; agedAt?: number; retention?: Retention | undefined }

/**
 * Of these notifications it removes those that have expired and wakes those whose snooze is over; or, with `retention`, it removes those that
 * are too old. Returns the users from whose inboxes it has removed some, to be announced.
 */
export function* removeOrWake({ due, at, agedAt = at, retention }: Due): Write<string[]> {
  yield* lockInboxes([...new Set(due.map(({ userId }) => userId))])
  const changed: string[] = []
  for (const [userId, found] of yield* findAgain(due)) {
    if (yield* removeOver(found, { at, agedAt, retention })) changed.push(userId)
    if (retention === undefined)
      for (const { id, away } of found) if (away === 'snoozed') yield* wake({ userId, id, at })
  }
  return changed
}

function* removeOver(
  found: readonly FoundWithTimes[],
  { at, agedAt = at, retention }: Omit<Due, 'due'>,
): Write<boolean> {
  const removed: FoundWithTimes[] = []
  for (const one of found) if (yield* isOver(one, agedAt, retention)) removed.push(one)
  yield* removeAll(removed, { at, reason: retention === undefined ? 'expired' : 'retention' })
  return removed.length > 0
}

/** Raises the change signals of removals by `removeOrWake`: after all of them, so that many of one inbox are one `resync`. */
export function* announce(userIds: readonly string[]): Write<void> {
  for (const userId of userIds) yield* signal({ about: 'inbox', userId })
}

function* isOver(found: FoundWithTimes, at: number, retention: Retention | undefined): Write<boolean> {
  const { expires_at, sent_at, away } = found
  if (retention === undefined) return expires_at !== null && expires_at <= iso(at)
  if (away === 'snoozed' || (yield* isHeld(found, at))) return false
  const isUnread = yield* isUnreadNow(found)
  return sent_at < (isUnread ? retention.unreadBefore : retention.readBefore)
}

/** SQLite would look for another index, and sort. */
const inOrder = new Part('not indexed', '')

/**
 * Removes the oldest that are read, then the oldest others, from an inbox with more than `max` notifications: `maxAtOnce` at once. Security
 * notices of the last 24 hours stay. Returns whether it still has more that it can remove.
 */
export function* shrink({ userId, max, at }: { userId: string; max: number; at: number }): Write<boolean> {
  const inbox = yield* lockInbox(userId)
  if (inbox === undefined) return false
  const { user, total, unread, archived, snoozed, readThrough, readVersion } = inbox
  const excess = total + archived + snoozed - max
  if (excess <= 0) return false
  const held = yield* findHeld(user, at)
  const stays = held.map(({ seq }) => seq)
  const count = Math.min(excess, maxAtOnce)
  const readOnes = Math.min(count, total + archived - unread)
  // Passes over the unread ones that are older than those.
  const read = yield* all<{ seq: number }>`
    select n.seq from notification n ${inOrder}
    where n.user_id = ${user} and (n.away = 'archived' or (n.away is null and (n.read_at is not null
      or (n.seq <= ${readThrough} and coalesce(n.unread_version, -1) < ${readVersion}) or not ${isUncovered})))
      and not n.seq ${inNumbers(stays)}
    order by n.seq limit ${readOnes}`
  const others = yield* all<{ seq: number }>`
    select seq from notification where user_id = ${user} and not seq ${inNumbers(stays)}
    order by seq limit ${read.length < count ? count : 0}`
  const oldest = [...new Set([...read, ...others].map(({ seq }) => seq))].slice(0, count)
  const found = yield* findAgain(oldest.map((seq) => ({ userId, seq })))
  yield* removeAll(found.get(userId) ?? [], { at, reason: 'retention' })
  const hasMore = excess > maxAtOnce && oldest.length === count
  if (!hasMore) yield* signal({ about: 'inbox', userId })
  return hasMore
}

/**
 * Removes the oldest rows of `removal` that were added before a time, and lets clients that are behind them begin again. Returns whether
 * there are more.
 */
export function* removeOldRemovals(before: number): Write<boolean> {
  const rows = yield* all<{ user: string; version: number }>`
    select ${userDigits} as "user", version from removal where at < ${iso(before)} order by at limit ${maxAtOnce}`
  const found = Map.groupBy(withUserIds(rows), ({ userId }) => userId)
  yield* lockInboxes([...found.keys()])
  for (const [userId, ones] of found) {
    const user = userKey(userId)
    const last = Math.max(...ones.map(({ version }) => version))
    yield* send`delete from removal where user_id = ${user} and version <= ${last}`
    yield* send`update inbox set reset_version = ${last} where user_id = ${user} and reset_version < ${last}`
  }
  return rows.length === maxAtOnce
}
