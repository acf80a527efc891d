// What may come between two steps of a bulk act (decision 0030), as from another node.
import assert from 'node:assert/strict'
import { Follower } from '../../contract/random/follower.ts'
import { recount } from '../../contract/random/random.ts'
import { at, newId, type Person, type PromiseOf, type World } from '../../contract/world.ts'
import { changeByKey } from '../../delivery/by-key.ts'
import { deleteUser } from '../../users/erasure/erasure.store.ts'
import { archiveRead, markAllRead } from '../bulk/bulk.store.ts'
import { undo } from '../bulk/undo.store.ts'
import { changesSince, readInbox } from '../inbox.store.ts'
import type { Rest } from '../inbox-state.ts'
import { shrink } from '../retention.store.ts'
import { actsOf, countsOf, placesOf } from './places.contract.ts'

const many = 150

/** The oldest id first. 50 are of 'chat'; the newest five have a key, and are of 'orders'. */
async function annOf(world: World) {
  const ann = await world.addUser('ann')
  const ids = [
    ...(await world.sendTimes(50, ann, { category: 'chat' })),
    ...(await world.sendTimes(95, ann, { category: 'orders' })),
    ...(await world.sendTimes(5, ann, { category: 'orders', isKeyed: true })),
  ]
  return { ann, ids, store: world.store, ...actsOf(world, ann) }
}

const readAll = ({ id: userId }: Person, seconds = 1) => ({
  userId,
  throughId: null,
  at: at(seconds),
})

async function firstStep(world: World, ann: Person, categories?: string[]): Promise<Rest> {
  const left = await world.store.write(markAllRead, { ...readAll(ann), categories })
  return typeof left === 'string' ? assert.fail(`the first step returned ${left}`) : left
}

async function lastStep(
  world: World,
  ann: Person,
  rest: Rest,
  categories?: string[],
): Promise<void> {
  assert.equal(await world.store.write(markAllRead, { ...readAll(ann), categories, rest }), 'done')
}

export function bulkStepPromises(promise: PromiseOf): void {
  promise(
    'a step changes the oldest ones, and its event says so: a client that applies it agrees',
    async (world) => {
      const { ann, ids } = await annOf(world)
      const follower = await Follower.of(world, ann)
      const { version } = await world.store.read(readInbox, ann.id)
      const rest = await firstStep(world, ann)
      assert.deepEqual(rest, { act: version + 1, through: many })
      assert.equal((await recount(world, ann)).inbox.unread, many - 100)
      await follower.catchUp(9)
      await lastStep(world, ann, rest)
      const found = await world.store.read(changesSince, { userId: ann.id, version, limit: 9 })
      const events = found === 'reset' ? assert.fail(found) : found.changes
      assert.deepEqual(
        events.map((event) => event.type === 'read-all' && [event.throughSeq, event.throughId]),
        [
          [100, ids[99]],
          [many, ids.at(-1)],
        ],
      )
      await follower.catchUp(9)
    },
  )

  promise('what arrives, is sent again or wakes between two steps stays unread', async (world) => {
    const { ann, ids, snooze, wake } = await annOf(world)
    const [again = '', snoozed = ''] = ids.slice(-2)
    await snooze(snoozed, 0, 60)
    const rest = await firstStep(world, ann)
    const late = await world.send(ann)
    await world.send(ann, 'Again', { key: again, renotify: true })
    await wake(snoozed, 60)
    await lastStep(world, ann, rest)
    assert.deepEqual(await placesOf(world, ann, [late, again, snoozed]), [
      'unread',
      'unread',
      'unread',
    ])
    assert.equal((await recount(world, ann)).inbox.unread, 3)
  })

  promise(
    'one that is marked as unread between two steps is covered by the next one, as its event says',
    async (world) => {
      const { ann, ids } = await annOf(world)
      const follower = await Follower.of(world, ann)
      const rest = await firstStep(world, ann)
      await actsOf(world, ann).unread(ids[5] ?? '')
      await lastStep(world, ann, rest)
      assert.equal((await recount(world, ann)).inbox.unread, 0)
      await follower.catchUp(2)
    },
  )

  promise(
    'what is archived, snoozed, deleted, resolved or removed between two steps is counted exactly',
    async (world) => {
      const { ann, ids, store, archive, snooze, remove } = await annOf(world)
      const [archived = '', snoozed = '', removed = '', resolved = ''] = ids.slice(-4)
      const rest = await firstStep(world, ann)
      await archive(archived, 2)
      await snooze(snoozed, 2, 60)
      await remove(removed, 2)
      const resolution = {
        producerId: world.producerId,
        application: '',
        key: resolved,
        kind: 'resolve',
        given: null,
      } as const
      await changeByKey({ store, wall: () => at(2), imageHosts: [] }, resolution)
      await store.write(shrink, { userId: ann.id, max: 140, at: at(90_000) })
      await lastStep(world, ann, rest)
      const places = await placesOf(world, ann, [archived, snoozed, removed, resolved])
      assert.deepEqual(places, ['archived 2', 'snoozed 60', 'removed', 'archived 2'])
      await recount(world, ann)
    },
  )

  promise(
    'one that moves into or out of the categories is decided by what it is when its step comes',
    async (world) => {
      const { ann, ids } = await annOf(world)
      const [into = ''] = ids.slice(-5)
      const out = newId()
      await world.sendTimes(70, ann, { category: 'chat' })
      await world.send(ann, 'Hi', { ids: [out], key: out, category: 'chat' })
      const rest = await firstStep(world, ann, ['chat'])
      await world.send(ann, 'In place', { key: into, category: 'chat' })
      await world.send(ann, 'In place', { key: out, category: 'orders' })
      await lastStep(world, ann, rest, ['chat'])
      assert.deepEqual(await placesOf(world, ann, [into, out]), ['read', 'unread'])
      await recount(world, ann)
    },
  )

  promise(
    'an undo between two steps takes back what is done; one after the last step takes back all',
    async (world) => {
      const { ann, store } = await annOf(world)
      const follower = await Follower.of(world, ann)
      const rest = await firstStep(world, ann)
      assert.equal(await world.bulk(undo, { userId: ann.id, at: at(2) }), 'done')
      assert.equal((await recount(world, ann)).inbox.unread, many)
      await world.bulk(markAllRead, { ...readAll(ann), rest })
      assert.equal((await recount(world, ann)).inbox.unread, 0)
      await follower.catchUp(9)
      assert.equal(await world.bulk(undo, { userId: ann.id, at: at(3) }), 'done')
      assert.equal((await recount(world, ann)).inbox.unread, many)
      assert.equal(await store.write(undo, { userId: ann.id, at: at(4) }), 'done')
      await follower.catchUp(9)
    },
  )

  promise(
    'steps of two acts in turns are counted exactly, and the undo takes back the newer act',
    async (world) => {
      const { ann, store } = await annOf(world)
      const follower = await Follower.of(world, ann)
      const rest = await firstStep(world, ann)
      const archiving = await store.write(archiveRead, { userId: ann.id, at: at(2) })
      assert.equal(archiving, 'done')
      await recount(world, ann)
      await lastStep(world, ann, rest)
      assert.deepEqual(await countsOf(world, ann), {
        total: 50,
        unread: 0,
        unseen: 50,
        archived: 100,
        snoozed: 0,
      })
      await follower.catchUp(9)
      assert.equal(await world.bulk(undo, { userId: ann.id, at: at(3) }), 'done')
      assert.deepEqual(await countsOf(world, ann), {
        total: 50,
        unread: 50,
        unseen: 50,
        archived: 100,
        snoozed: 0,
      })
      await recount(world, ann)
    },
  )

  promise(
    'an undo of many takes back the newest first, and leaves what was changed alone since',
    async (world) => {
      const { ann, ids, archive, store } = await annOf(world)
      await world.bulk(markAllRead, readAll(ann))
      await world.bulk(archiveRead, { userId: ann.id, at: at(2) })
      await archive(ids[120], 3)
      const follower = await Follower.of(world, ann)
      const left = await store.write(undo, { userId: ann.id, at: at(4) })
      assert.ok(typeof left === 'object')
      assert.equal((await recount(world, ann)).inbox.archived, 50)
      assert.equal(await store.write(undo, { userId: ann.id, at: at(4), rest: left }), 'done')
      assert.deepEqual(await countsOf(world, ann), {
        total: many - 1,
        unread: 0,
        unseen: many - 1,
        archived: 1,
        snoozed: 0,
      })
      await recount(world, ann)
      await follower.catchUp(9)
    },
  )

  promise(
    'a request that is repeated after a kill goes on with the act: the undo takes back all of it',
    async (world) => {
      const { ann } = await annOf(world)
      await firstStep(world, ann)
      await world.bulk(markAllRead, readAll(ann, 2))
      assert.equal((await recount(world, ann)).inbox.unread, 0)
      assert.equal(await world.bulk(undo, { userId: ann.id, at: at(3) }), 'done')
      assert.equal((await recount(world, ann)).inbox.unread, many)
    },
  )

  promise(
    'if an undo begins between two steps, the next step begins a new act, which can be taken back',
    async (world) => {
      const { ann, store } = await annOf(world)
      await world.sendTimes(150, ann)
      const rest = await firstStep(world, ann)
      const left = await store.write(markAllRead, {
        ...readAll(ann),
        rest: { ...rest, through: 250 },
      })
      const undoing = await store.write(undo, { userId: ann.id, at: at(2) })
      assert.ok(left === 'done' && typeof undoing === 'object')
      assert.equal(await store.write(markAllRead, { ...readAll(ann, 3), rest }), 'done')
      assert.equal(await store.write(undo, { userId: ann.id, at: at(4), rest: undoing }), 'done')
      await world.bulk(undo, { userId: ann.id, at: at(5) })
      const { unread } = (await recount(world, ann)).inbox
      assert.ok(unread >= 100, `${unread}`)
    },
  )

  promise('the erasure of the user ends the act', async (world) => {
    const { ann, store } = await annOf(world)
    const rest = await firstStep(world, ann)
    await store.write(deleteUser, { userId: ann.id, at: at(2) })
    await lastStep(world, ann, rest)
  })
}
