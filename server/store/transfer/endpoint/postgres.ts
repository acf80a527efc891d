// A PostgreSQL database as an endpoint of a transfer. Uses one connection, so that all statements of a snapshot or a transaction
// run on it.
import { setTimeout as sleep } from 'node:timers/promises'
import { CarillonError } from '../../../errors.ts'
import { asStoreError } from '../../postgres/connection/connection.ts'
import { openCheckedPool, openingFailure } from '../../postgres/connection/opening.ts'
import { appliedMigrations, migrate } from '../../postgres/schema/migrate.ts'
import { fillingTable, movingTable, refusedWrite, refusedWriteState } from '../../transfer-state.ts'
import {
  type Batch,
  type Counts,
  callFailure,
  columnsOf,
  countAll,
  type Endpoint,
  endpointFailure,
  type Filling,
  inUse,
  keyColumnsOf,
  type Move,
  type Place,
  type Row,
  readBatches,
  rowsInBatch,
} from './endpoint.ts'
import { type Table, tables } from './tables.ts'

type Pool = Awaited<ReturnType<typeof openCheckedPool>>
type Client = {
  query(query: { text: string; values: unknown[]; rowMode?: 'array' }): Promise<{ rows: Record<string, unknown>[] }>
  release(isBroken: boolean): void
}

/** How an error of one of two databases names the URL. */
const itsUrl = 'its URL'
/** Counting many rows is slow. */
const slowTimeoutMs = 3_600_000
/** The ledger of migrations is among them: a newer program must not migrate a database that is being moved. */
const guarded = [...tables.map(({ name }) => `"${name}"`), 'kysely_migration']
const guard = 'carillon_moving'
/** Shorter than the server's deadlock_timeout: in a deadlock the move is cancelled, never a write of the service. */
const lockWithinMs = 500
const lockAttempts = 60
const notNow = new Set(['55P03' /* lock_timeout */, '40P01' /* deadlock */])
const types = { text: 'text', integer: 'bigint' } as const

export class PostgresEndpoint implements Endpoint {
  readonly engine = 'postgres'
  readonly #pool: Pool
  readonly #client: Client
  readonly #partitions: number
  readonly #name: string

  private constructor(opened: { pool: Pool; client: Client; partitions: number; name: string }) {
    this.#pool = opened.pool
    this.#client = opened.client
    this.#partitions = opened.partitions
    this.#name = opened.name
  }

  /**
   * `partitions` matters only if there is no schema yet; every error contains `name`. Throws UNAVAILABLE if the server or the
   * database cannot be used.
   */
  static async open(
    url: string,
    { partitions, name }: { partitions: number; name: string },
  ): Promise<PostgresEndpoint> {
    let pool: Pool | undefined
    try {
      pool = await openCheckedPool(url, { timeoutMs: slowTimeoutMs })
      const client = await pool.connect()
      return new PostgresEndpoint({ pool, client, partitions, name })
    } catch (error) {
      await pool?.end()
      throw endpointFailure(openingFailure(error, itsUrl), name)
    }
  }

  migrations(): Promise<string[]> {
    return appliedMigrations(this.#pool).catch((error: unknown) => {
      throw this.#failure(error)
    })
  }

  async migrate(): Promise<void> {
    try {
      await migrate(this.#pool, { partitions: this.#partitions })
    } catch (error) {
      throw endpointFailure(openingFailure(error, itsUrl), this.#name)
    }
  }

  async snapshot<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.#queryNamed('begin isolation level repeatable read read only')
    try {
      return await work()
    } finally {
      await this.#query('rollback').catch(() => {})
    }
  }

  batchesAfter(place: Place | null): AsyncIterable<Batch> {
    return readBatches((table, after) => this.#read(table, after), place)
  }

  async #read(table: Table, after: Row | null): Promise<Row[]> {
    const key = keyColumnsOf(table).join(', ')
    const behind = after === null ? '' : `where (${key}) > (${after.map((_, i) => `$${i + 1}`).join(', ')})`
    const columns = columnsOf(table).join(', ')
    const text = `select ${columns} from "${table.name}" ${behind} order by ${key} limit ${rowsInBatch}`
    return (await this.#queryNamed(text, after ?? [], 'array')) as unknown as Row[]
  }

  counts(): Promise<Counts> {
    return countAll(async ({ name }) => Number((await this.#queryNamed(`select count(*) as n from "${name}"`))[0]?.n))
  }

  async move(): Promise<Move | null> {
    if (!(await this.#has(movingTable))) return null
    const [row] = await this.#queryNamed(`select id, target, started_at, ended_at from ${movingTable}`)
    if (row === undefined) return null
    return {
      id: String(row.id),
      target: String(row.target),
      startedAt: Number(row.started_at),
      endedAt: row.ended_at === null ? null : Number(row.ended_at),
    }
  }

  refuseWrites({ id, target, startedAt }: Move): Promise<void> {
    return this.#withAllLocked(async () => {
      if (await this.#has(movingTable)) throw inUse()
      await this.#query(
        `create table ${movingTable} (
          id text not null, target text not null, started_at bigint not null, ended_at bigint
        )`,
      )
      await this.#query(`insert into ${movingTable} values ($1, $2, $3, null)`, [id, target, startedAt])
      await this.#query(
        `create function ${guard}() returns trigger language plpgsql as $$
        begin raise exception using errcode = '${refusedWriteState}', message = '${refusedWrite}'; end $$`,
      )
      // For each row, as in SQLite: a statement that changes no row is allowed.
      for (const table of guarded)
        await this.#query(
          `create trigger ${guard} before insert or update or delete on ${table}
          for each row execute function ${guard}();
          create trigger ${guard}_all before truncate on ${table}
          for each statement execute function ${guard}()`,
        )
    })
  }

  async endMove({ id, at }: { id: string; at: number }): Promise<boolean> {
    if (!(await this.#has(movingTable))) return false
    return (
      (await this.#queryNamed(`update ${movingTable} set ended_at = $1 where id = $2 returning id`, [at, id]))
        .length === 1
    )
  }

  allowWrites(): Promise<void> {
    return this.#withAllLocked(async () => {
      for (const table of guarded)
        await this.#query(
          `drop trigger if exists ${guard} on ${table}; drop trigger if exists ${guard}_all on ${table}`,
        )
      await this.#query(`drop function if exists ${guard}`)
      await this.#query(`drop table if exists ${movingTable}`)
    })
  }

  async filling(): Promise<Filling | null> {
    if (!(await this.#has(fillingTable))) return null
    const [row] = await this.#queryNamed(`select id, place from ${fillingTable}`)
    return row === undefined ? null : { id: String(row.id), place: JSON.parse(String(row.place)) }
  }

  beginFilling(id: string): Promise<void> {
    return this.#inTransaction(async () => {
      await this.#query('lock table kysely_migration in share row exclusive mode')
      if (await this.#has(fillingTable)) throw inUse()
      await this.#query(`create table ${fillingTable} (id text not null, place text not null)`)
      await this.#query(`insert into ${fillingTable} values ($1, 'null')`, [id])
    })
  }

  add(
    { table, rows }: Batch,
    { id, before, after }: { id: string; before: Place | null; after: Place },
  ): Promise<boolean> {
    return this.#inTransaction(async () => {
      const moveOn = `update ${fillingTable} set place = $1 where id = $2 and place = $3 returning id`
      const moved = await this.#query(moveOn, [JSON.stringify(after), id, JSON.stringify(before)])
      if (moved.length !== 1) return false
      const columns = Object.entries(table.columns)
      const lists = columns.map(([, type], i) => `$${i + 1}::${types[type]}[]`).join(', ')
      await this.#query(
        `insert into "${table.name}" (${columnsOf(table).join(', ')}) select * from unnest(${lists})`,
        columns.map((_, i) => rows.map((row) => row[i] ?? null)),
      )
      return true
    })
  }

  async endFilling(): Promise<void> {
    await this.#queryNamed(`drop table if exists ${fillingTable}`)
  }

  async close(): Promise<void> {
    this.#client.release(true)
    await this.#pool.end()
  }

  /** As `#query`, but names the database in the error. */
  async #queryNamed(
    text: string,
    values: readonly unknown[] = [],
    rowMode?: 'array',
  ): Promise<Record<string, unknown>[]> {
    try {
      return await this.#query(text, values, rowMode)
    } catch (error) {
      throw this.#failure(error)
    }
  }

  async #query(text: string, values: readonly unknown[] = [], rowMode?: 'array'): Promise<Record<string, unknown>[]> {
    const query = { text, values: [...values], ...(rowMode && { rowMode }) }
    return (await this.#client.query(query)).rows
  }

  async #has(table: string): Promise<boolean> {
    return (await this.#queryNamed('select to_regclass($1) is not null as is_there', [table]))[0]?.is_there === true
  }

  /** Runs `work` in a transaction. */
  async #inTransaction<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      await this.#query('begin')
      const result = await work()
      await this.#query('commit')
      return result
    } catch (error) {
      await this.#query('rollback').catch(() => {})
      throw this.#failure(error)
    }
  }

  /** Waits for the writes in progress, and blocks new ones until the commit. Does not block readers. */
  async #withAllLocked(work: () => Promise<void>): Promise<void> {
    for (let attempt = 1; attempt <= lockAttempts; attempt++) {
      try {
        await this.#query('begin')
        await this.#query(`set local lock_timeout = ${lockWithinMs}`)
        await this.#query(`lock table ${guarded.join(', ')} in share row exclusive mode`)
        await work()
        await this.#query('commit')
        return
      } catch (error) {
        await this.#query('rollback').catch(() => {})
        if (!notNow.has(String((error as { code?: unknown }).code))) throw this.#failure(error)
      }
      await sleep(100)
    }
    throw new CarillonError('UNAVAILABLE', `A write in ${this.#name} has been in progress for half a minute`, {
      remedy: 'End it, and run the same command again.',
    })
  }

  #failure(error: unknown): CarillonError {
    return callFailure(asStoreError(error), this.#name)
  }
}
