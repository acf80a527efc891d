import assert from 'node:assert/strict'
import {
  at,
  isoAt,
  newId,
  notificationIn,
  type Person,
  type PromiseOf,
  type World,
} from '../../contract/world.ts'
import { markAllRead } from '../bulk/bulk.store.ts'
import { changesSince, readInbox, readNotification } from '../inbox.store.ts'
import { emptyInbox } from '../inbox-state.ts'
import { markRead } from '../marks.store.ts'

export function markReadPromises(promise: PromiseOf): void {
  promise(
    'marks one notification as read; repeating the call changes nothing and keeps the first readAt',
    async (world) => {
      const ann = await world.addUser('ann')
      const first = await world.send(ann)
      const second = await world.send(ann)
      assert.equal(
        await world.store.write(markRead, { userId: ann.id, id: first, at: at(5) }),
        'done',
      )
      const before = await world.inboxOf(ann)
      assert.deepEqual([before.inbox.version, before.inbox.unread], [3, 1])
      assert.equal(
        await world.store.write(markRead, { userId: ann.id, id: first, at: at(9) }),
        'done',
      )
      assert.deepEqual(await world.inboxOf(ann), before)
      assert.equal((await world.find(ann, first))?.readAt, isoAt(5))
      assert.equal((await world.find(ann, second))?.read, false)
    },
  )

  promise(
    'a notification that was sent again is unread, whatever had marked it as read, until it is marked again',
    async (world) => {
      const ann = await world.addUser('ann')
      const { store } = world
      let ids = await world.sendTimes(3, ann, { isKeyed: true })
      const [alone = '', together = '', last = ''] = ids
      await store.write(markRead, { userId: ann.id, id: alone, at: at(4) })
      await store.write(markAllRead, { userId: ann.id, throughId: null, at: at(5) })
      for (const id of [alone, together, last]) ids = await world.sendAgain(ann, id, ids)
      assert.deepEqual(await readAts(world, ann), [null, null, null])
      assert.equal((await store.read(readInbox, ann.id)).unread, 3)
      assert.equal(await store.write(markRead, { userId: ann.id, id: together, at: at(6) }), 'done')
      assert.equal(
        await store.write(markAllRead, { userId: ann.id, throughId: alone, at: at(7) }),
        'done',
      )
      assert.deepEqual(await readAts(world, ann), [7, 6, null])
      await store.write(markAllRead, { userId: ann.id, throughId: null, at: at(8) })
      assert.deepEqual(await readAts(world, ann), [7, 6, 8])
      assert.equal((await store.read(readInbox, ann.id)).unread, 0)
    },
  )

  promise(
    'marks all as read as one change, and keeps each earlier readAt (law 3)',
    async (world) => {
      const ann = await world.addUser('ann')
      const ids = await world.sendTimes(100, ann)
      const [id = ''] = ids
      await world.store.write(markRead, { userId: ann.id, id, at: at(5) })
      const { version } = await world.store.read(readInbox, ann.id)
      assert.equal(
        await world.store.write(markAllRead, { userId: ann.id, throughId: null, at: at(6) }),
        'done',
      )
      const changed = await world.store.read(changesSince, { userId: ann.id, version, limit: 10 })
      assert.deepEqual(changed !== 'reset' && changed.changes, [
        {
          version: version + 1,
          type: 'read-all',
          throughSeq: 100,
          throughId: ids.at(-1) ?? '',
          at: isoAt(6),
        },
      ])
      await world.store.write(markAllRead, { userId: ann.id, throughId: null, at: at(7) })
      await world.store.write(markRead, { userId: ann.id, id: ids[1] ?? '', at: at(8) })
      for (const seen of await world.list(ann))
        assert.equal(seen.readAt, isoAt(seen.id === id ? 5 : 6))
      const inbox = await world.store.read(readInbox, ann.id)
      assert.deepEqual([inbox.unread, inbox.version], [0, version + 1])
    },
  )

  promise('marks as read up to and including the given notification (law 3)', async (world) => {
    const ann = await world.addUser('ann')
    const ids = await world.sendTimes(9, ann)
    const readThrough = (index: number, seconds: number) =>
      world.store.write(markAllRead, {
        userId: ann.id,
        throughId: ids[index] ?? '',
        at: at(seconds),
      })
    assert.equal(await readThrough(3, 5), 'done')
    assert.deepEqual(await readAts(world, ann), [5, 5, 5, 5, null, null, null, null, null])
    assert.equal(await readThrough(6, 6), 'done')
    assert.equal(await readThrough(1, 7), 'done')
    assert.deepEqual(await readAts(world, ann), [5, 5, 5, 5, 6, 6, 6, null, null])
    assert.equal((await world.store.read(readInbox, ann.id)).unread, 2)
    assert.equal((await world.store.read(readInbox, ann.id)).version, 11)
  })

  promise(
    'marks as read up to a sequence number, also if no notification has it any more (law 3)',
    async (world) => {
      const ann = await world.addUser('ann')
      const readThrough = (throughSeq: number, seconds: number) =>
        world.store.write(markAllRead, {
          userId: ann.id,
          throughId: null,
          throughSeq,
          at: at(seconds),
        })
      assert.equal(await readThrough(3, 1), 'done')
      await world.sendTimes(2, ann)
      await world.send(ann, 'Moves', { key: 'k' })
      await world.sendTimes(2, ann)
      await world.send(ann, 'Moved', { key: 'k', renotify: true })
      // Oldest first: 1 and 2, then 4 and 5, then the one that moved from 3 to 6.
      assert.equal(await readThrough(3, 5), 'done')
      assert.deepEqual(await readAts(world, ann), [5, 5, null, null, null])
      assert.equal(await readThrough(2, 6), 'done')
      assert.equal(await readThrough(5, 7), 'done')
      assert.deepEqual(await readAts(world, ann), [5, 5, 7, 7, null])
      assert.equal(await readThrough(1_000, 8), 'done')
      await world.send(ann)
      assert.deepEqual(await readAts(world, ann), [5, 5, 7, 7, 8, null])
      assert.equal((await world.store.read(readInbox, ann.id)).unread, 1)
    },
  )

  promise(
    'a notification that arrives after the given one stays unread, during concurrent deliveries too (law 3)',
    async (world) => {
      for (let round = 0; round < 20; round++) {
        const person = await world.addUser(`person ${round}`)
        const onScreen = await world.sendTimes(3, person)
        const readAll = () =>
          world.store.write(markAllRead, {
            userId: person.id,
            throughId: onScreen.at(-1) ?? '',
            at: at(5),
          })
        const arriving = world.sendTimes(round, person)
        await Promise.all([arriving, readAll(), world.send(person, 'last')])
        const unread = (await world.list(person, { status: 'unread' })).map(({ id }) => id)
        assert.equal(unread.length, round + 1)
        for (const id of onScreen) assert.equal((await world.find(person, id))?.readAt, isoAt(5))
      }
    },
  )

  promise(
    'marking all as read covers exactly the notifications that had arrived (law 3)',
    async (world) => {
      const ann = await world.addUser('ann')
      const acts = Array.from({ length: 100 }, (_, n) =>
        n % 10 === 9
          ? world.store.write(markAllRead, { userId: ann.id, throughId: null, at: at(n) })
          : world.send(ann),
      )
      await Promise.all(acts)
      const all = await world.store.read(changesSince, { userId: ann.id, version: 0, limit: 1_000 })
      const { changes } = all === 'reset' ? assert.fail('reset') : all
      let arrived = 0
      let covered = 0
      let last: string | undefined
      for (const change of changes)
        if (change.type === 'read-all') {
          assert.equal(change.throughId, last)
          covered = change.throughSeq
        } else {
          arrived++
          last = notificationIn(change).id
        }
      assert.equal(arrived, 90)
      const unread = await world.list(ann, { status: 'unread' })
      assert.equal(unread.length, arrived - covered)
    },
  )

  promise(
    'returns "done" when all of an empty inbox is marked as read, and changes nothing',
    async (world) => {
      const ann = await world.addUser('ann')
      assert.equal(
        await world.store.write(markAllRead, { userId: ann.id, throughId: null, at: at(5) }),
        'done',
      )
      assert.deepEqual(await world.store.read(readInbox, ann.id), emptyInbox)
    },
  )

  promise(
    'another user’s notification looks like one that does not exist (law 6, Z2)',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const bens = await world.send(ben)
      await world.send(ann)
      const before = [await world.inboxOf(ann), await world.inboxOf(ben)]
      for (const id of [bens, newId(), '', 'no id at all']) {
        assert.equal(await world.store.read(readNotification, { userId: ann.id, id }), undefined)
        assert.equal(await world.store.write(markRead, { userId: ann.id, id, at: at(5) }), 'absent')
        assert.equal(
          await world.store.write(markAllRead, { userId: ann.id, throughId: id, at: at(5) }),
          'absent',
        )
      }
      assert.deepEqual([await world.inboxOf(ann), await world.inboxOf(ben)], before)
    },
  )

  promise(
    'what one user does changes no other inbox, even if both got the same delivery (Z1)',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const shared = newId()
      for (const title of ['One', 'Two'])
        await world.deliver({ to: [ann, ben], title, key: title, category: 'build' })
      await world.send(ann, 'Mine', { ids: [shared] })
      const before = await world.inboxOf(ben)
      const [id = ''] = await world.ids(ann)
      await world.store.write(markRead, { userId: ann.id, id, at: at(5) })
      await world.send(ann, 'Changed', { key: 'One', category: 'other' })
      await world.store.write(markAllRead, { userId: ann.id, throughId: null, at: at(6) })
      assert.deepEqual(await world.inboxOf(ben), before)
      assert.equal((await world.store.read(readInbox, ann.id)).unread, 0)
    },
  )
}

/** In seconds, the oldest first. */
async function readAts(world: World, person: Person): Promise<(number | null)[]> {
  const seen = (await world.list(person)).toReversed()
  return seen.map(({ readAt }) => (readAt === null ? null : (Date.parse(readAt) - at(0)) / 1_000))
}
