// Draws the plot at the top of the results: how near each row comes to its limit, with one bar for
// each checkout. The SVG follows the reader's system, light or dark.
import type { Fact } from './machine.ts'
import { median } from './rounds.ts'
import type { Row } from './table.ts'

type Bar = { kind: 'limit' | 'now' | 'before'; share: number; text: string }

const width = 760
const left = 16
/** A bar that reaches the limit has this width. A longer one ends at the edge. */
const limitWidth = 480
const barHeight = 14
const groupGap = 14
const labelHeight = 18
const aboveRows = 30

/** Leaves out the rows without a limit. `checkouts`: the name and the commit of each. */
export function plotOf(rows: readonly Row[], checkouts: readonly Fact[]): string {
  let y = aboveRows
  const groups: string[] = []
  for (const row of rows) {
    if (row.shares === undefined) continue
    groups.push(`<text class="label" x="${left}" y="${y + 12}">${escaped(row.what)}</text>`)
    y += labelHeight
    for (const bar of barsOf(row, median(row.shares))) {
      groups.push(barSvg(bar, y))
      y += barHeight + 2
    }
    y += groupGap
  }
  const commits = checkouts.map(([name, commit]) => `${name}: ${commit}`).join('; ')
  groups.push(`<text x="${left}" y="${y + 6}">${escaped(commits)}</text>`)
  y += labelHeight
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${y}" viewBox="0 0 ${width} ${y}" role="img">
<title>What was measured, beside what kernel and disk allow</title>
<style>
text { font: 12px system-ui, sans-serif; fill: #1f2328 }
.label { font-weight: 600 }
.back { fill: #ffffff }
.limit { fill: #d0d7de }
.now { fill: #0969da }
.before { fill: #8c959f }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .back { fill: #0d1117 }
  .limit { fill: #30363d }
  .now { fill: #4493f8 }
  .before { fill: #6e7681 }
}
</style>
<rect class="back" width="${width}" height="${y}"/>
<text x="${left}" y="16">The first bar of each row is the limit: a responder in C with the same bytes, or the same bytes synced.</text>
${groups.join('\n')}
</svg>
`
}

function barsOf({ measured, floor, figures, before }: Row, share: number): Bar[] {
  const bars: Bar[] = [
    { kind: 'limit', share: 1, text: firstOf(floor) },
    { kind: 'now', share, text: `${firstOf(measured)}, ${percent(share)}` },
  ]
  if (before === undefined) return bars
  const shareBefore = (share * median(before.figures)) / median(figures)
  return [
    ...bars,
    { kind: 'before', share: shareBefore, text: `before: ${firstOf(before.measured)}` },
  ]
}

function barSvg({ kind, share, text }: Bar, y: number): string {
  const length = Math.min(share * limitWidth, width - left - 160).toFixed(1)
  const textAt = (left + Number(length) + 6).toFixed(1)
  return `<rect class="${kind}" x="${left}" y="${y}" width="${length}" height="${barHeight}" rx="2"/><text x="${textAt}" y="${y + 11}">${escaped(text)}</text>`
}

/** The figure itself: what is said beside it follows a comma or semicolon and a space. */
function firstOf(cell: string): string {
  return cell.split(/[,;] /)[0] ?? ''
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
