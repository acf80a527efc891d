// One user's inbox on PostgreSQL: read its counters, pages and notifications, mark as read or unread. `$1` is always the user, so
// that each statement touches one partition. The writes are in functions/inbox.sql.

import { iso } from '../../basics/times.ts'
import type { Database } from '../../store/postgres/connection/connection.ts'
import { alone, briefly, type Read, type Row, type Together } from '../../store/postgres/connection/gathering.ts'
import {
  type Counts,
  emptyInbox,
  type InboxState,
  inboxWidth,
  type MarkAllRead,
  type MarkRead,
  type OneNotification,
  type Page,
  type PageQuery,
  toInbox,
  type UndoReadAll,
  undoableFor,
} from '../inbox-state.ts'
import { notificationTextByAnyMark, pageParameters, pageStatement, toPage, withInbox } from './pages.ts'

export async function readInbox(db: Database, userId: string): Promise<InboxState> {
  const text = `select version, first_seq, last_seq, total, unread, read_through, read_version, marked_unread, reset_version,
      category_through from inbox where user_id = $1`
  const row = await db.one('inbox', text, [userId])
  return row === undefined ? emptyInbox : toInbox(row)
}

export async function readPage(db: Database, query: PageQuery): Promise<Page | 'unchanged'> {
  const { userId, unlessVersion } = query
  // The version alone costs half as much as a page, and usually nothing has changed.
  if (unlessVersion !== undefined && (await readVersion(db, userId)) === unlessVersion) return 'unchanged'
  return db.byMarks(userId, async (hasCategoryMarks) => {
    const { name, text } = pageStatement(query, hasCategoryMarks)
    return toPage((await db.one(name, text, [userId, ...pageParameters(query)])) as Row)
  })
}

async function readVersion(db: Database, userId: string): Promise<number> {
  const row = await db.one('inboxVersion', 'select version from inbox where user_id = $1', [userId])
  return (row?.[0] as number | undefined) ?? 0
}

export async function readNotification(db: Database, of: OneNotification): Promise<string | undefined> {
  const text = `select ${notificationTextByAnyMark} from notification n where n.user_id = $1 and n.id = $2`
  return (await db.one('notification', text, [of.userId, of.id]))?.[0] as string | undefined
}

const countsText = `
  with ${withInbox}
  select box.*, coalesce((
    select json_object_agg(category, json_build_object('total', total, 'unread', unread) order by category)
    from inbox_category where user_id = $1 and total > 0
  ), '{}')::text
  from box`

export async function readCounts(db: Database, userId: string): Promise<Counts> {
  const row = (await db.one('counts', countsText, [userId])) as Row
  return { inbox: toInbox(row), categories: Object.assign(Object.create(null), JSON.parse(row[inboxWidth] as string)) }
}

export async function markRead(db: Database, change: MarkRead): Promise<'done' | 'absent'> {
  const { userId } = change
  const gathered = db.isDistributed ? alone : await db.together(readTogether, change)
  return signalInbox(db, userId, gathered === alone ? await db.one(...markReadStatement(change)) : [gathered])
}

function markReadStatement({ userId, id, at }: MarkRead): Parameters<Read> {
  return ['markRead', 'select mark_read($1, $2, $3)', [userId, id, iso(at)]]
}

const readTogether: Together<MarkRead, string> = {
  async run(read, marks) {
    const [one, another] = marks
    if (one !== undefined && another === undefined)
      return [(await read(...briefly(markReadStatement(one))))[0]?.[1] as string]
    const values = [marks.map(({ userId }) => userId), marks.map(({ id }) => id), marks.map(({ at }) => iso(at))]
    const rows = await read('markReadTogether', 'select mark_read_together($1, $2, $3)', values)
    return rows[0]?.[0] as unknown as readonly string[]
  },
  weightOf: () => 1,
  keyOf: () => undefined,
}

export async function markAllRead(db: Database, change: MarkAllRead): Promise<'done' | 'absent'> {
  const { userId, throughId, throughSeq = null, categories, at } = change
  const values = [throughId, throughSeq, iso(at)]
  const row =
    categories === undefined
      ? await db.one('markAllRead', 'select mark_read_through($1, $2, $3, $4)', [userId, ...values])
      : await db.one('markCategoriesRead', 'select mark_categories_read($1, $2, $3, $4, $5)', [
          userId,
          categories,
          ...values,
        ])
  return signalInbox(db, userId, row)
}

export async function markUnread(db: Database, { userId, id }: OneNotification): Promise<'done' | 'absent'> {
  return signalInbox(db, userId, await db.one('markUnread', 'select mark_unread($1, $2)', [userId, id]))
}

export async function undoReadAll(db: Database, { userId, at }: UndoReadAll): Promise<'done' | 'nothing'> {
  const row = await db.one('undoReadAll', 'select undo_read_all($1, $2)', [userId, iso(at - undoableFor)])
  return signalInbox(db, userId, row)
}

/** The functions return 'done', 'unchanged', or why they did nothing. Only a change is signalled. */
function signalInbox<Reason extends string>(db: Database, userId: string, row: Row | undefined): 'done' | Reason {
  const outcome = row?.[0] as 'done' | 'unchanged' | Reason
  if (outcome === 'done') db.changeSignals.send({ about: 'inbox', userId })
  return outcome === 'unchanged' ? 'done' : outcome
}
