// What every write has to know about a notification: whether it is unread, and whether an undo would make it unread (decision 0029).
import type { WriteContext } from './context.ts'

type Sql = WriteContext['sql']

/** A notification, with the columns of its inbox that say whether it is unread. */
export type ReadState = {
  user_number: number
  seq: number
  category: string | null
  read_at: string | null
  unread_version: number | null
  read_through: number
  read_version: number
  undo_version: number | null
}

export function isUnreadNow({ seq, read_at, unread_version, read_through, read_version }: ReadState): boolean {
  return read_at === null && (seq > read_through || (unread_version ?? -1) >= read_version)
}

/** Whether it is one of those that `inbox.marked_unread` counts. */
export function isMarkedUnread(found: ReadState): boolean {
  return isUnreadNow(found) && found.seq <= found.read_through
}

/** The time of the last read-all, if an undo would make this notification unread. */
export function readByLastReadAll(sql: Sql, found: ReadState): string | undefined {
  const { user_number, seq, read_at, unread_version, undo_version } = found
  if (undo_version === null || read_at !== null) return undefined
  const mark = sql.get`
    select version, through_seq, at, before_through, before_version from read_mark
    where user_number = ${user_number} and version = ${undo_version}`
  if (mark === undefined) return undefined
  const isCovered = seq <= Number(mark.through_seq) && (unread_version ?? 0) < Number(mark.version)
  const wasUnread = seq > Number(mark.before_through) || (unread_version ?? -1) >= Number(mark.before_version)
  return isCovered && wasUnread ? (mark.at as string) : undefined
}

/** From now on an undo leaves this notification, which `readByLastReadAll` found, as it is. */
export function leaveUndo(sql: Sql, { user_number, undo_version, category }: ReadState): void {
  sql.run`
    update read_mark set made_read = made_read - 1 where user_number = ${user_number} and version = ${undo_version}`
  countMadeRead(sql, { user: user_number, category, more: -1 })
}

/** `user` is the number of the user. */
type Count = { user: number; category: string | null; more: number }

export function countMadeRead(sql: Sql, { user, category, more }: Count): void {
  if (category === null) return
  sql.run`
    update inbox set made_read = made_read + ${more} where user_number = ${user} and category = ${category}`
}
