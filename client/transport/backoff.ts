// How long is waited before another attempt? Exponential backoff with full jitter ("Exponential Backoff And Jitter", AWS
// Architecture Blog, 2015): of all the ways to spread clients that failed together, the one that asks least of the server.
import { isCarillonError } from './errors.ts'

export type Backoff = {
  /** Milliseconds; doubled by each failure. */
  baseMs: number
  capMs: number
  /** From 0 to below 1. */
  random: () => number
}

/** A server may ask for patience, but no proxy's maintenance page makes a client wait for an hour. */
const longestRetryAfterSeconds = 30
/** Nor does a `retry: 0` make it ask without a rest. */
const leastBaseMs = 100

/** Milliseconds after so many failures before this one: at random up to the exponential bound, on top of a `Retry-After`. */
export function delayAfter(error: unknown, failures: number, { baseMs, capMs, random }: Backoff): number {
  const asked = isCarillonError(error) ? (error.retryAfter ?? 0) : 0
  const boundMs = Math.min(capMs, Math.max(leastBaseMs, baseMs) * 2 ** failures)
  return Math.min(asked, longestRetryAfterSeconds) * 1000 + random() * boundMs
}
