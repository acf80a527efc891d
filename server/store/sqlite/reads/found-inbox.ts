// Finds the inbox of a user, and the number of the user, by which everything in the inbox is found.
import { toInbox } from '../../operations.ts'
import { emptyInbox, type InboxState } from '../../store.ts'
import type { Reader } from '../connection.ts'

export const inboxByUser = `
  select user_number, version, first_seq, last_seq, total, unread, read_through, read_version, marked_unread, reset_version,
    category_through
  from inbox where user_number = (select number from user where id = ?) and category = ''`

/** An inbox, and the number of its user, by which its rows are found. */
export type FoundInbox = { user: number; inbox: InboxState }

/** No user has this number: nothing is found in the inbox of a user who never received a notification. */
export const noUser = 0

export function inboxOf(reader: Reader, userId: string): FoundInbox {
  const row = reader.one<number[]>(inboxByUser, userId)
  return row === undefined ? { user: noUser, inbox: emptyInbox } : { user: row[0] as number, inbox: toInbox(row, 1) }
}
