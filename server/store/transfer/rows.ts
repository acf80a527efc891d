// The rows that a transfer carries, in key order, as both engines have them.
import { createHash } from 'node:crypto'
import type { Refusing } from '../transfer-state.ts'

/** Leaves out tables that belong to one database; a test compares this with both schemas. */
export const tableNames = [
  ...'user session revocation signing_key producer delivery inbox inbox_category notification bulk'.split(
    ' ',
  ),
  ...'known_device guess_count one_time_link factor recovery_code'.split(' '),
  ...'challenge provider_account audit removal preference category key_change'.split(' '),
  ...'erased_id sealed_key reminder outbox factor_rule hourly webhook push_subscription'.split(' '),
]

export const ledger = 'migration'
/** A move or maintenance refuses writes to these. The ledger: no newer program may migrate. */
export const guardedTables = [...tableNames, ledger]

/** The first `key` columns are the primary key. */
export type Table = {
  readonly name: string
  readonly columns: readonly string[]
  readonly key: number
}
export type Row = readonly (string | number | null)[]
export type Checksum = { table: string; rows: number; sha256: string }

export const rowsInBatch = 1_000

export type Source = {
  tables: readonly Table[]
  total: number
  rows(table: Table, after?: Row): AsyncIterable<readonly Row[]>
  checksums?: readonly Checksum[]
}

export interface Endpoint extends AsyncDisposable {
  readonly name: string
  /** All reads of the transaction see one moment. */
  readonly snapshot: string
  migrate(partitions: number, through?: string): Promise<unknown>
  /** Name, JSON array of columns, how many are in the key. */
  readonly catalogue: string
  /** Cheaper to create after the last row. */
  readonly lateIndex?: { drop: string; create: string }
  /** Throws UNAVAILABLE with the driver's words, without a password. */
  query(text: string, values?: Row): Promise<Row[]>
  stored(placeholder: string, column: { table: Table; name: string }): string
  insert(table: Table, rows: readonly Row[]): Promise<void>
  /** They wait for writes in progress, and block new ones until the commit. */
  readonly begin: readonly string[]
  guards(refusing: Refusing): readonly string[]
  unguards(refusing: Refusing): readonly string[]
}

/** Integers, strings and null have one form in JSON, so equal rows are equal text. */
export function lineOf(value: object): string {
  return `${JSON.stringify(value)}\n`
}

export async function* linesOf(
  source: Source,
  table: Table,
  onRows: (count: number) => void,
): AsyncGenerator<string> {
  const hash = createHash('sha256')
  let count = 0
  for await (const rows of source.rows(table)) {
    const lines = rows.map(lineOf).join('')
    hash.update(lines)
    count += rows.length
    onRows(rows.length)
    yield lines
  }
  yield lineOf({ table: table.name, rows: count, sha256: hash.digest('hex') } satisfies Checksum)
}

export async function checksumsOf(
  source: Source,
  onRows: (count: number) => void = () => {},
): Promise<Checksum[]> {
  const checksums: Checksum[] = []
  for (const table of source.tables) {
    let last = ''
    for await (last of linesOf(source, table, onRows));
    checksums.push(JSON.parse(last))
  }
  return checksums
}
