// Finds the inbox of a user, and the key by which everything in the inbox is found.
import type { Reader } from '../../store/sqlite/reader.ts'
import { userBytes } from '../../store/statements.ts'
import { emptyInbox, type InboxState, toInbox } from '../inbox-state.ts'

export const inboxByUser = `
  select version, first_seq, last_seq, total, unread, read_through, read_version, marked_unread, reset_version,
    category_through
  from inbox where user_id = ?`

export type FoundInbox = { user: Uint8Array; inbox: InboxState }

export function inboxOf(reader: Reader, userId: string): FoundInbox {
  const user = userBytes(userId)
  const row = reader.one(inboxByUser, user)
  return { user, inbox: row === undefined ? emptyInbox : toInbox(row) }
}
