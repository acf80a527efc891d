import assert from 'node:assert/strict'
import { Follower } from '../../contract/random/follower.ts'
import { at, notificationIn, type PromiseOf } from '../../contract/world.ts'
import { markAllRead } from '../bulk/bulk.store.ts'
import { changesSince, readInbox } from '../inbox.store.ts'
import { type Change, emptyInbox } from '../inbox-state.ts'
import { actsOf, annWith } from './places.contract.ts'

export function changePromises(promise: PromiseOf): void {
  promise(
    'a client that polls during 300 deliveries gets each one once, in order (law 1)',
    async (world) => {
      const ann = await world.addUser('ann')
      const follower = await Follower.of(world, ann)
      let isWriting = true
      const writing = world.sendTimes(300, ann).finally(() => {
        isWriting = false
      })
      const versions: number[] = []
      const ids: string[] = []
      for (let isLast = false; !isLast; ) {
        isLast = !isWriting
        for (const change of await follower.read(7)) {
          versions.push(change.version)
          const { id, seq } = notificationIn(change)
          assert.equal(seq, change.version)
          ids.push(id)
        }
        await new Promise(setImmediate)
      }
      assert.deepEqual(
        versions,
        Array.from({ length: 300 }, (_, index) => index + 1),
      )
      assert.deepEqual(ids, await writing)
    },
  )

  promise(
    'lists changes in order, at most `limit` of them, and says if more follow',
    async (world) => {
      const ann = await world.addUser('ann')
      const [first = '', second = '', third = ''] = await world.sendTimes(3, ann)
      await actsOf(world, ann).read(second, 4)
      await world.store.write(markAllRead, { userId: ann.id, throughId: second, at: at(5) })
      await actsOf(world, ann).read(first, 6)
      const all = [
        [1, 'created', first],
        [2, 'created', second],
        [3, 'created', third],
        [4, 'read', second],
        [5, 'read-all', second],
      ]
      for (let version = 0; version <= 5; version++)
        for (const limit of [1, 2, 5, 9]) {
          const found = await world.store.read(changesSince, { userId: ann.id, version, limit })
          const { changes, more, inbox } = found === 'reset' ? assert.fail('reset') : found
          assert.deepEqual(inbox, await world.store.read(readInbox, ann.id))
          assert.deepEqual(changes.map(named), all.slice(version, version + limit))
          assert.equal(more, version + limit < 5)
        }
    },
  )

  promise(
    'lists what a client has yet to learn of each notification: that it is new, replaced, read or unread',
    async (world) => {
      const { ann, ids, readAll, store } = await annWith(world, 3)
      const [first = '', second = '', third = ''] = ids
      const isListed = async (version: number, expected: unknown[][]) => {
        const found = await store.read(changesSince, { userId: ann.id, version, limit: 9 })
        assert.deepEqual(found === 'reset' ? found : found.changes.map(named), expected)
      }
      const mark = (id: string) => actsOf(world, ann).read(id, 4)
      const send = (key: string, renotify: boolean) => world.send(ann, 'Again', { key, renotify })
      await mark(second)
      await actsOf(world, ann).unread(second)
      await isListed(4, [[5, 'unread', second]])
      await send(second, false)
      await mark(second)
      await isListed(1, [
        [2, 'created', second],
        [3, 'created', third],
        [7, 'replaced', second],
      ])
      await isListed(6, [[7, 'read', second]])
      await readAll(5)
      await isListed(6, [
        [7, 'read', second],
        [8, 'read-all', third],
      ])
      for (const id of [third, first]) await send(id, true)
      await mark(third)
      const sinceReadAll = [
        [9, 'replaced', third],
        [10, 'replaced', first],
        [11, 'read', third],
      ]
      await isListed(7, [[8, 'read-all', null], ...sinceReadAll])
      await isListed(9, sinceReadAll.slice(1))
      await send(third, false)
      await isListed(10, [[12, 'replaced', third]])
      await actsOf(world, ann).unread(second)
      await isListed(12, [[13, 'unread', second]])
    },
  )

  promise(
    'returns "reset" for a version that was never reached or is too far behind',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      await world.send(ann)
      const since = (userId: string, version: number) =>
        world.store.read(changesSince, { userId, version, limit: 9 })
      for (const version of [2, 1_000_000, 1e20, -1])
        assert.equal(await since(ann.id, version), 'reset')
      await world.sendTimes(5, ann)
      const behind = (version: number) =>
        world.store.read(changesSince, { userId: ann.id, version, limit: 9, maxBehind: 3 })
      assert.equal(await behind(2), 'reset')
      assert.notEqual(await behind(3), 'reset')
      assert.equal(await since(ben.id, 1), 'reset')
      assert.deepEqual(await since(ben.id, 0), { inbox: emptyInbox, changes: [], more: false })
    },
  )
}

function named(change: Change) {
  const id = 'throughId' in change ? change.throughId : notificationIn(change).id
  return [change.version, change.type, id]
}
