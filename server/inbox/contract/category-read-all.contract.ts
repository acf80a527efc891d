import assert from 'node:assert/strict'
import { recount } from '../../contract/random/random.ts'
import { at, isoAt, type PromiseOf, type World } from '../../contract/world.ts'
import { markAllRead } from '../bulk/bulk.store.ts'
import { undo } from '../bulk/undo.store.ts'
import { changesSince, readCounts, readInbox } from '../inbox.store.ts'
import { markRead, markUnread } from '../marks.store.ts'
import { readAts } from './mark-unread.contract.ts'

/** An order, a chat message and one without a category, `rounds` times. */
async function annOf(world: World, rounds: number) {
  const ann = await world.addUser('ann')
  const ids: string[] = []
  for (let n = 0; n < rounds * 3; n++)
    ids.push(await world.send(ann, `${n}`, { category: ['orders', 'chat', null][n % 3] ?? null }))
  const readAll = (
    seconds: number,
    categories: string[] | undefined,
    throughId: string | null = null,
  ) => world.store.write(markAllRead, { userId: ann.id, throughId, categories, at: at(seconds) })
  return { ann, ids, readAll, store: world.store }
}

export function categoryReadAllPromises(promise: PromiseOf): void {
  promise(
    'a read-all of categories marks as read what has one of them, as one change, and nothing else',
    async (world) => {
      const { ann, ids, readAll, store } = await annOf(world, 2)
      const { version } = await store.read(readInbox, ann.id)
      assert.equal(await readAll(5, ['orders', 'none']), 'done')
      assert.deepEqual(await readAts(world, ann, ids), [5, null, null, 5, null, null])
      const { inbox, categories } = await store.read(readCounts, ann.id)
      assert.deepEqual([inbox.unread, inbox.version], [4, version + 1])
      assert.deepEqual(
        { ...categories },
        { chat: { total: 2, unread: 2 }, orders: { total: 2, unread: 0 } },
      )
      const found = await store.read(changesSince, { userId: ann.id, version, limit: 9 })
      assert.deepEqual(found !== 'reset' && found.changes, [
        {
          version: version + 1,
          type: 'read-all',
          throughSeq: 6,
          throughId: ids[5],
          at: isoAt(5),
          categories: ['orders'],
        },
      ])
      await readAll(6, ['orders'])
      assert.equal(
        (await store.read(readInbox, ann.id)).version,
        version + 1,
        'nothing was left to mark',
      )
      await readAll(7, ['orders', 'chat'])
      await readAll(8, undefined)
      assert.deepEqual(await readAts(world, ann, ids), [5, 7, 8, 5, 7, 8])
      await recount(world, ann)
    },
  )

  promise(
    'a read-all of a category ends at the given notification, and what arrives later is unread',
    async (world) => {
      const { ann, ids, readAll, store } = await annOf(world, 3)
      assert.equal(await readAll(5, ['chat'], ids[4]), 'done')
      assert.equal(await readAll(5, ['chat'], '01900000-0000-7000-8000-000000000000'), 'absent')
      await world.send(ann, 'later', { category: 'chat' })
      assert.deepEqual(await readAts(world, ann, ids), [
        null,
        5,
        null,
        null,
        5,
        null,
        null,
        null,
        null,
      ])
      assert.equal((await store.read(readCounts, ann.id)).categories.chat?.unread, 2)
      await recount(world, ann)
    },
  )

  promise(
    'an undo takes back exactly the read-all of categories before it, and keeps each earlier readAt',
    async (world) => {
      const { ann, ids, readAll, store } = await annOf(world, 2)
      await readAll(4, ['orders'], ids[0])
      await readAll(5, ['orders', 'chat'])
      await store.write(markRead, { userId: ann.id, id: ids[1] ?? '', at: at(6) })
      await store.write(markUnread, { userId: ann.id, id: ids[0] ?? '' })
      assert.equal(await store.write(undo, { userId: ann.id, at: at(7) }), 'done')
      assert.deepEqual(await readAts(world, ann, ids), [null, 5, null, null, null, null])
      await recount(world, ann)
      assert.equal(await store.write(undo, { userId: ann.id, at: at(8) }), 'done')
      await readAll(9, ['orders'])
      assert.equal(
        await store.write(undo, { userId: ann.id, at: at(9) + 10 * 60_000 + 1 }),
        'nothing',
      )
    },
  )

  promise('a notification that moves to another category keeps its read state', async (world) => {
    const { ann, readAll } = await annOf(world, 1)
    const read = await world.send(ann, 'read', { category: 'orders', key: 'read' })
    const unread = await world.send(ann, 'unread', { category: 'chat', key: 'unread' })
    await readAll(5, ['orders'])
    await world.send(ann, 'read', { category: 'chat', key: 'read' })
    await world.send(ann, 'unread', { category: 'orders', key: 'unread' })
    assert.deepEqual(await readAts(world, ann, [read, unread]), [5, null])
    await recount(world, ann)
    await readAll(6, ['orders', 'chat'])
    assert.deepEqual(await readAts(world, ann, [read, unread]), [5, 6])
  })
}
