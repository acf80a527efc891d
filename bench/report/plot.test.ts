// The plot of the results, of rows that were not measured.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plotOf } from './plot.ts'
import { row } from './rows.ts'
import { besideBefore } from './table.ts'

const asRate = (perSecond: number) => `${perSecond}/s`
const figure = (one: number) => one

test('each row has a bar for its limit and one for each checkout, as long as its share of the limit', () => {
  const now = [
    row({ what: 'list <b> & "c"', of: [10, 30, 20], floor: [40, 40, 40], figure, as: asRate }),
  ]
  const before = [
    row({ what: 'list <b> & "c"', of: [5, 5, 5], floor: [40, 40, 40], figure, as: asRate }),
  ]
  const withoutLimit = row({ what: 'without a limit', of: [1], figure, as: asRate })
  const svg = plotOf(
    [...besideBefore(now, before), withoutLimit],
    [
      ['now', '1a2b of 2026-11-30'],
      ['before', '3c4d of 2026-11-23'],
    ],
  )
  const bars = [
    ...svg.matchAll(
      /<rect class="(\w+)" x="16" y="\d+" width="([\d.]+)".*?<text .*?>(.*?)<\/text>/g,
    ),
  ]
  assert.deepEqual(
    bars.map(([, kind, length, text]) => [kind, length, text]),
    [
      ['limit', '480.0', '40/s'],
      ['now', '240.0', '20/s, 50 %'],
      ['before', '60.0', 'before: 5/s'],
    ],
  )
  assert.match(svg, /list &lt;b> &amp; "c"/)
  assert.doesNotMatch(svg, /without a limit/)
  assert.match(svg, /now: 1a2b of 2026-11-30; before: 3c4d of 2026-11-23/)
})
