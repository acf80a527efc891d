// The database of either engine that a transfer (backup, restore, move) reads or writes: the same tables of rows in the order of
// their keys, and the transfer state, which says who may write.
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { CarillonError } from '../../../errors.ts'
import { fillingTable, movingTable } from '../../transfer-state.ts'
import { type Batch, type Row, type Table, tables } from './tables.ts'

/** The progress of a filling: all earlier tables, and `rows` rows of `table`; `key` is the key of the last row. */
export type Place = { table: string; rows: number; key: Row }

export type Source = {
  /** All rows after a place, or all rows if it is null; the tables in the order of `tables`. */
  batchesAfter(place: Place | null): AsyncIterable<Batch>
  counts(): Promise<Counts>
}
export type Counts = Readonly<Record<string, number>>

/** A move, as recorded in the database that is moved. `target` is displayed to people. */
export type Move = { id: string; target: string; startedAt: number; endedAt: number | null }
export type Filling = { id: string; place: Place | null }
export type Engine = 'sqlite' | 'postgres'

/** What differs between the engines. */
export interface Driver {
  readonly engine: Engine
  /** For error messages. */
  readonly name: string
  /** The words in which the dialects differ. `find` finds a table by its name; the reads of `snapshot` see one moment. */
  readonly dialect: {
    integer: 'integer' | 'bigint'
    tableOptions: string
    find: string
    begin: string
    snapshot: readonly string[]
  }
  /** `text` has the placeholders $1, $2 ... in this order. The error is that of the database. */
  query(text: string, values?: Row): Promise<Row[]>
  /** The tables that accept no writes during a move. With the ledger: a newer program must not migrate the database then. */
  readonly guarded: readonly string[]
  /** The first `limit` rows behind a key, or all of them if it is null, in the order of the key. */
  rowsAfter(after: Row | null, table: Table, limit: number): Promise<Row[]>
  count(table: Table): Promise<number>
  insert(batch: Batch): Promise<void>
  /** Statements after `begin` that wait for the writes in progress and block new ones until the commit. */
  lock(tables: readonly string[]): string[]
  /** Whether a lock was not available in time, so that the transaction can be tried again. */
  isLockTimeout(error: unknown): boolean
  /** Statements before the first row of a filling, and after the last: an index that is cheaper to create at the end. */
  readonly fillingBegins: readonly string[]
  readonly fillingEnds: readonly string[]
  guards(): string[]
  unguards(): string[]
  readFailure(error: unknown): CarillonError
  writeFailure(error: unknown): CarillonError
  migrate(): Promise<void>
  close(): Promise<void>
}

const lockAttempts = 60

export class Endpoint implements Source {
  readonly #driver: Driver

  constructor(driver: Driver) {
    this.#driver = driver
  }

  get engine(): Engine {
    return this.#driver.engine
  }

  migrate(): Promise<void> {
    return this.#driver.migrate()
  }

  close(): Promise<void> {
    return this.#driver.close()
  }

  /** The names of the applied migrations; empty if there is no schema yet. */
  async migrations(): Promise<string[]> {
    if (!(await this.has('kysely_migration'))) return []
    return (await this.read('select name from kysely_migration order by name')).map(([name]) => String(name))
  }

  /** All reads of `work` see one moment, even if other processes write. */
  async snapshot<Result>(work: () => Promise<Result>): Promise<Result> {
    for (const text of this.#driver.dialect.snapshot) await this.read(text)
    try {
      return await work()
    } finally {
      await this.#driver.query('rollback').catch(() => {})
    }
  }

  async *batchesAfter(place: Place | null): AsyncGenerator<Batch> {
    const first = place === null ? 0 : tables.findIndex(({ name }) => name === place.table)
    for (const table of tables.slice(first)) {
      let after = place?.table === table.name ? place.key : null
      for (;;) {
        const rows = await this.#rowsAfter(after, table)
        // SQLite reads synchronously: without this, the process could not react to a signal before the end.
        await turn()
        if (rows.length > 0) yield { table, rows }
        if (rows.length < rowsInBatch) break
        after = rows.at(-1)?.slice(0, table.key) ?? null
      }
    }
  }

  async #rowsAfter(after: Row | null, table: Table): Promise<readonly Row[]> {
    return this.#reading(() => this.#driver.rowsAfter(after, table, rowsInBatch))
  }

  async counts(): Promise<Counts> {
    const counts: Record<string, number> = {}
    for (const table of tables) counts[table.name] = await this.#reading(() => this.#driver.count(table))
    return counts
  }

  /** The move that it refuses writes for; null if it accepts writes. */
  async move(): Promise<Move | null> {
    if (!(await this.has(movingTable))) return null
    const [row] = await this.read(`select id, target, started_at, ended_at from ${movingTable}`)
    if (row === undefined) return null
    const [id, target, startedAt, endedAt] = row as [string, string, number, number | null]
    return { id, target, startedAt, endedAt }
  }

  /** Waits for the writes in progress. From then on it refuses every write of every process. */
  refuseWrites({ id, target, startedAt }: Move): Promise<void> {
    const { integer, tableOptions } = this.#driver.dialect
    return this.#exclusively(this.#driver.guarded, async () => {
      if (await this.has(movingTable)) throw inUse()
      await this.#driver.query(
        `create table ${movingTable} (
          id text not null, target text not null, started_at ${integer} not null, ended_at ${integer}
        ) ${tableOptions}`,
      )
      await this.#driver.query(`insert into ${movingTable} values ($1, $2, $3, null)`, [id, target, startedAt])
      for (const text of this.#driver.guards()) await this.#driver.query(text)
    })
  }

  /** Records the end of a move; false if it refuses writes for another move, or for none. */
  async endMove({ id, at }: { id: string; at: number }): Promise<boolean> {
    if (!(await this.has(movingTable))) return false
    const end = `update ${movingTable} set ended_at = $1 where id = $2 returning id`
    return this.#atomically(async () => (await this.#driver.query(end, [at, id])).length === 1)
  }

  allowWrites(): Promise<void> {
    return this.#exclusively(this.#driver.guarded, async () => {
      for (const text of this.#driver.unguards()) await this.#driver.query(text)
      await this.#driver.query(`drop table if exists ${movingTable}`)
    })
  }

  async filling(): Promise<Filling | null> {
    if (!(await this.has(fillingTable))) return null
    const [row] = await this.read(`select id, place from ${fillingTable}`)
    return row === undefined ? null : { id: String(row[0]), place: JSON.parse(String(row[1])) }
  }

  beginFilling(id: string): Promise<void> {
    return this.#exclusively(['kysely_migration'], async () => {
      if (await this.has(fillingTable)) throw inUse()
      await this.#driver.query(
        `create table ${fillingTable} (id text not null, place text not null) ${this.#driver.dialect.tableOptions}`,
      )
      await this.#driver.query(`insert into ${fillingTable} values ($1, 'null')`, [id])
      for (const text of this.#driver.fillingBegins) await this.#driver.query(text)
    })
  }

  /** Writes the rows and the new place in one transaction; false if another process has changed the place. */
  add(batch: Batch, { id, before, after }: { id: string; before: Place | null; after: Place }): Promise<boolean> {
    return this.#atomically(async () => {
      const moveOn = `update ${fillingTable} set place = $1 where id = $2 and place = $3 returning id`
      const moved = await this.#driver.query(moveOn, [JSON.stringify(after), id, JSON.stringify(before)])
      if (moved.length !== 1) return false
      await this.#driver.insert(batch)
      return true
    })
  }

  async endFilling(): Promise<void> {
    await this.#atomically(async () => {
      for (const text of this.#driver.fillingEnds) await this.#driver.query(text)
      await this.#driver.query(`drop table if exists ${fillingTable}`)
    })
  }

  async has(table: string): Promise<boolean> {
    return (await this.read(this.#driver.dialect.find, [table])).length > 0
  }

  read(text: string, values: Row = []): Promise<Row[]> {
    return this.#reading(() => this.#driver.query(text, values))
  }

  async #reading<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      throw this.#driver.readFailure(error)
    }
  }

  /** A transaction that no other write of these tables overlaps. Does not block readers. */
  async #exclusively(locked: readonly string[], work: () => Promise<void>): Promise<void> {
    for (let attempt = 1; attempt <= lockAttempts; attempt++) {
      try {
        return await this.#transaction(async () => {
          for (const text of this.#driver.lock(locked)) await this.#driver.query(text)
          await work()
        })
      } catch (error) {
        if (!this.#driver.isLockTimeout(error)) throw this.#driver.writeFailure(error)
      }
      await sleep(100)
    }
    throw new CarillonError('UNAVAILABLE', `A write in ${this.#driver.name} has been in progress for half a minute`, {
      remedy: 'End it, and run the same command again.',
    })
  }

  async #atomically<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await this.#transaction(work)
    } catch (error) {
      throw this.#driver.writeFailure(error)
    }
  }

  /** The error is that of `work` or of the database. */
  async #transaction<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      await this.#driver.query(this.#driver.dialect.begin)
      const result = await work()
      await this.#driver.query('commit')
      return result
    } catch (error) {
      await this.#driver.query('rollback').catch(() => {})
      throw error
    }
  }
}

export function endpointFailure({ code, problem, remedy, cause }: CarillonError, name: string): CarillonError {
  return new CarillonError(code, `${name}: ${problem}`, { remedy, cause })
}

/** As `endpointFailure`, for a call on an open database: also says why in the words of its driver, which hold no password. */
export function callFailure(error: unknown, name: string): CarillonError {
  const cause = error instanceof CarillonError ? error.cause : error
  const why = cause instanceof Error ? ` (${cause.message})` : ''
  const { code, problem, remedy } = error instanceof CarillonError ? error : failed
  return new CarillonError(code, `${name}: ${problem}${why}`, { remedy, cause })
}
const failed = { code: 'UNAVAILABLE', problem: 'a statement failed', remedy: undefined } as const

export function inUse(): CarillonError {
  return new CarillonError('CONFLICT', 'Another process moves or fills this database', {
    remedy: 'Wait until it is done.',
  })
}

/** Rows that are read, and written, in one transaction. */
export const rowsInBatch = 1_000

export function placeAfter(before: Place | null, { table, rows }: Batch): Place {
  const earlier = before?.table === table.name ? before.rows : 0
  const last = rows.at(-1) ?? []
  return { table: table.name, rows: earlier + rows.length, key: last.slice(0, table.key) }
}

export function totalOf(counts: Counts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}
