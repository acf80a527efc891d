// Puts numbers of 24 hours or 30 days on one time axis, and foretells a full disk.
import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { yieldToEventLoop } from '../basics/event-loop.ts'
import type { Database } from '../store/database.ts'
import type { Store } from '../store/store.ts'
import { type Summed, sumHourly } from './hourly.store.ts'
import { hourMs } from './hourly.ts'

const ranges = { day: { points: 24, hours: 1 }, month: { points: 30, hours: 24 } } as const
export type Range = keyof typeof ranges
export const rangeNames = Object.keys(ranges) as Range[]

/** Counts from `at` (milliseconds) to the next point. */
export type Point = { at: number; numbers: ReadonlyMap<string, Summed> }

export async function seriesOf(store: Store, range: Range, now: number): Promise<Point[]> {
  const { points: count, hours } = ranges[range]
  const end = Math.floor(now / hourMs) + 1
  const points: Point[] = []
  for (let from = end - count * hours; from < end; from += hours) {
    const rows = await store.read(sumHourly, { from, to: from + hours })
    points.push({ at: from * hourMs, numbers: new Map(rows.map((row) => [row.name, row])) })
    await yieldToEventLoop()
  }
  return points
}

export function countIn({ numbers }: Point, name: string): number {
  return numbers.get(name)?.count ?? 0
}

/** Null if the service did not run. */
export function gaugeIn({ numbers }: Point, name: string): number | null {
  if (numbers.size === 0) return null
  // A gauge of 0 is not stored.
  return numbers.get(name)?.max ?? 0
}

/** Free bytes of a SQLite database's disk; null on a server, whose disk is unknown. */
export function freeBytesOf(database: Database): number | null {
  if (database.engine !== 'sqlite') return null
  const { bavail, bsize } = statfsSync(dirname(database.path))
  return bavail * bsize
}

/** `kibPerDay`: null before two days. `fullAt`: null beyond 100 years, or without known room. */
type Growth = { kibPerDay: number | null; fullAt: number | null }

const dayMs = 24 * hourMs
const maxDays = 36_500

/** Least squares. */
export function growthOf(
  month: readonly Point[],
  { now, freeBytes }: { now: number; freeBytes: number | null },
): Growth {
  const sizes = month.flatMap((point, day) => {
    const mib = gaugeIn(point, 'database-mib')
    return mib ? [{ day, kib: 1024 * mib }] : []
  })
  if (sizes.length < 2) return { kibPerDay: null, fullAt: null }
  const meanDay = meanOf(sizes.map(({ day }) => day))
  const together = meanOf(sizes.map(({ day, kib }) => (day - meanDay) * kib))
  const kibPerDay = Math.round(together / meanOf(sizes.map(({ day }) => (day - meanDay) ** 2)))
  const days = freeBytes === null || kibPerDay <= 0 ? maxDays : freeBytes / 1024 / kibPerDay
  return { kibPerDay, fullAt: days < maxDays ? Math.round(now + days * dayMs) : null }
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
