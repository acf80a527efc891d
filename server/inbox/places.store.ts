// Moves notifications between the list, the archive and the snoozed ones, and removes them. What is archived or snoozed is read. Each change of
// an inbox raises its version by 1.
import { iso } from '../basics/clock.ts'
import { get, lock, Part, send, signal, type UserKey, userKey, type Write } from '../store/statements.ts'
import type { MarkRead, OneNotification, Snooze } from './inbox-state.ts'
import { archiveFound, removeAll, snoozeFound, wakeFound } from './moves.ts'
import { findOne, isUncovered, keptIn, leaveUndo, recount, standingOf } from './notification-state.ts'

type Outcome = 'done' | 'absent'

/** Archives one notification of this user and marks it as read. Repeating the call changes nothing, and says that an undo is to leave it. */
export function* archive({ userId, id, at }: MarkRead): Write<Outcome> {
  const found = yield* findOne(userId, id)
  if (found === undefined) return 'absent'
  if (yield* archiveFound(found, at)) yield* signal({ about: 'inbox', userId })
  return 'done'
}

/** Snoozes one notification of this user until a time. Until then it is in no list but that of the snoozed ones; then it is the newest, and unread. */
export function* snooze({ userId, id, until, at }: Snooze): Write<Outcome> {
  const found = yield* findOne(userId, id)
  if (found === undefined) return 'absent'
  if (found.away === 'snoozed' && found.away_at === iso(until)) return 'done'
  yield* snoozeFound(found, { until, at })
  yield* signal({ about: 'inbox', userId })
  return 'done'
}

/** Puts one that was archived or snoozed back at its place in the list. It stays read. Repeating the call changes nothing. */
export function* unarchive({ userId, id }: OneNotification): Write<Outcome> {
  const found = yield* findOne(userId, id)
  if (found === undefined) return 'absent'
  const before = yield* standingOf(found)
  if (before.place === 'list') return 'done'
  yield* leaveUndo(found)
  const version = found.version + 1
  yield* send`
    update notification set away = null, away_at = '', kept_version = ${keptIn(found)}, changed_version = ${version}
    where user_id = ${found.user} and seq = ${found.seq}`
  yield* recount(found, before, { ...before, place: 'list' })
  yield* signal({ about: 'inbox', userId })
  return 'done'
}

/** Ends a snooze whose time has come: the notification is the newest, and unread. False if it is not snoozed, or for longer. */
export function* wake({ userId, id, at }: MarkRead): Write<boolean> {
  const found = yield* findOne(userId, id)
  if (found?.away !== 'snoozed' || (found.away_at ?? '') > iso(at)) return false
  yield* wakeFound(found)
  yield* signal({ about: 'inbox', userId })
  return true
}

/** Removes one notification of this user. Repeating the call changes nothing. */
export function* remove({ userId, id, at }: MarkRead): Write<Outcome> {
  const found = yield* findOne(userId, id)
  if (found === undefined) return (yield* wasRemoved(userId, id)) ? 'done' : 'absent'
  yield* removeAll([found], { at, reason: 'deleted' })
  yield* signal({ about: 'inbox', userId })
  return 'done'
}

function* wasRemoved(userId: string, id: string): Write<boolean> {
  const row = yield* get`select 1 as is_there from removal where user_id = ${userKey(userId)} and id = ${id}`
  return row !== undefined
}

type Box = {
  version: number
  last_seq: number
  total: number
  unread: number
  undo_version: number | null
  read_through: number
  read_version: number
  archive_through: number
  archive_version: number
  seen_through: number
  unseen: number
}

function* lockBox(user: UserKey): Write<Box | undefined> {
  return yield* lock<Box>`
    select version, last_seq, total, unread, undo_version, read_through, read_version, archive_through, archive_version,
      seen_through, unseen
    from inbox where user_id = ${user}`
}

type Counted = { count: number }

const unread = new Part('indexed by notification_unread', '')
const keptUnread = new Part('indexed by notification_kept_unread', '')

/**
 * Archives everything in the list that is read. One that arrives, or is marked as read, during the call stays. The cost depends on how many
 * unread ones stay, not on how many are archived; it updates one row per category.
 */
export function* archiveRead({ userId, at }: { userId: string; at: number }): Write<void> {
  const user = userKey(userId)
  const box = yield* lockBox(user)
  if (box === undefined || box.total === box.unread) return
  const version = box.version + 1
  const made = box.total - box.unread
  yield* send`
    update notification as n ${unread} set kept_version = ${version}
    where n.user_id = ${user} and n.seq > ${box.read_through} and n.read_at is null and n.kept_version is null and ${isUncovered}`
  yield* send`
    update notification as n ${keptUnread} set kept_version = ${version}
    where n.user_id = ${user} and n.kept_version = ${box.archive_version} and n.seq > ${box.read_through} and n.read_at is null
      and ${isUncovered}`
  yield* send`
    update notification as n set kept_version = ${version}
    where n.user_id = ${user} and n.unread_version >= ${box.read_version} and n.seq + 0 <= ${box.read_through} and ${isUncovered}`
  const stay = yield* get<Counted>`
    select count(*) as count from notification
    where user_id = ${user} and kept_version = ${version} and read_at is null and seq > ${box.seen_through}`
  const unseen = stay?.count ?? 0
  yield* send`
    insert into archive_mark (user_id, version, through_seq, at, before_through, before_version, made, made_unseen)
    values (${user}, ${version}, ${box.last_seq}, ${iso(at)}, ${box.archive_through}, ${box.archive_version}, ${made},
      ${box.unseen - unseen})`
  yield* send`
    update inbox set version = ${version}, total = unread, archived = archived + ${made}, unseen = ${unseen},
      archive_through = last_seq, archive_version = ${version}, undo_version = ${version}
    where user_id = ${user}`
  yield* send`
    update inbox_category set made = total - unread, archived = archived + total - unread, total = unread
    where user_id = ${user} and (total > unread or made > 0)`
  yield* signal({ about: 'inbox', userId })
}

/** The user has seen what is in the list up to and including a sequence number. A lower one than before changes nothing. */
export function* markSeen({ userId, throughSeq }: { userId: string; throughSeq: number }): Write<void> {
  const user = userKey(userId)
  const box = yield* lockBox(user)
  if (box === undefined || Math.min(throughSeq, box.last_seq) <= box.seen_through) return
  const through = Math.min(throughSeq, box.last_seq)
  const { archive_through, archive_version, undo_version } = box
  const later = yield* get<Counted>`
    select count(*) as count from notification
    where user_id = ${user} and seq > ${through} and away is null
      and (seq > ${archive_through} or kept_version = ${archive_version})`
  // What an undo would put back, and is unseen then.
  if (archive_version > 0 && undo_version === archive_version)
    yield* send`
      update archive_mark set made_unseen = (
        select count(*) from notification n
        where n.user_id = ${user} and n.seq > ${through} and n.seq <= ${archive_through} and n.away is null
          and coalesce(n.kept_version, -1) <> ${archive_version}
          and (n.seq > archive_mark.before_through or n.kept_version = archive_mark.before_version)
      )
      where user_id = ${user} and version = ${archive_version}`
  yield* send`
    update inbox set version = version + 1, seen_through = ${through}, seen_version = version + 1, unseen = ${later?.count ?? 0}
    where user_id = ${user}`
  yield* signal({ about: 'inbox', userId })
}
