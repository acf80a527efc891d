// Commands print results on stdout, the rest on stderr.
import { once } from 'node:events'
import { jsonLine, withoutControls } from '../../basics/control-characters.ts'
import { maskPasswords } from '../../config/url-passwords.ts'
import { applicationForm, integer, invalid, isApplication } from '../../config/values.ts'

export class WrongUse extends Error {}

export type Output = { json?: boolean }

export function print(
  { json }: Output,
  value: unknown,
  lines: () => string | readonly string[],
): void {
  const text = json ? jsonLine(value) : [lines()].flat().join('\n')
  if (text !== '') process.stdout.write(`${text}\n`)
}

/** A slow reader slows down the source. */
export async function printAll(lines: readonly string[], signal: AbortSignal): Promise<void> {
  for (const line of lines)
    if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain', { signal })
}

export function warn(sentence: string): void {
  process.stderr.write(`carillon: ${sentence}\n`)
}

/** By heading. */
type Columns<Row> = Readonly<Record<string, keyof Row | ((row: Row) => unknown)>>

export function table<Row>(rows: readonly Row[], columns: Columns<Row>): string[] {
  const cells = Object.entries(columns).map(([heading, column]) => {
    const ofRows = rows.map((row) =>
      cellOf(typeof column === 'function' ? column(row) : row[column]),
    )
    const width = Math.max(...[heading, ...ofRows].map(({ length }) => length))
    return [heading, ...ofRows].map((cell) => cell.padEnd(width))
  })
  return ['', ...rows].map((_, line) =>
    cells
      .map((column) => column[line])
      .join('  ')
      .trimEnd(),
  )
}

/** It controls no terminal (L8). */
function cellOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-'
  return withoutControls(Array.isArray(value) ? value.join() : String(value))
}

export function printList<Row>(
  options: Output,
  items: readonly Row[],
  { columns, empty }: { columns: Columns<Row>; empty: string },
): void {
  print(options, items, () => (items.length === 0 ? empty : table(items, columns)))
}

export function counted(count: number, noun: string): string {
  if (count === 0) return `no ${noun}s`
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`
}

export function rowsIn(tables: readonly { rows: number }[]): number {
  return tables.reduce((sum, { rows }) => sum + rows, 0)
}

export function readOption<Value>(
  option: string,
  text: string,
  read: (text: string) => Value,
): Value {
  try {
    return read(text)
  } catch (error) {
    throw new WrongUse(
      `${option} is ${JSON.stringify(maskPasswords(text))}; ${(error as Error).message}`,
    )
  }
}

export function reading<Value>(option: string, read: (text: string) => Value) {
  return (text: string) => readOption(option, text, read)
}

export function lastUpTo(max: number): (text: string) => number {
  return reading('--last', integer(0, max))
}

export const readApplication = reading('--application', (name) =>
  isApplication(name) ? name : invalid(`write ${applicationForm}`),
)

export function day(at: number | null): string {
  return at === null ? '-' : new Date(at).toISOString().slice(0, 10)
}
