import assert from 'node:assert/strict'
import { test } from 'node:test'
import { acceptedAfterMs, lastOf, nextKeyOf, publishedAheadMs, scheduleOf } from './key-schedule.ts'

const day = 86_400_000
const lifetimeMs = 30 * day
const start = Date.UTC(2026, 0, 1)

function key(
  kid: string,
  startsAt: number,
  times: { createdAt?: number; retiredAt?: number } = {},
) {
  const { createdAt = startsAt, retiredAt = null } = times
  return { kid, createdAt, startsAt, retiredAt }
}

const statesAt = (keys: Parameters<typeof scheduleOf>[0], now: number) =>
  Object.fromEntries(scheduleOf(keys, now).map(({ key: { kid }, state }) => [kid, state]))

test('a key signs from its start, and the one before it is accepted until its last token has expired (T12)', () => {
  const keys = [key('a', start), key('b', start + day)] as never
  assert.deepEqual(statesAt(keys, start + day - 1), { a: 'signing', b: 'next' })
  assert.deepEqual(statesAt(keys, start + day), { a: 'accepted', b: 'signing' })
  assert.deepEqual(statesAt(keys, start + day + acceptedAfterMs - 1), {
    a: 'accepted',
    b: 'signing',
  })
  assert.deepEqual(statesAt(keys, start + day + acceptedAfterMs), { a: 'retired', b: 'signing' })
  assert.ok(acceptedAfterMs >= 16 * 60_000, 'the life of a token and the leeway for clocks')
})

test('the next key is published before the current one has signed for its lifetime, and starts then (T12)', () => {
  const keys = [key('a', start)]
  const next = nextKeyOf(keys, { now: start + day, lifetimeMs })
  assert.deepEqual(next, {
    publishAt: start + lifetimeMs - publishedAheadMs,
    startsAt: start + lifetimeMs,
  })
  const late = start + lifetimeMs + day
  assert.equal(
    nextKeyOf(keys, { now: late, lifetimeMs })?.startsAt,
    late + publishedAheadMs,
    'never at once',
  )
  const both = [...keys, key('b', late + publishedAheadMs, { createdAt: late })]
  assert.equal(nextKeyOf(both, { now: late, lifetimeMs }), undefined, 'it is published already')
  assert.equal(lastOf(both)?.kid, 'b')
})

test('if the clock was set back, a key that is not retired signs, and one far in the future keeps no other from starting', () => {
  const future = key('b', start + 4_000 * day)
  const keys = [key('a', start, { retiredAt: start + 1 }), future] as never
  assert.deepEqual(statesAt(keys, start + day), { a: 'retired', b: 'signing' })
  const next = nextKeyOf([key('a', start), future], { now: start + lifetimeMs, lifetimeMs })
  assert.equal(next?.startsAt, start + lifetimeMs + publishedAheadMs)
})
