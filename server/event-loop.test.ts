// Does long work leave room for everything else, and does each have his turn?
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { pause } from './event-loop.ts'

/** Keeps the event loop. */
function work(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

test('however many work, a turn of the event loop is short, and all of them get done', async () => {
  let turns = 0
  let isOver = false
  const watching = (async () => {
    for (; !isOver; turns++) await nextTurn()
  })()
  let done = 0
  const someWork = async () => {
    for (let n = 0; n < 10; n++) {
      await pause()
      work(0.1)
    }
    done++
  }
  await Promise.all(Array.from({ length: 500 }, someWork))
  isOver = true
  await watching
  assert.equal(done, 500)
  // Half a second of work.
  assert.ok(turns > 50, `${turns} turns`)
})

test('who has worked goes to the end: whoever works on and on keeps nobody waiting', async () => {
  let isOver = false
  let rounds = 0
  const goingOn = Array.from({ length: 8 }, async () => {
    while (!isOver) {
      work(1)
      rounds++
      await pause()
    }
  })
  for (let n = 0; n < 20; n++) {
    const before = rounds
    await pause()
    // Each of the eight may be before him, and work once more while he is waking.
    assert.ok(rounds - before <= 9, `${rounds - before} were before him`)
  }
  isOver = true
  await Promise.all(goingOn)
})

test('they go on in the order in which they came', async () => {
  const order: number[] = []
  const come = async (n: number) => {
    await pause()
    order.push(n)
    work(0.5)
  }
  work(3)
  await Promise.all(Array.from({ length: 100 }, (_, n) => come(n)))
  assert.deepEqual(
    order,
    [...order].sort((one, other) => one - other),
  )
})
