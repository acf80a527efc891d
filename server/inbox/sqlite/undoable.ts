// What every write has to know about a notification: whether it is unread, and whether an undo would make it unread (decision 0030).

import type { WriteContext } from '../../store/sqlite/context.ts'
import type { UserKey } from '../../store/sqlite/user-key.ts'

type Sql = WriteContext['sql']

/** A notification, with the columns of its inbox that say whether it is unread. */
export type ReadState = {
  user_id: UserKey
  seq: number
  category: string | null
  read_at: string | null
  unread_version: number | null
  read_through: number
  read_version: number
  undo_version: number | null
  category_through: number
}

export function isUnreadNow(sql: Sql, found: ReadState): boolean {
  const { seq, read_at, unread_version, read_through, read_version } = found
  const isAbove = seq > read_through || (unread_version ?? -1) >= read_version
  return read_at === null && isAbove && !isCoveredByCategory(sql, found)
}

/** Whether a read-all of its category covers it, other than the one at the version `except`. */
function isCoveredByCategory(sql: Sql, found: ReadState, except = -1): boolean {
  const { user_id, category, seq, unread_version, category_through } = found
  if (category === null || seq > category_through) return false
  const mark = sql.get`
    select 1 from category_read_mark
    where user_id = ${user_id} and category = ${category} and through_seq >= ${seq}
      and version > ${unread_version ?? -1} and version <> ${except}`
  return mark !== undefined
}

/** Whether it is one of those that `inbox.marked_unread` counts. */
export function isMarkedUnread(sql: Sql, found: ReadState): boolean {
  return isUnreadNow(sql, found) && found.seq <= found.read_through
}

/** The time of the last read-all, if an undo would make this notification unread. */
export function readByLastReadAll(sql: Sql, found: ReadState): string | undefined {
  const { user_id, seq, read_at, unread_version, undo_version } = found
  if (undo_version === null || read_at !== null) return undefined
  const mark = sql.get`
    select version, through_seq, at, before_through, before_version, categories from read_mark
    where user_id = ${user_id} and version = ${undo_version}`
  if (mark === undefined || isCoveredByCategory(sql, found, undo_version)) return undefined
  const isCovered =
    mark.categories === null
      ? seq <= Number(mark.through_seq) && (unread_version ?? 0) < undo_version
      : isCoveredByCategory(sql, found)
  const wasUnread = seq > Number(mark.before_through) || (unread_version ?? -1) >= Number(mark.before_version)
  return isCovered && wasUnread ? (mark.at as string) : undefined
}

/** From now on an undo leaves this notification, which `readByLastReadAll` found, as it is. */
export function leaveUndo(sql: Sql, { user_id, undo_version, category }: ReadState): void {
  sql.run`
    update read_mark set made_read = made_read - 1 where user_id = ${user_id} and version = ${undo_version}`
  countMadeRead(sql, { user: user_id, category, more: -1 })
}

/** The notification is about to move to another category, whose read-alls are others: its read state becomes its own. */
export function keepReadState(sql: Sql, found: ReadState): void {
  const { user_id: user, seq, category, read_at, unread_version } = found
  if (read_at !== null) return
  const marked = unread_version ?? -1
  if (isUnreadNow(sql, found)) {
    sql.run`
      update notification set unread_version = (
        select version + 1 from inbox where user_id = ${user}
      ) where user_id = ${user} and seq = ${seq}`
    return
  }
  if (readByLastReadAll(sql, found) !== undefined) leaveUndo(sql, found)
  sql.run`
    update notification set unread_version = null, read_at = (
      select at from (
        select version, at from read_mark
        where user_id = ${user} and through_seq >= ${seq} and version > ${marked}
        union all
        select version, at from category_read_mark
        where user_id = ${user} and category = ${category} and through_seq >= ${seq} and version > ${marked}
      ) order by version limit 1
    ) where user_id = ${user} and seq = ${seq}`
}

type Count = { user: UserKey; category: string | null; more: number }

export function countMadeRead(sql: Sql, { user, category, more }: Count): void {
  if (category === null) return
  sql.run`
    update inbox_category set made_read = made_read + ${more} where user_id = ${user} and category = ${category}`
}
