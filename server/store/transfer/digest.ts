// Do two databases hold the same rows? The rows of each table are read in the order of the key, counted and hashed. What is
// hashed is a row's line of JSON, which is also its line in a backup.
import { createHash, type Hash } from 'node:crypto'
import { type Batch, type Row, tables } from './endpoint/tables.ts'

export type Digest = { table: string; rows: number; sha256: string }

/** Integers, strings and null have only one form in JSON, so equal rows are equal text. */
export function lineOf(row: Row): string {
  return `${JSON.stringify(row)}\n`
}

export class Digesting {
  readonly #hashes = new Map(
    tables.map(({ name }): [string, { rows: number; hash: Hash }] => [name, { rows: 0, hash: createHash('sha256') }]),
  )

  add({ table, rows }: Batch): void {
    const found = this.#hashes.get(table.name)
    if (found === undefined) return
    found.rows += rows.length
    found.hash.update(rows.map(lineOf).join(''))
  }

  /** Call it once, after the last batch. */
  end(): Digest[] {
    return [...this.#hashes].map(([table, { rows, hash }]) => ({ table, rows, sha256: hash.digest('hex') }))
  }
}

export async function digestsOf(
  batches: AsyncIterable<Batch>,
  onRows: (count: number) => void = () => {},
): Promise<Digest[]> {
  const digesting = new Digesting()
  for await (const batch of batches) {
    digesting.add(batch)
    onRows(batch.rows.length)
  }
  return digesting.end()
}

/** Describes the first difference; undefined if there is none. */
export function differenceOf(expected: readonly Digest[], found: readonly Digest[]): string | undefined {
  for (const { table, rows, sha256 } of expected) {
    const other = found.find((one) => one.table === table)
    if (other?.rows !== rows) return `${table} has ${other?.rows ?? 0} rows instead of ${rows}`
    if (other.sha256 !== sha256) return `a row of ${table} has changed`
  }
  return undefined
}
