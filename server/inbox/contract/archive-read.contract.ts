import assert from 'node:assert/strict'
import { Follower } from '../../contract/random/follower.ts'
import { recount } from '../../contract/random/random.ts'
import { at, type PromiseOf } from '../../contract/world.ts'
import { markAllRead } from '../bulk/bulk.store.ts'
import { changesSince, readInbox } from '../inbox.store.ts'
import { markRead, markUnread } from '../marks.store.ts'
import { readAts } from './mark-unread.contract.ts'
import { countsOf, inList, mover, placesOf } from './places.contract.ts'

export function archiveReadPromises(promise: PromiseOf): void {
  promise(
    'archives everything in the list that is read, however it was read; what is unread stays',
    async (world) => {
      const { ann, ids, readAll, archiveRead, snooze, archive, store } = await mover(world, 9)
      const [alone = '', , unread = '', away = '', until = '', , odd = ''] = ids
      await readAll(1, ids[4])
      await store.write(markUnread, { userId: ann.id, id: unread })
      await archive(away, 2)
      await snooze(until, 2, 60)
      await store.write(markRead, { userId: ann.id, id: alone, at: at(3) })
      await store.write(markAllRead, {
        userId: ann.id,
        throughId: null,
        categories: ['odd'],
        at: at(4),
      })
      await store.write(markRead, { userId: ann.id, id: odd, at: at(5) })
      const before = await world.inboxOf(ann)
      await archiveRead(6)
      assert.deepEqual(await placesOf(world, ann, ids), [
        ...['archived 6', 'archived 6', 'unread', 'archived 2', 'snoozed 60'],
        ...['archived 6', 'archived 6', 'archived 6', 'unread'],
      ])
      const { version, unread: count } = before.inbox
      assert.equal((await store.read(readInbox, ann.id)).version, version + 1)
      assert.deepEqual(await countsOf(world, ann), {
        total: 2,
        unread: count,
        unseen: 2,
        archived: 6,
        snoozed: 1,
      })
      const { items } = await recount(world, ann)
      assert.deepEqual(
        items.map(({ readAt }) => readAt),
        before.items.map(({ readAt }) => readAt),
      )
    },
  )

  promise(
    'what arrives, is read or is put back after an archive-read stays in the list until the next one',
    async (world) => {
      const { ann, ids, readAll, archiveRead, unarchive, store } = await mover(world, 6)
      await readAll(1, ids[2])
      await archiveRead(2)
      assert.deepEqual(await inList(world, ann), [ids[5], ids[4], ids[3]])
      await store.write(markRead, { userId: ann.id, id: ids[3] ?? '', at: at(3) })
      await unarchive(ids[0])
      await store.write(markUnread, { userId: ann.id, id: ids[1] ?? '' })
      const late = await world.send(ann)
      await store.write(markRead, { userId: ann.id, id: late, at: at(3) })
      const all = [...ids, late]
      assert.deepEqual(await placesOf(world, ann, all), [
        ...['read', 'unread', 'archived 2', 'read', 'unread', 'unread', 'read'],
      ])
      await recount(world, ann)
      await archiveRead(4)
      assert.deepEqual(await placesOf(world, ann, all), [
        ...['archived 4', 'unread', 'archived 2', 'archived 4', 'unread', 'unread', 'archived 4'],
      ])
      await recount(world, ann)
      await readAll(5)
      await archiveRead(6)
      assert.deepEqual(await placesOf(world, ann, all), [
        ...[
          'archived 4',
          'archived 6',
          'archived 2',
          'archived 4',
          'archived 6',
          'archived 6',
          'archived 4',
        ],
      ])
      await recount(world, ann)
    },
  )

  promise(
    'changes nothing if nothing in the list is read, and leaves the last one to be undone',
    async (world) => {
      const { ann, ids, readAll, archiveRead, undo } = await mover(world, 3)
      await archiveRead(1)
      assert.equal((await world.inboxOf(ann)).inbox.version, 3)
      await readAll(2, ids[1])
      await archiveRead(3)
      const before = await world.inboxOf(ann)
      await archiveRead(4)
      assert.deepEqual(await world.inboxOf(ann), before)
      assert.equal(await undo(5), 'done')
      assert.deepEqual(await placesOf(world, ann, ids), ['read', 'read', 'unread'])
    },
  )

  promise(
    'an undo puts back exactly what the archive-read archived, with every count as before',
    async (world) => {
      const { ann, ids, readAll, archiveRead, archive, seen, undo, unarchive } = await mover(
        world,
        8,
      )
      await readAll(1, ids[1])
      await archiveRead(2)
      await unarchive(ids[1])
      await readAll(3, ids[5])
      await archive(ids[2], 4)
      await seen(4)
      const before = await world.inboxOf(ann)
      await archiveRead(5)
      await recount(world, ann)
      assert.equal(await undo(6), 'done')
      const after = await world.inboxOf(ann)
      const version = before.inbox.version + 2
      assert.deepEqual(after, {
        ...before,
        inbox: { ...before.inbox, version, resetVersion: version },
      })
      assert.deepEqual(await placesOf(world, ann, ids), [
        ...['archived 2', 'read', 'archived 4', 'read', 'read', 'read', 'unread', 'unread'],
      ])
      await recount(world, ann)
      assert.equal(await undo(7), 'done')
      assert.deepEqual(await world.inboxOf(ann), after, 'repeating it changes nothing')
    },
  )

  promise(
    'an undo leaves alone what arrived, or was moved, marked, removed or sent again since the archive-read',
    async (world) => {
      const { ann, ids, readAll, store, ...act } = await mover(world, 10)
      const [archived, snoozed, removed, back, again, twice, unread, inPlace, stays, rest] = ids
      await readAll(1, inPlace)
      await act.archiveRead(2)
      await act.archive(archived, 3)
      await act.snooze(snoozed, 3, 60)
      await act.remove(removed, 3)
      await act.unarchive(back)
      await world.send(ann, 'Again', { key: again ?? '', category: 'other', renotify: true })
      await act.unarchive(twice)
      await act.archive(twice, 4)
      await store.write(markUnread, { userId: ann.id, id: unread ?? '' })
      await world.send(ann, 'In place', { key: inPlace ?? '', category: 'other' })
      await store.write(markRead, { userId: ann.id, id: stays ?? '', at: at(5) })
      const late = await world.send(ann)
      await act.archive(late, 6)
      await recount(world, ann)
      assert.equal(await act.undo(7), 'done')
      assert.deepEqual(await placesOf(world, ann, [...ids, late]), [
        ...[
          'archived 2',
          'snoozed 60',
          'removed',
          'read',
          'unread',
          'archived 4',
          'unread',
          'read',
          'read',
          'unread',
        ],
        'archived 6',
      ])
      assert.equal((await world.find(ann, rest ?? ''))?.read, false)
      await recount(world, ann)
      await act.archiveRead(8)
      await recount(world, ann)
    },
  )

  for (const through of [0, 3, 5, 8])
    promise(
      `an undo after ${through} of 8 were seen puts back what is unseen as unseen, and no more`,
      async (world) => {
        const { ann, ids, readAll, archiveRead, seen, undo } = await mover(world, 8)
        await readAll(1, ids[5])
        await archiveRead(2)
        await seen(through)
        await recount(world, ann)
        assert.equal(await undo(3), 'done')
        const { inbox } = await recount(world, ann)
        assert.equal(inbox.unseen, 8 - through)
      },
    )

  promise('an archive-read can be undone until ten minutes after it', async (world) => {
    const { ann, ids, readAll, archiveRead, undo } = await mover(world, 2)
    await readAll(1, ids[0])
    await archiveRead(5)
    const before = await world.inboxOf(ann)
    assert.equal(await undo(5 + 601), 'nothing')
    assert.deepEqual(await world.inboxOf(ann), before)
    assert.equal(await undo(5 + 600), 'done')
    assert.deepEqual(await placesOf(world, ann, ids), ['read', 'unread'])
  })

  promise(
    'only the last read-all or archive-read can be undone: the other kind before it stays',
    async (world) => {
      const { ann, ids, readAll, archiveRead, undo } = await mover(world, 4)
      await readAll(1, ids[1])
      await archiveRead(2)
      await readAll(3)
      assert.equal(await undo(4), 'done')
      assert.deepEqual(await placesOf(world, ann, ids), [
        'archived 2',
        'archived 2',
        'unread',
        'unread',
      ])
      await readAll(5)
      await archiveRead(6)
      assert.equal(await undo(7), 'done')
      assert.deepEqual(await placesOf(world, ann, ids), [
        'archived 2',
        'archived 2',
        'read',
        'read',
      ])
      assert.deepEqual(await readAts(world, ann, ids), [1, 1, 5, 5])
      await recount(world, ann)
    },
  )

  promise(
    'a client that is behind an archive-read and a later read-all begins again; one that has heard of it does not',
    async (world) => {
      const { ann, ids, readAll, archiveRead, store } = await mover(world, 4)
      await readAll(1, ids[1])
      await store.write(markUnread, { userId: ann.id, id: ids[0] ?? '' })
      const behind = await store.read(readInbox, ann.id)
      await archiveRead(2)
      const follower = await Follower.of(world, ann)
      const heard = await store.read(readInbox, ann.id)
      await readAll(3)
      const changes = async (version: number) => {
        const found = await store.read(changesSince, { userId: ann.id, version, limit: 9 })
        return found === 'reset' ? found : found.changes.map(({ type }) => type)
      }
      assert.equal(await changes(behind.version), 'reset')
      assert.deepEqual(await changes(heard.version), ['read-all'])
      await follower.catchUp(9)
    },
  )

  promise(
    'counters and changes are right after archive-reads during concurrent deliveries, marks, moves and undos (law 2)',
    async (world) => {
      const { ann, ids, readAll, store, ...act } = await mover(world, 10)
      for (let round = 0; round < 10; round++) {
        const follower = await Follower.of(world, ann)
        const one = ids[round] ?? ''
        const other = ids[(round + 3) % 10] ?? ''
        const third = ids[(round + 6) % 10] ?? ''
        await Promise.all([
          world.sendTimes(3, ann),
          readAll(round, round % 3 === 0 ? other : null),
          act.archiveRead(round),
          act.archive(one, round),
          store.write(markUnread, { userId: ann.id, id: other }),
          act.snooze(third, round, 60 + round),
          act.seen(round * 3),
          act.undo(round),
          act.unarchive(other),
          act.archiveRead(round),
        ])
        await recount(world, ann)
        await follower.catchUp(4)
      }
    },
  )
}
