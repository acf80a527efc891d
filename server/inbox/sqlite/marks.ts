// Marks notifications as read or unread. Each write runs in the writer thread's transaction; each change raises the version by 1.

import { iso } from '../../basics/times.ts'
import type { WriteContext } from '../../store/sqlite/context.ts'
import { type UserKey, userKey } from '../../store/sqlite/user-key.ts'
import { type MarkAllRead, type MarkRead, type OneNotification, type UndoReadAll, undoableFor } from '../inbox-state.ts'
import { isMarkedUnread, isUnreadNow, leaveUndo, type ReadState, readByLastReadAll } from './undoable.ts'

type Sql = WriteContext['sql']

function findOne(sql: Sql, userId: string, id: string): ReadState | undefined {
  return sql.get`
    select n.user_id, n.seq, n.category, n.read_at, n.unread_version, i.read_through, i.read_version, i.undo_version,
      i.category_through
    from notification n indexed by notification_by_id join inbox i on i.user_id = n.user_id
    where substr(n.id, 1, 13) = substr(${id}, 1, 13) and n.id = ${id}
      and n.user_id = ${userKey(userId)}` as ReadState | undefined
}

export function markRead({ sql, signal }: WriteContext, { userId, id, at }: MarkRead): 'done' | 'absent' {
  const found = findOne(sql, userId, id)
  if (found === undefined) return 'absent'
  if (!isUnreadNow(sql, found)) {
    keepRead(sql, found)
    return 'done'
  }
  const { user_id: user, seq, category } = found
  const inbox = sql.get`
    update inbox set version = version + 1, unread = unread - 1,
      marked_unread = marked_unread - ${isMarkedUnread(sql, found) ? 1 : 0}
    where user_id = ${user} returning version`
  sql.run`
    update notification set read_at = ${iso(at)}, unread_version = null, changed_version = ${inbox?.version as number}
    where user_id = ${user} and seq = ${seq}`
  countUnread(sql, { user, category, more: -1 })
  signal({ about: 'inbox', userId })
  return 'done'
}

/** An undo leaves it read. The difference is invisible until then, so this is no change. */
function keepRead(sql: Sql, found: ReadState): void {
  const readAt = readByLastReadAll(sql, found)
  if (readAt === undefined) return
  sql.run`
    update notification set read_at = ${readAt}, unread_version = null
    where user_id = ${found.user_id} and seq = ${found.seq}`
  leaveUndo(sql, found)
}

export function markUnread({ sql, signal }: WriteContext, { userId, id }: OneNotification): 'done' | 'absent' {
  const found = findOne(sql, userId, id)
  if (found === undefined) return 'absent'
  if (isUnreadNow(sql, found)) return 'done'
  if (readByLastReadAll(sql, found) !== undefined) leaveUndo(sql, found)
  const { user_id: user, seq, category } = found
  const inbox = sql.get`
    update inbox set version = version + 1, unread = unread + 1,
      marked_unread = marked_unread + ${seq <= found.read_through ? 1 : 0}
    where user_id = ${user} returning version`
  const version = inbox?.version as number
  sql.run`
    update notification set read_at = null, unread_version = ${version}, changed_version = ${version}
    where user_id = ${user} and seq = ${seq}`
  countUnread(sql, { user, category, more: 1 })
  signal({ about: 'inbox', userId })
  return 'done'
}

type Count = { user: UserKey; category: string | null; more: number }

function countUnread(sql: Sql, { user, category, more }: Count): void {
  if (category === null) return
  sql.run`update inbox_category set unread = unread + ${more} where user_id = ${user} and category = ${category}`
}

type Box = {
  user_id: UserKey
  version: number
  last_seq: number
  unread: number
  read_through: number
  read_version: number
  marked_unread: number
}

export function markAllRead({ sql, signal }: WriteContext, change: MarkAllRead): 'done' | 'absent' {
  const { userId, throughId, throughSeq = Number.POSITIVE_INFINITY, categories, at } = change
  const box = sql.get`
    select user_id, version, last_seq, unread, read_through, read_version, marked_unread from inbox
    where user_id = ${userKey(userId)}` as Box | undefined
  if (box === undefined) return throughId === null ? 'done' : 'absent'
  const user = box.user_id
  const through = throughId === null ? Math.min(box.last_seq, throughSeq) : seqOf(sql, user, throughId)
  if (through === undefined) return 'absent'
  const isChanged =
    categories === undefined
      ? markAll(sql, { box, through, at })
      : markCategories(sql, { box, through, at }, categories)
  if (isChanged) signal({ about: 'inbox', userId })
  return 'done'
}

type ReadAll = { box: Box; through: number; at: number }

/** False if nothing changed. */
function markAll(sql: Sql, { box, through, at }: ReadAll): boolean {
  const user = box.user_id
  const isRaised = through > box.read_through
  const stillMarked = isRaised ? 0 : countMarked(sql, { box, after: through })
  const stillUnread = isRaised ? countAbove(sql, user, through) : box.unread - box.marked_unread + stillMarked
  if (stillUnread === box.unread) return false
  const changed = sql.get`
    update inbox set version = version + 1, read_through = max(read_through, ${through}), read_version = version + 1,
      unread = ${stillUnread}, marked_unread = ${stillMarked}, undo_version = version + 1
    where user_id = ${user} returning version`
  const version = changed?.version as number
  sql.run`
    insert into read_mark (user_id, version, through_seq, at, before_through, before_version, made_read)
    values (${user}, ${version}, ${through}, ${iso(at)}, ${box.read_through}, ${box.read_version},
      ${box.unread - stillUnread})`
  if (isRaised) recountCategories(sql, user, { after: through, stillUnread })
  else lowerCategories(sql, { box, through })
  if (stillMarked > 0) keepMarked(sql, { box, after: through, version })
  return true
}

/** A row for each category that changes, whatever the number of notifications. The high-water mark of the inbox stays. */
function markCategories(sql: Sql, { box, through, at }: ReadAll, categories: readonly string[]): boolean {
  const user = box.user_id
  const version = box.version + 1
  const madeRead = new Map<string, number>()
  for (const category of categories) {
    const found = sql.get`select unread from inbox_category where user_id = ${user} and category = ${category}`
    const made = Number(found?.unread ?? 0) && Number(found?.unread) - countUnreadAfter(sql, { box, through, category })
    if (made > 0) madeRead.set(category, made)
  }
  if (madeRead.size === 0) return false
  sql.run`update inbox_category set made_read = 0 where user_id = ${user} and made_read > 0`
  for (const [category, made] of madeRead) {
    sql.run`
      insert into category_read_mark (user_id, category, through_seq, version, at)
      values (${user}, ${category}, ${through}, ${version}, ${iso(at)})`
    sql.run`
      update inbox_category set unread = unread - ${made}, made_read = ${made}
      where user_id = ${user} and category = ${category}`
  }
  const made = madeRead.values().reduce((sum, one) => sum + one, 0)
  sql.run`
    update inbox set version = ${version}, unread = unread - ${made}, undo_version = ${version},
      category_through = max(category_through, ${through}), marked_unread = ${countMarked(sql, { box, after: 0 })}
    where user_id = ${user}`
  // A through_seq of 0 covers nothing: the read-alls of everything are found by this column.
  sql.run`
    insert into read_mark (user_id, version, through_seq, at, before_through, before_version, made_read, categories)
    values (${user}, ${version}, 0, ${iso(at)}, ${box.read_through}, ${box.read_version}, ${made},
      ${JSON.stringify([...madeRead.keys()])})`
  return true
}

type OfCategory = { box: Box; through: number; category: string }

/** Few notifications of the category were marked as unread. The other unread ones lie above everything that a read-all covered. */
function countUnreadAfter(sql: Sql, { box, through, category }: OfCategory): number {
  const { user_id: user, read_through, read_version } = box
  const mark = sql.get`
    select max(through_seq) as through from category_read_mark where user_id = ${user} and category = ${category}`
  const covered = Math.max(through, read_through, Number(mark?.through ?? 0))
  const found = sql.get`
    select count(*) as count from notification indexed by notification_unread_by_category
    where user_id = ${user} and category = ${category} and seq > ${covered} and read_at is null`
  if (covered === through) return Number(found?.count)
  const marked = sql.get`
    select count(*) as count from uncovered_notification
    where user_id = ${user} and unread_version > 0 and category = ${category} and seq > ${through}
      and seq <= ${covered} and (seq > ${read_through} or unread_version >= ${read_version})`
  return Number(found?.count) + Number(marked?.count)
}

function seqOf(sql: Sql, user: UserKey, id: string): number | undefined {
  const found = sql.get`
    select seq from notification indexed by notification_by_id
    where substr(id, 1, 13) = substr(${id}, 1, 13) and id = ${id} and user_id = ${user}`
  return found?.seq as number | undefined
}

// Reads only what lies after that: nothing after the last sequence number, and little after what a client has shown.
function countAbove(sql: Sql, user: UserKey, after: number): number {
  return sql.get`
    select count(*) as count from uncovered_notification where user_id = ${user} and seq > ${after} and read_at is null`
    ?.count as number
}

/** How many up to the high-water mark were marked as unread and have a higher sequence number. */
function countMarked(sql: Sql, { box, after }: { box: Box; after: number }): number {
  if (box.marked_unread === 0) return 0
  return sql.get`
    select count(*) as count from uncovered_notification
    where user_id = ${box.user_id} and unread_version >= ${box.read_version} and seq > ${after}
      and seq <= ${box.read_through}`?.count as number
}

/** Without this the new read-all would make them read: their versions are lower than its own. */
function keepMarked(sql: Sql, kept: { box: Box; after: number; version: number }): void {
  const { box, after, version } = kept
  sql.run`
    update notification set unread_version = ${version}
    where user_id = ${box.user_id} and seq in (
      select seq from uncovered_notification
      where user_id = ${box.user_id} and unread_version >= ${box.read_version} and seq > ${after}
        and seq <= ${box.read_through}
    )`
}

type Rest = { after: number; stillUnread: number }

function recountCategories(sql: Sql, user: UserKey, { after, stillUnread }: Rest): void {
  sql.run`
    update inbox_category set made_read = unread, unread = 0
    where user_id = ${user} and (unread > 0 or made_read > 0)`
  if (stillUnread === 0) return
  sql.run`
    update inbox_category set unread = found.count, made_read = made_read - found.count
    from (
      select i.category, count(*) as count
      from inbox_category i join uncovered_notification n
        on n.user_id = i.user_id and n.category = i.category and n.seq > ${after} and n.read_at is null
      where i.user_id = ${user} and i.made_read > 0 group by i.category
    ) found
    where user_id = ${user} and inbox_category.category = found.category`
}

/** If the high-water mark stays, only notifications that were marked as unread became read. */
function lowerCategories(sql: Sql, { box, through }: { box: Box; through: number }): void {
  const { user_id: user } = box
  sql.run`update inbox_category set made_read = 0 where user_id = ${user} and made_read > 0`
  sql.run`
    update inbox_category set unread = unread - found.count, made_read = found.count
    from (
      select category, count(*) as count from uncovered_notification
      where user_id = ${user} and unread_version >= ${box.read_version} and seq <= ${through}
        and category is not null group by category
    ) found
    where user_id = ${user} and inbox_category.category = found.category`
}

export function undoReadAll({ sql, signal }: WriteContext, { userId, at }: UndoReadAll): 'done' | 'nothing' {
  const inbox = sql.get`
    select undo_version, reset_version from inbox
    where user_id = ${userKey(userId)}`
  if (inbox === undefined) return 'nothing'
  const user = userKey(userId)
  if (inbox.undo_version === null) return inbox.reset_version === 0 ? 'nothing' : 'done'
  const mark = sql.get`
    delete from read_mark
    where user_id = ${user} and version = ${inbox.undo_version as number} and at >= ${iso(at - undoableFor)}
    returning before_through, before_version, made_read, categories`
  if (mark === undefined) return 'nothing'
  const { before_through, before_version, made_read } = mark as Record<string, number>
  if (mark.categories !== null)
    sql.run`
      delete from category_read_mark
      where user_id = ${user} and version = ${inbox.undo_version as number}
        and category in (select value from json_each(${mark.categories as string}))`
  sql.run`
    update inbox set version = version + 1, read_through = ${before_through as number},
      read_version = ${before_version as number}, unread = unread + ${made_read as number},
      marked_unread = (
        select count(*) from uncovered_notification n
        where n.user_id = ${user} and n.unread_version >= ${before_version as number}
          and n.seq <= ${before_through as number}
      ),
      undo_version = null, reset_version = version + 1
    where user_id = ${user}`
  sql.run`
    update inbox_category set unread = unread + made_read, made_read = 0 where user_id = ${user} and made_read > 0`
  signal({ about: 'inbox', userId })
  return 'done'
}
