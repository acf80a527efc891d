// What the store promises of versions: every change of an inbox raises it by one, and no follower misses a change.
import assert from 'node:assert/strict'
import { emptyInbox } from '../store.ts'
import { Follower } from './random/follower.ts'
import { at, newId, type PromiseOf } from './world.ts'

export function changePromises(promise: PromiseOf): void {
  promise('law 1: every change raises the version by one, and what changes nothing leaves it', async (world) => {
    const ann = await world.addUser('ann')
    const { store } = world
    const idempotency = { key: 'k1', bodyHash: 'b1' }
    const id = await world.send(ann)
    const through = (throughId: string | null) => store.markAllRead({ userId: ann.id, throughId, at: at(5) })
    const acts: [raise: number, act: () => Promise<unknown>][] = [
      [1, () => world.send(ann, 'Deploying', { key: 'deploy' })],
      [1, () => world.send(ann, 'Deployed', { key: 'deploy' })],
      [1, () => world.send(ann, 'Once', { idempotency })],
      [0, () => world.send(ann, 'Once', { idempotency })],
      [0, () => store.deliver(world.letter({ to: [ann], idempotency: { ...idempotency, bodyHash: 'b2' } }))],
      [0, () => world.deliver({ to: [{ username: 'nobody' }] })],
      [1, () => store.markRead({ userId: ann.id, id, at: at(4) })],
      [0, () => store.markRead({ userId: ann.id, id, at: at(5) })],
      [0, () => store.markRead({ userId: ann.id, id: newId(), at: at(5) })],
      [0, () => through(id)],
      [0, () => through(newId())],
      [1, () => through(null)],
      [0, () => through(null)],
      [1, () => world.deliver({ to: [ann, ann], title: 'Twice named' })],
      [0, () => store.readPage({ userId: ann.id, page: 1, limit: 9, unreadOnly: false })],
    ]
    for (const [index, [raise, act]] of acts.entries()) {
      const before = await world.inboxOf(ann)
      await act()
      const after = await world.inboxOf(ann)
      assert.equal(after.inbox.version, before.inbox.version + raise, `act no. ${index}`)
      if (raise === 0) assert.deepEqual(after, before)
    }
  })

  promise('law 1: a follower who asks while 300 deliveries are under way gets each once, in order', async (world) => {
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
      for (const change of await follower.ask(7)) {
        versions.push(change.version)
        if (change.type === 'arrived') ids.push(JSON.parse(change.notification).id)
      }
      await new Promise(setImmediate)
    }
    assert.deepEqual(
      versions,
      Array.from({ length: 300 }, (_, index) => index + 1),
    )
    assert.deepEqual(ids, await writing)
  })

  promise('answers what changed in order, at most so many, and says whether others follow', async (world) => {
    const ann = await world.addUser('ann')
    const [first = '', second = '', third = ''] = await world.sendTimes(3, ann)
    await world.store.markRead({ userId: ann.id, id: second, at: at(4) })
    await world.store.markAllRead({ userId: ann.id, throughId: second, at: at(5) })
    await world.store.markRead({ userId: ann.id, id: first, at: at(6) })
    const answer = async (version: number, limit: number) => {
      const found = await world.store.changesSince({ userId: ann.id, version, limit })
      const { changes, more, inbox } = found === 'reset' ? assert.fail('reset') : found
      assert.deepEqual(inbox, await world.store.readInbox(ann.id))
      const told = changes.map((change) =>
        change.type === 'read-all'
          ? [change.type, change.throughId]
          : [change.type, JSON.parse(change.notification).id],
      )
      return { told, versions: changes.map((change) => change.version), more }
    }
    const arrived = [first, second, third].map((id) => ['arrived', id])
    const [read, readAll] = [
      ['read', second],
      ['read-all', second],
    ]
    const all = [...arrived, read, readAll]
    assert.deepEqual(await answer(0, 9), { told: all, versions: [1, 2, 3, 4, 5], more: false })
    assert.deepEqual(await answer(0, 5), { told: all, versions: [1, 2, 3, 4, 5], more: false })
    assert.deepEqual(await answer(0, 2), { told: arrived.slice(0, 2), versions: [1, 2], more: true })
    assert.deepEqual(await answer(2, 1), { told: arrived.slice(2), versions: [3], more: true })
    assert.deepEqual(await answer(3, 1), { told: [read], versions: [4], more: true })
    assert.deepEqual(await answer(4, 1), { told: [readAll], versions: [5], more: false })
    assert.deepEqual(await answer(5, 1), { told: [], versions: [], more: false })
  })

  promise('tells of a replaced text as long as whoever asks has the earlier one', async (world) => {
    const ann = await world.addUser('ann')
    const id = await world.send(ann, 'Deploying', { key: 'deploy' })
    await world.send(ann, 'Deployed', { key: 'deploy' })
    await world.store.markRead({ userId: ann.id, id, at: at(4) })
    const answer = async (version: number) => {
      const found = await world.store.changesSince({ userId: ann.id, version, limit: 9 })
      return found === 'reset' ? found : found.changes.map((change) => [change.version, change.type])
    }
    const seen = JSON.parse((await world.store.readNotification({ userId: ann.id, id })) ?? '')
    assert.deepEqual([seen.title, seen.read], ['Deployed', true])
    assert.deepEqual(await answer(0), [
      [1, 'arrived'],
      [3, 'replaced'],
    ])
    assert.deepEqual(await answer(1), [[3, 'replaced']])
    assert.deepEqual(await answer(2), [[3, 'read']])
    assert.deepEqual(await answer(3), [])
  })

  promise('answers "reset" to a version that was never reached, or that lies too far back', async (world) => {
    const [ann, ben] = [await world.addUser('ann'), await world.addUser('ben')]
    await world.send(ann)
    const since = (userId: string, version: number) => world.store.changesSince({ userId, version, limit: 9 })
    for (const version of [2, 1_000_000, 1e20, -1]) assert.equal(await since(ann.id, version), 'reset')
    await world.sendTimes(5, ann)
    const behind = (version: number) => world.store.changesSince({ userId: ann.id, version, limit: 9, maxBehind: 3 })
    assert.equal(await behind(2), 'reset')
    assert.notEqual(await behind(3), 'reset')
    assert.equal(await since(ben.id, 1), 'reset')
    assert.deepEqual(await since(ben.id, 0), { inbox: emptyInbox, changes: [], more: false })
  })

  promise('tells a follower of nobody else’s changes', async (world) => {
    const [ann, ben] = [await world.addUser('ann'), await world.addUser('ben')]
    await world.send(ann)
    await world.sendTimes(3, ben)
    await world.store.markAllRead({ userId: ben.id, throughId: null, at: at(5) })
    const changed = await world.store.changesSince({ userId: ann.id, version: 0, limit: 9 })
    assert.equal(changed !== 'reset' && changed.changes.length, 1)
  })
}
