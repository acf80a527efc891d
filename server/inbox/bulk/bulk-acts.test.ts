import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CarillonError } from '../../basics/errors.ts'
import type { Store } from '../../store/store.ts'
import type { Rest } from '../inbox-state.ts'
import { BulkActs } from './bulk-acts.ts'

const step = function* () {} as never
const input = { userId: 'ann' }

/** `write`: one step. */
function acts(write: (rest: Rest | undefined) => Promise<Rest | 'done'>): BulkActs {
  return new BulkActs({
    write: (_: unknown, { rest }: { rest?: Rest }) => write(rest),
  } as unknown as Store)
}

test('one act of a user runs and four wait; a further one is 429 with a time', async () => {
  const first = Promise.withResolvers<'done'>()
  const bulk = acts(() => first.promise)
  const running = Array.from({ length: 5 }, () => bulk.run(step, input))
  await assert.rejects(bulk.run(step, input), ({ code, retryAfter }: CarillonError) => {
    assert.deepEqual([code, retryAfter], ['TOO_MANY_REQUESTS', 1])
    return true
  })
  first.resolve('done')
  assert.deepEqual(new Set(await Promise.all(running)), new Set(['done']))
  assert.equal(await bulk.run(step, input), 'done')
})

test('an act that fails lets the next one of the user run', async () => {
  let calls = 0
  const bulk = acts(() =>
    calls++ === 0 ? Promise.reject(new Error('no disk')) : Promise.resolve('done'),
  )
  const [one, other] = await Promise.allSettled([bulk.run(step, input), bulk.run(step, input)])
  assert.deepEqual([one.status, other.status], ['rejected', 'fulfilled'])
})

test('at a drain an act ends after its step, and those that wait do not begin', async () => {
  const rests: (Rest | undefined)[] = []
  const bulk = acts(async (rest) => {
    rests.push(rest)
    bulk.end()
    return { act: 1, through: 9 }
  })
  for (const one of await Promise.allSettled([bulk.run(step, input), bulk.run(step, input)])) {
    assert.equal(one.status === 'rejected' && one.reason.code, 'UNAVAILABLE')
  }
  assert.deepEqual(
    rests.filter((rest) => rest !== undefined),
    [],
  )
})
