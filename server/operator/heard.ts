// Are we heard? Of the newest notifications, how many were seen, read and archived?
import { yieldToEventLoop } from '../basics/event-loop.ts'
import { firstIdAt, madeAt } from '../basics/ids.ts'
import type { Store } from '../store/store.ts'
import { type HeardRow, heardBetween } from './sent.store.ts'

const maxHeard = 10_000
const heardMs = 30 * 24 * 3_600_000

/** `items`: of the newest 10,000 of 30 days, by producer and category. */
export async function heardSince(store: Store, now: number) {
  const from = firstIdAt(now - heardMs)
  const rows: HeardRow[] = []
  let before = 'g'
  let examined = 0
  while (examined < maxHeard) {
    const { rows: some, last } = await store.read(heardBetween, { from, before })
    if (last === null) break
    rows.push(...some)
    examined = rows.reduce((sum, row) => sum + row.delivered, 0)
    before = last
    await yieldToEventLoop()
  }
  const since = examined === 0 ? null : madeAt(before)
  return { since, examined, items: summed(rows, ['producer', 'category']) }
}

/** Seconds: the ends of sampled spans, about equal on a logarithmic axis. */
const ages = [1, 5, 15, 60, 300, 900, 3_600, 10_800, 28_800, 86_400, 259_200, 604_800, 2_592_000]
const maxCategories = 8

/** The newest 1,000 of each age span; the categories with the most. */
export async function heardByAge(store: Store, now: number) {
  const rows: (HeardRow & { age: number })[] = []
  let before = firstIdAt(now)
  for (const age of ages) {
    const from = firstIdAt(now - age * 1_000)
    const read = await store.read(heardBetween, { from, before })
    rows.push(...summed(read.rows, ['category']).map((row) => ({ ...row, age })))
    before = from
    await yieldToEventLoop()
  }
  return summed(rows, ['category'])
    .slice(0, maxCategories)
    .flatMap(({ category }) => rows.filter((row) => row.category === category))
    .map(({ producer: _, ...row }) => row)
}

/** Largest first. */
function summed(
  rows: readonly HeardRow[],
  names: readonly ('producer' | 'category')[],
): HeardRow[] {
  const all = new Map<string, HeardRow>()
  for (const row of rows) {
    const key = JSON.stringify(names.map((name) => row[name]))
    const sum = all.get(key)
    if (sum === undefined) all.set(key, { ...row })
    else
      for (const name of ['delivered', 'seen', 'read', 'archived', 'muted'] as const)
        sum[name] += row[name]
  }
  return [...all.values()].toSorted((one, other) => other.delivered - one.delivered)
}
