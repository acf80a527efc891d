// Whatever the wall clock does, the time of lifetimes does not go back, and does not fall behind the monotonic clock (R8).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Clock } from './clock.ts'

const [second, minute, hour] = [1_000, 60_000, 3_600_000]
const start = Date.UTC(2026, 0, 1)

function clockFrom(wallAt = start) {
  const state = { wall: wallAt, monotonic: 123.456 }
  const warnings: number[] = []
  const clock = new Clock({ wall: () => Math.floor(state.wall), monotonic: () => state.monotonic }, (ms) => {
    warnings.push(ms)
  })
  const pass = (ms: number) => {
    state.wall += ms
    state.monotonic += ms
  }
  const set = (ms: number) => {
    state.wall += ms
  }
  return { clock, warnings, pass, set }
}

test('it is the wall clock as long as that goes on', () => {
  const { clock, warnings, pass, set } = clockFrom()
  for (let n = 0; n < 1_000; n++) {
    assert.equal(clock.now(), clock.wall())
    pass(n % 3 === 0 ? 0.7 : 17.3)
  }
  set(hour)
  assert.equal(clock.now(), clock.wall())
  assert.deepEqual(warnings, [])
})

test('after the wall clock was set back it goes on, and is the wall clock again once that has caught up (R8)', () => {
  const { clock, pass, set } = clockFrom()
  const from = clock.now()
  set(-hour)
  assert.equal(clock.now(), from)
  pass(10 * minute)
  assert.ok(Math.abs(clock.now() - from - 10 * minute) < second, String(clock.now() - from))
  set(hour)
  assert.equal(clock.now(), clock.wall())
})

test('a clock that is set back is reported once, with how much, and again when it happens again', () => {
  const { clock, warnings, pass, set } = clockFrom()
  clock.now()
  set(-hour)
  for (let n = 0; n < 100; n++) {
    clock.now()
    pass(second)
  }
  assert.deepEqual(warnings, [hour])
  set(hour)
  clock.now()
  set(-2 * hour)
  clock.now()
  assert.deepEqual(
    warnings.map((ms) => Math.round(ms / minute)),
    [60, 120],
  )
})

test('a small step back, as of a clock that is kept right, is not reported, and does not take the time back', () => {
  const { clock, warnings, set } = clockFrom()
  const from = clock.now()
  set(-4 * second)
  assert.equal(clock.now(), from)
  assert.deepEqual(warnings, [])
})

test('a monotonic clock that runs 15 millionths too fast does not take it away from the wall clock', () => {
  const { clock, pass, set } = clockFrom()
  for (let n = 0; n < 1_000; n++) {
    pass(hour)
    set(-hour * 15e-6)
    assert.ok(clock.now() - clock.wall() < 200)
  }
})

test('whatever the wall clock does, the time never goes back, and 30 days are over within 30 days and a minute (R8)', () => {
  const moves = fc.array(
    fc.record({
      passMs: fc.nat({ max: 3 * 24 * hour }),
      setMs: fc.oneof(fc.constant(0), fc.integer({ min: -48 * hour, max: hour }), fc.integer({ min: -9_000, max: 0 })),
      isRead: fc.boolean(),
    }),
    { minLength: 1, maxLength: 60 },
  )
  fc.assert(
    fc.property(moves, (all) => {
      const { clock, pass, set } = clockFrom()
      const from = clock.now()
      let [passed, last] = [0, from]
      for (const { passMs, setMs, isRead } of all) {
        pass(passMs)
        set(setMs)
        passed += passMs
        if (!isRead) continue
        const now = clock.now()
        assert.ok(now >= last)
        last = now
      }
      // 20 millionths of what passed: 52 s of 30 days.
      assert.ok(clock.now() - from >= passed * (1 - 20e-6) - 1)
    }),
    { numRuns: 500 },
  )
})
