// A PostgreSQL database as an endpoint of a transfer. Uses one connection, so that all statements of a snapshot or a transaction
// run on it.
import type { CarillonError } from '../../../errors.ts'
import { asStoreError } from '../../postgres/connection/connection.ts'
import { openCheckedPool, openingFailure } from '../../postgres/connection/opening.ts'
import { migrate } from '../../postgres/schema/migrate.ts'
import { refusedWrite, refusedWriteState } from '../../transfer-state.ts'
import { callFailure, type Driver, Endpoint, endpointFailure } from './endpoint.ts'
import { type Batch, columnsOf, type Row, type Table, tables } from './tables.ts'

type Pool = Awaited<ReturnType<typeof openCheckedPool>>
type Client = {
  query(query: { text: string; values: unknown[]; rowMode: 'array' }): Promise<{ rows: Row[] }>
  release(isBroken: boolean): void
}

/** How an error of one of two databases names the URL. */
const itsUrl = 'its URL'
/** Counting many rows is slow. */
const slowTimeoutMs = 3_600_000
const guard = 'carillon_moving'
const guarded = [...tables.map(({ name }) => name), 'kysely_migration']
/** Shorter than the server's deadlock_timeout: in a deadlock the move is cancelled, never a write of the service. */
const lockWithinMs = 500
const lockTimeouts = new Set(['55P03' /* lock_timeout */, '40P01' /* deadlock */])
const types = { text: 'text', integer: 'bigint' } as const

class PostgresDriver implements Driver {
  readonly engine = 'postgres'
  readonly name: string
  readonly dialect = {
    integer: 'bigint',
    tableOptions: '',
    find: 'select 1 where to_regclass($1) is not null',
    begin: 'begin',
    snapshot: ['begin isolation level repeatable read read only'],
  } as const
  readonly guarded = guarded
  readonly fillingBegins = []
  readonly fillingEnds = []
  readonly #pool: Pool
  readonly #client: Client
  readonly #partitions: number

  constructor(opened: { pool: Pool; client: Client; partitions: number; name: string }) {
    this.#pool = opened.pool
    this.#client = opened.client
    this.#partitions = opened.partitions
    this.name = opened.name
  }

  async migrate(): Promise<void> {
    try {
      await migrate(this.#pool, { partitions: this.#partitions })
    } catch (error) {
      throw endpointFailure(openingFailure(error, itsUrl), this.name)
    }
  }

  async close(): Promise<void> {
    this.#client.release(true)
    await this.#pool.end()
  }

  async query(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.#client.query({ text, values: [...values], rowMode: 'array' })).rows
  }

  async rowsAfter(after: Row | null, table: Table, limit: number): Promise<Row[]> {
    const columns = columnsOf(table)
    const key = columns.slice(0, table.key).join(', ')
    const behind = after === null ? '' : `where (${key}) > (${after.map((_, i) => `$${i + 1}`).join(', ')})`
    const text = `select ${columns.join(', ')} from "${table.name}" ${behind} order by ${key} limit ${limit}`
    return this.query(text, after ?? [])
  }

  async count({ name }: Table): Promise<number> {
    return Number((await this.query(`select count(*) from "${name}"`))[0]?.[0])
  }

  async insert({ table, rows }: Batch): Promise<void> {
    const lists = Object.values(table.columns).map((type, i) => `$${i + 1}::${types[type]}[]`)
    await this.query(
      `insert into "${table.name}" (${columnsOf(table).join(', ')}) select * from unnest(${lists.join(', ')})`,
      lists.map((_, i) => rows.map((row) => row[i] ?? null)),
    )
  }

  guards(): string[] {
    const raise = `create function ${guard}() returns trigger language plpgsql as $$
      begin raise exception using errcode = '${refusedWriteState}', message = '${refusedWrite}'; end $$`
    // For each row, as in SQLite: a statement that changes no row is allowed.
    const triggers = guarded.map(
      (table) => `create trigger ${guard} before insert or update or delete on "${table}"
        for each row execute function ${guard}();
        create trigger ${guard}_all before truncate on "${table}"
        for each statement execute function ${guard}()`,
    )
    return [raise, ...triggers]
  }

  unguards(): string[] {
    const drop = (table: string) =>
      `drop trigger if exists ${guard} on "${table}"; drop trigger if exists ${guard}_all on "${table}"`
    return [...guarded.map(drop), `drop function if exists ${guard}`]
  }

  lock(locked: readonly string[]): string[] {
    const names = locked.map((table) => `"${table}"`).join(', ')
    return [`set local lock_timeout = ${lockWithinMs}`, `lock table ${names} in share row exclusive mode`]
  }

  isLockTimeout(error: unknown): boolean {
    return lockTimeouts.has(String((error as { code?: unknown }).code))
  }

  readFailure(error: unknown): CarillonError {
    return this.writeFailure(error)
  }

  writeFailure(error: unknown): CarillonError {
    return callFailure(asStoreError(error), this.name)
  }
}

/** `partitions` matters only without a schema. Throws UNAVAILABLE, with `name`, if the database cannot be used. */
export async function openPostgres(
  url: string,
  { partitions, name }: { partitions: number; name: string },
): Promise<Endpoint> {
  let pool: Pool | undefined
  try {
    pool = await openCheckedPool(url, { timeoutMs: slowTimeoutMs })
    const client = await pool.connect()
    return new Endpoint(new PostgresDriver({ pool, client, partitions, name }))
  } catch (error) {
    await pool?.end()
    throw endpointFailure(openingFailure(error, itsUrl), name)
  }
}
