import assert from 'node:assert/strict'
import { Follower } from '../../contract/random/follower.ts'
import { recount } from '../../contract/random/random.ts'
import type { PromiseOf } from '../../contract/world.ts'
import { changesSince, readInbox } from '../inbox.store.ts'
import { actsOf, mover, placesOf } from './places.contract.ts'

export function undoPromises(promise: PromiseOf): void {
  for (const kind of ['read-all', 'archive-read'] as const) {
    promise(
      `an undo of ${kind} takes back what it did, with every count as before; repeating it changes nothing`,
      async (world) => {
        const { ann, readAll, archiveRead, undo, store, ids } = await mover(world, 5)
        await readAll(3, ids[1])
        const before = await world.inboxOf(ann)
        await (kind === 'read-all' ? readAll(4) : archiveRead(4))
        assert.equal(await undo(5), 'done')
        const after = await world.inboxOf(ann)
        const version = before.inbox.version + 2
        assert.deepEqual(after, {
          ...before,
          inbox: { ...before.inbox, version, resetVersion: version },
        })
        assert.equal(await undo(6), 'done')
        assert.deepEqual(await world.inboxOf(ann), after)
        for (let earlier = 0; earlier < version; earlier++)
          assert.equal(
            await store.read(changesSince, { userId: ann.id, version: earlier, limit: 9 }),
            'reset',
          )
        const now = await store.read(changesSince, { userId: ann.id, version, limit: 9 })
        assert.deepEqual(now !== 'reset' && now.changes, [])
      },
    )

    promise(`${kind} can be undone until ten minutes after it`, async (world) => {
      const { ann, ids, read, readAll, archiveRead, undo } = await mover(world, 2)
      const act = async (seconds: number) => {
        if (kind === 'read-all') return readAll(seconds)
        await read(ids[0], 1)
        return archiveRead(seconds)
      }
      await act(5)
      assert.equal(await undo(5 + 600), 'done')
      await act(700)
      const before = await world.inboxOf(ann)
      assert.equal(await undo(700 + 601), 'nothing')
      assert.deepEqual(await world.inboxOf(ann), before)
      // A clock that was set back does not take the undo away.
      assert.equal(await undo(699), 'done')
    })
  }

  promise(
    'an undo leaves alone what was marked, moved or sent again alone since, and takes back the rest',
    async (world) => {
      const { ann, ids, readAll, store, ...act } = await mover(world, 6)
      const [read = '', unread = '', again = '', inPlace = '', removed = ''] = ids
      const mark = (id: string, seconds: number) => act.read(id, seconds)
      await readAll(5)
      await mark(read, 6)
      await act.unread(unread)
      await mark(unread, 7)
      await world.send(ann, 'Again', { key: again, renotify: true })
      await world.send(ann, 'In place', { key: inPlace, category: 'other' })
      await act.remove(removed, 8)
      assert.equal(await act.undo(9), 'done')
      assert.deepEqual(await placesOf(world, ann, ids), [
        ...['read', 'read', 'unread', 'unread', 'removed', 'unread'],
      ])
      await recount(world, ann)
      await readAll(10)
      await act.archiveRead(11)
      await act.archive(read, 12)
      await act.snooze(unread, 12, 60)
      await act.unarchive(again)
      await act.archive(again, 13)
      assert.equal(await act.undo(14), 'done')
      assert.deepEqual(await placesOf(world, ann, ids), [
        ...['archived 11', 'snoozed 60', 'archived 13', 'read', 'removed', 'read'],
      ])
      await recount(world, ann)
    },
  )

  promise(
    'a client that is behind an archive-read and a later read-all begins again; one that has heard of it does not',
    async (world) => {
      const { ann, ids, readAll, archiveRead, store } = await mover(world, 4)
      await readAll(1, ids[1])
      await actsOf(world, ann).unread(ids[0] ?? '')
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
    'counters and changes are right after bulk acts and undos during concurrent deliveries, marks and moves (law 2)',
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
          act.read(one, round),
          act.undo(round),
          act.archiveRead(round),
          act.archive(one, round),
          act.unread(other),
          act.snooze(third, round, 60 + round),
          world.send(ann, 'Changed', { key: one, category: 'other', renotify: round % 2 === 0 }),
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
