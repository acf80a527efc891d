// What the random model (contract/random) leaves out: events, other users, erasure, races.
import assert from 'node:assert/strict'
import { Follower } from '../../contract/random/follower.ts'
import { recount } from '../../contract/random/random.ts'
import {
  at,
  isoAt,
  newId,
  notificationIn,
  type Person,
  type PromiseOf,
  runs,
  type World,
} from '../../contract/world.ts'
import { deleteUser } from '../../users/erasure/erasure.store.ts'
import { archiveRead as archiveAllRead, markAllRead } from '../bulk/bulk.store.ts'
import { undo as undoLast } from '../bulk/undo.store.ts'
import { changesSince, readInbox, readNotification } from '../inbox.store.ts'
import { emptyInbox } from '../inbox-state.ts'
import * as places from '../marks.store.ts'
import { markRead, markUnread } from '../marks.store.ts'

export function placePromises(promise: PromiseOf): void {
  promise(
    'every act raises the version by one and is listed once in the changes; repeating it changes nothing (law 1)',
    async (world) => {
      const { ann, ids, store, ...act } = await mover(world, 4)
      const [id = '', other = '', third = '', last = ''] = ids
      const acts: [type: string, perform: () => Promise<unknown>][] = [
        ['archived', () => act.archive(id, 1)],
        ['unarchived', () => act.unarchive(id)],
        ['snoozed', () => act.snooze(id, 2, 60)],
        ['created', () => act.wake(id, 60)],
        ['seen', () => act.seen(1)],
        ['removed', () => act.remove(other, 3)],
        ['read', () => act.read(third, 4)],
        ['archive-read', () => act.archiveRead(5)],
        ['unarchived', () => act.unarchive(third)],
        ['archived', () => act.archive(last, 6)],
        ['unread', () => act.unread(last)],
      ]
      const follower = await Follower.of(world, ann)
      for (const [type, perform] of acts) {
        const { version } = await store.read(readInbox, ann.id)
        await perform()
        const found = await store.read(changesSince, { userId: ann.id, version, limit: 9 })
        const { changes, inbox } = found === 'reset' ? assert.fail('reset') : found
        assert.deepEqual(
          changes.map((one) => [one.version, one.type]),
          [[version + 1, type]],
        )
        assert.equal(inbox.version, version + 1)
        const [change = assert.fail()] = changes
        if ('notification' in change) {
          const shown = notificationIn(change)
          assert.deepEqual(shown, await world.find(ann, shown.id))
        }
        if (type === 'removed')
          assert.deepEqual(change, { version: version + 1, type, id: other, reason: 'deleted' })
        if (type === 'archive-read')
          assert.deepEqual(change, { version: version + 1, type, throughSeq: 5, at: isoAt(5) })
        await perform()
        assert.deepEqual(await store.read(readInbox, ann.id), inbox)
      }
      await follower.catchUp(2)
    },
  )

  promise(
    'another user’s notification looks like one that does not exist: it is neither read, marked nor moved (law 6, Z1, Z2)',
    async (world) => {
      const { ann: ben, ids, store, archive, remove } = await mover(world, 3)
      await archive(ids[0], 1)
      await remove(ids[1], 2)
      const ann = await world.addUser('another')
      await world.send(ann)
      const before = [await world.inboxOf(ann), await world.inboxOf(ben)]
      const mine = actsOf(world, ann)
      for (const id of [...ids, newId(), '', 'no id at all']) {
        const one = { userId: ann.id, id, at: at(3) }
        assert.equal(await store.read(readNotification, one), undefined)
        assert.deepEqual(
          [
            await store.write(markRead, one),
            await store.write(markUnread, one),
            await store.write(markAllRead, { ...one, throughId: id }),
            await mine.archive(id, 3),
            await mine.unarchive(id),
            await mine.snooze(id, 3, 60),
            await mine.remove(id, 3),
            await mine.wake(id, 60),
          ],
          [...Array(7).fill('absent'), false],
        )
      }
      assert.deepEqual([await world.inboxOf(ann), await world.inboxOf(ben)], before)
    },
  )

  promise(
    'an erased user leaves nothing that was archived, snoozed, removed or seen',
    async (world) => {
      const { ann, ids, readAll, store, ...act } = await mover(world, 5)
      await act.archive(ids[0], 1)
      await act.snooze(ids[1], 1, 60)
      await act.remove(ids[2], 1)
      await readAll(2, ids[3])
      await act.archiveRead(3)
      await act.seen(4)
      assert.equal(await store.write(deleteUser, { userId: ann.id, at: at(6) }), 'done')
      assert.deepEqual(await world.inboxOf(ann), { inbox: emptyInbox, categories: {}, items: [] })
      for (const id of ids)
        assert.deepEqual(
          [
            await act.archive(id, 7),
            await act.unarchive(id),
            await act.remove(id, 7),
            await act.wake(id, 60),
            await act.unread(id),
          ],
          ['absent', 'absent', 'absent', false, 'absent'],
        )
      await act.archiveRead(7)
      await act.seen(5)
      await readAll(7)
      assert.equal(await act.undo(8), 'nothing')
      assert.deepEqual(await store.read(readInbox, ann.id), emptyInbox)
    },
  )

  promise(
    'archive against read-all: the notification is archived and read, whichever comes first (law 2)',
    async (world) => {
      const { ann, ids, readAll, archive, unarchive, unread } = await mover(world, 6)
      for (let round = 0; round < runs(4); round++) {
        const follower = await Follower.of(world, ann)
        await Promise.all([readAll(round), ...ids.slice(0, 3).map((id) => archive(id, round))])
        for (const id of ids.slice(0, 3))
          assert.match((await placesOf(world, ann, [id]))[0] ?? '', /^archived/)
        assert.equal((await recount(world, ann)).inbox.unread, 0)
        await follower.catchUp(3)
        const back = (id: string) => (round % 2 === 0 ? unarchive(id) : unread(id))
        await Promise.all(ids.map(back))
      }
    },
  )

  promise(
    'snooze against delete: the notification is removed, and never wakes (law 2)',
    async (world) => {
      const { ann, ids, remove, snooze, wake } = await mover(world, 20)
      const follower = await Follower.of(world, ann)
      const outcomes = await Promise.all(ids.flatMap((id) => [snooze(id, 1, 60), remove(id, 1)]))
      for (const [n, outcome] of outcomes.entries())
        assert.ok(outcome === 'done' || (n % 2 === 0 && outcome === 'absent'), `${n}: ${outcome}`)
      for (const id of ids) assert.equal(await wake(id, 60), false)
      assert.deepEqual(await world.ids(ann), [])
      await recount(world, ann)
      await follower.catchUp(7)
    },
  )

  promise(
    'concurrent calls wake a notification once, whatever else happens to it (law 2)',
    async (world) => {
      const { ann, ids, snooze, wake, readAll } = await mover(world, 8)
      for (const id of ids) await snooze(id, 1, 60)
      const woken = await Promise.all([
        ...ids.flatMap((id) => [wake(id, 60), wake(id, 60), wake(id, 61)]),
        readAll(60).then(() => false),
        world.sendTimes(5, ann).then(() => false),
      ])
      assert.equal(woken.filter((isWoken) => isWoken).length, 8)
      const { inbox } = await recount(world, ann)
      assert.deepEqual([inbox.snoozed, inbox.total, inbox.lastSeq], [0, 13, 21])
    },
  )
}

/** In two categories, each with a key; `readAll` covers all or up to and including one. */
export async function annWith(world: World, count: number) {
  const ann = await world.addUser('ann')
  const ids = Array.from({ length: count }, newId)
  for (const [n, id] of ids.entries())
    await world.send(ann, `no. ${n}`, {
      ids: [id],
      key: id,
      category: n % 2 === 0 ? 'even' : 'odd',
    })
  const readAll = async (seconds: number, throughId: string | null = null) =>
    assert.equal(
      await world.store.write(markAllRead, { userId: ann.id, throughId, at: at(seconds) }),
      'done',
    )
  return { ann, ids, readAll, store: world.store }
}

/** `seconds` of the frozen clock. */
export function actsOf({ store }: World, { id: userId }: Person) {
  return {
    read: (id = '', seconds: number) => store.write(markRead, { userId, id, at: at(seconds) }),
    unread: (id = '') => store.write(markUnread, { userId, id }),
    archive: (id = '', seconds: number) =>
      store.write(places.archive, { userId, id, at: at(seconds) }),
    unarchive: (id = '') => store.write(places.unarchive, { userId, id }),
    snooze: (id = '', seconds: number, until: number) =>
      store.write(places.snooze, { userId, id, at: at(seconds), until: at(until) }),
    wake: (id = '', seconds: number) => store.write(places.wake, { userId, id, at: at(seconds) }),
    remove: (id = '', seconds: number) =>
      store.write(places.remove, { userId, id, at: at(seconds) }),
    archiveRead: (seconds: number) => store.write(archiveAllRead, { userId, at: at(seconds) }),
    seen: (throughSeq: number) => store.write(places.markSeen, { userId, throughSeq }),
    undo: (seconds: number) => store.write(undoLast, { userId, at: at(seconds) }),
  }
}

export async function mover(world: World, count: number) {
  const found = await annWith(world, count)
  return { ...found, ...actsOf(world, found.ann) }
}

/** Such as "unread" and "read" for the list, "archived 5", "snoozed 60" until then. */
export async function placesOf(
  world: World,
  person: Person,
  ids: readonly string[],
): Promise<string[]> {
  const seconds = (time: string) => (Date.parse(time) - at(0)) / 1_000
  const seen = await Promise.all(ids.map((id) => world.find(person, id)))
  return seen.map((one) => {
    if (one === undefined) return 'removed'
    if (one.snoozedUntil !== null) return `snoozed ${seconds(one.snoozedUntil)}`
    if (one.archivedAt !== null) return `archived ${seconds(one.archivedAt)}`
    return one.read ? 'read' : 'unread'
  })
}

export async function countsOf(world: World, person: Person) {
  const { total, unread, unseen, archived, snoozed } = await world.store.read(readInbox, person.id)
  return { total, unread, unseen, archived, snoozed }
}
