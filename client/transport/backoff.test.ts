import assert from 'node:assert/strict'
import { test } from 'node:test'
import { delayAfter } from './backoff.ts'
import { CarillonError, networkError } from './errors.ts'

const backoff = (random: number) => ({ retryMs: 100, maxRetryMs: 1_000, random: () => random })

test('a delay is random, from 0 to a limit that doubles with each failure up to the cap', () => {
  const bounds = [0, 1, 2, 3, 4, 5, 1_100].map((failures) =>
    delayAfter(undefined, failures, backoff(1)),
  )
  assert.deepEqual(bounds, [100, 200, 400, 800, 1_000, 1_000, 1_000])
  assert.equal(delayAfter(networkError(null), 3, backoff(0)), 0)
  assert.equal(delayAfter(networkError(null), 3, backoff(0.25)), 200)
})

test('the jitter is added to Retry-After, which counts up to 30 s', () => {
  const asking = (retryAfter: number) =>
    new CarillonError('TOO_MANY_REQUESTS', 'Too many', { status: 429, retryAfter })
  assert.equal(delayAfter(asking(7), 0, backoff(0.5)), 7_050)
  assert.equal(delayAfter(asking(3_600), 0, backoff(0)), 30_000)
})

test('with a base of 0 ms, the limit still starts at 100 ms, and stays a number after thousands of failures', () => {
  const none = { retryMs: 0, maxRetryMs: 1_000, random: () => 1 }
  assert.deepEqual(
    [0, 1, 4_000].map((failures) => delayAfter(undefined, failures, none)),
    [100, 200, 1_000],
  )
})
