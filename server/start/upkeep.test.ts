import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { stubStore } from '../store/testing/operations.ts'
import { Upkeep } from './upkeep.ts'

test('a database that is away fails each second, and is a line a minute', async (t) => {
  t.after(() => mock.timers.reset())
  mock.timers.enable({ apis: ['setInterval', 'setTimeout'] })
  const lines: { event: string }[] = []
  const log = { warn: (line: { event: string }) => lines.push(line) }
  const store = stubStore()
  let reads = 0
  store.read = async () => {
    reads++
    throw new Error('away')
  }
  const dependencies = { store, wall: () => 0, aged: async () => 0, log, limits: {} }
  const upkeep = new Upkeep(dependencies as unknown as ConstructorParameters<typeof Upkeep>[0])
  upkeep.start()
  for (let second = 0; second < 125; second++) {
    mock.timers.tick(1_000)
    await new Promise(setImmediate)
  }
  assert.ok(reads >= 120, `${reads}`)
  assert.deepEqual(
    lines.map(({ event }) => event),
    ['tidying-failed', 'tidying-failed', 'tidying-failed'],
  )
  await upkeep.end()
})
