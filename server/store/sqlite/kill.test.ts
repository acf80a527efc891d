// Every acknowledged write is there, and no write in part (R1).
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { recount } from '../../contract/random/random.ts'
import { runs, World } from '../../contract/world.ts'
import { assertIntact, newFolder } from './testing/folder.ts'
import { openWorld } from './testing/open-world.ts'
import { OtherProcess } from './testing/other-process.ts'

test('every acknowledged write is there after kill -9 at any moment, and the store opens again soon (law 5, R1)', async (t) => {
  const folder = await newFolder(t)
  let rounds = 0
  const upAfterMs: number[] = []
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 120 }), async (milliseconds) => {
      const path = join(folder, `${++rounds}.db`)
      const other = await OtherProcess.start()
      await other.open(path)
      const world = await World.on(other.store)
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const acknowledged: string[] = []
      const writeForEver = async () => {
        for (;;) acknowledged.push((await world.deliver({ to: [ann, ben] })).results[0]?.id ?? '')
      }
      const writers = Promise.allSettled(Array.from({ length: 20 }, writeForEver))
      await new Promise((resolve) => setTimeout(resolve, milliseconds))
      await other.kill()
      await writers

      const startedAt = performance.now()
      await using opened = await openWorld(t, path)
      upAfterMs.push(performance.now() - startedAt)
      const kept = new Set(await opened.world.ids(ann))
      assert.deepEqual(
        acknowledged.filter((id) => !kept.has(id)),
        [],
      )
      await recount(opened.world, ann)
      assert.equal((await recount(opened.world, ben)).inbox.total, kept.size)
      assertIntact(path)
    }),
    { numRuns: runs(4) },
  )
  upAfterMs.sort((a, b) => a - b)
  const median = upAfterMs[Math.floor(upAfterMs.length / 2)] ?? Infinity
  const longest = upAfterMs.at(-1) ?? Infinity
  t.diagnostic(`open again after ${median.toFixed(0)} ms, at most ${longest.toFixed(0)} ms`)
  assert.ok(longest < 60_000, `open again after at most ${longest} ms`)
})
