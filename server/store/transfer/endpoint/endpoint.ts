import { resolve } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { conflict, unavailable } from '../../../basics/errors.ts'
import { type Database, displayDatabase } from '../../database.ts'
import { knownMigrations } from '../../migrations.ts'
import {
  fillingIn,
  fillingPrefix,
  type Maintenance,
  type Move,
  type Refusing,
  refuseIncomplete,
  tableOf,
} from '../../transfer-state.ts'
import {
  type Endpoint,
  ledger,
  type Row,
  rowsInBatch,
  type Source,
  type Table,
  tableNames,
} from '../rows.ts'

const currentMigrations = knownMigrations()
export const newestMigration = currentMigrations.at(-1) ?? ''

export async function openEndpoint(database: Database): Promise<Endpoint> {
  if (database.engine === 'postgres') {
    const { openPostgres } = await import('./postgres.ts')
    return openPostgres(database.url, displayDatabase(database))
  }
  const { openSqlite } = await import('./sqlite.ts')
  return openSqlite(resolve(database.path))
}

export async function refuseUnusable(source: Endpoint): Promise<void> {
  if (!(await hasSchema(source)))
    throw unavailable(`There is no Carillon database at ${source.name}`)
}

async function hasTable(endpoint: Endpoint, name: string): Promise<boolean> {
  return (await endpoint.query(endpoint.catalogue)).some(([table]) => table === name)
}

async function entriesOf(endpoint: Endpoint): Promise<string[]> {
  if (!(await hasTable(endpoint, ledger))) return []
  return (await endpoint.query(`select name from ${ledger} order by name`)).map(([name]) =>
    String(name),
  )
}

/** Throws UNAVAILABLE if the schema is another program's, or not completely filled. */
export async function hasSchema(endpoint: Endpoint): Promise<boolean> {
  const found = await entriesOf(endpoint)
  refuseIncomplete(found, endpoint.name)
  if (found.length === 0 || found.join() === currentMigrations.join()) return found.length > 0
  const problem = `${endpoint.name} has the schema ${found.at(-1)}, and this program has ${newestMigration}`
  const remedy =
    'Bring an older one up to date with carillon migrate; for a newer one, run the version that wrote it.'
  throw unavailable(problem, remedy)
}

export async function createTables(
  target: Endpoint,
  partitions: number,
  through?: string,
): Promise<void> {
  if ((await fillingOf(target)) === undefined && !(await hasSchema(target)))
    await target.migrate(partitions, through)
}

/** Does not block readers. */
export async function exclusively<T>(endpoint: Endpoint, work: () => Promise<T>): Promise<T> {
  try {
    for (const text of endpoint.begin) await endpoint.query(text)
    const result = await work()
    await endpoint.query('commit')
    return result
  } catch (error) {
    await endpoint.query('rollback').catch(() => {})
    throw error
  }
}

/** `names`: the tables of an older schema. */
export async function sourceAt(endpoint: Endpoint, names = tableNames): Promise<Source> {
  const found = await endpoint.query(endpoint.catalogue)
  const tables = names.map((table) => {
    const [name, columns, key] = found.find((one) => one[0] === table) ?? [table, '[]', 0]
    return { name: String(name), columns: JSON.parse(String(columns)), key: Number(key) }
  })
  // A name in a file is counted only if the database has it.
  const counts = tables.flatMap(({ name, key }) =>
    key === 0 ? [] : `(select count(*) from "${name}")`,
  )
  const [row] = await endpoint.query(`select ${['0', ...counts].join(' + ')}`)
  return { tables, total: Number(row?.[0]), rows: (table, after) => rowsOf(endpoint, table, after) }
}

async function* rowsOf(endpoint: Endpoint, table: Table, after?: Row): AsyncGenerator<Row[]> {
  const keys = table.columns.slice(0, table.key)
  const key = keys.map((name, i) => endpoint.stored(`$${i + 1}`, { table, name })).join(', ')
  for (let last = after; ; ) {
    const where = last === undefined ? '' : `where (${keys.join(', ')}) > (${key})`
    const text = `select ${table.columns.join(', ')} from "${table.name}" ${where} order by ${keys.join(', ')} limit ${rowsInBatch}`
    const rows = await endpoint.query(text, last ?? [])
    // SQLite reads synchronously: without this, signals would wait.
    await turn()
    yield rows
    if (rows.length < rowsInBatch) return
    last = rows.at(-1)?.slice(0, table.key)
  }
}

export async function lastKey(endpoint: Endpoint, table: Table): Promise<Row | undefined> {
  const keys = table.columns.slice(0, table.key)
  const order = keys.map((name) => `${name} desc`).join(', ')
  return (
    await endpoint.query(`select ${keys.join(', ')} from "${table.name}" order by ${order} limit 1`)
  )[0]
}

export async function fillingOf(endpoint: Endpoint) {
  return fillingIn(await entriesOf(endpoint))
}

export async function setFilling(endpoint: Endpoint, entry?: string): Promise<void> {
  await endpoint.query(`delete from ${ledger} where name like '${fillingPrefix}%'`)
  if (entry !== undefined) await endpoint.query(`insert into ${ledger} values ($1, '')`, [entry])
  if (endpoint.lateIndex !== undefined)
    await endpoint.query(entry === undefined ? endpoint.lateIndex.create : endpoint.lateIndex.drop)
}

export async function refuseLaterCall(endpoint: Endpoint, entry: string): Promise<void> {
  if ((await endpoint.query(`select name from ${ledger} where name = $1`, [entry])).length > 0)
    return
  throw conflict(`Another call fills ${endpoint.name} now`)
}

type States = { moving: Move; maintenance: Maintenance }

/** Null if it accepts writes. */
export async function stateOf<Kind extends Refusing>(
  endpoint: Endpoint,
  refusing: Kind,
): Promise<States[Kind] | null> {
  const table = tableOf(refusing)
  const [row] = (await hasTable(endpoint, table))
    ? await endpoint.query(`select state from ${table}`)
    : []
  return row === undefined ? null : JSON.parse(String(row[0]))
}

/** Waits for the writes in progress. */
export function refuseWrites<Kind extends Refusing>(
  endpoint: Endpoint,
  refusing: Kind,
  state: States[Kind],
): Promise<void> {
  const table = tableOf(refusing)
  return exclusively(endpoint, async () => {
    await endpoint.query(`create table ${table} (state text primary key)`)
    await endpoint.query(`insert into ${table} values ($1)`, [JSON.stringify(state)])
    for (const text of endpoint.guards(refusing)) await endpoint.query(text)
  })
}

export function allowWrites(endpoint: Endpoint, refusing: Refusing): Promise<void> {
  return exclusively(endpoint, async () => {
    for (const text of [...endpoint.unguards(refusing), `drop table ${tableOf(refusing)}`])
      await endpoint.query(text)
  })
}

export async function refuseGivenUp(endpoint: Endpoint, id: string): Promise<Move> {
  const move = await stateOf(endpoint, 'moving')
  if (move?.id === id) return move
  throw conflict('Another process has given up this move', 'Empty the new database.')
}

export function endMove(endpoint: Endpoint, { id, at }: { id: string; at: number }): Promise<void> {
  return exclusively(endpoint, async () => {
    const state = JSON.stringify({
      ...(await refuseGivenUp(endpoint, id)),
      endedAt: at,
    } satisfies Move)
    await endpoint.query(`update ${tableOf('moving')} set state = $1`, [state])
  })
}
