// After any acts, counters equal a recount, and changes lead to the current pages.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { readCounts, readInbox } from '../../inbox/inbox.store.ts'
import type { Status } from '../../inbox/inbox-state.ts'
import { type Person, type PromiseOf, runs, type World } from '../world.ts'
import { type Act, anyAct, anyActOrRestart, anyLastingAct, Stage, statuses } from './acts.ts'
import { Follower } from './follower.ts'
import { hasStatus, Model } from './model.ts'

export function randomPromises(promise: PromiseOf): void {
  promise(
    'acts one after another give the same results and inboxes as the model of plain arrays (law 2)',
    async (world) => {
      await fc.assert(
        fc.asyncProperty(
          fc.noBias(fc.array(anyActOrRestart, { maxLength: 50, size: 'max' })),
          async (acts) => {
            const stage = await Stage.of(world)
            const model = new Model(stage.people)
            for (const act of acts) {
              const turn = stage.turn(act)
              assert.deepEqual(await stage.perform(turn), model.perform(turn))
              await Promise.all(
                stage.people.map(async ({ id: userId }, number) => {
                  const { items, inbox } = await stage.world.page({
                    userId,
                    page: 1,
                    limit: 100,
                    status: 'all',
                  })
                  const { version, unseen } = inbox
                  assert.deepEqual(
                    { version, unseen, items: JSON.parse(items) },
                    model.state(number),
                  )
                }),
              )
            }
            for (const person of stage.people) await recount(stage.world, person)
          },
        ),
        { numRuns: runs(40, 2_000) },
      )
    },
  )

  promise(
    'counters equal a recount after every batch of concurrent acts, and changes since any version lead to the current inbox (laws 1 and 2)',
    async (world) => {
      await fc.assert(
        fc.asyncProperty(
          batchesOf(anyAct),
          fc.integer({ min: 1, max: 9 }),
          async (batches, limit) => {
            const stage = await Stage.of(world)
            const followers: Follower[] = []
            for (const acts of batches) {
              for (const person of stage.people)
                followers.push(await Follower.of(stage.world, person))
              await Promise.all(acts.map((act) => stage.perform(stage.turn(act))))
              for (const person of stage.people) await recount(stage.world, person)
            }
            for (const follower of followers) await follower.catchUp(limit)
          },
        ),
        { numRuns: runs(6, 1_200) },
      )
    },
  )

  promise(
    'each notification keeps its first readAt until it is sent again, during concurrent acts (law 2)',
    async (world) => {
      await fc.assert(
        fc.asyncProperty(batchesOf(anyLastingAct), async (batches) => {
          const stage = await Stage.of(world)
          const firstReadAts = new Map<string, string | null>()
          for (const acts of batches) {
            await Promise.all(acts.map((act) => stage.perform(stage.turn(act))))
            for (const person of stage.people)
              for (const { id, seq, readAt } of await stage.world.list(person)) {
                assert.equal(readAt, firstReadAts.get(`${id} ${seq}`) ?? readAt)
                firstReadAts.set(`${id} ${seq}`, readAt)
              }
          }
        }),
        { numRuns: runs(5, 800) },
      )
    },
  )
}

const batchesOf = (act: fc.Arbitrary<Act>) =>
  fc.array(fc.array(act, { minLength: 1, maxLength: 12 }), { maxLength: 6 })

/** Returns both. */
export async function recount(world: World, person: Person) {
  const { inbox, categories } = await world.store.read(readCounts, person.id)
  const items = await world.list(person, { limit: 7 })
  const listed = (status: Status) => items.filter((one) => hasStatus(one, status))
  const unread = listed('unread')
  assert.deepEqual(await world.store.read(readInbox, person.id), inbox)
  const { total, archived, snoozed } = inbox
  const lengths = (['inbox', 'unread', 'archived', 'snoozed'] as const).map(
    (status) => listed(status).length,
  )
  assert.deepEqual([total, inbox.unread, archived, snoozed], lengths)
  assert.ok(inbox.lastSeq >= (items[0]?.seq ?? 0))
  assert.equal(inbox.firstSeq, items.at(-1)?.seq ?? inbox.lastSeq + 1)
  assert.deepEqual(await world.list(person, { status: 'unread', limit: 3 }), unread)
  for (const status of statuses)
    for (const category of ['build', 'chat', undefined]) {
      const matching = listed(status).filter((one) => (category ?? one.category) === one.category)
      const filter = { status, categories: category === undefined ? undefined : [category] }
      assert.deepEqual(await world.list(person, { ...filter, limit: 3 }), matching)
    }
  const recounted: typeof categories = {}
  for (const { category, read } of listed('inbox')) {
    if (category === null) continue
    const { total: earlier, unread: before } = recounted[category] ?? { total: 0, unread: 0 }
    recounted[category] = { total: earlier + 1, unread: before + (read ? 0 : 1) }
  }
  assert.deepEqual({ ...categories }, recounted)
  return { inbox, items }
}
