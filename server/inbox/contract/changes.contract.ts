import assert from 'node:assert/strict'
import { Follower } from '../../contract/random/follower.ts'
import { at, newId, notificationIn, type PromiseOf } from '../../contract/world.ts'
import { deliver } from '../../delivery/delivery.store.ts'
import { markAllRead } from '../bulk/bulk.store.ts'
import { changesSince, readInbox, readNotification, readPage } from '../inbox.store.ts'
import { emptyInbox } from '../inbox-state.ts'
import { markRead } from '../marks.store.ts'

export function changePromises(promise: PromiseOf): void {
  promise(
    'every change raises the version by one; a call that changes nothing keeps it (law 1)',
    async (world) => {
      const ann = await world.addUser('ann')
      const { store } = world
      const idempotency = { key: 'k1', bodyHash: 'b1' }
      const id = await world.send(ann)
      const through = (throughId: string | null) =>
        store.write(markAllRead, { userId: ann.id, throughId, at: at(5) })
      const acts: [raise: number, act: () => Promise<unknown>][] = [
        [1, () => world.send(ann, 'Deploying', { key: 'deploy' })],
        [1, () => world.send(ann, 'Deployed', { key: 'deploy' })],
        [1, () => world.send(ann, 'Deployed twice', { key: 'deploy', renotify: true })],
        [1, () => world.send(ann, 'Once', { idempotency })],
        [0, () => world.send(ann, 'Once', { idempotency })],
        [
          0,
          () =>
            store.write(
              deliver,
              world.letter({ to: [ann], idempotency: { ...idempotency, bodyHash: 'b2' } }),
            ),
        ],
        [0, () => world.store.write(deliver, world.letter({ to: [{ username: 'unknown' }] }))],
        [1, () => store.write(markRead, { userId: ann.id, id, at: at(4) })],
        [0, () => store.write(markRead, { userId: ann.id, id, at: at(5) })],
        [0, () => store.write(markRead, { userId: ann.id, id: newId(), at: at(5) })],
        [0, () => through(id)],
        [0, () => through(newId())],
        [1, () => through(null)],
        [0, () => through(null)],
        [1, () => world.deliver({ to: [ann, ann], title: 'Named twice' })],
        [0, () => store.read(readPage, { userId: ann.id, page: 1, limit: 9, status: 'all' })],
      ]
      for (const [index, [raise, act]] of acts.entries()) {
        const before = await world.inboxOf(ann)
        await act()
        const after = await world.inboxOf(ann)
        assert.equal(after.inbox.version, before.inbox.version + raise, `act ${index}`)
        if (raise === 0) assert.deepEqual(after, before)
      }
    },
  )

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
          if (change.type === 'created') ids.push(JSON.parse(change.notification).id)
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
      await world.store.write(markRead, { userId: ann.id, id: second, at: at(4) })
      await world.store.write(markAllRead, { userId: ann.id, throughId: second, at: at(5) })
      await world.store.write(markRead, { userId: ann.id, id: first, at: at(6) })
      const changesAfter = async (version: number, limit: number) => {
        const found = await world.store.read(changesSince, { userId: ann.id, version, limit })
        const { changes, more, inbox } = found === 'reset' ? assert.fail('reset') : found
        assert.deepEqual(inbox, await world.store.read(readInbox, ann.id))
        const listed = changes.map((change) =>
          'throughId' in change
            ? [change.type, change.throughId]
            : [change.type, notificationIn(change).id],
        )
        return { listed, versions: changes.map((change) => change.version), more }
      }
      const arrived = [first, second, third].map((id) => ['created', id])
      const read = ['read', second]
      const readAll = ['read-all', second]
      const all = [...arrived, read, readAll]
      assert.deepEqual(await changesAfter(0, 9), {
        listed: all,
        versions: [1, 2, 3, 4, 5],
        more: false,
      })
      assert.deepEqual(await changesAfter(0, 5), {
        listed: all,
        versions: [1, 2, 3, 4, 5],
        more: false,
      })
      assert.deepEqual(await changesAfter(0, 2), {
        listed: arrived.slice(0, 2),
        versions: [1, 2],
        more: true,
      })
      assert.deepEqual(await changesAfter(2, 1), {
        listed: arrived.slice(2),
        versions: [3],
        more: true,
      })
      assert.deepEqual(await changesAfter(3, 1), { listed: [read], versions: [4], more: true })
      assert.deepEqual(await changesAfter(4, 1), { listed: [readAll], versions: [5], more: false })
      assert.deepEqual(await changesAfter(5, 1), { listed: [], versions: [], more: false })
    },
  )

  promise(
    'lists a replaced notification as replaced to a client that has only the earlier content',
    async (world) => {
      const ann = await world.addUser('ann')
      const id = await world.send(ann, 'Deploying', { key: 'deploy' })
      await world.send(ann, 'Deployed', { key: 'deploy' })
      await world.store.write(markRead, { userId: ann.id, id, at: at(4) })
      const changesAfter = async (version: number) => {
        const found = await world.store.read(changesSince, { userId: ann.id, version, limit: 9 })
        return found === 'reset'
          ? found
          : found.changes.map((change) => [change.version, change.type])
      }
      const seen = JSON.parse(
        (await world.store.read(readNotification, { userId: ann.id, id })) ?? '',
      )
      assert.deepEqual([seen.title, seen.read], ['Deployed', true])
      assert.deepEqual(await changesAfter(0), [
        [1, 'created'],
        [3, 'replaced'],
      ])
      assert.deepEqual(await changesAfter(1), [[3, 'replaced']])
      assert.deepEqual(await changesAfter(2), [[3, 'read']])
      assert.deepEqual(await changesAfter(3), [])
    },
  )

  promise(
    'lists a notification that was sent again as replaced at its new version, and what happened before only to others',
    async (world) => {
      const ann = await world.addUser('ann')
      const { store } = world
      let ids = await world.sendTimes(3, ann, { isKeyed: true })
      const [first = '', second = '', third = ''] = ids
      await store.write(markRead, { userId: ann.id, id: second, at: at(4) })
      await store.write(markAllRead, { userId: ann.id, throughId: null, at: at(5) })
      for (const id of [third, first]) ids = await world.sendAgain(ann, id, ids)
      await store.write(markRead, { userId: ann.id, id: third, at: at(6) })
      const changesAfter = async (version: number) => {
        const found = await store.read(changesSince, { userId: ann.id, version, limit: 9 })
        const { changes } = found === 'reset' ? assert.fail('reset') : found
        return changes.map((change) =>
          'throughId' in change
            ? [change.version, change.type, change.throughSeq, change.throughId]
            : [change.version, change.type, notificationIn(change).seq, notificationIn(change).id],
        )
      }
      const sinceReadAll = [
        [6, 'replaced', 4, third],
        [7, 'replaced', 5, first],
        [8, 'read', 4, third],
      ]
      const readAll = [5, 'read-all', 3, null]
      assert.deepEqual(await changesAfter(0), [
        [2, 'created', 2, second],
        [4, 'read', 2, second],
        readAll,
        ...sinceReadAll,
      ])
      assert.deepEqual(await changesAfter(4), [readAll, ...sinceReadAll])
      assert.deepEqual(await changesAfter(6), sinceReadAll.slice(1))
      await world.send(ann, 'Quiet', { key: third })
      assert.deepEqual(await changesAfter(7), [[9, 'replaced', 4, third]])
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

  promise('lists no change of another user’s inbox', async (world) => {
    const ann = await world.addUser('ann')
    const ben = await world.addUser('ben')
    await world.send(ann)
    await world.sendTimes(3, ben)
    await world.store.write(markAllRead, { userId: ben.id, throughId: null, at: at(5) })
    const changed = await world.store.read(changesSince, { userId: ann.id, version: 0, limit: 9 })
    assert.equal(changed !== 'reset' && changed.changes.length, 1)
  })
}
