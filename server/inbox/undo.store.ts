// Takes back the last read-all or archive-read.
import { iso } from '../basics/clock.ts'
import { get, inList, send, signal, type UserKey, type Write } from '../store/statements.ts'
import { type Undo, undoableFor } from './inbox-state.ts'
import { isUncovered, keptRead, keptUnread, lockInbox } from './notification-state.ts'

/** The `undo_version` of an inbox whose last read-all or archive-read was undone. */
const undone = 0

/**
 * Takes back the last read-all or archive-read that changed something, until ten minutes after it: what it made read is unread again, or
 * what it archived is in the list again, except what was marked, moved or sent again alone since. What arrived since stays as it is.
 * Repeating the call changes nothing. Returns 'nothing' if there is none, or the last one is too old. The cost does not depend on how many
 * notifications come back.
 */
export function* undo({ userId, at }: Undo): Write<'done' | 'nothing'> {
  const inbox = yield* lockInbox(userId)
  if (inbox?.undoVersion === undone) return 'done'
  if (inbox === undefined || inbox.undoVersion === null) return 'nothing'
  const last = { user: inbox.user, version: inbox.undoVersion, since: iso(at - undoableFor) }
  if (!((yield* undoReadAll(last)) || (yield* undoArchiveRead(last)))) return 'nothing'
  yield* signal({ about: 'inbox', userId })
  return 'done'
}

type Last = { user: UserKey; version: number; since: string }

/** False if the last one was not a read-all, or is too old. */
function* undoReadAll({ user, version, since }: Last): Write<boolean> {
  const mark = yield* get<{ read_through: number; read_version: number; made_read: number; categories: string | null }>`
    delete from read_mark where user_id = ${user} and version = ${version} and at >= ${since}
    returning before_through as read_through, before_version as read_version, made_read, categories`
  if (mark === undefined) return false
  if (mark.categories !== null)
    yield* send`
      delete from category_read_mark
      where user_id = ${user} and version = ${version} and category ${inList(JSON.parse(mark.categories))}`
  const marked = yield* get<{ count: number }>`
    select count(*) as count from notification n
    where n.user_id = ${user} and n.unread_version >= ${mark.read_version} and n.seq + 0 <= ${mark.read_through}
      and ${isUncovered}`
  yield* send`
    update inbox set version = version + 1, read_through = ${mark.read_through}, read_version = ${mark.read_version},
      unread = unread + ${mark.made_read}, marked_unread = ${marked?.count ?? 0},
      undo_version = ${undone}, reset_version = version + 1
    where user_id = ${user}`
  yield* send`
    update inbox_category set unread = unread + made, made = 0 where user_id = ${user} and made > 0`
  return true
}

function* undoArchiveRead({ user, version, since }: Last): Write<boolean> {
  const mark = yield* get<{ before_through: number; before_version: number; made: number; made_unseen: number }>`
    delete from archive_mark where user_id = ${user} and version = ${version} and at >= ${since}
    returning before_through, before_version, made, made_unseen`
  if (mark === undefined) return false
  // What stayed, or was put back since, stays.
  const kept = mark.before_version || null
  yield* send`
    update notification ${keptUnread} set kept_version = ${kept}
    where user_id = ${user} and kept_version = ${version} and read_at is null`
  yield* send`
    update notification ${keptRead} set kept_version = ${kept}
    where user_id = ${user} and kept_version = ${version} and read_at is not null`
  yield* send`
    update inbox set version = version + 1, archive_through = ${mark.before_through}, archive_version = ${mark.before_version},
      archived = archived - ${mark.made}, total = total + ${mark.made}, unseen = unseen + ${mark.made_unseen},
      undo_version = ${undone}, reset_version = version + 1
    where user_id = ${user}`
  yield* send`
    update inbox_category set total = total + made, archived = archived - made, made = 0 where user_id = ${user} and made > 0`
  return true
}
