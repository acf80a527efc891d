// Do two databases hold the same? Each table's rows, read back in the order of the key, are counted and hashed in one
// written form, which is also the line of a row in a portable backup.
import { createHash, type Hash } from 'node:crypto'
import type { Batch, Row } from './endpoint/endpoint.ts'
import { tables } from './endpoint/tables.ts'

export type Digest = { table: string; rows: number; sha256: string }

/** Whole numbers, strings and null have one form in JSON, so equal rows are equal text. */
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

  /** Once, at the end. */
  end(): Digest[] {
    return [...this.#hashes].map(([table, { rows, hash }]) => ({ table, rows, sha256: hash.digest('hex') }))
  }
}

/** `onRows` is told how many rows were read since the last time. */
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

/** In words, what differs first; undefined where nothing does. */
export function differenceOf(expected: readonly Digest[], found: readonly Digest[]): string | undefined {
  for (const { table, rows, sha256 } of expected) {
    const other = found.find((one) => one.table === table)
    if (other?.rows !== rows) return `${table} has ${other?.rows ?? 0} rows in place of ${rows}`
    if (other.sha256 !== sha256) return `a row of ${table} is not what it was`
  }
  return undefined
}
