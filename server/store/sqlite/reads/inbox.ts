// Reads one user's inbox: its state, one notification, counts. Pages are in pages.ts, changes in changes.ts.
import { notificationJsonSql } from '../../notification-json.ts'
import { type Counts, emptyInbox, type InboxState } from '../../store.ts'
import type { Reader } from '../connection.ts'

/**
 * A column of the first read-all that covers the sequence number `seq`: when it was made, or up to where it goes. Null if
 * none covers it. `?1` is the user.
 */
export function readAllOver(seq: string, column: 'at' | 'through_seq'): string {
  return `(
    select m.${column} from read_mark m where m.user_id = ?1 and m.through_seq >= ${seq} order by m.through_seq limit 1
  )`
}

/** When the notification `n` was read, alone or by a read-all; null if it is unread. `?1` is the user. */
export const readAt = `coalesce(n.read_at, ${readAllOver('n.seq', 'at')})`

export const inboxByUser = `
  select version, first_seq, last_seq, total, unread, read_through from inbox where user_id = ?`

type InboxRow = [version: number, firstSeq: number, lastSeq: number, total: number, unread: number, readThrough: number]

export function inboxOf(reader: Reader, userId: string): InboxState {
  const row = reader.one<InboxRow>(inboxByUser, userId)
  if (row === undefined) return emptyInbox
  const [version, firstSeq, lastSeq, total, unread, readThrough] = row
  return { version, firstSeq, lastSeq, total, unread, readThrough }
}

export async function readInbox(reader: Reader, userId: string): Promise<InboxState> {
  return inboxOf(reader, userId)
}

export const notificationById = `
  select ${notificationJsonSql(readAt)} from notification n where n.user_id = ?1 and n.id = ?2`

export async function readNotification(
  reader: Reader,
  { userId, id }: { userId: string; id: string },
): Promise<string | undefined> {
  return reader.one<[string]>(notificationById, userId, id)?.[0]
}

export const categoryCounts = `
  select category, total, unread from inbox_category where user_id = ? and total > 0 order by category`

export async function readCounts(reader: Reader, userId: string): Promise<Counts> {
  const categories: Counts['categories'] = Object.create(null)
  for (const [category, total, unread] of reader.all<[string, number, number]>(categoryCounts, userId))
    categories[category] = { total, unread }
  return { inbox: inboxOf(reader, userId), categories }
}
