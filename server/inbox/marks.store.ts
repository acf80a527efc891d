// Marks notifications as read or unread, one or all. Each change of an inbox raises its version by 1. PostgreSQL runs the usual marks by a
// function of its own (postgres/marks.ts).
import { iso } from '../basics/clock.ts'
import { get, send, signal, type UserKey, type Write } from '../store/statements.ts'
import type { MarkAllRead, MarkRead, OneNotification } from './inbox-state.ts'
import {
  changeOne,
  type Found,
  isUncovered,
  keptIn,
  type LockedInbox,
  leaveReadAll,
  leaveUndo,
  lockInbox,
  readByLastReadAll,
  recount,
  standingOf,
} from './notification-state.ts'
import { markAllReadTogether, markReadTogether, markUnreadTogether } from './postgres/marks.ts'

/**
 * Marks one notification of this user as read. Repeating the call changes nothing and keeps the first `readAt`. After a
 * read-all the call says that the notification is to stay read: an undo of the read-all leaves it read.
 */
export const markRead = { name: 'markRead', write: markReadAlone, postgres: markReadTogether }

function markReadAlone({ at, ...one }: MarkRead): Write<'done' | 'absent'> {
  return changeOne(one, function* (found) {
    const before = yield* standingOf(found)
    if (!before.isUnread) {
      yield* keepRead(found)
      return false
    }
    yield* send`
      update notification set read_at = ${iso(at)}, unread_version = null, changed_version = ${found.version + 1}
      where user_id = ${found.user} and seq = ${found.seq}`
    yield* recount(found, before, { ...before, isUnread: false })
    return true
  })
}

/** An undo leaves it read. The difference is invisible until then, so this is no change. */
function* keepRead(found: Found): Write<void> {
  const readAt = yield* readByLastReadAll(found)
  if (readAt === undefined) return
  yield* send`
    update notification set read_at = ${readAt}, unread_version = null
    where user_id = ${found.user} and seq = ${found.seq}`
  yield* leaveReadAll(found)
}

/**
 * Marks one notification of this user as unread, until it is marked as read or the next read-all covers it. One that was archived or
 * snoozed is back at its place in the list. Repeating the call changes nothing.
 */
export const markUnread = { name: 'markUnread', write: markUnreadAlone, postgres: markUnreadTogether }

function markUnreadAlone(one: OneNotification): Write<'done' | 'absent'> {
  return changeOne(one, function* (found) {
    const before = yield* standingOf(found)
    if (before.isUnread) return false
    yield* leaveUndo(found)
    const version = found.version + 1
    yield* send`
      update notification set read_at = null, unread_version = ${version}, changed_version = ${version}, away = null, away_at = null,
        kept_version = ${keptIn(found)}
      where user_id = ${found.user} and seq = ${found.seq}`
    yield* recount(found, before, { ...before, place: 'list', isUnread: true })
    return true
  })
}

/**
 * Marks as read every notification that has arrived, or only those up to and including the sequence number of the notification
 * `throughId`, or up to and including `throughSeq`. One that arrives during the call stays unread. The cost does not depend on
 * how many were unread; it updates one row per category. Only if it ends before notifications that an earlier call covered and
 * that were marked as unread since, it also updates one row for each of these, and they stay unread. With `categories` (distinct,
 * at least one) it covers only what has one of these now, and adds one row for each of them. A notification that moves to another
 * category keeps its read state; if a read-all of a category ever reached as far as its sequence number, it also leaves the undo.
 */
export const markAllRead = { name: 'markAllRead', write: markAllReadAlone, postgres: markAllReadTogether }

function* markAllReadAlone(change: MarkAllRead): Write<'done' | 'absent'> {
  const { userId, throughId, throughSeq = Number.POSITIVE_INFINITY, categories, at } = change
  const inbox = yield* lockInbox(userId)
  if (inbox === undefined) return throughId === null ? 'done' : 'absent'
  const through = throughId === null ? Math.min(inbox.lastSeq, throughSeq) : yield* seqOf(inbox.user, throughId)
  if (through === undefined) return 'absent'
  const readAll = { inbox, through, at: iso(at) }
  if (yield* categories === undefined ? markAll(readAll) : markCategories(readAll, categories))
    yield* signal({ about: 'inbox', userId })
  return 'done'
}

/**
 * A client that does not know of the last archive-read loads the list again: what that left in the list as unread is read from here on, and
 * would look as if it had been archived.
 */
const resetBy = ({ archiveVersion, resetVersion }: LockedInbox) => Math.max(archiveVersion, resetVersion)

type ReadAll = { inbox: LockedInbox; through: number; at: string }

/** False if nothing changed. */
function* markAll({ inbox, through, at }: ReadAll): Write<boolean> {
  const { user, readThrough, readVersion } = inbox
  const version = inbox.version + 1
  const isRaised = through > readThrough
  const stillMarked = isRaised ? 0 : yield* countMarked({ inbox, after: through })
  const stillUnread = isRaised ? yield* countAbove(inbox, through) : inbox.unread - inbox.markedUnread + stillMarked
  if (stillUnread === inbox.unread) return false
  yield* send`
    update inbox set version = ${version}, read_through = ${Math.max(readThrough, through)}, read_version = ${version},
      unread = ${stillUnread}, marked_unread = ${stillMarked}, undo_version = ${version}, reset_version = ${resetBy(inbox)}
    where user_id = ${user}`
  yield* send`
    insert into read_mark (user_id, version, through_seq, at, before_through, before_version, made_read)
    values (${user}, ${version}, ${through}, ${at}, ${readThrough}, ${readVersion}, ${inbox.unread - stillUnread})`
  if (isRaised) yield* recountCategories(user, { after: through, stillUnread })
  else yield* lowerCategories({ inbox, through })
  // Without this the new read-all would make them read: their versions are lower than its own.
  if (stillMarked > 0)
    yield* send`
      update notification as n set unread_version = ${version}
      where n.user_id = ${user} and n.unread_version >= ${readVersion} and n.seq + 0 > ${through} and n.seq + 0 <= ${readThrough}
        and ${isUncovered}`
  return true
}

/** A row for each category that changes, whatever the number of notifications. The high-water mark of the inbox stays. */
function* markCategories({ inbox, through, at }: ReadAll, categories: readonly string[]): Write<boolean> {
  const { user } = inbox
  const version = inbox.version + 1
  const madeRead = new Map<string, number>()
  for (const category of categories) {
    const found = yield* get<{ unread: number }>`
      select unread from inbox_category where user_id = ${user} and category = ${category}`
    if (!found?.unread) continue
    const made = found.unread - (yield* countUnreadAfter({ inbox, through, category }))
    if (made > 0) madeRead.set(category, made)
  }
  if (madeRead.size === 0) return false
  yield* send`update inbox_category set made = 0 where user_id = ${user} and made > 0`
  for (const [category, made] of madeRead) {
    yield* send`
      insert into category_read_mark (user_id, category, through_seq, version, at)
      values (${user}, ${category}, ${through}, ${version}, ${at})`
    yield* send`
      update inbox_category set unread = unread - ${made}, made = ${made}
      where user_id = ${user} and category = ${category}`
  }
  const made = madeRead.values().reduce((sum, one) => sum + one, 0)
  const stillMarked = yield* countMarked({ inbox, after: 0 })
  yield* send`
    update inbox set version = ${version}, unread = unread - ${made}, undo_version = ${version},
      category_through = ${Math.max(inbox.categoryThrough, through)}, marked_unread = ${stillMarked},
      reset_version = ${resetBy(inbox)}
    where user_id = ${user}`
  // A through_seq of 0 covers nothing: the read-alls of everything are found by this column.
  yield* send`
    insert into read_mark (user_id, version, through_seq, at, before_through, before_version, made_read, categories)
    values (${user}, ${version}, 0, ${at}, ${inbox.readThrough}, ${inbox.readVersion}, ${made},
      ${JSON.stringify([...madeRead.keys()])})`
  return true
}

type Counted = { count: number }
type OfCategory = { inbox: LockedInbox; through: number; category: string }

/** Few notifications of the category were marked as unread. The other unread ones lie above everything that a read-all covered. */
function* countUnreadAfter({ inbox, through, category }: OfCategory): Write<number> {
  const { user, readThrough, readVersion } = inbox
  const mark = yield* get<{ through: number | null }>`
    select max(through_seq) as through from category_read_mark where user_id = ${user} and category = ${category}`
  const covered = Math.max(through, readThrough, mark?.through ?? 0)
  const found = yield* get<Counted>`
    select count(*) as count from notification
    where user_id = ${user} and category = ${category} and seq > ${covered} and read_at is null`
  if (covered === through) return found?.count ?? 0
  const marked = yield* get<Counted>`
    select count(*) as count from notification n
    where n.user_id = ${user} and n.unread_version > 0 and n.category = ${category} and n.seq + 0 > ${through}
      and n.seq + 0 <= ${covered} and (n.seq > ${readThrough} or n.unread_version >= ${readVersion}) and ${isUncovered}`
  return (found?.count ?? 0) + (marked?.count ?? 0)
}

function* seqOf(user: UserKey, id: string): Write<number | undefined> {
  return (yield* get<{ seq: number }>`select seq from notification where id = ${id} and user_id = ${user}`)?.seq
}

// Reads only what lies after that: nothing after the last sequence number, and little after what a client has shown.
function* countAbove({ user, lastSeq }: LockedInbox, after: number): Write<number> {
  if (after === lastSeq) return 0
  const found = yield* get<Counted>`
    select count(*) as count from notification n
    where n.user_id = ${user} and n.seq > ${after} and n.read_at is null and ${isUncovered}`
  return found?.count ?? 0
}

/**
 * How many up to the high-water mark were marked as unread and have a higher sequence number. Not by seq: an engine would take the
 * primary key, and pass over all notifications.
 */
function* countMarked({ inbox, after }: { inbox: LockedInbox; after: number }): Write<number> {
  if (inbox.markedUnread === 0) return 0
  const found = yield* get<Counted>`
    select count(*) as count from notification n
    where n.user_id = ${inbox.user} and n.unread_version >= ${inbox.readVersion} and n.seq + 0 > ${after}
      and n.seq + 0 <= ${inbox.readThrough} and ${isUncovered}`
  return found?.count ?? 0
}

type Rest = { after: number; stillUnread: number }

function* recountCategories(user: UserKey, { after, stillUnread }: Rest): Write<void> {
  yield* send`
    update inbox_category set made = unread, unread = 0
    where user_id = ${user} and (unread > 0 or made > 0)`
  if (stillUnread === 0) return
  yield* send`
    update inbox_category set unread = found.count, made = made - found.count
    from (
      select n.category, count(*) as count from notification n
      where n.user_id = ${user} and n.seq > ${after} and n.read_at is null and n.category is not null and ${isUncovered}
      group by n.category
    ) as found
    where user_id = ${user} and inbox_category.category = found.category`
}

/** If the high-water mark stays, only notifications that were marked as unread became read. */
function* lowerCategories({ inbox, through }: { inbox: LockedInbox; through: number }): Write<void> {
  const { user } = inbox
  yield* send`update inbox_category set made = 0 where user_id = ${user} and made > 0`
  yield* send`
    update inbox_category set unread = unread - found.count, made = found.count
    from (
      select n.category, count(*) as count from notification n
      where n.user_id = ${user} and n.unread_version >= ${inbox.readVersion} and n.seq + 0 <= ${through}
        and n.category is not null and ${isUncovered}
      group by n.category
    ) as found
    where user_id = ${user} and inbox_category.category = found.category`
}
