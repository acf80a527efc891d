import assert from 'node:assert/strict'
import fc from 'fast-check'
import { at, newId, type PromiseOf, runs, type Seen, type World } from '../../contract/world.ts'
import { markAllRead } from '../bulk/bulk.store.ts'
import { readCounts, readInbox, readVersion } from '../inbox.store.ts'
import { emptyInbox } from '../inbox-state.ts'
import { markRead } from '../marks.store.ts'

export function pagePromises(promise: PromiseOf): void {
  promise(
    'lists an inbox newest first, ordered by sequence number and not by id',
    async (world) => {
      const ann = await world.addUser('ann')
      const ids = [
        '01900000-0000-7000-8000-000000000005',
        newId(),
        '01900000-0000-7000-8000-000000000001',
        newId(),
      ]
      for (const id of ids) await world.send(ann, 'Hi', { ids: [id] })
      assert.deepEqual(await world.ids(ann), ids.toReversed())
    },
  )

  promise(
    'returns an empty page, not an error, for an inbox without notifications',
    async (world) => {
      const ann = await world.addUser('ann')
      for (const status of ['unread', 'all'] as const)
        for (const place of [{ page: 1 }, { page: 7 }, { before: 9 }]) {
          const page = await world.page({ userId: ann.id, limit: 5, status, ...place })
          assert.deepEqual(page, { inbox: emptyInbox, total: 0, items: '[]', next: null })
        }
      assert.deepEqual(await world.store.read(readInbox, ann.id), emptyInbox)
    },
  )

  promise(
    'returns the version of an inbox as it is now, also if an earlier one was read for the same object',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      const kept = {}
      const version = () => world.store.read(readVersion, { userId: ann.id, kept })
      assert.deepEqual([await version(), await version()], [0, 0])
      const id = await world.send(ann)
      await world.send(ben)
      assert.deepEqual([await version(), await version()], [1, 1])
      await world.store.write(markRead, { userId: ann.id, id, at: at(1) })
      assert.equal(await version(), 2)
    },
  )

  promise('returns an empty page at any distance past the end', async (world) => {
    const ann = await world.addUser('ann')
    await world.sendTimes(3, ann)
    for (const page of [2, 3, 1_000_000_000, 1e20])
      for (const status of ['unread', 'all'] as const) {
        const past = await world.page({ userId: ann.id, page, limit: 3, status })
        assert.deepEqual([past.items, past.next, past.inbox.total], ['[]', null, 3])
      }
  })

  promise(
    'numbered pages hold every notification once, and more follow exactly if page * limit < total (I6)',
    async (world) => {
      await fc.assert(
        fc.asyncProperty(
          someInbox,
          fc.integer({ min: 1, max: 9 }),
          anyStatus,
          async (inbox, limit, status) => {
            const { ann, expected } = await fill(world, inbox, status)
            const seen: string[] = []
            for (let page = 1; page <= expected.length / limit + 2; page++) {
              const { items, next } = await world.page({ userId: ann.id, page, limit, status })
              seen.push(...idsIn(items))
              const hasMore = page * limit < expected.length
              assert.equal(seen.length < expected.length, hasMore)
              assert.equal(next !== null, hasMore)
            }
            assert.deepEqual(seen, expected)
          },
        ),
        { numRuns: runs(5, 800) },
      )
    },
  )

  promise(
    'pages by cursor hold every notification once, starting at any page (I6)',
    async (world) => {
      const firstPage = fc.integer({ min: 1, max: 3 })
      await fc.assert(
        fc.asyncProperty(
          someInbox,
          fc.integer({ min: 1, max: 9 }),
          anyStatus,
          firstPage,
          async (...random) => {
            const [inbox, limit, status, page] = random
            const { ann, expected } = await fill(world, inbox, status)
            const query = { userId: ann.id, limit, status }
            const first = await world.page({ ...query, page })
            const seen = idsIn(first.items)
            for (let { next } = first; next !== null; ) {
              const following = await world.page({ ...query, before: next })
              assert.notEqual(following.items, '[]')
              seen.push(...idsIn(following.items))
              assert.ok(seen.length <= expected.length)
              next = following.next
            }
            assert.deepEqual(seen, expected.slice((page - 1) * limit))
          },
        ),
        { numRuns: runs(5, 800) },
      )
    },
  )

  promise(
    'counts each category under its own name, including names such as __proto__',
    async (world) => {
      const ann = await world.addUser('ann')
      const categories = ['build', '__proto__', 'constructor', 'a b', 'é']
      for (const category of [...categories, ...categories, null])
        await world.send(ann, 'Hi', { category })
      const moved = await world.send(ann, 'Deploying', { category: 'build', key: 'deploy' })
      await world.send(ann, 'Deployed', { category: 'done', key: 'deploy' })
      await world.store.write(markRead, { userId: ann.id, id: moved, at: at(1) })
      const { inbox, categories: counted } = await world.store.read(readCounts, ann.id)
      const expected = categories.map((category) => [category, { total: 2, unread: 2 }] as const)
      assert.deepEqual(
        new Map(Object.entries(counted)),
        new Map([...expected, ['done', { total: 1, unread: 0 }]]),
      )
      assert.deepEqual([inbox.total, inbox.unread], [12, 11])
    },
  )
}

/**
 * In the order of the list from its end. `readThrough`: up to which one all were marked as read.
 */
type SomeInbox = { readOneByOne: boolean[]; sentAgain: number[]; readThrough: number | null }
const someInbox: fc.Arbitrary<SomeInbox> = fc.record({
  readOneByOne: fc.array(fc.boolean(), { maxLength: 40 }),
  sentAgain: fc.array(fc.nat(40), { maxLength: 6 }),
  readThrough: fc.option(fc.nat(40)),
})

const anyStatus = fc.constantFrom('all', 'unread')

async function fill(
  world: World,
  { readOneByOne, sentAgain, readThrough }: SomeInbox,
  status: 'all' | 'unread',
) {
  const ann = await world.addUser(newId())
  let ids = await world.sendTimes(readOneByOne.length, ann, { isKeyed: true })
  for (const index of sentAgain) {
    const id = ids[index]
    if (id !== undefined) ids = await world.sendAgain(ann, id, ids)
  }
  const throughId = ids[readThrough ?? ids.length]
  if (throughId !== undefined)
    await world.store.write(markAllRead, { userId: ann.id, throughId, at: at(1) })
  const chosen = ids.filter((_, index) => readOneByOne[index])
  await Promise.all(
    chosen.map((id) => world.store.write(markRead, { userId: ann.id, id, at: at(2) })),
  )
  const isRead = (id: string) =>
    chosen.includes(id) || ids.indexOf(id) <= ids.indexOf(throughId ?? '')
  return { ann, expected: ids.filter((id) => status === 'all' || !isRead(id)).toReversed() }
}

function idsIn(items: string): string[] {
  return (JSON.parse(items) as Seen[]).map(({ id }) => id)
}
