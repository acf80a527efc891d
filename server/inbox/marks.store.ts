// Marks one notification. PostgreSQL runs the usual marks by a function (postgres/marks.ts).
import { iso } from '../basics/clock.ts'
import { send, type Write } from '../store/statements.ts'
import type { MarkRead, OneNotification } from './inbox-state.ts'
import { changeOne, leaveUndo, recount } from './notification-state.ts'
import { changeTogether } from './postgres/marks.ts'

/**
 * Marks it as read. Repeating the call changes nothing and keeps the first `readAt`. After a
 * read-all the call says that an undo leaves this one read.
 */
export const markRead = { name: 'markRead', write: markReadAlone, postgres: changeTogether('read') }

function markReadAlone({ at, ...one }: MarkRead): Write<'done' | 'absent'> {
  return changeOne(one, function* (found) {
    if (found.state === 'read') yield* leaveUndo(found)
    if (found.state !== 'unread') return false
    yield* send`
      update notification set state = 'read', read_at = ${iso(at)}, bulk_version = 0, changed_version = ${found.version + 1}
      where user_id = ${found.user} and seq = ${found.seq}`
    yield* recount(found, { state: 'read' })
    return true
  })
}

/**
 * Marks it as unread, until it is marked as read or a read-all covers it. An archived or snoozed
 * one is back in the list. Repeating the call changes nothing.
 */
export const markUnread = {
  name: 'markUnread',
  write: markUnreadAlone,
  postgres: changeTogether('unread'),
}

function markUnreadAlone(one: OneNotification): Write<'done' | 'absent'> {
  return changeOne(one, function* (found) {
    if (found.state === 'unread') return false
    yield* send`
      update notification set state = 'unread', read_at = null, archived_at = null, snoozed_until = null, bulk_version = 0,
        changed_version = ${found.version + 1}
      where user_id = ${found.user} and seq = ${found.seq}`
    yield* recount(found, { state: 'unread' })
    return true
  })
}
