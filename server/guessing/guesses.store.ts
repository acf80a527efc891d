// Nodes share the counts, and a restart keeps them.

import { record } from '../audit/audit.store.ts'
import type { Audited } from '../store/events.ts'
import {
  all,
  inList,
  lockAll,
  Part,
  type Read,
  run,
  send,
  type Write,
} from '../store/statements.ts'

/** After n guesses the next waits `delaysMs[n]`; the last delay also serves larger n. */
type CountLimit = {
  key: string
  delaysMs: readonly number[]
  keptMs: number
}

/** A leaky bucket: `burst` guesses at once, then one in each `intervalMs`. */
export type GuessRate = { key: string; intervalMs: number; burst: number }

export type GuessLimit = CountLimit | GuessRate
export type GuessLimits = { limits: readonly GuessLimit[]; at: number }

export type GuessRefusal = { key: string; notBefore: number }

/** Nodes' clocks differ by less. A count further ahead is from before the clock was set back. */
const clockLeewayMs = 60_000
const maxCharacter = '\u{10ffff}'

/** `at`: of the last guess; for a rate, from then on one leaves in each interval. */
type Count = { failures: number; at: number; expiresAt: number }
type Row = Count & { key: string }
const columns = new Part('key, failures, at, expires_at as "expiresAt"')

export function* guessRefusals(limits: GuessLimits): Read<GuessRefusal[]> {
  const rows = yield* all<Row>`
    select ${columns} from guess_count where key ${inList(limits.limits.map(({ key }) => key))}`
  return refusalsOf(limits, rows)
}

/**
 * Counts under every key, or returns those that refuse. Calls take turns. If the clock was set
 * back, the count begins again. Locks keys in order, as `clearGuesses` does.
 */
export function* reserveGuess(limits: GuessLimits): Write<GuessRefusal[]> {
  const early = yield* guessRefusals(limits)
  if (early.length > 0) return early
  const { at: now } = limits
  const ordered = inOrder(limits.limits)
  const keys = ordered.map(({ key }) => key)
  for (const key of keys)
    yield* send`
      insert into guess_count (key, failures, at, expires_at) values (${key}, 0, ${now}, ${now})
      on conflict (key) do nothing`
  const rows = yield* lockAll<Row>`
    select ${columns} from guess_count where key ${inList(keys)} order by key`
  const refusals = refusalsOf(limits, rows)
  if (refusals.length > 0) return refusals
  for (const limit of ordered) {
    const { key } = limit
    const { failures, at, expiresAt } = counted(limit, liveRow(limit, rows, now), now)
    yield* send`
      insert into guess_count (key, failures, at, expires_at) values (${key}, ${failures}, ${at}, ${expiresAt})
      on conflict (key) do update set failures = excluded.failures, at = excluded.at, expires_at = excluded.expires_at`
  }
  return []
}

/** Removes the counts, and one guess from each rate. */
export function* clearGuesses({ limits }: Pick<GuessLimits, 'limits'>): Write<void> {
  for (const limit of inOrder(limits)) {
    const { key } = limit
    if ('burst' in limit) {
      yield* send`
        update guess_count set failures = failures - 1, expires_at = expires_at - ${limit.intervalMs} where key = ${key}`
      yield* send`delete from guess_count where key = ${key} and failures <= 0`
    } else yield* send`delete from guess_count where key = ${key}`
  }
}

/** Returns 'absent' if `prefix` begins no key. */
export function* forgetGuesses({
  prefix,
  audit,
}: { prefix: string } & Audited): Write<'done' | 'absent'> {
  const removed =
    yield* run`delete from guess_count where key >= ${prefix} and key < ${prefix + maxCharacter}`
  if (removed === 0) return 'absent'
  yield* record(audit)
  return 'done'
}

/** Removes at most 1,000. Returns how many. */
export function* removeOldGuesses(before: number): Write<number> {
  const old = yield* all<{ key: string }>`
    select key from guess_count where expires_at < ${before} order by expires_at limit 1000`
  return yield* run`
    delete from guess_count where key ${inList(old.map(({ key }) => key))} and expires_at < ${before}`
}

function inOrder(limits: readonly GuessLimit[]): GuessLimit[] {
  return limits.toSorted((one, other) => (one.key < other.key ? -1 : 1))
}

function liveRow(limit: GuessLimit, rows: readonly Row[], now: number): Row | undefined {
  return rows.find(
    ({ key, at, expiresAt }) => key === limit.key && expiresAt > now && at <= now + clockLeewayMs,
  )
}

function refusalsOf({ limits, at }: GuessLimits, rows: readonly Row[]): GuessRefusal[] {
  const moments = limits.map((limit) => ({
    key: limit.key,
    notBefore: notBeforeOf(limit, liveRow(limit, rows, at)),
  }))
  return moments.filter(({ notBefore }) => notBefore > at)
}

function notBeforeOf(limit: GuessLimit, row: Count | undefined): number {
  if (row === undefined) return Number.NEGATIVE_INFINITY
  if ('burst' in limit) return row.at + (row.failures - limit.burst + 1) * limit.intervalMs
  const delayMs = limit.delaysMs[row.failures] ?? limit.delaysMs.at(-1) ?? 0
  // A clock a little ahead must not delay guesses elsewhere.
  return delayMs === 0 ? Number.NEGATIVE_INFINITY : row.at + delayMs
}

function counted(limit: GuessLimit, row: Count | undefined, at: number): Count {
  const before = row ?? { failures: 0, at }
  if (!('burst' in limit)) {
    const last = Math.max(before.at, at)
    return { failures: before.failures + 1, at: last, expiresAt: last + limit.keptMs }
  }
  const { intervalMs } = limit
  const left = Math.max(0, Math.floor((at - before.at) / intervalMs))
  const failures = before.failures - left + 1
  const since = before.at + left * intervalMs
  return { failures, at: since, expiresAt: since + failures * intervalMs }
}
