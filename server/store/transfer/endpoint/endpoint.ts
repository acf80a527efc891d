// A database of either engine as an endpoint of a transfer: its rows in the order of their keys, and the transfer state, which says who may
// write: a move that refuses writes, or a move or restore that fills the database.
import { resolve } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { CarillonError } from '../../../basics/errors.ts'
import { type Database, displayDatabase } from '../../../config/database-url.ts'
import { knownMigrations } from '../../migrations.ts'
import { fillingTable, halfFilled, type Move, movingTable } from '../../transfer-state.ts'
import { type Endpoint, keyOf, type Row, rowsInBatch, type Source, type Table, tableNames } from '../rows.ts'

/** They have the same names in both engines; a test checks this. */
const currentMigrations = knownMigrations(new URL('../../sqlite/schema/', import.meta.url))
export const newestMigration = currentMigrations.at(-1) ?? ''
const ledger = 'kysely_migration'
/** The tables that accept no writes during a move. With the ledger: a newer program must not migrate the database then. */
const guarded = [...tableNames, ledger]

/** Opens a database in any state; creates the file if SQLite has none. */
export async function openEndpoint(database: Database): Promise<Endpoint> {
  if (database.engine === 'postgres') {
    const { openPostgres } = await import('./postgres.ts')
    return openPostgres(database.url, displayDatabase(database))
  }
  const { openSqlite } = await import('./sqlite.ts')
  // Absolute, because SQLite does not take ':memory:' and 'file:' as the names of files.
  return openSqlite(resolve(database.path))
}

/** Throws UNAVAILABLE if the database has no schema, or another one than this program, or is half filled. */
export async function refuseUnusable(source: Endpoint): Promise<void> {
  if (!(await hasSchema(source)))
    throw new CarillonError('UNAVAILABLE', `There is no Carillon database at ${source.name}`)
  if ((await stateOf(source, fillingTable)) !== null) throw halfFilled()
}

async function hasTable(endpoint: Endpoint, name: string): Promise<boolean> {
  return (await endpoint.query(endpoint.catalogue)).some(([table]) => table === name)
}

/** False if the database has no schema yet. Throws UNAVAILABLE if it is not the one of this program. */
export async function hasSchema(endpoint: Endpoint): Promise<boolean> {
  if (!(await hasTable(endpoint, ledger))) return false
  const found = (await endpoint.query(`select name from ${ledger} order by name`)).map(([name]) => String(name))
  if (found.length === 0 || found.join() === currentMigrations.join()) return found.length > 0
  const problem = `${endpoint.name} has the schema ${found.at(-1)}, and this program has ${newestMigration}`
  const remedy = 'Bring an older one up to date with carillon migrate; for a newer one, run the version that wrote it.'
  throw new CarillonError('UNAVAILABLE', problem, { remedy })
}

/** No other write of the tables `locked` overlaps it. Does not block readers. */
async function transaction<T>(endpoint: Endpoint, work: () => Promise<T>, locked: string[] = []): Promise<T> {
  try {
    for (const text of endpoint.begin(locked)) await endpoint.query(text)
    const result = await work()
    await endpoint.query('commit')
    return result
  } catch (error) {
    await endpoint.query('rollback').catch(() => {})
    throw error
  }
}

/** The rows of a database that has this program's schema. They can be read several times. */
export async function sourceAt(endpoint: Endpoint): Promise<Source> {
  const found = await endpoint.query(endpoint.catalogue)
  const tables = tableNames.map((table) => {
    const [name, columns, key] = found.find((one) => one[0] === table) ?? [table, '[]', 0]
    return { name: String(name), columns: JSON.parse(String(columns)), key: Number(key) }
  })
  const counts = tableNames.map((name) => `(select count(*) from "${name}")`)
  const [row] = await endpoint.query(`select ${counts.join(' + ')}`)
  return { tables, total: Number(row?.[0]), rows: (table, after) => rowsOf(endpoint, table, after) }
}

async function* rowsOf(endpoint: Endpoint, table: Table, after: Row | null): AsyncGenerator<Row[]> {
  const keys = table.columns.slice(0, table.key)
  const key = keys.map((name, i) => endpoint.stored(`$${i + 1}`, { table, name })).join(', ')
  for (let last = after; ; ) {
    const where = last === null ? '' : `where (${keys.join(', ')}) > (${key})`
    const text = `select ${table.columns.join(', ')} from "${table.name}" ${where} order by ${keys.join(', ')} limit ${rowsInBatch}`
    const rows = await endpoint.query(text, last ?? [])
    // SQLite reads synchronously: without this, the process could not react to a signal before the end.
    await turn()
    yield rows
    if (rows.length < rowsInBatch) return
    last = keyOf(rows.at(-1), table)
  }
}

/** The key of the last row that a table has; null if it has none. */
export async function lastKey(endpoint: Endpoint, { name, columns, key }: Table): Promise<Row | null> {
  const keys = columns.slice(0, key)
  const order = keys.map((column) => `${column} desc`).join(', ')
  return (await endpoint.query(`select ${keys.join(', ')} from "${name}" order by ${order} limit 1`))[0] ?? null
}

/** What the table of a state says; null if the database is not in that state. */
export async function stateOf<State>(endpoint: Endpoint, table: string): Promise<State | null> {
  const [row] = (await hasTable(endpoint, table)) ? await endpoint.query(`select state from ${table}`) : []
  return row === undefined ? null : JSON.parse(String(row[0]))
}

/** Waits for the writes in progress. From then on the database refuses every write of every process. */
export function refuseWrites(endpoint: Endpoint, move: Move): Promise<void> {
  return change(endpoint, [...entering(movingTable, move), ...endpoint.guards(guarded)], guarded)
}

export function allowWrites(endpoint: Endpoint): Promise<void> {
  return change(endpoint, [...endpoint.unguards(guarded), `drop table ${movingTable}`], guarded)
}

export function beginFilling(endpoint: Endpoint, id: string): Promise<void> {
  return change(endpoint, [...entering(fillingTable, id), ...endpoint.fillingBegins], [ledger])
}

export function endFilling(endpoint: Endpoint): Promise<void> {
  return change(endpoint, [...endpoint.fillingEnds, `drop table ${fillingTable}`])
}

function entering(table: string, state: unknown): string[] {
  const text = JSON.stringify(state).replaceAll("'", "''")
  return [`create table ${table} (state text primary key)`, `insert into ${table} values ('${text}')`]
}

/** Runs the statements in one transaction. */
function change(endpoint: Endpoint, statements: readonly string[], locked?: string[]): Promise<void> {
  const work = async () => {
    for (const text of statements) await endpoint.query(text)
  }
  return transaction(endpoint, work, locked)
}

/** Records the end of a move; false if the database refuses writes for another move, or for none. */
export function endMove(endpoint: Endpoint, { id, at }: { id: string; at: number }): Promise<boolean> {
  return transaction(endpoint, async () => {
    const move = await stateOf<Move>(endpoint, movingTable)
    if (move?.id !== id) return false
    const state = JSON.stringify({ ...move, endedAt: at } satisfies Move)
    await endpoint.query(`update ${movingTable} set state = $1`, [state])
    return true
  })
}

type Batch = { table: Table; rows: readonly Row[]; last: Row | null }

/** Writes rows behind the row with the key `last`, and returns the new last key. Throws CONFLICT if another process fills the database. */
export function add(endpoint: Endpoint, id: string, { table, rows, last }: Batch): Promise<Row> {
  return transaction(endpoint, async () => {
    // Of two processes with the same id, the second waits here.
    const lock = `update ${fillingTable} set state = state where state = $1 returning state`
    const isMine = (await endpoint.query(lock, [JSON.stringify(id)])).length === 1
    if (!isMine || String(await lastKey(endpoint, table)) !== String(last))
      throw new CarillonError('CONFLICT', `Another process fills ${endpoint.name}`, {
        remedy: 'Wait until it is done.',
      })
    await endpoint.insert(table, rows)
    return keyOf(rows.at(-1), table)
  })
}
