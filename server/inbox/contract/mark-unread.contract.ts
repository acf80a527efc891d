import assert from 'node:assert/strict'
import { recount } from '../../contract/random/random.ts'
import { at, newId, type Person, type PromiseOf, type World } from '../../contract/world.ts'
import { deleteUser } from '../../users/erasure/erasure.store.ts'
import { markAllRead } from '../bulk/bulk.store.ts'
import { undo } from '../bulk/undo.store.ts'
import { changesSince, readInbox } from '../inbox.store.ts'
import { markRead, markUnread } from '../marks.store.ts'

export function markUnreadPromises(promise: PromiseOf): void {
  promise('marks one notification as unread; repeating the call changes nothing', async (world) => {
    const ann = await world.addUser('ann')
    const [first = '', second = ''] = await world.sendTimes(2, ann)
    await world.store.write(markRead, { userId: ann.id, id: first, at: at(5) })
    assert.equal(await world.store.write(markUnread, { userId: ann.id, id: first }), 'done')
    const before = await world.inboxOf(ann)
    assert.deepEqual([before.inbox.version, before.inbox.unread], [4, 2])
    for (const id of [first, second])
      assert.equal(await world.store.write(markUnread, { userId: ann.id, id }), 'done')
    assert.deepEqual(await world.inboxOf(ann), before)
    assert.deepEqual(await readAts(world, ann, [first, second]), [null, null])
  })

  promise(
    'a notification that is marked as unread after a read-all stays unread until the next one',
    async (world) => {
      const { ann, ids, readAll, store } = await annWith(world, 4)
      await readAll(5)
      await store.write(markUnread, { userId: ann.id, id: ids[1] ?? '' })
      assert.deepEqual(await readAts(world, ann, ids), [5, null, 5, 5])
      assert.deepEqual(await unreadOf(world, ann), 1)
      // A notification that arrives changes nothing about it.
      const late = await world.send(ann)
      assert.deepEqual(await readAts(world, ann, [...ids, late]), [5, null, 5, 5, null])
      await readAll(6)
      assert.deepEqual(await readAts(world, ann, [...ids, late]), [5, 6, 5, 5, 6])
      assert.deepEqual(await unreadOf(world, ann), 0)
      // Also if nothing but that one is unread.
      await store.write(markUnread, { userId: ann.id, id: ids[1] ?? '' })
      await readAll(7)
      assert.deepEqual(await readAts(world, ann, [...ids, late]), [5, 7, 5, 5, 6])
      await recount(world, ann)
    },
  )

  promise(
    'a notification that is marked as unread and then as read has the readAt of the last time',
    async (world) => {
      const { ann, ids, readAll, store } = await annWith(world, 2)
      const [id = ''] = ids
      await store.write(markRead, { userId: ann.id, id, at: at(4) })
      await store.write(markUnread, { userId: ann.id, id })
      await store.write(markRead, { userId: ann.id, id, at: at(5) })
      assert.deepEqual(await readAts(world, ann, ids), [5, null])
      await readAll(6)
      await store.write(markUnread, { userId: ann.id, id })
      await store.write(markRead, { userId: ann.id, id, at: at(7) })
      await readAll(8)
      assert.deepEqual(await readAts(world, ann, ids), [7, 6])
      await recount(world, ann)
    },
  )

  promise(
    'if a read-all ends before notifications that an earlier call covered and that were marked as unread since, these stay unread',
    async (world) => {
      const { ann, ids, readAll, store } = await annWith(world, 6)
      await readAll(5, ids[4])
      for (const index of [0, 2, 3])
        await store.write(markUnread, { userId: ann.id, id: ids[index] ?? '' })
      await readAll(6, ids[1])
      assert.deepEqual(await readAts(world, ann, ids), [6, 5, null, null, 5, null])
      await readAll(7, ids[2])
      assert.deepEqual(await readAts(world, ann, ids), [6, 5, 7, null, 5, null])
      assert.deepEqual(await unreadOf(world, ann), 2)
      const { version } = await store.read(readInbox, ann.id)
      await readAll(8, ids[2])
      assert.equal(
        (await store.read(readInbox, ann.id)).version,
        version,
        'nothing was unread up to there',
      )
      await recount(world, ann)
      await readAll(9)
      assert.deepEqual(await readAts(world, ann, ids), [6, 5, 7, 9, 5, 9])
      await recount(world, ann)
    },
  )

  promise(
    'a notification marked as unread keeps that when it is replaced in place, and is counted once when it is sent again',
    async (world) => {
      const { ann, ids, readAll, store } = await annWith(world, 3)
      await readAll(5)
      for (const id of ids) await store.write(markUnread, { userId: ann.id, id })
      const [first = '', second = '', third = ''] = ids
      await world.send(ann, 'In place', { key: first, category: 'other' })
      await world.send(ann, 'Again', { key: second, category: 'other', renotify: true })
      assert.deepEqual(await unreadOf(world, ann), 3)
      await store.write(markRead, { userId: ann.id, id: third, at: at(6) })
      assert.deepEqual(await readAts(world, ann, ids), [null, null, 6])
      await recount(world, ann)
      await readAll(7)
      assert.deepEqual(await readAts(world, ann, ids), [7, 7, 6])
      await recount(world, ann)
    },
  )

  promise(
    'lists a notification whose read state changed as read or unread, which it is as of now',
    async (world) => {
      const { ann, ids, readAll, store } = await annWith(world, 2)
      const [id = '', other = ''] = ids
      const changesAfter = async (version: number) => {
        const found = await store.read(changesSince, { userId: ann.id, version, limit: 9 })
        return found === 'reset'
          ? found
          : found.changes.map((change) => [change.version, change.type])
      }
      await store.write(markRead, { userId: ann.id, id, at: at(4) })
      await store.write(markUnread, { userId: ann.id, id })
      assert.deepEqual(await changesAfter(2), [[4, 'unread']])
      await readAll(5)
      assert.deepEqual(await changesAfter(3), [
        [4, 'read'],
        [5, 'read-all'],
      ])
      await store.write(markUnread, { userId: ann.id, id: other })
      await store.write(markUnread, { userId: ann.id, id })
      assert.deepEqual(await changesAfter(4), [
        [5, 'read-all'],
        [6, 'unread'],
        [7, 'unread'],
      ])
      await world.send(ann, 'In place', { key: id })
      assert.deepEqual(await changesAfter(6), [[8, 'replaced']])
      await store.write(markRead, { userId: ann.id, id, at: at(6) })
      assert.deepEqual(await changesAfter(8), [[9, 'read']])
    },
  )

  promise(
    'another user’s notification cannot be marked as unread: it looks like one that does not exist (law 6, Z2)',
    async (world) => {
      const { ann: ben, ids, readAll } = await annWith(world, 1)
      await readAll(5)
      const ann = await world.addUser('another')
      await world.send(ann)
      const before = [await world.inboxOf(ann), await world.inboxOf(ben)]
      for (const id of [...ids, newId(), '', 'no id at all'])
        assert.equal(await world.store.write(markUnread, { userId: ann.id, id }), 'absent')
      assert.deepEqual([await world.inboxOf(ann), await world.inboxOf(ben)], before)
    },
  )

  promise(
    'an erased user leaves no counts of what was marked as unread, or could be undone',
    async (world) => {
      const { ann, ids, readAll, store } = await annWith(world, 2)
      await readAll(5)
      await store.write(markUnread, { userId: ann.id, id: ids[0] ?? '' })
      assert.equal(await store.write(deleteUser, { userId: ann.id, at: at(6) }), 'done')
      assert.equal(await store.write(undo, { userId: ann.id, at: at(7) }), 'nothing')
      assert.equal(await store.write(markUnread, { userId: ann.id, id: ids[1] ?? '' }), 'absent')
      assert.deepEqual(await unreadOf(world, ann), 0)
    },
  )
}

/** In two categories; `readAll` covers all or up to and including one. */
export async function annWith(world: World, count: number) {
  const ann = await world.addUser('ann')
  const ids: string[] = []
  for (let n = 0; n < count; n++) {
    const id = newId()
    ids.push(
      await world.send(ann, `no. ${n}`, {
        ids: [id],
        key: id,
        category: n % 2 === 0 ? 'even' : 'odd',
      }),
    )
  }
  const readAll = async (seconds: number, throughId: string | null = null) =>
    assert.equal(
      await world.store.write(markAllRead, { userId: ann.id, throughId, at: at(seconds) }),
      'done',
    )
  return { ann, ids, readAll, store: world.store }
}

/** In seconds of the frozen clock. */
export async function readAts(
  world: World,
  person: Person,
  ids: readonly string[],
): Promise<(number | null)[]> {
  const seen = await Promise.all(ids.map((id) => world.find(person, id)))
  return seen.map((one) => (one?.readAt == null ? null : (Date.parse(one.readAt) - at(0)) / 1_000))
}

export async function unreadOf(world: World, person: Person): Promise<number> {
  return (await world.store.read(readInbox, person.id)).unread
}
