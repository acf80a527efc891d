import assert from 'node:assert/strict'
import { recount } from '../../contract/random/random.ts'
import { at, type PromiseOf } from '../../contract/world.ts'
import { deleteUser } from '../../users/erasure/erasure.store.ts'
import { archiveRead } from '../bulk/bulk.store.ts'
import { undo } from '../bulk/undo.store.ts'
import { changesSince, readInbox } from '../inbox.store.ts'
import { markRead, markUnread, remove } from '../marks.store.ts'
import { annWith, readAts, unreadOf } from './mark-unread.contract.ts'

export function undoPromises(promise: PromiseOf): void {
  promise(
    'takes back the last read-all: what it made read is unread again, and what was read before keeps its readAt',
    async (world) => {
      const { ann, ids, readAll, store } = await annWith(world, 5)
      await readAll(3, ids[0])
      await store.write(markRead, { userId: ann.id, id: ids[1] ?? '', at: at(4) })
      const before = await world.inboxOf(ann)
      await readAll(5)
      assert.deepEqual(await readAts(world, ann, ids), [3, 4, 5, 5, 5])
      assert.equal(await store.write(undo, { userId: ann.id, at: at(6) }), 'done')
      assert.deepEqual(await readAts(world, ann, ids), [3, 4, null, null, null])
      const after = await world.inboxOf(ann)
      const version = before.inbox.version + 2
      const resetVersion = before.inbox.version + 2
      assert.deepEqual(after, { ...before, inbox: { ...before.inbox, version, resetVersion } })
      await recount(world, ann)
      await readAll(7)
      assert.deepEqual(await readAts(world, ann, ids), [3, 4, 7, 7, 7])
    },
  )

  promise(
    'an undo leaves alone what arrived, or was marked as read or unread or sent again since the read-all',
    async (world) => {
      const { ann, ids, readAll, store } = await annWith(world, 8)
      const [
        before = '',
        read = '',
        unread = '',
        both = '',
        again = '',
        inPlace = '',
        twice = '',
        rest = '',
      ] = ids
      await store.write(markRead, { userId: ann.id, id: before, at: at(4) })
      await readAll(5)
      await store.write(markRead, { userId: ann.id, id: read, at: at(6) })
      await store.write(markUnread, { userId: ann.id, id: before })
      await store.write(markUnread, { userId: ann.id, id: unread })
      await store.write(markUnread, { userId: ann.id, id: both })
      await store.write(markRead, { userId: ann.id, id: both, at: at(7) })
      await world.send(ann, 'Again', { key: again, category: 'other', renotify: true })
      await world.send(ann, 'In place', { key: inPlace, category: 'other' })
      await world.send(ann, 'Again', { key: twice, renotify: true })
      await store.write(markRead, { userId: ann.id, id: twice, at: at(8) })
      const arrived = await world.send(ann)
      const arrivedAndRead = await world.send(ann)
      await store.write(markRead, { userId: ann.id, id: arrivedAndRead, at: at(9) })
      const all = [...ids, arrived, arrivedAndRead]
      assert.deepEqual(await readAts(world, ann, all), [null, 5, null, 7, null, 5, 8, 5, null, 9])
      await recount(world, ann)
      assert.equal(await store.write(undo, { userId: ann.id, at: at(10) }), 'done')
      // Marking as read what a read-all had covered keeps the first readAt.
      assert.deepEqual(await readAts(world, ann, all), [
        null,
        5,
        null,
        7,
        null,
        null,
        8,
        null,
        null,
        9,
      ])
      assert.equal((await world.find(ann, rest))?.read, false)
      await recount(world, ann)
    },
  )

  promise(
    'repeating an undo changes nothing; only the last read-all can be undone',
    async (world) => {
      const { ann, ids, readAll, store } = await annWith(world, 3)
      await readAll(5, ids[0])
      await readAll(6)
      assert.equal(await store.write(undo, { userId: ann.id, at: at(7) }), 'done')
      const before = await world.inboxOf(ann)
      assert.equal(await store.write(undo, { userId: ann.id, at: at(8) }), 'done')
      assert.deepEqual(await world.inboxOf(ann), before)
      assert.deepEqual(await readAts(world, ann, ids), [5, null, null])
    },
  )

  promise('a read-all can be undone until ten minutes after it', async (world) => {
    const { ann, ids, readAll, store } = await annWith(world, 2)
    await readAll(5, ids[0])
    assert.equal(await store.write(undo, { userId: ann.id, at: at(5 + 600) }), 'done')
    assert.deepEqual(await unreadOf(world, ann), 2)
    await readAll(700)
    const before = await world.inboxOf(ann)
    assert.equal(await store.write(undo, { userId: ann.id, at: at(700 + 600) + 1 }), 'nothing')
    assert.deepEqual(await world.inboxOf(ann), before)
    assert.deepEqual(await readAts(world, ann, ids), [700, 700])
    // A clock that was set back does not take the undo away.
    assert.equal(await store.write(undo, { userId: ann.id, at: at(699) }), 'done')
  })

  promise('returns "nothing" if there was no read-all, and changes nothing', async (world) => {
    const { ann, ids, store } = await annWith(world, 1)
    const ben = await world.addUser('ben')
    await store.write(markRead, { userId: ann.id, id: ids[0] ?? '', at: at(5) })
    const before = await world.inboxOf(ann)
    for (const { id } of [ann, ben])
      assert.equal(await store.write(undo, { userId: id, at: at(6) }), 'nothing')
    assert.deepEqual(await world.inboxOf(ann), before)
  })

  promise(
    'a read-all that changed nothing leaves the one before it to be undone',
    async (world) => {
      const { ann, ids, readAll, store } = await annWith(world, 2)
      await readAll(5)
      await readAll(6)
      assert.equal(await store.write(undo, { userId: ann.id, at: at(7) }), 'done')
      assert.deepEqual(await readAts(world, ann, ids), [null, null])
    },
  )

  promise(
    'an undo makes unread again what had been marked as unread before the read-all, wherever that ended',
    async (world) => {
      for (const last of [1, 3, 5]) {
        const { ann, ids, readAll, store } = await annWith(world, 6)
        await readAll(4, ids[3])
        for (const index of [0, 1, 3])
          await store.write(markUnread, { userId: ann.id, id: ids[index] ?? '' })
        const before = await world.inboxOf(ann)
        await readAll(5, ids[last])
        await recount(world, ann)
        await store.write(markRead, { userId: ann.id, id: ids[0] ?? '', at: at(6) })
        await world.send(ann, 'In place', { key: ids[1] ?? '', category: 'other' })
        assert.equal(await store.write(undo, { userId: ann.id, at: at(7) }), 'done')
        assert.deepEqual(await readAts(world, ann, ids), [5, null, 4, null, null, null])
        assert.equal(await unreadOf(world, ann), before.inbox.unread - 1)
        await recount(world, ann)
        await readAll(8)
        assert.deepEqual(await readAts(world, ann, ids), [5, 8, 4, 8, 8, 8])
        await recount(world, ann)
        await store.write(deleteUser, { userId: ann.id, at: at(9) })
      }
    },
  )

  promise(
    'what was marked as read twice since the read-all stays read after the undo, with its first readAt',
    async (world) => {
      const { ann, ids, readAll, store } = await annWith(world, 2)
      await readAll(5)
      const before = await world.inboxOf(ann)
      for (const seconds of [6, 7])
        await store.write(markRead, { userId: ann.id, id: ids[0] ?? '', at: at(seconds) })
      assert.deepEqual(await world.inboxOf(ann), before)
      await store.write(undo, { userId: ann.id, at: at(8) })
      assert.deepEqual(await readAts(world, ann, ids), [5, null])
      await recount(world, ann)
    },
  )

  promise(
    'returns "reset" for a version that an undo followed, and lists what changed since',
    async (world) => {
      const { ann, ids, readAll, store } = await annWith(world, 2)
      await readAll(5)
      await store.write(undo, { userId: ann.id, at: at(6) })
      const { version } = await store.read(readInbox, ann.id)
      for (let before = 0; before < version; before++)
        assert.equal(
          await store.read(changesSince, { userId: ann.id, version: before, limit: 9 }),
          'reset',
        )
      await store.write(markRead, { userId: ann.id, id: ids[0] ?? '', at: at(7) })
      const found = await store.read(changesSince, { userId: ann.id, version, limit: 9 })
      assert.deepEqual(
        found !== 'reset' && found.changes.map((change) => [change.version, change.type]),
        [[version + 1, 'read']],
      )
    },
  )

  promise(
    'an undo leaves alone what was removed since, also if the clock went back since the removal',
    async (world) => {
      const { ann, ids, readAll, store } = await annWith(world, 3)
      const [first = '', second = '', third = ''] = ids
      const removeLate = (id: string) => store.write(remove, { userId: ann.id, id, at: at(700) })
      const takeBack = () => store.write(undo, { userId: ann.id, at: at(500) })
      await readAll(5)
      await removeLate(first)
      assert.equal(await takeBack(), 'done')
      assert.deepEqual(await readAts(world, ann, [second, third]), [null, null])
      await recount(world, ann)
      await readAll(6)
      await store.write(archiveRead, { userId: ann.id, at: at(6) })
      await removeLate(second)
      assert.equal(await takeBack(), 'done')
      assert.equal((await recount(world, ann)).inbox.total, 1)
    },
  )

  promise(
    'counters equal a recount after an undo during concurrent deliveries, reads and read-alls (law 2)',
    async (world) => {
      const { ann, ids, readAll, store } = await annWith(world, 10)
      for (let round = 0; round < 10; round++) {
        const one = ids[round] ?? ''
        const other = ids[(round + 3) % 10] ?? ''
        await Promise.all([
          world.sendTimes(3, ann),
          readAll(round, round % 3 === 0 ? other : null),
          store.write(markRead, { userId: ann.id, id: one, at: at(round) }),
          store.write(undo, { userId: ann.id, at: at(round) }),
          store.write(markUnread, { userId: ann.id, id: other }),
          world.send(ann, 'Changed', { key: one, category: 'other', renotify: round % 2 === 0 }),
          store.write(undo, { userId: ann.id, at: at(round) }),
        ])
        await recount(world, ann)
      }
    },
  )
}
