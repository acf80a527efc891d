// What the store promises whatever is done to it in whatever order: counters equal a recount, nothing is missed.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { type Person, type PromiseOf, runs, World } from '../world.ts'
import { anyAct, Stage } from './acts.ts'
import { Follower } from './follower.ts'
import { Arrays } from './model.ts'

export function randomPromises(promise: PromiseOf): void {
  promise('law 2: acts that come one by one leave what they leave in plain arrays', async (world) => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyAct, { maxLength: 30 }), async (acts) => {
        const stage = await Stage.of(await World.on(world.store))
        const arrays = new Arrays(stage.people)
        for (const act of acts) {
          const turn = stage.turn(act)
          assert.deepEqual(await stage.perform(turn), arrays.perform(turn))
        }
        for (const [number, person] of stage.people.entries()) {
          const { inbox, items } = await recount(stage.world, person)
          assert.deepEqual({ version: inbox.version, items }, arrays.state(number))
        }
      }),
      { numRuns: runs(60) },
    )
  })

  promise('law 2: counters equal a recount of the pages after every batch of acts at once', async (world) => {
    await fc.assert(
      fc.asyncProperty(someBatches, async (batches) => {
        const stage = await Stage.of(await World.on(world.store))
        for (const acts of batches) {
          await Promise.all(acts.map((act) => stage.perform(stage.turn(act))))
          for (const person of stage.people) await recount(stage.world, person)
        }
      }),
      { numRuns: runs(60) },
    )
  })

  promise('law 2: keeps the first moment at which each was read, whatever follows', async (world) => {
    await fc.assert(
      fc.asyncProperty(someBatches, async (batches) => {
        const stage = await Stage.of(await World.on(world.store))
        const firstMoments = new Map<string, string | null>()
        for (const acts of batches) {
          await Promise.all(acts.map((act) => stage.perform(stage.turn(act))))
          for (const person of stage.people)
            for (const { id, readAt } of await stage.world.list(person)) {
              assert.equal(readAt, firstMoments.get(id) ?? readAt)
              firstMoments.set(id, readAt)
            }
        }
      }),
      { numRuns: runs(40) },
    )
  })

  promise('law 1: changes since any version, in pages of any size, lead to what is now', async (world) => {
    await fc.assert(
      fc.asyncProperty(someBatches, fc.integer({ min: 1, max: 9 }), async (batches, limit) => {
        const stage = await Stage.of(await World.on(world.store))
        const followers: Follower[] = []
        for (const acts of batches) {
          for (const person of stage.people) followers.push(await Follower.of(stage.world, person))
          await Promise.all(acts.map((act) => stage.perform(stage.turn(act))))
        }
        for (const follower of followers) await follower.catchUp(limit)
      }),
      { numRuns: runs(60) },
    )
  })
}

const someBatches = fc.array(fc.array(anyAct, { minLength: 1, maxLength: 12 }), { maxLength: 6 })

/** Compares every counter with what the pages show, and answers both. */
export async function recount(world: World, person: Person) {
  const { inbox, categories } = await world.store.readCounts(person.id)
  const items = await world.list(person, { limit: 7 })
  const unread = items.filter(({ read }) => !read)
  assert.deepEqual(await world.store.readInbox(person.id), inbox)
  assert.deepEqual([inbox.total, inbox.unread], [items.length, unread.length])
  assert.equal(inbox.lastSeq - inbox.firstSeq + 1, inbox.total)
  assert.deepEqual(await world.list(person, { unreadOnly: true, limit: 3 }), unread)
  const recounted: typeof categories = {}
  for (const { category, read } of items) {
    if (category === null) continue
    const { total, unread: before } = recounted[category] ?? { total: 0, unread: 0 }
    recounted[category] = { total: total + 1, unread: before + (read ? 0 : 1) }
  }
  assert.deepEqual({ ...categories }, recounted)
  const throughMark = items.slice(Math.max(0, inbox.lastSeq - inbox.readThrough))
  assert.ok(throughMark.every(({ read }) => read))
  return { inbox, items }
}
