// Exponential backoff with full jitter ("Exponential Backoff And Jitter", AWS Architecture Blog).
import { isCarillonError } from './errors.ts'

export type Backoff = {
  /** Milliseconds. Each failure doubles it, up to `maxRetryMs`. */
  retryMs: number
  maxRetryMs: number
  random: () => number
}

/** A limit for `Retry-After`: a proxy's maintenance page may ask for an hour. */
const maxRetryAfterSeconds = 30
/** `retry: 0` of a stream must not cause retries without a pause. */
const minRetryMs = 100

/** Milliseconds: `Retry-After` of `error` plus a random time. `failures`: earlier ones in a row. */
export function delayAfter(
  error: unknown,
  failures: number,
  { retryMs, maxRetryMs, random }: Backoff,
): number {
  const retryAfter = isCarillonError(error) ? (error.retryAfter ?? 0) : 0
  const limitMs = Math.min(maxRetryMs, Math.max(minRetryMs, retryMs) * 2 ** failures)
  return Math.min(retryAfter, maxRetryAfterSeconds) * 1000 + random() * limitMs
}
