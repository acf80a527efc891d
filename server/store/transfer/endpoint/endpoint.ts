// The database of either engine that a transfer (backup, restore, move) reads or writes: the same tables of rows in the order of
// their keys, and the transfer state, which says who may write.
import { setImmediate as turn } from 'node:timers/promises'
import { CarillonError } from '../../../errors.ts'
import { type Table, tables } from './tables.ts'

export type Value = string | number | null
/** The values of a row, in the order of the table's columns. */
export type Row = readonly Value[]
/** One or more rows of one table, in the order of its key. */
export type Batch = { table: Table; rows: readonly Row[] }
/** The progress of a filling: all earlier tables, and `rows` rows of `table`; `key` is the key of the last row. */
export type Place = { table: string; rows: number; key: Row }

/** A database or a backup that rows are read from. */
export type Source = {
  /** All rows after a place, or all rows if it is null; the tables in the order of `tables`. */
  batchesAfter(place: Place | null): AsyncIterable<Batch>
  /** The number of rows of each table. */
  counts(): Promise<Counts>
}
export type Counts = Readonly<Record<string, number>>

/** A move, as recorded in the database that is moved. `target` is displayed to people. */
export type Move = { id: string; target: string; startedAt: number; endedAt: number | null }
/** The id of the transfer that fills a database, and its progress. */
export type Filling = { id: string; place: Place | null }
export type Engine = 'sqlite' | 'postgres'

export interface Endpoint extends Source {
  readonly engine: Engine
  /** The names of the applied migrations; empty if there is no schema yet. */
  migrations(): Promise<string[]>
  /** Applies the migrations of this program. */
  migrate(): Promise<void>
  /** All reads of `work` see one moment, even if other processes write. */
  snapshot<Result>(work: () => Promise<Result>): Promise<Result>

  /** The move that it refuses writes for; null if it accepts writes. */
  move(): Promise<Move | null>
  /** Waits for the writes in progress. From then on it refuses every write of every process. */
  refuseWrites(move: Move): Promise<void>
  /** Records the end of a move; false if it refuses writes for another move, or for none. */
  endMove(ended: { id: string; at: number }): Promise<boolean>
  /** Accepts writes again. */
  allowWrites(): Promise<void>

  filling(): Promise<Filling | null>
  beginFilling(id: string): Promise<void>
  /** Writes the rows and the new place in one transaction; false if another process has changed the place. */
  add(batch: Batch, places: { id: string; before: Place | null; after: Place }): Promise<boolean>
  endFilling(): Promise<void>

  close(): Promise<void>
}

/** Of two databases one failed: the error names it. */
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

/** Two processes run the same move, or two transfers use one database. */
export function inUse(): CarillonError {
  return new CarillonError('CONFLICT', 'Another process moves or fills this database', {
    remedy: 'Wait until it is done.',
  })
}

/** Rows that are read, and written, in one transaction. */
export const rowsInBatch = 1_000

export function columnsOf(table: Table): string[] {
  return Object.keys(table.columns)
}

export function keyColumnsOf(table: Table): string[] {
  return columnsOf(table).slice(0, table.key)
}

export function placeAfter(before: Place | null, { table, rows }: Batch): Place {
  const earlier = before?.table === table.name ? before.rows : 0
  const last = rows.at(-1) ?? []
  return { table: table.name, rows: earlier + rows.length, key: last.slice(0, table.key) }
}

/** `read` returns the rows of a table after a key, at most `rowsInBatch` of them. */
export async function* readBatches(
  read: (table: Table, after: Row | null) => Promise<readonly Row[]>,
  place: Place | null,
): AsyncGenerator<Batch> {
  const first = place === null ? 0 : tables.findIndex(({ name }) => name === place.table)
  for (const table of tables.slice(first)) {
    let after = place?.table === table.name ? place.key : null
    for (;;) {
      const rows = await read(table, after)
      // SQLite reads synchronously: without this, the process could not react to a signal before the end.
      await turn()
      if (rows.length > 0) yield { table, rows }
      if (rows.length < rowsInBatch) break
      after = rows.at(-1)?.slice(0, table.key) ?? null
    }
  }
}

export async function countAll(count: (table: Table) => Promise<number>): Promise<Counts> {
  const counts: Record<string, number> = {}
  for (const table of tables) counts[table.name] = await count(table)
  return counts
}

/** Of all tables together. */
export function totalOf(counts: Counts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}
