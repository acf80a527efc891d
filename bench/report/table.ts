// Formats the results for the terminal and for RESULTS.md.
import type { Fact } from './machine.ts'
import { ratios, type Spread } from './rounds.ts'

export type Row = {
  what: string
  measured: string
  /** The floor and its result. */
  floor: string
  ratio: string
  target: string
  /** 'not measured' if this machine cannot measure it; `undefined` if the row has no target. */
  met: boolean | 'not measured' | undefined
  /** What `measured` shows, for each round, so that two checkouts can be compared. */
  figures?: readonly number[]
  /** The row of the other checkout, with the ratio of this one's figures to its figures, round by round. */
  before?: { measured: string; ratio: string }
}
/** The result of one scenario; `notes` explain how it was measured. */
export type Report = { rows: Row[]; notes: string[] }
export type Result = Report & { scenario: string; seconds: number }

const columns = ['what', 'measured', 'floor', 'ratio', 'target', 'met']
const columnsOfBoth = [...columns, 'before', 'now / before']

function columnsOf(rows: readonly Row[]): string[] {
  return rows.some(({ before }) => before !== undefined) ? columnsOfBoth : columns
}

function cells(row: Row): string[] {
  const met = typeof row.met === 'boolean' ? (row.met ? 'yes' : 'NO') : (row.met ?? '')
  return [
    row.what,
    row.measured,
    row.floor,
    row.ratio,
    row.target,
    met,
    row.before?.measured ?? '',
    row.before?.ratio ?? '',
  ]
}

/** The rows of this checkout, with what the other one reached in the same rounds. Rows are the same if they have the same name. */
export function besideBefore(now: readonly Row[], before: readonly Row[]): Row[] {
  return now.map((row) => {
    const same = before.find(({ what }) => what === row.what)
    if (same === undefined) return row
    const [figures, figuresBefore] = [row.figures ?? [], same.figures ?? []]
    const isComparable = figures.length > 0 && figures.length === figuresBefore.length
    const ratio = isComparable ? asRatio(ratios(figures, figuresBefore)) : ''
    const ownRatio = same.ratio === '' ? '' : `; ratio ${same.ratio}`
    return { ...row, before: { measured: same.measured + ownRatio, ratio } }
  })
}

export function asText({ rows, notes }: Report): string {
  const names = columnsOf(rows)
  const lines = [names, ...rows.map((row) => cells(row).slice(0, names.length))]
  const widths = names.map((_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)))
  const format = lines.map((line) =>
    line
      .map((cell, i) => cell.padEnd(widths[i] as number))
      .join('  ')
      .trimEnd(),
  )
  return [...format, ...notes.map((note) => `- ${note}`)].join('\n')
}

export function asMarkdown({ scenario, rows, notes, seconds }: Result): string {
  const line = (texts: readonly string[]) => `| ${texts.join(' | ')} |`
  const names = columnsOf(rows)
  const body = rows.map((row) => line(cells(row).slice(0, names.length)))
  const table = [line(names), `|${names.map(() => '---').join('|')}|`, ...body]
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

Written by \`npm run bench\` on ${written} UTC. Compare ratios, not absolute figures. Contenders are measured in turns
(A B A B), with the server and the load on different cores. Each figure is divided by the floor of the same round; the table
shows the median of the rounds, with minimum and maximum in brackets. Differences under 15 % are noise. "core" is the share
of one core that the server's process used with all its threads: near 1.00 the server was the limit, not the load.`
}

export function asRatio({ median, min, max }: Spread): string {
  return `${median.toFixed(2)} (${min.toFixed(2)}-${max.toFixed(2)})`
}

/** With a comma between thousands. */
export function asCount(value: number): string {
  return Math.round(value).toLocaleString('en')
}

export function asUs(us: number): string {
  return `${us.toFixed(us < 10 ? 1 : 0)} us`
}

export function asMs(ms: number): string {
  if (ms < 0.1) return `${(ms * 1000).toFixed(1)} us`
  return `${ms < 10 ? ms.toFixed(2) : ms.toFixed(0)} ms`
}

/** How many targets are met, and which are not. */
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
