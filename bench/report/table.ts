// Formats the results for the terminal and for RESULTS.md.
import type { Fact } from './machine.ts'
import { median, ratios } from './rounds.ts'

export type Row = {
  what: string
  measured: string
  floor: string
  ratio: string
  target: string
  /** `undefined` if the row has no target. */
  met: boolean | undefined
  /** What `measured` shows, of each round, so that two checkouts can be compared. */
  figures: readonly number[]
  /** The figures divided by those of the floor, round by round. */
  shares: readonly number[] | undefined
  /** The row of the other checkout, with the ratio of this one's figures to its figures, round by round. */
  before?: { measured: string; ratio: string; figures: readonly number[] }
}
export type Result = { scenario: string; rows: Row[]; seconds: number }

const columns = ['what', 'measured', 'floor', 'ratio', 'target', 'met', 'before', 'now / before']

/** The names of the columns, and the cells of each row. The last two columns need a second checkout. */
function linesOf(rows: readonly Row[]): string[][] {
  const names = rows.some(({ before }) => before !== undefined) ? columns : columns.slice(0, -2)
  const lines = rows.map(({ what, measured, floor, ratio, target, met, before }) => {
    const answer = met ? 'yes' : 'NO'
    const said = met === undefined ? '' : answer
    return [what, measured, floor, ratio, target, said, before?.measured ?? '', before?.ratio ?? '']
  })
  return [names, ...lines.map((cells) => cells.slice(0, names.length))]
}

/** The rows of this checkout, with what the other one reached in the same rounds. Rows are the same if they have the same name. */
export function besideBefore(now: readonly Row[], before: readonly Row[]): Row[] {
  return now.map((row) => {
    const same = before.find(({ what }) => what === row.what)
    if (same === undefined) return row
    const ownRatio = same.ratio === '' ? '' : `; ratio ${same.ratio}`
    const ratio = asSpread(ratios(row.figures, same.figures))
    return { ...row, before: { measured: same.measured + ownRatio, ratio, figures: same.figures } }
  })
}

export function asText({ rows }: Result): string {
  const lines = linesOf(rows)
  const widths = (lines[0] ?? []).map((_, i) =>
    Math.max(...lines.map((cells) => cells[i]?.length ?? 0)),
  )
  const padded = lines.map((cells) =>
    cells.map((cell, i) => cell.padEnd(widths[i] as number)).join('  '),
  )
  return padded.map((line) => line.trimEnd()).join('\n')
}

function asMarkdown({ scenario, rows, seconds }: Result): string {
  const [names = [], ...lines] = linesOf(rows)
  const table = [names, names.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`)
  return [`## ${scenario}`, '', ...table, '', `Took ${seconds.toFixed(0)} s.`].join('\n')
}

export function asPage(results: readonly Result[], machine: readonly Fact[]): string {
  const written = new Date().toISOString().slice(0, 16).replace('T', ' ')
  return `# What was measured

Written by \`npm run bench\` on ${written} UTC; [README.md](README.md) says what the rows mean.

![What was measured, beside what kernel and disk allow](results.svg)

${summary(results)}

${machine.map(([what, value]) => `- ${what}: ${value}`).join('\n')}

${results.map(asMarkdown).join('\n\n')}
`
}

/** The median, and the lowest and highest in brackets. */
export function asSpread(figures: readonly number[]): string {
  const least = Math.min(...figures)
  const most = Math.max(...figures)
  return `${median(figures).toFixed(2)} (${least.toFixed(2)}-${most.toFixed(2)})`
}

/** With a comma between thousands. */
export function asCount(value: number): string {
  return Math.round(value).toLocaleString('en')
}

export function asUs(us: number): string {
  return `${us.toFixed(us < 10 ? 1 : 0)} us`
}

export function asMs(ms: number): string {
  return `${ms.toFixed(ms < 10 ? 2 : 0)} ms`
}

export function asMegabytes(megabytes: number): string {
  return `${megabytes.toFixed(0)} MB`
}

/** How many targets are met, and which are not. */
export function summary(results: readonly Result[]): string {
  const rows = results.flatMap((result) => result.rows).filter(({ met }) => met !== undefined)
  const missed = rows
    .filter(({ met }) => met === false)
    .map(({ what, target }) => `${what} (${target})`)
  const count = `${rows.length - missed.length} of ${rows.length} targets are met.`
  return missed.length === 0 ? count : `${count} Not met: ${missed.join('; ')}.`
}
