// Moves the rows of a database from before migration 0006 into the tables of now (decision 0054): a few thousand rows in each
// transaction, which also deletes them from their old table. So a process can be killed at any moment, the next start
// continues, and the file keeps its size, because the space of the deleted rows is used again.
import { setImmediate as turn } from 'node:timers/promises'
import { CarillonError } from '../../../errors.ts'
import { timeLength } from '../../notification-json.ts'
import { upgradeTable } from '../../transfer-state.ts'
import { toColumnsIfContent } from '../content.ts'
import { constraint, type Database, inWriteLock, resultCode } from '../database.ts'

/** Called after every transaction. `total` is the number of rows of all tables. */
export type UpgradeReport = (progress: { step: 'Moving' | 'Indexing'; done: number; total: number }) => void

const userColumns =
  'id, username, display_name, password_hash, created_at, disabled_at, credential_generation, external_id, issuer, locale, ' +
  'email, issued_generation, email_verified_at, device_generation, password_reported_at'
const inboxColumns =
  'version, first_seq, last_seq, total, unread, read_through, read_version, marked_unread, undo_version, reset_version'
const otherColumns =
  'version, category, key, read_at, changed_version, replaced_version, count, updated_at, unread_version'
const markColumns = 'version, through_seq, at, before_through, before_version, made_read'
// `number` is null without a user, `content` if it does not begin with a title and end with createdAt. Then the row is refused: both columns
// are `not null`.
const number = '(select number from user where id = o.user_id)'
const column = (name: 'content' | 'data') => `column_of_content(o.content, o.category, '${name}')`

/** In this order: the others need the numbers of the users. `moved` counts the rows in the table of now. */
const moves = [
  {
    table: 'user',
    key: 'id',
    insert: `user (${userColumns}) select ${userColumns}`,
    moved: 'user',
  },
  {
    table: 'inbox',
    key: 'user_id',
    insert: `inbox (user_number, category, ${inboxColumns}) select ${number}, '', ${inboxColumns}`,
    moved: "inbox where category = ''",
  },
  {
    table: 'inbox_category',
    key: 'user_id, category',
    insert: `inbox (user_number, category, total, unread, made_read) select ${number}, category, total, unread, made_read`,
    moved: "inbox where category <> ''",
  },
  {
    table: 'notification',
    key: 'user_id, seq',
    insert: `notification (user_number, seq, id, content, data, created_at, ${otherColumns})
      select ${number}, seq, id, ${column('content')}, ${column('data')}, substr(o.content, -${timeLength + 1}, ${timeLength}), ${otherColumns}`,
    moved: 'notification',
  },
  {
    table: 'read_mark',
    key: 'user_id, version',
    insert: `read_mark (user_number, ${markColumns}) select ${number}, ${markColumns}`,
    moved: 'read_mark',
  },
] as const
type Move = (typeof moves)[number]

/** Of one transaction. Its rows are fewer if they are large: the process reacts to signals between two of them. */
const targetMs = 100
const minRows = 100
const maxRows = 20_000

export function isHalfUpgraded(database: Database): boolean {
  return database.prepare('select 1 from sqlite_schema where name = ?').get(upgradeTable) !== undefined
}

/** Does nothing if all rows are moved. Throws UNAVAILABLE if a row cannot be moved; no row is ever lost. */
export async function moveRows(database: Database, report: UpgradeReport = () => {}): Promise<void> {
  database.function('column_of_content', (content, category, name) => {
    const columns = toColumnsIfContent({ content: String(content), category: category as string | null })
    return columns?.[name as 'content' | 'data'] ?? null
  })
  let rows = 1_000
  for (;;) {
    const startedAt = performance.now()
    const progress = inWriteLock(database, () => step(database, rows))
    if (progress === undefined) return
    report({ step: 'Moving', ...progress })
    if (progress.done === progress.total) report({ step: 'Indexing', ...progress })
    rows = Math.round(Math.min(maxRows, Math.max(minRows, (rows * targetMs) / (performance.now() - startedAt))))
    await turn()
  }
}

/** Moves at most `rows` rows, or ends the upgrade if none is left. Undefined if it has ended. */
function step(database: Database, rows: number): { done: number; total: number } | undefined {
  // Another process may have ended it since.
  if (!isHalfUpgraded(database)) return undefined
  let left = rows
  for (const move of moves) if (left > 0) left -= moveSome(database, move, left)
  if (left < rows) return progressIn(database)
  end(database)
  return undefined
}

function progressIn(database: Database): { done: number; total: number } {
  const found = database.prepare(`select sum(moved) as done, sum(total) as total from ${upgradeTable}`).get()
  return { done: Number(found?.done), total: Number(found?.total) }
}

/** In the transaction of the migration: another process that starts on a new file must not find it half upgraded. */
export function endUpgradeIfEmpty(database: Database): void {
  if (isHalfUpgraded(database) && progressIn(database).total === 0) end(database)
}

/** The first rows of the old table, in the order of its key. Returns how many. */
function moveSome(database: Database, { table, key, insert }: Move, rows: number): number {
  const lastOf = database.prepare(`select ${key} from old_${table} order by ${key} limit 1 offset ?`)
  lastOf.setReturnArrays(true)
  const last = lastOf.get(rows - 1) as unknown as string[] | undefined
  // Without a further row, all that are left: then the deletion drops whole pages.
  const these = last === undefined ? '' : `where (${key}) <= (${last.map(() => '?').join(', ')})`
  const values = last ?? []
  const added = changesOf(
    () => database.prepare(`insert into ${insert} from old_${table} o ${these} order by ${key}`).run(...values),
    table,
  )
  const removed = Number(database.prepare(`delete from old_${table} ${these}`).run(...values).changes)
  if (added !== removed) throw notMoved(table, `${added} rows were written and ${removed} deleted`)
  database.prepare(`update ${upgradeTable} set moved = moved + ? where name = ?`).run(added, table)
  return added
}

function changesOf(run: () => { changes: number | bigint }, table: string): number {
  try {
    return Number(run().changes)
  } catch (error) {
    throw resultCode(error) === constraint ? notMoved(table, (error as Error).message) : error
  }
}

/**
 * By the first 8 bytes of the id: its time and 12 more bits, which with the number of the user are nearly always unique. The row has the id
 * as text: a list would have to format bytes. Last, because rows come by users.
 */
export const createById =
  "create index if not exists notification_by_id on notification (unhex(substr(id, 1, 18), '-'), user_number)"

/** Creates the last index, counts once more what the tables of now hold, and drops the old ones. */
function end(database: Database): void {
  database.exec(createById)
  const totalOf = database.prepare(`select total from ${upgradeTable} where name = ?`)
  for (const { table, moved } of moves) {
    const [total, found] = [
      totalOf.get(table)?.total,
      database.prepare(`select count(*) as count from ${moved}`).get()?.count,
    ]
    if (total !== found) throw notMoved(table, `there are ${found} rows instead of ${total}`)
    database.exec(`drop table old_${table}`)
  }
  database.exec(`drop table ${upgradeTable}`)
}

function notMoved(table: string, why: string): CarillonError {
  return new CarillonError(
    'UNAVAILABLE',
    `The rows of ${table} cannot be moved to the tables of this version: ${why}`,
    {
      remedy: 'No row is lost. Restore the backup from before with the version before, and report this sentence.',
    },
  )
}
