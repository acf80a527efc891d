// Converts rows of a backup that an older Carillon made: the columns that later migrations added get the value that those
// migrations give them. A migration that changes more than that needs code here; a test compares this with the migrations.

import type { Batch, Row, Value } from './endpoint/endpoint.ts'
import { addedColumns, columnsOf, type Table } from './endpoint/tables.ts'

/** The columns that a table did not have when `schema` was the newest migration, and their values. */
function laterColumns(table: Table, schema: string): [name: string, value: Value][] {
  return Object.entries(addedColumns)
    .filter(([migration]) => migration > schema)
    .flatMap(([, added]) => Object.entries(added[table.name] ?? {}))
}

/** The names of the columns that a table had when `schema` was the newest migration. */
export function columnsAt(table: Table, schema: string): string[] {
  return columnsOf(table).slice(0, columnsOf(table).length - laterColumns(table, schema).length)
}

/** Rows of `schema` as rows of this program's schema. */
export function upgraded({ table, rows }: Batch, schema: string): readonly Row[] {
  const values = laterColumns(table, schema).map(([, value]) => value)
  return values.length === 0 ? rows : rows.map((row) => [...row, ...values])
}

/** The reverse of `upgraded`. A row with other values in later columns was changed after that schema, and stays as it is. */
export async function* asOf(batches: AsyncIterable<Batch>, schema: string): AsyncGenerator<Batch> {
  for await (const { table, rows } of batches) {
    const length = columnsAt(table, schema).length
    const values = laterColumns(table, schema).map(([, value]) => value)
    const isUpgraded = (row: Row) => values.every((value, i) => row[length + i] === value)
    yield { table, rows: rows.map((row) => (isUpgraded(row) ? row.slice(0, length) : row)) }
  }
}
