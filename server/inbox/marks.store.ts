// Marks notifications as read or unread. Each change of an inbox raises its version by 1. PostgreSQL runs the usual marks by a function of
// its own (postgres/marks.ts).
import { iso } from '../basics/clock.ts'
import type { WriteForms } from '../store/operations.ts'
import {
  get,
  inList,
  lock,
  onPostgres,
  Part,
  send,
  signal,
  type UserKey,
  userKey,
  type Write,
} from '../store/statements.ts'
import { type MarkAllRead, type MarkRead, type OneNotification, type UndoReadAll, undoableFor } from './inbox-state.ts'
import { markAllReadTogether, markReadTogether, markUnreadTogether } from './postgres/marks.ts'
import { coversSql } from './read-at.ts'

/** SQLite would take the primary key. Its index has the beginning of the id. */
const byId = new Part('indexed by notification_by_id', '')
const byCategory = new Part('indexed by notification_unread_by_category', '')
const startOf = (id: string) => id.slice(0, 13)

/** The inbox stays locked. */
function* findOne(userId: string, id: string): Write<ReadState | undefined> {
  const user = userKey(userId)
  yield* onPostgres`select 1 from inbox where user_id = ${user} for update`
  const found = yield* get<Omit<ReadState, 'user'>>`
    select ${readState} from notification n ${byId} join inbox i on i.user_id = n.user_id
    where substr(n.id, 1, 13) = ${startOf(id)} and n.id = ${id} and n.user_id = ${user}`
  return found && { ...found, user }
}

/**
 * Marks one notification of this user as read. Repeating the call changes nothing and keeps the first `readAt`. After a
 * read-all the call says that the notification is to stay read: an undo of the read-all leaves it read.
 */
export const markRead: WriteForms<MarkRead, 'done' | 'absent'> = {
  name: 'markRead',
  write: markReadAlone,
  postgres: markReadTogether,
}

function* markReadAlone({ userId, id, at }: MarkRead): Write<'done' | 'absent'> {
  const found = yield* findOne(userId, id)
  if (found === undefined) return 'absent'
  if (!(yield* isUnreadNow(found))) {
    yield* keepRead(found)
    return 'done'
  }
  const { user, seq, category, version, read_through } = found
  yield* send`
    update inbox set version = version + 1, unread = unread - 1,
      marked_unread = marked_unread - ${seq <= read_through ? 1 : 0}
    where user_id = ${user}`
  yield* send`
    update notification set read_at = ${iso(at)}, unread_version = null, changed_version = ${version + 1}
    where user_id = ${user} and seq = ${seq}`
  yield* countUnread({ user, category, more: -1 })
  yield* signal({ about: 'inbox', userId })
  return 'done'
}

/** An undo leaves it read. The difference is invisible until then, so this is no change. */
function* keepRead(found: ReadState): Write<void> {
  const readAt = yield* readByLastReadAll(found)
  if (readAt === undefined) return
  yield* send`
    update notification set read_at = ${readAt}, unread_version = null
    where user_id = ${found.user} and seq = ${found.seq}`
  yield* leaveUndo(found)
}

/**
 * Marks one notification of this user as unread, until it is marked as read or the next read-all covers it. Repeating the
 * call changes nothing.
 */
export const markUnread: WriteForms<OneNotification, 'done' | 'absent'> = {
  name: 'markUnread',
  write: markUnreadAlone,
  postgres: markUnreadTogether,
}

function* markUnreadAlone({ userId, id }: OneNotification): Write<'done' | 'absent'> {
  const found = yield* findOne(userId, id)
  if (found === undefined) return 'absent'
  if (yield* isUnreadNow(found)) return 'done'
  if ((yield* readByLastReadAll(found)) !== undefined) yield* leaveUndo(found)
  const { user, seq, category, read_through } = found
  const version = found.version + 1
  yield* send`
    update inbox set version = version + 1, unread = unread + 1,
      marked_unread = marked_unread + ${seq <= read_through ? 1 : 0}
    where user_id = ${user}`
  yield* send`
    update notification set read_at = null, unread_version = ${version}, changed_version = ${version}
    where user_id = ${user} and seq = ${seq}`
  yield* countUnread({ user, category, more: 1 })
  yield* signal({ about: 'inbox', userId })
  return 'done'
}

type Count = { user: UserKey; category: string | null; more: number }

function* countUnread({ user, category, more }: Count): Write<void> {
  if (category === null) return
  yield* send`update inbox_category set unread = unread + ${more} where user_id = ${user} and category = ${category}`
}

type Box = {
  user: UserKey
  version: number
  last_seq: number
  unread: number
  read_through: number
  read_version: number
  marked_unread: number
  category_through: number
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
  write: markAllReadAlone,
  postgres: markAllReadTogether,
}

function* markAllReadAlone(change: MarkAllRead): Write<'done' | 'absent'> {
  const { userId, throughId, throughSeq = Number.POSITIVE_INFINITY, categories, at } = change
  const user = userKey(userId)
  const found = yield* lock<Omit<Box, 'user'>>`
    select version, last_seq, unread, read_through, read_version, marked_unread, category_through
    from inbox where user_id = ${user}`
  if (found === undefined) return throughId === null ? 'done' : 'absent'
  const through = throughId === null ? Math.min(found.last_seq, throughSeq) : yield* seqOf(user, throughId)
  if (through === undefined) return 'absent'
  const readAll = { box: { ...found, user }, through, at: iso(at) }
  if (yield* categories === undefined ? markAll(readAll) : markCategories(readAll, categories))
    yield* signal({ about: 'inbox', userId })
  return 'done'
}

type ReadAll = { box: Box; through: number; at: string }

/** False if nothing changed. */
function* markAll({ box, through, at }: ReadAll): Write<boolean> {
  const { user, read_through, read_version } = box
  const version = box.version + 1
  const isRaised = through > read_through
  const stillMarked = isRaised ? 0 : yield* countMarked({ box, after: through })
  const stillUnread = isRaised ? yield* countAbove(box, through) : box.unread - box.marked_unread + stillMarked
  if (stillUnread === box.unread) return false
  yield* send`
    update inbox set version = ${version}, read_through = ${Math.max(read_through, through)}, read_version = ${version},
      unread = ${stillUnread}, marked_unread = ${stillMarked}, undo_version = ${version}
    where user_id = ${user}`
  yield* send`
    insert into read_mark (user_id, version, through_seq, at, before_through, before_version, made_read)
    values (${user}, ${version}, ${through}, ${at}, ${read_through}, ${read_version}, ${box.unread - stillUnread})`
  if (isRaised) yield* recountCategories(user, { after: through, stillUnread })
  else yield* lowerCategories({ box, through })
  if (stillMarked > 0) yield* keepMarked({ box, after: through })
  return true
}

/** A row for each category that changes, whatever the number of notifications. The high-water mark of the inbox stays. */
function* markCategories({ box, through, at }: ReadAll, categories: readonly string[]): Write<boolean> {
  const { user } = box
  const version = box.version + 1
  const madeRead = new Map<string, number>()
  for (const category of categories) {
    const found = yield* get<{ unread: number }>`
      select unread from inbox_category where user_id = ${user} and category = ${category}`
    if (!found?.unread) continue
    const made = found.unread - (yield* countUnreadAfter({ box, through, category }))
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
  const stillMarked = yield* countMarked({ box, after: 0 })
  yield* send`
    update inbox set version = ${version}, unread = unread - ${made}, undo_version = ${version},
      category_through = ${Math.max(box.category_through, through)}, marked_unread = ${stillMarked}
    where user_id = ${user}`
  // A through_seq of 0 covers nothing: the read-alls of everything are found by this column.
  yield* send`
    insert into read_mark (user_id, version, through_seq, at, before_through, before_version, made_read, categories)
    values (${user}, ${version}, 0, ${at}, ${box.read_through}, ${box.read_version}, ${made},
      ${JSON.stringify([...madeRead.keys()])})`
  return true
}

type Found = { count: number }
type OfCategory = { box: Box; through: number; category: string }

/** Few notifications of the category were marked as unread. The other unread ones lie above everything that a read-all covered. */
function* countUnreadAfter({ box, through, category }: OfCategory): Write<number> {
  const { user, read_through, read_version } = box
  const mark = yield* get<{ through: number | null }>`
    select max(through_seq) as through from category_read_mark where user_id = ${user} and category = ${category}`
  const covered = Math.max(through, read_through, mark?.through ?? 0)
  const found = yield* get<Found>`
    select count(*) as count from notification ${byCategory}
    where user_id = ${user} and category = ${category} and seq > ${covered} and read_at is null`
  if (covered === through) return found?.count ?? 0
  const marked = yield* get<Found>`
    select count(*) as count from notification n
    where n.user_id = ${user} and n.unread_version > 0 and n.category = ${category} and n.seq + 0 > ${through}
      and n.seq + 0 <= ${covered} and (n.seq > ${read_through} or n.unread_version >= ${read_version}) and ${isUncovered}`
  return (found?.count ?? 0) + (marked?.count ?? 0)
}

function* seqOf(user: UserKey, id: string): Write<number | undefined> {
  const found = yield* get<{ seq: number }>`
    select seq from notification ${byId}
    where substr(id, 1, 13) = ${startOf(id)} and id = ${id} and user_id = ${user}`
  return found?.seq
}

// Reads only what lies after that: nothing after the last sequence number, and little after what a client has shown.
function* countAbove({ user, last_seq }: Box, after: number): Write<number> {
  if (after === last_seq) return 0
  const found = yield* get<Found>`
    select count(*) as count from notification n
    where n.user_id = ${user} and n.seq > ${after} and n.read_at is null and ${isUncovered}`
  return found?.count ?? 0
}

/**
 * How many up to the high-water mark were marked as unread and have a higher sequence number. Not by seq: an engine would take the
 * primary key, and pass over all notifications.
 */
function* countMarked({ box, after }: { box: Box; after: number }): Write<number> {
  if (box.marked_unread === 0) return 0
  const found = yield* get<Found>`
    select count(*) as count from notification n
    where n.user_id = ${box.user} and n.unread_version >= ${box.read_version} and n.seq + 0 > ${after}
      and n.seq + 0 <= ${box.read_through} and ${isUncovered}`
  return found?.count ?? 0
}

/** Without this the new read-all would make them read: their versions are lower than its own. */
function* keepMarked({ box, after }: { box: Box; after: number }): Write<void> {
  yield* send`
    update notification as n set unread_version = ${box.version + 1}
    where n.user_id = ${box.user} and n.unread_version >= ${box.read_version} and n.seq + 0 > ${after}
      and n.seq + 0 <= ${box.read_through} and ${isUncovered}`
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
function* lowerCategories({ box, through }: { box: Box; through: number }): Write<void> {
  const { user } = box
  yield* send`update inbox_category set made = 0 where user_id = ${user} and made > 0`
  yield* send`
    update inbox_category set unread = unread - found.count, made = found.count
    from (
      select n.category, count(*) as count from notification n
      where n.user_id = ${user} and n.unread_version >= ${box.read_version} and n.seq + 0 <= ${through}
        and n.category is not null and ${isUncovered}
      group by n.category
    ) as found
    where user_id = ${user} and inbox_category.category = found.category`
}

/**
 * Takes back the last read-all that changed something, until ten minutes after it: what it made read is unread again, except
 * what was marked as read or unread or sent again since. What arrived since stays as it is. Repeating the call changes nothing.
 * Returns 'nothing' if there was no read-all, or the last one is too old. The cost does not depend on how many were made read.
 */
export function* undoReadAll({ userId, at }: UndoReadAll): Write<'done' | 'nothing'> {
  const user = userKey(userId)
  const inbox = yield* lock<{ undo_version: number | null; reset_version: number }>`
    select undo_version, reset_version from inbox where user_id = ${user}`
  if (inbox === undefined) return 'nothing'
  if (inbox.undo_version === null) return inbox.reset_version === 0 ? 'nothing' : 'done'
  const mark = yield* get<
    Pick<Box, 'read_through' | 'read_version'> & { made_read: number; categories: string | null }
  >`
    delete from read_mark
    where user_id = ${user} and version = ${inbox.undo_version} and at >= ${iso(at - undoableFor)}
    returning before_through as read_through, before_version as read_version, made_read, categories`
  if (mark === undefined) return 'nothing'
  if (mark.categories !== null)
    yield* send`
      delete from category_read_mark
      where user_id = ${user} and version = ${inbox.undo_version} and category ${inList(JSON.parse(mark.categories))}`
  const marked = yield* get<Found>`
    select count(*) as count from notification n
    where n.user_id = ${user} and n.unread_version >= ${mark.read_version} and n.seq + 0 <= ${mark.read_through}
      and ${isUncovered}`
  yield* send`
    update inbox set version = version + 1, read_through = ${mark.read_through}, read_version = ${mark.read_version},
      unread = unread + ${mark.made_read}, marked_unread = ${marked?.count ?? 0},
      undo_version = null, reset_version = version + 1
    where user_id = ${user}`
  yield* send`
    update inbox_category set unread = unread + made, made = 0 where user_id = ${user} and made > 0`
  yield* signal({ about: 'inbox', userId })
  return 'done'
}

// What every write has to know about a notification: whether it is unread, and whether an undo would make it unread (decision 0030).

/** A notification, with the columns of its inbox that say whether it is unread. */
export type ReadState = {
  user: UserKey
  seq: number
  category: string | null
  read_at: string | null
  unread_version: number | null
  version: number
  read_through: number
  read_version: number
  undo_version: number | null
  category_through: number
}

/** Of the notification `n` and its inbox `i`. */
export const readState =
  new Part(`n.seq, n.category, n.read_at, n.unread_version, i.version, i.read_through, i.read_version,
  i.undo_version, i.category_through`)

/** No read-all of its category covers the notification `n`, or it was marked as unread since. */
export const isUncovered = new Part(`not exists (select 1 from category_read_mark m where ${coversSql('n.user_id')})`)

export function* isUnreadNow(found: ReadState): Write<boolean> {
  const { seq, read_at, unread_version, read_through, read_version } = found
  const isAbove = seq > read_through || (unread_version ?? -1) >= read_version
  return read_at === null && isAbove && !(yield* isCoveredByCategory(found))
}

/** Whether a read-all of its category covers it, other than the one at the version `except`. */
function* isCoveredByCategory(found: ReadState, except = -1): Write<boolean> {
  const { user, category, seq, unread_version, category_through } = found
  if (category === null || seq > category_through) return false
  const mark = yield* get`
    select 1 as is_there from category_read_mark
    where user_id = ${user} and category = ${category} and through_seq >= ${seq}
      and version > ${unread_version ?? -1} and version <> ${except} limit 1`
  return mark !== undefined
}

type Mark = { version: number; through_seq: number; at: string; before_through: number; before_version: number } & {
  categories: string | null
}

/** The time of the last read-all, if an undo would make this notification unread. */
export function* readByLastReadAll(found: ReadState): Write<string | undefined> {
  const { user, seq, read_at, unread_version, undo_version } = found
  if (undo_version === null || read_at !== null) return undefined
  const mark = yield* get<Mark>`
    select version, through_seq, at, before_through, before_version, categories from read_mark
    where user_id = ${user} and version = ${undo_version}`
  if (mark === undefined || (yield* isCoveredByCategory(found, undo_version))) return undefined
  const isCovered =
    mark.categories === null
      ? seq <= mark.through_seq && (unread_version ?? 0) < undo_version
      : yield* isCoveredByCategory(found)
  const wasUnread = seq > mark.before_through || (unread_version ?? -1) >= mark.before_version
  return isCovered && wasUnread ? mark.at : undefined
}

/** From now on an undo leaves this notification, which `readByLastReadAll` found, as it is. */
export function* leaveUndo({ user, undo_version, category }: ReadState): Write<void> {
  yield* send`
    update read_mark set made_read = made_read - 1 where user_id = ${user} and version = ${undo_version}`
  yield* countMadeRead({ user, category, more: -1 })
}

/** The notification is about to move to another category, whose read-alls are others: its read state becomes its own. */
export function* keepReadState(found: ReadState): Write<void> {
  const { user, seq, category, read_at, unread_version, version } = found
  if (read_at !== null) return
  const marked = unread_version ?? -1
  if (yield* isUnreadNow(found)) {
    yield* send`update notification set unread_version = ${version + 1} where user_id = ${user} and seq = ${seq}`
    return
  }
  if ((yield* readByLastReadAll(found)) !== undefined) yield* leaveUndo(found)
  const mark = yield* get<{ at: string }>`
    select at from (
      select version, at from read_mark
      where user_id = ${user} and through_seq >= ${seq} and version > ${marked}
      union all
      select version, at from category_read_mark
      where user_id = ${user} and category = ${category} and through_seq >= ${seq} and version > ${marked}
    ) as mark order by version limit 1`
  yield* send`
    update notification set unread_version = null, read_at = ${mark?.at ?? null}
    where user_id = ${user} and seq = ${seq}`
}

export function* countMadeRead({ user, category, more }: Count): Write<void> {
  if (category === null) return
  yield* send`
    update inbox_category set made = made + ${more} where user_id = ${user} and category = ${category}`
}
