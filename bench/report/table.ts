// How is what was measured shown, to a person at a terminal and in RESULTS.md?
import type { Fact } from './machine.ts'
import type { Spread } from './rounds.ts'

export type Row = {
  what: string
  measured: string
  /** Which floor, and what it reached. */
  floor: string
  ratio: string
  target: string
  /** 'not measured' where this machine lacks what it takes; `undefined` for a row that has no target. */
  met: boolean | 'not measured' | undefined
}
/** What one scenario found; `notes` say how, and what has to be known to read the rows. */
export type Report = { rows: Row[]; notes: string[] }
export type Result = Report & { scenario: string; seconds: number }

const columns = ['what', 'measured', 'floor', 'ratio', 'target', 'met'] as const

function cells(row: Row): string[] {
  const met = typeof row.met === 'boolean' ? (row.met ? 'yes' : 'NO') : (row.met ?? '')
  return [row.what, row.measured, row.floor, row.ratio, row.target, met]
}

export function asText({ rows, notes }: Report): string {
  const lines = [[...columns] as string[], ...rows.map(cells)]
  const widths = columns.map((_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)))
  const shown = lines.map((line) =>
    line
      .map((cell, i) => cell.padEnd(widths[i] as number))
      .join('  ')
      .trimEnd(),
  )
  return [...shown, ...notes.map((note) => `- ${note}`)].join('\n')
}

export function asMarkdown({ scenario, rows, notes, seconds }: Result): string {
  const line = (texts: readonly string[]) => `| ${texts.join(' | ')} |`
  const table = [line(columns), `|${columns.map(() => '---').join('|')}|`, ...rows.map((row) => line(cells(row)))]
  return [
    `## ${scenario}`,
    '',
    ...table,
    '',
    ...notes.map((note) => `- ${note}`),
    `- Took ${seconds.toFixed(0)} s.`,
  ].join('\n')
}

export type Page = { results: readonly Result[]; machine: readonly Fact[]; commands: readonly Fact[]; date: Date }

export function asPage({ results, machine, commands, date }: Page): string {
  const facts = machine.map(([what, value]) => `- ${what}: ${value}`)
  const lines = commands.map(([what, command]) => `- ${what}: \`${command}\``)
  const sections = results.map(asMarkdown)
  return `${[intro(date), summary(results), facts.join('\n'), `Commands:\n\n${lines.join('\n')}`, ...sections].join('\n\n')}\n`
}

function intro(date: Date): string {
  const written = date.toISOString().slice(0, 16).replace('T', ' ')
  return `# What was measured

Written by \`npm run bench\` on ${written} UTC. Ratios within one run are what counts: things are measured in
turns (A B A B), the server and the load on different cores, each figure divided by the floor of its own round; medians of
the rounds, least and most in brackets. Differences under 15 % are none. "core" is the share of one core that the server's
process used, all its threads together: near 1.00 it is the server that was measured, not the load.`
}

export function asRatio({ median, least, most }: Spread): string {
  return `${median.toFixed(2)} (${least.toFixed(2)}-${most.toFixed(2)})`
}

/** Thousands apart, so that 41234 and 4123 are not taken for each other. */
export function asCount(value: number): string {
  return Math.round(value).toLocaleString('en')
}

export function asMs(ms: number): string {
  if (ms < 0.1) return `${(ms * 1000).toFixed(1)} us`
  return `${ms < 10 ? ms.toFixed(2) : ms.toFixed(0)} ms`
}

/** One sentence for all: how many targets are met, and which are not. */
export function summary(results: readonly Result[]): string {
  const rows = results.flatMap((result) => result.rows).filter(({ met }) => met !== undefined)
  const named = (met: Row['met']) =>
    rows.filter((row) => row.met === met).map(({ what, target }) => `${what} (${target})`)
  const [missed, unmeasured] = [named(false), named('not measured')]
  return [
    `${named(true).length} of ${rows.length} targets are met.`,
    ...(missed.length > 0 ? [`Not met: ${missed.join('; ')}.`] : []),
    ...(unmeasured.length > 0 ? [`Not measured: ${unmeasured.join('; ')}.`] : []),
  ].join(' ')
}
