// Retry delays: exponential backoff with full jitter ("Exponential Backoff And Jitter", AWS Architecture Blog, 2015).
import { isCarillonError } from './errors.ts'

export type Backoff = {
  /** Milliseconds. Each failure doubles it, up to `maxRetryMs`. */
  retryMs: number
  maxRetryMs: number
  random: () => number
}

/** The limit for `Retry-After`: the maintenance page of a proxy may ask for an hour, which is too long. */
const maxRetryAfterSeconds = 30
/** A stream that sends `retry: 0` must not make the client retry without a pause. */
const minRetryMs = 100

/**
 * Milliseconds: the `Retry-After` of `error` plus a random time. `failures`: in a row before it.
 */
export function delayAfter(
  error: unknown,
  failures: number,
  { retryMs, maxRetryMs, random }: Backoff,
): number {
  const retryAfter = isCarillonError(error) ? (error.retryAfter ?? 0) : 0
  const limitMs = Math.min(maxRetryMs, Math.max(minRetryMs, retryMs) * 2 ** failures)
  return Math.min(retryAfter, maxRetryAfterSeconds) * 1000 + random() * limitMs
}
