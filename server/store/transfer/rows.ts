// The rows that a transfer carries, in the order of the key, and the checksum of each table. Both engines have the same tables and columns.
import { createHash } from 'node:crypto'

/** Every table but those that belong to one database: the ledger, the history and the time that was seen last. A test compares them with both schemas. */
export const tableNames = [
  ...'user session token_cutoff signing_key producer delivery inbox inbox_category notification read_mark'.split(' '),
  ...'category_read_mark known_device guess_count one_time_link factor recovery_code'.split(' '),
  ...'challenge provider_account audit archive_mark removal preference category key_change'.split(' '),
  ...'erased_id erased_key'.split(' '),
]

export const ledger = 'kysely_migration'
/** The tables that accept no writes during a move. With the ledger: a newer program must not migrate the database then. */
export const guardedTables = [...tableNames, ledger]

/** The first `key` columns are the primary key. */
export type Table = { readonly name: string; readonly columns: readonly string[]; readonly key: number }
/** The values of a row, in the order of the table's columns. */
export type Row = readonly (string | number | null)[]
export type Checksum = { table: string; rows: number; sha256: string }

/** Rows that are read, and written, by one statement. */
export const rowsInBatch = 1_000

export type Source = {
  tables: readonly Table[]
  total: number
  /** Batches of all rows, or of those behind the key `after`. The tables are read in their order. */
  rows(table: Table, after?: Row): AsyncIterable<readonly Row[]>
  /** If they are known without reading all rows. */
  checksums?: readonly Checksum[]
}

/** A database of either engine: what differs between the engines. */
export interface Endpoint extends AsyncDisposable {
  /** For error messages. */
  readonly name: string
  /** Begins a transaction of which all reads see one moment. */
  readonly snapshot: string
  /** Creates the tables of a new database. `partitions`: how many PostgreSQL gets for each table of users. */
  migrate(partitions: number): Promise<unknown>
  /** Reads the name of each table that has a primary key, the JSON array of its columns, and how many of them are in the key. */
  readonly catalogue: string
  /** Statements that drop an index which is cheaper to create after the last row, and create it. */
  readonly lateIndex?: { drop: string; create: string }
  /** `text` has the placeholders $1, $2 ... in this order. Throws UNAVAILABLE with the words of the driver, which hold no password. */
  query(text: string, values?: Row): Promise<Row[]>
  /** The expression that has the value of a placeholder in the type of a column. */
  stored(placeholder: string, column: { table: Table; name: string }): string
  insert(table: Table, rows: readonly Row[]): Promise<void>
  /** Statements that begin a transaction, wait for the writes of the guarded tables in progress, and block new ones until the commit. */
  readonly begin: readonly string[]
  /** Statements that let every write of the guarded tables fail, and those that end that. */
  readonly guards: readonly string[]
  readonly unguards: readonly string[]
}

/** Integers, strings and null have only one form in JSON, so equal rows are equal text. */
export function lineOf(value: object): string {
  return `${JSON.stringify(value)}\n`
}

/** The lines of all rows of a table, and at the end the line of their checksum. */
export async function* linesOf(source: Source, table: Table, onRows: (count: number) => void): AsyncGenerator<string> {
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

export async function checksumsOf(source: Source, onRows: (count: number) => void = () => {}): Promise<Checksum[]> {
  const checksums: Checksum[] = []
  for (const table of source.tables) {
    let last = ''
    for await (last of linesOf(source, table, onRows));
    checksums.push(JSON.parse(last))
  }
  return checksums
}
