import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { endOfTurn, WorkInTurns, yieldToEventLoop } from './event-loop.ts'

function work(ms: number): void {
  const until = performance.now() + ms
  let now = performance.now()
  while (now < until) now = performance.now()
}

test('500 pieces of long work at once leave short turns of the event loop, and all of them finish', async () => {
  let turns = 0
  let isOver = false
  const watching = (async () => {
    for (; !isOver; turns++) await nextTurn()
  })()
  let done = 0
  const someWork = async () => {
    for (let n = 0; n < 10; n++) {
      await yieldToEventLoop()
      work(0.1)
    }
    done++
  }
  await Promise.all(Array.from({ length: 500 }, someWork))
  isOver = true
  await watching
  assert.equal(done, 500)
  // The work takes half a second in total.
  assert.ok(turns > 50, `${turns} turns`)
})

test('work that has run waits behind the others: work without end does not starve new work', async () => {
  let isOver = false
  let rounds = 0
  const endless = Array.from({ length: 8 }, async () => {
    while (!isOver) {
      work(1)
      rounds++
      await yieldToEventLoop()
    }
  })
  for (let n = 0; n < 20; n++) {
    const before = rounds
    await yieldToEventLoop()
    // Each of the eight may be ahead in the queue, and one may run once more before this promise resolves.
    assert.ok(rounds - before <= 9, `${rounds - before} rounds were first`)
  }
  isOver = true
  await Promise.all(endless)
})

test('items that arrive together are spread over turns: each turn handles items until its share is used up, in the order of arrival', async () => {
  let turn = 0
  const handled: { item: number; turn: number }[] = []
  const items = new WorkInTurns<number>(1, (item) => {
    handled.push({ item, turn })
    // What an item resumes counts as well.
    void Promise.resolve().then(() => work(0.6))
  })
  for (let item = 0; item < 20; item++) items.add(item)
  for (; items.size > 0; turn++) await nextTurn()
  assert.deepEqual(
    handled.map(({ item }) => item),
    Array.from({ length: 20 }, (_, item) => item),
  )
  const inTurn = Map.groupBy(handled, (one) => one.turn)
  for (const together of inTurn.values())
    assert.ok(together.length <= 2, `${together.length} items in one turn`)
})

test('what waits for the end of a turn resumes there one after another, in each turn again', async () => {
  for (let turn = 0; turn < 3; turn++) {
    const order: string[] = []
    setImmediate(() => order.push('earlier'))
    const waiting = ['a', 'b', 'c'].map(async (name) => {
      await endOfTurn()
      order.push(name)
    })
    setImmediate(() => order.push('later'))
    await Promise.all(waiting)
    assert.deepEqual(order, ['earlier', 'a', 'b', 'c'])
  }
})
