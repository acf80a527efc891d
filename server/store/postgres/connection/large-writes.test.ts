// Turns of writes that change many rows.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LargeWrites } from './large-writes.ts'

const patient = { waitTimeoutMs: 600_000 }

test('a burst of large writes is queued and not refused: all run in their order, a few at a time, also after failures', async () => {
  const writes = new LargeWrites({ ...patient, maxAtOnce: 3, maxWaiting: 97 * 200 })
  const begun: number[] = []
  let running = 0
  const all = Array.from({ length: 100 }, (_, n) =>
    writes.run(200, async () => {
      begun.push(n)
      assert.ok(++running <= 3)
      await new Promise(setImmediate)
      running--
      if (n % 5 === 0) throw new Error(`no. ${n}`)
      return n
    }),
  )
  assert.equal(writes.size, 97)
  const outcomes = await Promise.allSettled(all)
  assert.deepEqual(
    begun,
    outcomes.map((_, n) => n),
  )
  for (const [n, { status }] of outcomes.entries())
    assert.equal(status, n % 5 === 0 ? 'rejected' : 'fulfilled')
  assert.equal(writes.size, 0)
  assert.equal(await writes.run(1, async () => 'later'), 'later')
})

test('a large write that cannot wait is refused, and nothing of it is done: too many wait, or it waited too long', async () => {
  const writes = new LargeWrites({ maxAtOnce: 1, maxWaiting: 200, waitTimeoutMs: 1 })
  const { promise, resolve } = Promise.withResolvers<void>()
  const first = writes.run(200, () => promise)
  const never = () => assert.fail('it ran')
  const second = writes.run(200, never)
  await assert.rejects(writes.run(1, never), { code: 'UNAVAILABLE' })
  // Its timer does not keep the process alive.
  const alive = setInterval(() => {}, 1_000)
  await assert.rejects(second, { code: 'UNAVAILABLE' })
  clearInterval(alive)
  assert.equal(writes.size, 0)
  resolve()
  await first
  assert.equal(await writes.run(200, async () => 'later'), 'later')
})
