// Removes what has expired, is too old or too many, and ends snoozes. Each write locks a few
// inboxes and decides again, so several nodes can work at once.
import { iso } from '../basics/clock.ts'
import { firstIdAt } from '../basics/ids.ts'
import {
  all,
  Part,
  type Read,
  rowsOf,
  send,
  sendOnPostgres,
  signal,
  type Write,
} from '../store/statements.ts'
import { countOf } from './inbox-state.ts'
import { byState, type Found, foundColumns, lockInbox, removeAll, wake } from './marks.store.ts'
import { heldSince, isHeld, ofService } from './security-notices.store.ts'
import { givenUser, lockDeliveries, userDigits, userIdOfDigits, userKey } from './user-key.ts'

export const maxAtOnce = 50
/** On SQLite, one turn of the event loop can read so much. */
const maxRead = 1_000
/** Each may be a page of a cold disk: 0.1 ms on SQLite. */
const maxLookedAt = 100

export type Candidate = { userId: string; seq: number }

function withUserIds<Row extends { user: string }>(
  rows: readonly Row[],
): (Row & { userId: string })[] {
  return rows.map((row) => ({ ...row, userId: userIdOfDigits(row.user) }))
}

/** The oldest snooze of a moment ends first, to keep their order. */
export function* findDue(at: number, agedAt = at): Read<Candidate[]> {
  const rows = yield* all<{ user: string; seq: number }>`
    select * from (
      select ${userDigits} as "user", seq from notification where expires_at <= ${iso(agedAt)} order by expires_at limit ${maxRead}
    ) as expired
    union all
    select * from (
      select ${userDigits} as "user", seq from notification
      where snoozed_until <= ${iso(at)} and (expires_at is null or expires_at > ${iso(agedAt)})
      order by snoozed_until, user_id, seq limit ${maxRead}
    ) as snoozed`
  return withUserIds(rows)
}

/** ISO 8601; '' keeps all. Snoozed ones stay until they wake. */
export type Retention = { readBefore: string; unreadBefore: string }
type OldQuery = { before: number; after: { id: string; userId: string }; retention: Retention }
export type Old = { old: Candidate[]; next?: OldQuery['after'] }

export function* findOld({ before, after, retention }: OldQuery): Read<Old> {
  const user = userKey(after.userId)
  const rows = yield* all<{ user: string; seq: number; id: string; is_old: number }>`
    select n.id, ${userDigits} as "user", n.seq, case when coalesce(n.updated_at, n.created_at) < case
        when n.state = 'snoozed' then ''
        when n.state = 'unread' then ${retention.unreadBefore}
        else ${retention.readBefore}
      end then 1 else 0 end as is_old
    from notification n
    where n.id < ${firstIdAt(before)} and n.id >= ${after.id} and (n.id > ${after.id} or user_id > ${user})
    order by n.id, user_id limit ${maxLookedAt}`
  const found = withUserIds(rows)
  const old = found.filter(({ is_old }) => is_old === 1)
  return { old, ...(found.length === maxLookedAt && { next: found.at(-1) as OldQuery['after'] }) }
}

type OldCount = { userId: string; lastSentIn: string; read: number; unread: number }

export function* countOld({ readBefore, unreadBefore }: Retention): Read<OldCount[]> {
  const rows = yield* all<Omit<OldCount, 'userId'> & { user: string }>`
    select ${userDigits} as "user", substr(sent_at, 1, 7) as "lastSentIn", sum(1 - is_unread) as read, sum(is_unread) as unread
    from (
      select n.user_id, coalesce(n.updated_at, n.created_at) as sent_at,
        case when n.state = 'unread' then 1 else 0 end as is_unread
      from notification n where n.state <> 'snoozed'
    ) as sent
    where sent_at < case when is_unread = 1 then ${unreadBefore} else ${readBefore} end
    group by user_id, substr(sent_at, 1, 7) order by 2, 1`
  return withUserIds(rows).map(({ user, ...count }) => count)
}

export type Size = { userId: string; size: number }
const size = new Part(countOf.all)

export function* sizesAfter(userId: string): Read<Size[]> {
  const rows = yield* all<{ user: string; size: number }>`
    select ${userDigits} as "user", ${size} as size from inbox where user_id > ${userKey(userId)}
    order by user_id limit ${maxRead}`
  return withUserIds(rows)
}

export function* lockInboxes(userIds: readonly string[]): Write<void> {
  if (userIds.length > 1) yield* lockDeliveries()
  // Citus cannot lock rows of several nodes in one statement.
  for (const userId of userIds.toSorted())
    yield* sendOnPostgres`select 1 from inbox where user_id = ${userKey(userId)} for update`
}

type FoundWithTimes = Found & { userId: string; expires_at: string | null; sent_at: string }

function* findAgain(candidates: readonly Candidate[]): Write<Map<string, FoundWithTimes[]>> {
  const rows = yield* all<Omit<FoundWithTimes, 'user'>>`
    select given.value ->> 'userId' as "userId", ${foundColumns}, n.expires_at, coalesce(n.updated_at, n.created_at) as sent_at
    from ${rowsOf(candidates)} join notification n on n.user_id = ${givenUser} and n.seq = cast(given.value ->> 'seq' as bigint)
    join inbox i on i.user_id = n.user_id order by coalesce(n.snoozed_until, ''), n.seq`
  const found = rows.map((row) => ({ ...row, user: userKey(row.userId) }))
  return Map.groupBy(found, ({ userId }) => userId)
}

type Due = {
  due: readonly Candidate[]
  at: number
  agedAt?: number
  retention?: Retention | undefined
}

/** Returns the users to announce: many removals of one inbox are one `resync`. */
export function* removeOrWake({ due, at, agedAt = at, retention }: Due): Write<string[]> {
  yield* lockInboxes([...new Set(due.map(({ userId }) => userId))])
  const changed: string[] = []
  for (const [userId, found] of yield* findAgain(due)) {
    if (yield* removeOver(found, { at, agedAt, retention })) changed.push(userId)
    if (retention === undefined)
      for (const { id, state } of found) if (state === 'snoozed') yield* wake({ userId, id, at })
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

export function* announce(userIds: readonly string[]): Write<void> {
  for (const userId of userIds) yield* signal({ about: 'inbox', userId })
}

function* isOver(
  found: FoundWithTimes,
  at: number,
  retention: Retention | undefined,
): Write<boolean> {
  const { expires_at, sent_at, state } = found
  if (retention === undefined) return expires_at !== null && expires_at <= iso(at)
  if (state === 'snoozed' || (yield* isHeld(found, at))) return false
  return sent_at < (state === 'unread' ? retention.unreadBefore : retention.readBefore)
}

/**
 * Removes the oldest read ones first, a few at a time. Security notices of the last 24 hours stay.
 * Returns whether more are left.
 */
export function* shrink({
  userId,
  max,
  at,
}: {
  userId: string
  max: number
  at: number
}): Write<boolean> {
  const inbox = yield* lockInbox(userId)
  if (inbox === undefined) return false
  const { user, total, archived, snoozed } = inbox
  const excess = total + archived + snoozed - max
  if (excess <= 0) return false
  const count = Math.min(excess, maxAtOnce)
  const stays = heldSince(at)
  const read = yield* all<{ seq: number }>`
    select seq from (
      select * from (
        select seq from notification ${byState}
        where user_id = ${user} and state = 'read' and not (${ofService} and created_at > ${stays}) order by seq limit ${count}
      ) as of_list
      union all
      select * from (
        select seq from notification ${byState}
        where user_id = ${user} and state = 'archived' and not (${ofService} and created_at > ${stays}) order by seq limit ${count}
      ) as of_archive
    ) as one order by seq limit ${count}`
  const others = yield* all<{ seq: number }>`
    select seq from notification where user_id = ${user} and not (${ofService} and created_at > ${stays})
    order by seq limit ${read.length < count ? count : 0}`
  const oldest = [...new Set([...read, ...others].map(({ seq }) => seq))].slice(0, count)
  const found = yield* findAgain(oldest.map((seq) => ({ userId, seq })))
  yield* removeAll(found.get(userId) ?? [], { at, reason: 'retention' })
  const hasMore = excess > maxAtOnce && oldest.length === count
  if (!hasMore) yield* signal({ about: 'inbox', userId })
  return hasMore
}

/** Clients behind the removed rows begin again. */
export function* removeOldEvents(before: number): Write<boolean> {
  const rows = yield* all<{ user: string; version: number }>`
    select * from (
      select ${userDigits} as "user", version from removal where at < ${iso(before)} order by at limit ${maxAtOnce}
    ) as removed
    union all
    select * from (
      select ${userDigits} as "user", version from bulk where at < ${iso(before)} order by at limit ${maxAtOnce}
    ) as acts`
  const found = Map.groupBy(withUserIds(rows), ({ userId }) => userId)
  yield* lockInboxes([...found.keys()])
  for (const [userId, ones] of found) {
    const user = userKey(userId)
    const last = Math.max(...ones.map(({ version }) => version))
    yield* send`delete from removal where user_id = ${user} and version <= ${last}`
    yield* send`delete from bulk where user_id = ${user} and version <= ${last}`
    yield* send`update inbox set reset_version = ${last} where user_id = ${user} and reset_version < ${last}`
  }
  return rows.length >= maxAtOnce
}
