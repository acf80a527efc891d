// The clock never goes back and never falls behind the monotonic clock (R8).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Clock } from './clock.ts'

const second = 1_000
const minute = 60_000
const hour = 3_600_000
const start = Date.UTC(2026, 0, 1)

function clockFrom(wallAt = start) {
  const state = { wall: wallAt, monotonic: 123.456 }
  const warnings: number[] = []
  const clock = new Clock(
    { wall: () => Math.floor(state.wall), monotonic: () => state.monotonic },
    (ms) => {
      warnings.push(ms)
    },
  )
  const pass = (ms: number) => {
    state.wall += ms
    state.monotonic += ms
  }
  const set = (ms: number) => {
    state.wall += ms
  }
  return { clock, warnings, pass, set }
}

test('equals the wall clock while that is not set back', () => {
  const { clock, warnings, pass, set } = clockFrom()
  for (let n = 0; n < 1_000; n++) {
    assert.equal(clock.now(), clock.wall())
    pass(n % 3 === 0 ? 0.7 : 17.3)
  }
  set(hour)
  assert.equal(clock.now(), clock.wall())
  assert.deepEqual(warnings, [])
})

test('continues after the wall clock is set back, and equals the wall clock again once that has caught up (R8)', () => {
  const { clock, pass, set } = clockFrom()
  const from = clock.now()
  set(-hour)
  assert.equal(clock.now(), from)
  pass(10 * minute)
  assert.ok(Math.abs(clock.now() - from - 10 * minute) < second, String(clock.now() - from))
  set(hour)
  assert.equal(clock.now(), clock.wall())
})

test('reports each time that the wall clock is set back, once, with the difference', () => {
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

test('does not report a small step back, as from a normal correction, and does not go back with it', () => {
  const { clock, warnings, set } = clockFrom()
  const from = clock.now()
  set(-4 * second)
  assert.equal(clock.now(), from)
  assert.deepEqual(warnings, [])
})

test('stays with the wall clock although the monotonic clock runs 15 millionths too fast', () => {
  const { clock, pass, set } = clockFrom()
  for (let n = 0; n < 1_000; n++) {
    pass(hour)
    set(-hour * 15e-6)
    assert.ok(clock.now() - clock.wall() < 200)
  }
})

test('never goes back whatever the wall clock does, and 30 days end within 30 days and a minute (R8)', () => {
  const moves = fc.array(
    fc.record({
      passMs: fc.nat({ max: 3 * 24 * hour }),
      setMs: fc.oneof(
        fc.constant(0),
        fc.integer({ min: -48 * hour, max: hour }),
        fc.integer({ min: -9_000, max: 0 }),
      ),
      isRead: fc.boolean(),
    }),
    { minLength: 1, maxLength: 60 },
  )
  fc.assert(
    fc.property(moves, (all) => {
      const { clock, pass, set } = clockFrom()
      const from = clock.now()
      let passed = 0
      let last = from
      for (const { passMs, setMs, isRead } of all) {
        pass(passMs)
        set(setMs)
        passed += passMs
        if (!isRead) continue
        const now = clock.now()
        assert.ok(now >= last)
        last = now
      }
      // 20 millionths of the passed time: 52 s in 30 days.
      assert.ok(clock.now() - from >= passed * (1 - 20e-6) - 1)
    }),
    { numRuns: 500 },
  )
})
