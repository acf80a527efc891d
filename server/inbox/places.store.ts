// Moves notifications between the list, the archive and the snoozed ones, and removes them. What is archived or snoozed is read. Each change of
// an inbox raises its version by 1.
import { iso } from '../basics/clock.ts'
import {
  all,
  exists,
  get,
  inList,
  inNumbers,
  Part,
  rowsOf,
  send,
  signal,
  userKey,
  type Write,
} from '../store/statements.ts'
import type { MarkRead, OneNotification, RemovalReason, Snooze } from './inbox-state.ts'
import { isUnread } from './lists.ts'
import {
  archivedAt,
  changeOne,
  type Found,
  findOne,
  isArchivedByLast,
  isUncovered,
  isUndoable,
  isUnreadNow,
  keptIn,
  keptRead,
  keptUnread,
  type LockedInbox,
  leaveUndo,
  lockInbox,
  placeOf,
  readAt,
  recount,
  recountAll,
  type Standing,
  standingOf,
} from './notification-state.ts'
import { findHeld, isHeld } from './security-notices.store.ts'

type Outcome = 'done' | 'absent' | 'held'

/** Changes one notification as `changeOne` does, unless it is a security notice of the last 24 hours. */
function* putAway({ userId, id, at }: MarkRead, change: (found: Found) => Write<boolean>): Write<Outcome> {
  const found = yield* findOne(userId, id)
  if (found === undefined) return 'absent'
  if (yield* isHeld(found, at)) return 'held'
  if (yield* change(found)) yield* signal({ about: 'inbox', userId })
  return 'done'
}

/** Archives one notification of this user and marks it as read. Repeating the call changes nothing, and says that an undo is to leave it. */
export function archive(one: MarkRead): Write<Outcome> {
  return putAway(one, (found) => archiveFound(found, one.at))
}

/** Archives a notification that was found, and whose inbox is locked. False if it was archived before. */
export function* archiveFound(found: Found, at: number): Write<boolean> {
  const isArchived = placeOf(found) === 'archived'
  if (isArchived && !(yield* isArchivedByLast(found))) return false
  const before = yield* standingOf(found)
  yield* leaveUndo(found)
  yield* moveAway(found, { to: 'archived', at, changedVersion: isArchived ? null : found.version + 1 })
  if (!isArchived) yield* recount(found, before, { ...before, place: 'archived', isUnread: false })
  return !isArchived
}

type Move = { to: 'archived' | 'snoozed'; at: number; until?: string; changedVersion: number | null }

function* moveAway({ user, seq }: Found, { to, at, until, changedVersion }: Move): Write<void> {
  yield* send`
    update notification as n set away = ${to}, away_at = coalesce(${until ?? null}, ${archivedAt}, ${iso(at)}),
      read_at = coalesce(${readAt}, ${iso(at)}), unread_version = null, kept_version = null,
      changed_version = coalesce(${changedVersion}, changed_version)
    where n.user_id = ${user} and n.seq = ${seq}`
}

/** Snoozes one notification of this user: until a time it is in no list but that of the snoozed ones; then it is the newest, and unread. */
export function snooze({ until, ...one }: Snooze): Write<Outcome> {
  const { at } = one
  return putAway(one, function* (found) {
    if (found.away === 'snoozed' && found.away_at === iso(until)) return false
    const before = yield* standingOf(found)
    yield* leaveUndo(found)
    yield* moveAway(found, { to: 'snoozed', at, until: iso(until), changedVersion: found.version + 1 })
    yield* recount(found, before, { ...before, place: 'snoozed', isUnread: false })
    return true
  })
}

/** Puts one that was archived or snoozed back at its place in the list. It stays read. Repeating the call changes nothing. */
export function unarchive(one: OneNotification): Write<'done' | 'absent'> {
  return changeOne(one, function* (found) {
    const before = yield* standingOf(found)
    if (before.place === 'list') return false
    yield* leaveUndo(found)
    yield* send`
      update notification set away = null, away_at = '', kept_version = ${keptIn(found)}, changed_version = ${found.version + 1}
      where user_id = ${found.user} and seq = ${found.seq}`
    yield* recount(found, before, { ...before, place: 'list' })
    return true
  })
}

/** Ends a snooze whose time has come: the notification is the newest, and unread. False if it is not snoozed, or for longer. */
export function* wake({ userId, id, at }: MarkRead): Write<boolean> {
  const found = yield* findOne(userId, id)
  if (found?.away !== 'snoozed' || (found.away_at ?? '') > iso(at)) return false
  const before = yield* standingOf(found)
  yield* makeNewest(found)
  yield* recount(found, before, { ...before, place: 'list', isUnread: true, seq: found.lastSeq + 1 })
  yield* signal({ about: 'inbox', userId })
  return true
}

/** Gives it the next sequence number and makes it unread. The caller counts it. */
export function* makeNewest({ user, seq, version, lastSeq }: Found): Write<void> {
  yield* send`
    update notification set seq = ${lastSeq + 1}, version = ${version + 1}, read_at = null, unread_version = null,
      changed_version = null, away = null, away_at = null, kept_version = null
    where user_id = ${user} and seq = ${seq}`
}

/** Removes one notification of this user. Repeating the call changes nothing. */
export function* remove({ userId, id, at }: MarkRead): Write<Outcome> {
  const outcome = yield* putAway({ userId, id, at }, function* (found) {
    yield* removeAll([found], { at, reason: 'deleted' })
    return true
  })
  if (outcome !== 'absent') return outcome
  const isRemoved = yield* exists`select 1 from removal where user_id = ${userKey(userId)} and id = ${id}`
  return isRemoved ? 'done' : 'absent'
}

/** The newest of an inbox that changes send: a client that is behind more changes begins again. */
const maxRemovals = 10_000

type Removal = { at: number; reason: RemovalReason }

/** Removes notifications of one inbox. */
export function* removeAll(found: readonly Found[], { at, reason }: Removal): Write<void> {
  const [first] = found
  if (first === undefined) return
  const { user, version } = first
  const canUndo = yield* isUndoable(first, at)
  const changes: { before: Standing }[] = []
  for (const one of found) {
    changes.push({ before: yield* standingOf(one) })
    if (canUndo) yield* leaveUndo(one)
  }
  yield* send`delete from notification where user_id = ${user} and seq ${inNumbers(found.map(({ seq }) => seq))}`
  yield* recountAll(first, changes)
  const rows = found.map(({ id }, n) => ({ id, version: version + n + 1 }))
  yield* send`
    insert into removal (user_id, version, id, at, reason)
    select ${user}, cast(given.value ->> 'version' as bigint), given.value ->> 'id', ${iso(at)}, ${reason} from ${rowsOf(rows)}`
  if (version > maxRemovals)
    yield* send`delete from removal where user_id = ${user} and version <= ${version - maxRemovals}`
}

type Counted = { count: number }

const listed = new Part('indexed by notification_listed', '')

/**
 * Moves what an archive-read before the last one kept into the archive by itself: the last one has archived it, and from now on cannot be
 * undone. So lists look for what the last two kept, and no others.
 */
function* moveKept({ user, archiveVersion }: LockedInbox): Write<void> {
  yield* send`
    update notification as n ${keptRead} set away = 'archived', away_at = ${archivedAt}, kept_version = null
    where n.user_id = ${user} and n.kept_version < ${archiveVersion} and n.read_at is not null`
  yield* send`
    update notification as n ${keptUnread} set away = 'archived', away_at = ${archivedAt}, read_at = ${readAt}, kept_version = null
    where n.user_id = ${user} and n.kept_version < ${archiveVersion} and n.read_at is null`
}

/**
 * Archives everything in the list that is read, except security notices of the last 24 hours. One that arrives, or is marked as read, during
 * the call stays. The cost depends on how many stay, not on how many are archived; it updates one row per category.
 */
export function* archiveRead({ userId, at }: { userId: string; at: number }): Write<void> {
  const inbox = yield* lockInbox(userId)
  if (inbox === undefined) return
  const { user } = inbox
  const held: Found[] = []
  for (const notice of yield* findHeld(user, at)) {
    if (!(yield* isUnreadNow(notice))) held.push(notice)
  }
  const made = inbox.total - inbox.unread
  if (made === held.length) return
  const version = inbox.version + 1
  yield* moveKept(inbox)
  const categories = yield* all<{ category: string }>`
    select category from inbox_category where user_id = ${user} and unread > 0`
  yield* send`
    update notification as n ${listed} set kept_version = ${version}
    where n.user_id = ${user} and n.category is null and ${isUnread} and n.seq > ${inbox.readThrough} and n.kept_version is null`
  yield* send`
    update notification as n ${listed} set kept_version = ${version}
    where n.user_id = ${user} and n.category ${inList(categories.map(({ category }) => category))} and ${isUnread}
      and n.seq > ${inbox.readThrough} and n.kept_version is null and ${isUncovered}`
  yield* send`
    update notification as n ${keptUnread} set kept_version = ${version}
    where n.user_id = ${user} and n.kept_version = ${inbox.archiveVersion} and n.seq > ${inbox.readThrough} and n.read_at is null
      and ${isUncovered}`
  yield* send`
    update notification as n set kept_version = ${version}
    where n.user_id = ${user} and n.unread_version >= ${inbox.readVersion} and n.seq + 0 <= ${inbox.readThrough} and ${isUncovered}`
  const stay = yield* get<Counted>`
    select count(*) as count from notification
    where user_id = ${user} and kept_version = ${version} and read_at is null and seq > ${inbox.seenThrough}`
  const unseen = stay?.count ?? 0
  yield* send`
    insert into archive_mark (user_id, version, through_seq, at, before_through, before_version, made, made_unseen)
    values (${user}, ${version}, ${inbox.lastSeq}, ${iso(at)}, ${inbox.archiveThrough}, ${inbox.archiveVersion}, ${made},
      ${inbox.unseen - unseen})`
  yield* send`
    update inbox set version = ${version}, total = unread, archived = archived + ${made}, unseen = ${unseen},
      archive_through = last_seq, archive_version = ${version}, undo_version = ${version}
    where user_id = ${user}`
  yield* send`
    update inbox_category set made = total - unread, archived = archived + total - unread, total = unread
    where user_id = ${user} and (total > unread or made > 0)`
  // Changes of their own, because a client that learns of the archive-read archives all that is read.
  for (const { id } of held) yield* unarchive({ userId, id })
  yield* signal({ about: 'inbox', userId })
}

/** The user has seen what is in the list up to and including a sequence number. A lower one than before changes nothing. */
export function* markSeen({ userId, throughSeq }: { userId: string; throughSeq: number }): Write<void> {
  const inbox = yield* lockInbox(userId)
  const through = Math.min(throughSeq, inbox?.lastSeq ?? 0)
  if (inbox === undefined || through <= inbox.seenThrough) return
  const { user, archiveThrough, archiveVersion, undoVersion } = inbox
  const later = yield* get<Counted>`
    select count(*) as count from notification
    where user_id = ${user} and seq > ${through} and away is null
      and (seq > ${archiveThrough} or kept_version = ${archiveVersion})`
  // What an undo would put back, and is unseen then.
  if (archiveVersion > 0 && undoVersion === archiveVersion)
    yield* send`
      update archive_mark set made_unseen = (
        select count(*) from notification n
        where n.user_id = ${user} and n.seq > ${through} and n.seq <= ${archiveThrough} and n.away is null
          and coalesce(n.kept_version, -1) <> ${archiveVersion}
          and (n.seq > archive_mark.before_through or n.kept_version = archive_mark.before_version)
      )
      where user_id = ${user} and version = ${archiveVersion}`
  yield* send`
    update inbox set version = version + 1, seen_through = ${through}, seen_version = version + 1, unseen = ${later?.count ?? 0}
    where user_id = ${user}`
  yield* signal({ about: 'inbox', userId })
}
