// When does a limit on guesses refuse one, and what does a guess change? On PostgreSQL: postgres/functions/sign-in/guesses.sql.
import { guessClockLeewayMs } from '../operations.ts'
import type { GuessLimits, GuessRate, GuessRefusal } from '../store.ts'

/** `at`: the last guess. Of a rate: the moment at which it had so many, from which on one leaves in each interval. */
export type CountRow = { failures: number; at: number; expiresAt: number }
type Found = (key: string) => CountRow | undefined

export function keysOf({ counts, rates }: Pick<GuessLimits, 'counts' | 'rates'>): string[] {
  return [...counts.keys, ...rates.map(({ key }) => key)]
}

export function refusalsOf(limits: GuessLimits, find: Found): GuessRefusal[] {
  const refusals = keysOf(limits).map((key) => ({ key, notBefore: notBeforeOf(limits, key, find(key)) }))
  return refusals.filter(({ notBefore }) => notBefore > limits.at)
}

function notBeforeOf({ counts, rates, at }: GuessLimits, key: string, row: CountRow | undefined): number {
  if (!isLive(row, at)) return Number.NEGATIVE_INFINITY
  const rate = rates.find((one) => one.key === key)
  if (rate !== undefined) return row.at + (row.failures - rate.burst + 1) * rate.intervalMs
  const delayMs = counts.delaysMs[Math.min(row.failures, counts.delaysMs.length - 1)] ?? 0
  // Without a delay, the guess of a node whose clock is a little ahead delays none of a node whose clock is right.
  return delayMs === 0 ? Number.NEGATIVE_INFINITY : row.at + delayMs
}

/** The row of `key` after one more guess. */
export function counted({ counts, rates, at }: GuessLimits, key: string, row: CountRow | undefined): CountRow {
  const before = isLive(row, at) ? row : { failures: 0, at }
  const rate = rates.find((one) => one.key === key)
  if (rate !== undefined) return countedByRate(rate, before, at)
  const last = Math.max(before.at, at)
  return { failures: before.failures + 1, at: last, expiresAt: last + counts.keptMs }
}

function countedByRate({ intervalMs }: GuessRate, before: Omit<CountRow, 'expiresAt'>, at: number): CountRow {
  const left = Math.max(0, Math.floor((at - before.at) / intervalMs))
  const failures = before.failures - left + 1
  const since = before.at + left * intervalMs
  return { failures, at: since, expiresAt: since + failures * intervalMs }
}

/** A count in the future is from before the clock was set back, and begins again. */
function isLive(row: CountRow | undefined, at: number): row is CountRow {
  return row !== undefined && row.expiresAt > at && row.at <= at + guessClockLeewayMs
}
