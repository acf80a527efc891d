import assert from 'node:assert/strict'
import { test } from 'node:test'
import { barOf } from './progress.ts'

test('the bar shows the share of the work that is done, and always has the same width', () => {
  const bars = [0, 1, 500, 999, 1_000].map((done) => barOf({ step: 'Copying', done, total: 1_000 }))
  const full = bars.map((bar) => bar.split('█').length - 1)
  assert.deepEqual(full, [0, 0, 15, 29, 30])
  assert.deepEqual(new Set(bars.map((bar) => bar.indexOf('%'))).size, 1)
  assert.match(bars[3] ?? '', / 99 % {2}999 of 1000 rows$/)
})

test('the bar of an empty database is full', () => {
  assert.match(barOf({ step: 'Verifying', done: 0, total: 0 }), /█{30} 100 %/)
})

test('the bar fits one line of a narrow terminal; a terminal that does not know its width gets the whole bar', () => {
  const progress = { step: 'Copying', done: 500_000, total: 1_000_000 }
  assert.equal(barOf(progress, 60).length, 60)
  assert.match(barOf(progress, 60), / 50 % /)
  for (const columns of [0, 200]) assert.match(barOf(progress, columns), / 500000 of 1000000 rows$/)
})
