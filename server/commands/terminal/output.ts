// Commands print results on stdout, all else on stderr.
import { once } from 'node:events'
import { jsonLine } from '../../basics/control-characters.ts'
import { maskPasswords } from '../../config/url-passwords.ts'
import { applicationForm, integer, isApplication } from '../../config/values.ts'

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

/** A slow reader slows down what it reads. */
export async function printAll(lines: readonly string[], signal: AbortSignal): Promise<void> {
  for (const line of lines)
    if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain', { signal })
}

export function warn(sentence: string): void {
  process.stderr.write(`carillon: ${sentence}\n`)
}

export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = headings.map((heading, i) =>
    Math.max(heading.length, ...rows.map((row) => (row[i] ?? '').length)),
  )
  const lineOf = (cells: readonly string[]) =>
    cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ')
  return [headings, ...rows].map((cells) => lineOf(cells).trimEnd())
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

export function lastUpTo(max: number): (text: string) => number {
  return (text) => readOption('--last', text, integer(0, max))
}

export function readApplication(name: string | undefined): string | undefined {
  if (name === undefined || isApplication(name)) return name
  throw new WrongUse(`--application is ${JSON.stringify(name)}; write ${applicationForm}`)
}

export function day(at: number | null): string {
  return at === null ? '-' : new Date(at).toISOString().slice(0, 10)
}
