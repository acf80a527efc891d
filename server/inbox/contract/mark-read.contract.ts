import assert from 'node:assert/strict'
import {
  at,
  isoAt,
  notificationIn,
  type Person,
  type PromiseOf,
  type World,
} from '../../contract/world.ts'
import { markAllRead } from '../bulk/bulk.store.ts'
import { changesSince, readInbox } from '../inbox.store.ts'
import { actsOf, annWith } from './places.contract.ts'

export function markReadPromises(promise: PromiseOf): void {
  const ways = [
    { what: 'all', categories: undefined, named: ['even', 'odd'] },
    { what: 'all of a category', categories: ['even'], named: ['even'] },
  ]
  for (const { what, categories, named } of ways)
    promise(
      `marks ${what} as read as one change, and keeps each earlier readAt (law 3)`,
      async (world) => {
        const { ann, ids, store } = await annWith(world, 100)
        const [id = ''] = ids
        await actsOf(world, ann).read(id, 5)
        const { version } = await store.read(readInbox, ann.id)
        const act = { userId: ann.id, throughId: null, categories: categories?.concat('none') }
        assert.equal(await store.write(markAllRead, { ...act, at: at(6) }), 'done')
        const changed = await store.read(changesSince, { userId: ann.id, version, limit: 10 })
        assert.deepEqual(changed !== 'reset' && changed.changes, [
          {
            version: version + 1,
            type: 'read-all',
            throughSeq: 100,
            throughId: ids.at(-1) ?? '',
            at: isoAt(6),
            ...(categories && { categories }),
          },
        ])
        await store.write(markAllRead, { ...act, at: at(7) })
        assert.equal((await store.read(readInbox, ann.id)).version, version + 1)
        const marked = (await world.list(ann)).filter(({ readAt }) => readAt !== null)
        assert.equal(marked.length, named.length * 50)
        for (const seen of marked) {
          assert.ok(named.includes(seen.category ?? ''))
          assert.equal(seen.readAt, seen.id === id ? isoAt(5) : isoAt(6))
        }
      },
    )

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
}

/** In seconds, the oldest first. */
async function readAts(world: World, person: Person): Promise<(number | null)[]> {
  const seen = (await world.list(person)).toReversed()
  return seen.map(({ readAt }) => (readAt === null ? null : (Date.parse(readAt) - at(0)) / 1_000))
}
