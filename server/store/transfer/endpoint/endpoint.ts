// A database of either engine as a move, a backup and a restore see it: tables of rows in the order of their keys, the
// same in both, and the marks that say who may write. What they do with it is fill.ts and its callers.
import { setImmediate as turn } from 'node:timers/promises'
import { CarillonError } from '../../../errors.ts'
import { type Table, tables } from './tables.ts'

export type Value = string | number | null
/** The values of a row, in the order of the table's columns. */
export type Row = readonly Value[]
/** Rows of one table, in the order of its key, never none. */
export type Batch = { table: Table; rows: readonly Row[] }
/** How far a filling is: so many rows of a table and all tables before it; `key` is that of the last. */
export type Place = { table: string; rows: number; key: Row }

/** Where rows come from. */
export type Source = {
  /** All rows after a place, or from the beginning; tables in the order of the list. */
  batchesAfter(place: Place | null): AsyncIterable<Batch>
  /** How many rows there are, by table. */
  counts(): Promise<Counts>
}
export type Counts = Readonly<Record<string, number>>

/** A move as the database that is moved knows it. `target` is shown to people. */
export type Move = { id: string; target: string; startedAt: number; endedAt: number | null }
/** What fills a database, and how far it is. */
export type Filling = { id: string; place: Place | null }
export type Engine = 'sqlite' | 'postgres'

export interface Endpoint extends Source {
  readonly engine: Engine
  /** The names of its migrations; none where there is no schema yet. */
  migrations(): Promise<string[]>
  /** Brings it to this program's schema. */
  migrate(): Promise<void>
  /** All that `work` reads is of one moment, whoever writes meanwhile. */
  snapshot<Result>(work: () => Promise<Result>): Promise<Result>

  /** The move that it refuses writes for, or null where it takes them. */
  move(): Promise<Move | null>
  /** Every write of every process is refused from here on; what was under way is finished first. */
  refuseWrites(move: Move): Promise<void>
  /** Notes the end of a move; false where it refuses writes for another one, or for none. */
  endMove(ended: { id: string; at: number }): Promise<boolean>
  /** Takes writes again. */
  allowWrites(): Promise<void>

  filling(): Promise<Filling | null>
  beginFilling(id: string): Promise<void>
  /** Keeps the rows and the place behind them, in one step; false where the place before them is another by now. */
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

/** Two processes work at one move, or at two with one database. */
export function inUse(): CarillonError {
  return new CarillonError('CONFLICT', 'Another process moves or fills this database', {
    remedy: 'Wait until it is done.',
  })
}

/** Rows that are read, and kept in one step. */
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

/** Batches from a reader that answers the rows of a table after a key, at most `rowsInBatch` of them. */
export async function* readBatches(
  read: (table: Table, after: Row | null) => Promise<readonly Row[]>,
  place: Place | null,
): AsyncGenerator<Batch> {
  const first = place === null ? 0 : tables.findIndex(({ name }) => name === place.table)
  for (const table of tables.slice(first)) {
    let after = place?.table === table.name ? place.key : null
    for (;;) {
      const rows = await read(table, after)
      // SQLite never waits: without this a signal would not be heard before the end.
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
