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
import { archiveRead as archiveAllRead } from '../bulk/bulk.store.ts'
import { undo as undoLast } from '../bulk/undo.store.ts'
import { changesSince, readCounts, readInbox } from '../inbox.store.ts'
import { emptyInbox } from '../inbox-state.ts'
import * as places from '../marks.store.ts'
import { markRead, markUnread } from '../marks.store.ts'
import { checkList, pageSizes } from './filters.contract.ts'
import { annWith, readAts } from './mark-unread.contract.ts'

export function placePromises(promise: PromiseOf): void {
  promise(
    'archives one notification and marks it as read; repeating the call changes nothing',
    async (world) => {
      const { ann, ids, readAll, archive, store } = await mover(world, 4)
      const [unread = '', read = '', all = ''] = ids
      await store.write(markRead, { userId: ann.id, id: read, at: at(3) })
      await readAll(4, all)
      const { inbox } = await world.inboxOf(ann)
      for (const id of [unread, read, all, ids[3] ?? '']) assert.equal(await archive(id, 5), 'done')
      const before = await world.inboxOf(ann)
      assert.equal(before.inbox.version, inbox.version + 4)
      for (const id of ids) assert.equal(await archive(id, 6), 'done')
      assert.deepEqual(await world.inboxOf(ann), before)
      assert.deepEqual(await placesOf(world, ann, ids), [
        'archived 5',
        'archived 5',
        'archived 5',
        'archived 5',
      ])
      assert.deepEqual(await readAts(world, ann, ids), [4, 3, 4, 5])
      assert.deepEqual(await countsOf(world, ann), {
        total: 0,
        unread: 0,
        unseen: 0,
        archived: 4,
        snoozed: 0,
      })
      await recount(world, ann)
    },
  )

  promise(
    'puts an archived or snoozed notification back at its place in the list, where it stays read; repeating the call changes nothing',
    async (world) => {
      const { ann, ids, archive, snooze, unarchive } = await mover(world, 5)
      await archive(ids[1], 5)
      await snooze(ids[3], 6, 60)
      assert.deepEqual(await inList(world, ann), [ids[4], ids[2], ids[0]])
      for (const id of [ids[1], ids[3]]) assert.equal(await unarchive(id), 'done')
      const before = await world.inboxOf(ann)
      for (const id of ids) assert.equal(await unarchive(id), 'done')
      assert.deepEqual(await world.inboxOf(ann), before)
      assert.deepEqual(await inList(world, ann), ids.toReversed())
      assert.deepEqual(await readAts(world, ann, ids), [null, 5, null, 6, null])
      assert.deepEqual(await countsOf(world, ann), {
        total: 5,
        unread: 3,
        unseen: 5,
        archived: 0,
        snoozed: 0,
      })
      await recount(world, ann)
    },
  )

  promise(
    'an archived or snoozed notification that is marked as unread is back at its place in the list',
    async (world) => {
      const { ann, ids, readAll, archive, archiveRead, snooze, store } = await mover(world, 5)
      await archive(ids[0], 4)
      await snooze(ids[1], 4, 60)
      await readAll(5, ids[2])
      await archiveRead(6)
      for (const id of ids.slice(0, 3))
        assert.equal(await store.write(markUnread, { userId: ann.id, id: id ?? '' }), 'done')
      assert.deepEqual(await inList(world, ann), ids.toReversed())
      assert.deepEqual(await readAts(world, ann, ids), [null, null, null, null, null])
      assert.deepEqual(await countsOf(world, ann), {
        total: 5,
        unread: 5,
        unseen: 5,
        archived: 0,
        snoozed: 0,
      })
      await recount(world, ann)
      await readAll(7)
      assert.deepEqual(await readAts(world, ann, ids), [7, 7, 7, 7, 7])
      await recount(world, ann)
    },
  )

  promise(
    'a snoozed notification is in no list and no count but those of the snoozed ones; at its time it is the newest, unread, once',
    async (world) => {
      const { ann, ids, snooze, wake } = await mover(world, 3)
      const [id = ''] = ids
      const { createdAt, count } = (await world.find(ann, id)) ?? assert.fail()
      assert.equal(await snooze(id, 5, 60), 'done')
      assert.deepEqual(await placesOf(world, ann, ids), ['snoozed 60', 'unread', 'unread'])
      assert.deepEqual(await countsOf(world, ann), {
        total: 2,
        unread: 2,
        unseen: 2,
        archived: 0,
        snoozed: 1,
      })
      assert.deepEqual(await inList(world, ann), [ids[2], ids[1]])
      const before = await world.inboxOf(ann)
      for (const other of [id, ids[1] ?? '', newId()]) assert.equal(await wake(other, 59), false)
      assert.equal(await wake(ids[1] ?? '', 61), false)
      assert.deepEqual(await world.inboxOf(ann), before)
      assert.equal(await wake(id, 60), true)
      assert.equal(await wake(id, 61), false)
      const woken = (await world.find(ann, id)) ?? assert.fail()
      assert.deepEqual(
        [woken.seq, woken.read, woken.snoozedUntil, woken.createdAt, woken.count],
        [...[4, false, null, createdAt, count]],
      )
      assert.deepEqual(await inList(world, ann), [id, ids[2], ids[1]])
      const { inbox } = await recount(world, ann)
      assert.deepEqual(
        [inbox.version, inbox.lastSeq, inbox.firstSeq],
        [before.inbox.version + 1, 4, 2],
      )
      assert.deepEqual(await countsOf(world, ann), {
        total: 3,
        unread: 3,
        unseen: 3,
        archived: 0,
        snoozed: 0,
      })
    },
  )

  promise(
    'archiving and removing end a snooze, snoozing takes out of the archive, and a later snooze sets another time',
    async (world) => {
      const { ann, ids, archive, remove, snooze, wake } = await mover(world, 3)
      const [archived = '', removed = '', snoozed = ''] = ids
      for (const id of ids) await snooze(id, 5, 60)
      const { version } = (await world.inboxOf(ann)).inbox
      await snooze(snoozed, 6, 60)
      assert.equal(
        (await world.inboxOf(ann)).inbox.version,
        version,
        'the same time changes nothing',
      )
      await archive(archived, 7)
      await remove(removed, 7)
      await snooze(snoozed, 7, 90)
      for (const id of ids) assert.equal(await wake(id, 60), false)
      assert.deepEqual(await placesOf(world, ann, ids), ['archived 7', 'removed', 'snoozed 90'])
      await snooze(archived, 8, 100)
      await archive(snoozed, 9)
      assert.deepEqual(await placesOf(world, ann, ids), ['snoozed 100', 'removed', 'archived 9'])
      assert.deepEqual(await countsOf(world, ann), {
        total: 0,
        unread: 0,
        unseen: 0,
        archived: 1,
        snoozed: 1,
      })
      assert.deepEqual(await readAts(world, ann, ids), [5, null, 5])
      await recount(world, ann)
    },
  )

  promise(
    'a removed notification is in no list and no count, and its key is free; repeating the call changes nothing',
    async (world) => {
      const { ann, ids, archive, readAll, remove, snooze } = await mover(world, 6)
      const [unread = '', archived = '', snoozed = '', marked = '', stays = '', last = ''] = ids
      await archive(archived, 4)
      await snooze(snoozed, 4, 60)
      await readAll(5, marked)
      for (const id of [unread, archived, snoozed, marked, last])
        assert.equal(await remove(id, 6), 'done')
      const before = await world.inboxOf(ann)
      for (const id of [unread, archived, last]) assert.equal(await remove(id, 7), 'done')
      assert.equal(await remove(newId(), 7), 'absent')
      assert.deepEqual(await world.inboxOf(ann), before)
      assert.deepEqual(await world.ids(ann), [stays])
      assert.deepEqual(await countsOf(world, ann), {
        total: 1,
        unread: 1,
        unseen: 1,
        archived: 0,
        snoozed: 0,
      })
      const again = await world.send(ann, 'Again', { key: last, category: 'odd' })
      assert.ok(!ids.includes(again))
      assert.equal((await world.find(ann, again))?.seq, 7, 'no sequence number is used twice')
      await remove(again, 8)
      await remove(stays, 8)
      const { inbox } = await recount(world, ann)
      assert.deepEqual([inbox.firstSeq, inbox.lastSeq, inbox.total], [8, 7, 0])
    },
  )

  promise(
    'counts by category have what is in the list; lists with every filter, by page and by cursor, follow every move',
    async (world) => {
      const { ann, ids, archive, archiveRead, readAll, remove, snooze, unarchive, wake, store } =
        await mover(world, 20)
      const check = async (even: object | undefined, odd: object | undefined) => {
        await recount(world, ann)
        const categories = { ...(even && { even }), ...(odd && { odd }) }
        assert.deepEqual({ ...(await store.read(readCounts, ann.id)).categories }, categories)
        for (const status of ['inbox', 'unread', 'read', 'archived', 'snoozed', 'all'] as const)
          for (const some of [undefined, ['even'], ['odd', 'none', 'even']])
            for (const limit of pageSizes)
              await checkList(world, ann, { status, categories: some, limit })
      }
      await readAll(1, ids[9])
      for (const n of [0, 4, 11]) await archive(ids[n], 2)
      for (const n of [2, 3, 12]) await snooze(ids[n], 3, 60)
      await remove(ids[6], 4)
      await check({ total: 5, unread: 4 }, { total: 8, unread: 4 })
      await store.write(markUnread, { userId: ann.id, id: ids[1] ?? '' })
      await archiveRead(5)
      await check({ total: 4, unread: 4 }, { total: 5, unread: 5 })
      for (const n of [4, 5, 12]) await unarchive(ids[n])
      await wake(ids[3] ?? '', 60)
      await archive(ids[1], 6)
      await check({ total: 6, unread: 4 }, { total: 6, unread: 5 })
      await readAll(61)
      await archiveRead(62)
      await check(undefined, undefined)
      for (const n of [0, 2, 3]) await unarchive(ids[n])
      await check({ total: 2, unread: 0 }, { total: 1, unread: 0 })
    },
  )

  promise(
    'what the user has seen is counted apart from what is read, up to a sequence number',
    async (world) => {
      const { ann, ids, archive, readAll, remove, seen, snooze, unarchive, wake } = await mover(
        world,
        5,
      )
      const unseen = async () => (await world.inboxOf(ann)).inbox.unseen
      const changes = async (throughSeq: number, expected: number) => {
        const { version } = (await world.inboxOf(ann)).inbox
        const was = await unseen()
        await seen(throughSeq)
        assert.equal(await unseen(), expected)
        assert.equal((await world.inboxOf(ann)).inbox.version - version, Number(was !== expected))
      }
      await readAll(2)
      assert.equal(await unseen(), 5)
      await changes(0, 5)
      await changes(2, 3)
      for (const throughSeq of [2, 1, 0, -1]) await changes(throughSeq, 3)
      await archive(ids[4], 3)
      await snooze(ids[3], 3, 60)
      await archive(ids[0], 3)
      assert.equal(await unseen(), 1)
      await unarchive(ids[4])
      await unarchive(ids[0])
      assert.equal(await unseen(), 2)
      await remove(ids[4], 4)
      assert.equal(await unseen(), 1)
      await changes(Number.MAX_SAFE_INTEGER, 0)
      await wake(ids[3] ?? '', 60)
      assert.equal(await unseen(), 1)
      await world.send(ann, 'Again', { key: ids[0] ?? '', renotify: true })
      await world.send(ann, 'In place', { key: ids[1] ?? '' })
      assert.equal(await unseen(), 2, 'what came after all that there was is unseen')
      await changes(7, 0)
      await recount(world, ann)
    },
  )

  promise(
    'a delivery with the key of an archived or snoozed notification changes it where it is, and with `renotify` takes it back as the newest',
    async (world) => {
      const { ann, ids, archive, archiveRead, readAll, snooze } = await mover(world, 3)
      const [alone = '', snoozed = '', together = ''] = ids
      await archive(alone, 4)
      await snooze(snoozed, 4, 60)
      await readAll(5)
      await archiveRead(6)
      for (const [n, id] of ids.entries())
        await world.send(ann, 'In place', { key: id, category: n === 0 ? null : 'odd' })
      assert.deepEqual(await placesOf(world, ann, ids), ['archived 4', 'snoozed 60', 'archived 6'])
      assert.deepEqual(await world.titles(ann), ['In place', 'In place', 'In place'])
      assert.deepEqual(await readAts(world, ann, ids), [4, 4, 5])
      await recount(world, ann)
      for (const id of [together, snoozed, alone])
        await world.send(ann, 'Again', { key: id, renotify: true })
      assert.deepEqual(await placesOf(world, ann, ids), ['unread', 'unread', 'unread'])
      assert.deepEqual(await inList(world, ann), ids)
      assert.deepEqual(await countsOf(world, ann), {
        total: 3,
        unread: 3,
        unseen: 3,
        archived: 0,
        snoozed: 0,
      })
      await recount(world, ann)
    },
  )

  promise(
    'every act raises the version by one and is listed once in the changes (law 1)',
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
        ['read', () => store.write(markRead, { userId: ann.id, id: third, at: at(4) })],
        ['archive-read', () => act.archiveRead(5)],
        ['unarchived', () => act.unarchive(third)],
        ['archived', () => act.archive(last, 6)],
        ['unread', () => store.write(markUnread, { userId: ann.id, id: last })],
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
      }
      await follower.catchUp(2)
    },
  )

  promise(
    'another user’s notification cannot be moved: it looks like one that does not exist (law 6, Z2)',
    async (world) => {
      const { ann: ben, ids, archive, remove } = await mover(world, 3)
      await archive(ids[0], 1)
      await remove(ids[1], 2)
      const ann = await world.addUser('another')
      await world.send(ann)
      const anns = await world.inboxOf(ann)
      const bens = await world.inboxOf(ben)
      const mine = actsOf(world, ann)
      for (const id of [...ids, newId(), '', 'no id at all'])
        assert.deepEqual(
          [
            await mine.archive(id, 3),
            await mine.unarchive(id),
            await mine.snooze(id, 3, 60),
            await mine.remove(id, 3),
            await mine.wake(id, 60),
          ],
          ['absent', 'absent', 'absent', 'absent', false],
        )
      assert.deepEqual([await world.inboxOf(ann), await world.inboxOf(ben)], [anns, bens])
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
            await act.wake(id ?? '', 60),
          ],
          ['absent', 'absent', 'absent', false],
        )
      await act.archiveRead(7)
      await act.seen(5)
      assert.equal(await act.undo(8), 'nothing')
      assert.deepEqual(await store.read(readInbox, ann.id), emptyInbox)
    },
  )

  promise(
    'an inbox that never had a notification can be archived and seen, which changes nothing',
    async (world) => {
      const ann = await world.addUser('ann')
      const act = actsOf(world, ann)
      await act.archiveRead(1)
      await act.seen(5)
      assert.deepEqual(await world.store.read(readInbox, ann.id), emptyInbox)
    },
  )

  promise(
    'archive against read-all: the notification is archived and read, whichever comes first (law 2)',
    async (world) => {
      const { ann, ids, readAll, archive, unarchive, store } = await mover(world, 6)
      for (let round = 0; round < runs(4); round++) {
        const follower = await Follower.of(world, ann)
        await Promise.all([readAll(round), ...ids.slice(0, 3).map((id) => archive(id, round))])
        for (const id of ids.slice(0, 3))
          assert.match((await placesOf(world, ann, [id ?? '']))[0] ?? '', /^archived/)
        assert.equal((await recount(world, ann)).inbox.unread, 0)
        await follower.catchUp(3)
        const back = (id = '') =>
          round % 2 === 0 ? unarchive(id) : store.write(markUnread, { userId: ann.id, id })
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
      for (const id of ids) assert.equal(await wake(id ?? '', 60), false)
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
        ...ids.flatMap((id = '') => [wake(id, 60), wake(id, 60), wake(id, 61)]),
        readAll(60).then(() => false),
        world.sendTimes(5, ann).then(() => false),
      ])
      assert.equal(woken.filter((isWoken) => isWoken).length, 8)
      const { inbox } = await recount(world, ann)
      assert.deepEqual([inbox.snoozed, inbox.total, inbox.lastSeq], [0, 13, 21])
    },
  )
}

/** `seconds` of the frozen clock. */
export function actsOf({ store }: World, { id: userId }: Person) {
  return {
    archive: (id = '', seconds: number) =>
      store.write(places.archive, { userId, id, at: at(seconds) }),
    unarchive: (id = '') => store.write(places.unarchive, { userId, id }),
    snooze: (id = '', seconds: number, until: number) =>
      store.write(places.snooze, { userId, id, at: at(seconds), until: at(until) }),
    wake: (id: string, seconds: number) =>
      store.write(places.wake, { userId, id, at: at(seconds) }),
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

export async function inList(world: World, person: Person): Promise<string[]> {
  return (await world.list(person, { status: 'inbox' })).map(({ id }) => id)
}

export async function countsOf(world: World, person: Person) {
  const { total, unread, unseen, archived, snoozed } = await world.store.read(readInbox, person.id)
  return { total, unread, unseen, archived, snoozed }
}
