// SQL of both engines that says when a notification was read, and when it was archived. `user` is the text that stands for the user's key: if
// it is a parameter, PostgreSQL reads one partition.
import type { Status } from './inbox-state.ts'

/** Whether the row `m` of category_read_mark covers the notification `n`: it has not been marked as unread since. */
export function coversSql(user: string): string {
  return `m.user_id = ${user} and m.category = n.category
  and m.through_seq >= n.seq and m.version > coalesce(n.unread_version, -1)`
}

/** Columns of the first read-all that covers `seq`, such as its time, or where it ends. Null if none covers it. */
export function readAllOver(user: string, seq: string, columns: string): string {
  return `(
    select ${columns} from read_mark m
    where m.user_id = ${user} and m.through_seq >= ${seq} and m.through_seq > m.before_through order by m.through_seq limit 1
  )`
}

/** The same columns of the first read-all that covers a notification `n` after it was marked as unread. */
export function readAllAgain(user: string, columns: string): string {
  return `(
    select ${columns} from read_mark m
    where m.user_id = ${user} and m.version > n.unread_version and m.through_seq >= n.seq order by m.version limit 1
  )`
}

/** When the notification `n` was read, alone or by a read-all; null if it is unread. */
export function readAtSql(user: string): string {
  return `coalesce(n.read_at,
  case when n.unread_version is null then ${readAllOver(user, 'n.seq', 'm.at')} else ${readAllAgain(user, 'm.at')} end)`
}

/** The same in an inbox that had a read-all of a category: the first read-all of all or of its category. Right in every inbox. */
export function readAtByAnyMarkSql(user: string): string {
  return `coalesce(n.read_at, (
    select at from (
      select * from ${readAllOver(user, 'case when n.unread_version is null then n.seq end', 'm.version, m.at')} as first_mark
      union all
      select * from ${readAllAgain(user, 'm.version, m.at')} as later_mark
      union all
      select m.version, m.at from category_read_mark m where ${coversSql(user)}
    ) as mark order by version limit 1
  ))`
}

/** Where a notification is, as SQL: expressions of a time, or null. */
export type Place = { archivedAt: string; snoozedUntil: string }

/** In the list: neither archived nor snoozed. */
export const inTheList: Place = { archivedAt: 'null', snoozedUntil: 'null' }

/** When an archive-read archived the notification `n`: the first one that covers it and did not keep it. */
const archivedByMark = (user: string) => `(
    select m.at from archive_mark m
    where m.user_id = ${user} and m.through_seq >= n.seq and m.version > coalesce(n.kept_version, -1)
    order by m.through_seq, m.version limit 1
  )`

/** Where the notification `n` is. */
export function anyPlaceSql(user: string): Place {
  // One that the last archive-read kept is in the list: no look at the marks, which can be many.
  const isKept = `coalesce(n.kept_version = (select i.archive_version from inbox i where i.user_id = ${user}), false)`
  return {
    archivedAt: `case when n.away = 'archived' then n.away_at when n.away is null and not ${isKept} then ${archivedByMark(user)} end`,
    snoozedUntil: `case when n.away = 'snoozed' then n.away_at end`,
  }
}

/** Where those of a list are. */
export function placeIn({ status, hasAway }: { status: Status; hasAway: boolean }, user: string): Place {
  if (status === 'all' && hasAway) return anyPlaceSql(user)
  if (status === 'archived')
    return { ...inTheList, archivedAt: `case when n.away is null then ${archivedByMark(user)} else n.away_at end` }
  return status === 'snoozed' ? { ...inTheList, snoozedUntil: 'n.away_at' } : inTheList
}
