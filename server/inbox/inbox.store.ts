// What the store does with an inbox. These operations are the most frequent, so each engine runs them in a form of its own.
import type { ReadForms, WriteForms } from '../store/operations.ts'
import type {
  Changes,
  ChangesQuery,
  Counts,
  InboxState,
  MarkAllRead,
  MarkRead,
  OneNotification,
  Page,
  PageQuery,
  UndoReadAll,
} from './inbox-state.ts'
import * as changesOnPostgres from './postgres/changes.ts'
import * as onPostgres from './postgres/inbox.ts'
import * as changesOnSqlite from './sqlite/changes.ts'
import * as onSqlite from './sqlite/inbox.ts'
import * as marksOnSqlite from './sqlite/marks.ts'

export const readInbox: ReadForms<string, InboxState> = {
  name: 'readInbox',
  sqlite: onSqlite.readInbox,
  postgres: onPostgres.readInbox,
}

/**
 * Reads a page: newest first, in the order of sequence numbers. A page past the end is empty. A page by cursor costs the same
 * at any depth, however few notifications match; so does a numbered page of a list without a filter in which no sequence
 * number is missing. Another numbered page passes over the notifications above it. A list of unread notifications also
 * passes over those that a read-all of categories covers. Returns 'unchanged' if the inbox still has the version `unlessVersion`.
 */
export const readPage: ReadForms<PageQuery, Page | 'unchanged'> = {
  name: 'readPage',
  sqlite: onSqlite.readPage,
  postgres: onPostgres.readPage,
}

/** Reads one notification of this user as JSON text; another user's notification is absent. */
export const readNotification: ReadForms<OneNotification, string | undefined> = {
  name: 'readNotification',
  sqlite: onSqlite.readNotification,
  postgres: onPostgres.readNotification,
}

export const readCounts: ReadForms<string, Counts> = {
  name: 'readCounts',
  sqlite: onSqlite.readCounts,
  postgres: onPostgres.readCounts,
}

/**
 * Reads what changed after a version, in order, at most `limit` changes; `more` says that further changes follow. Each
 * notification that arrived is listed once, at the version of its arrival, or as replaced at the version at which it was
 * sent again last; one that changed since is listed again, at its last change. Returns 'reset' if
 * the inbox never reached the version, is more than `maxBehind` changes ahead of it, or had a read-all undone since.
 */
export const changesSince: ReadForms<ChangesQuery, Changes | 'reset'> = {
  name: 'changesSince',
  sqlite: changesOnSqlite.changesSince,
  postgres: changesOnPostgres.changesSince,
}

/**
 * Marks one notification of this user as read. Repeating the call changes nothing and keeps the first `readAt`. After a
 * read-all the call says that the notification is to stay read: an undo of the read-all leaves it read.
 */
export const markRead: WriteForms<MarkRead, 'done' | 'absent'> = {
  name: 'markRead',
  sqlite: marksOnSqlite.markRead,
  postgres: onPostgres.markRead,
}

/**
 * Marks as read every notification that has arrived, or only those up to and including the sequence number of the notification
 * `throughId`, or up to and including `throughSeq`. One that arrives during the call stays unread. The cost does not depend on
 * how many were unread; it updates one row per category. Only if it ends before notifications that an earlier call covered and
 * that were marked as unread since, it also updates one row for each of these, and they stay unread. With `categories` (distinct,
 * at least one) it covers only what has one of these now, and adds one row for each of them. A notification that moves to another
 * category keeps its read state; if a read-all of a category ever reached as far as its sequence number, it also leaves the undo.
 */
export const markAllRead: WriteForms<MarkAllRead, 'done' | 'absent'> = {
  name: 'markAllRead',
  sqlite: marksOnSqlite.markAllRead,
  postgres: onPostgres.markAllRead,
}

/**
 * Marks one notification of this user as unread, until it is marked as read or the next read-all covers it. Repeating the
 * call changes nothing.
 */
export const markUnread: WriteForms<OneNotification, 'done' | 'absent'> = {
  name: 'markUnread',
  sqlite: marksOnSqlite.markUnread,
  postgres: onPostgres.markUnread,
}

/**
 * Takes back the last read-all that changed something, until ten minutes after it: what it made read is unread again, except
 * what was marked as read or unread or sent again since. What arrived since stays as it is. Repeating the call changes nothing.
 * Returns 'nothing' if there was no read-all, or the last one is too old. The cost does not depend on how many were made read.
 */
export const undoReadAll: WriteForms<UndoReadAll, 'done' | 'nothing'> = {
  name: 'undoReadAll',
  sqlite: marksOnSqlite.undoReadAll,
  postgres: onPostgres.undoReadAll,
}
