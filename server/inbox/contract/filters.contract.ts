import assert from 'node:assert/strict'
import fc from 'fast-check'
import { anyAct, Stage, statuses } from '../../contract/random/acts.ts'
import { hasStatus } from '../../contract/random/model.ts'
import {
  at,
  type Person,
  type PromiseOf,
  runs,
  type Seen,
  type World,
} from '../../contract/world.ts'
import { markAllRead } from '../bulk/bulk.store.ts'
import { undo } from '../bulk/undo.store.ts'
import { readCounts, readInbox } from '../inbox.store.ts'
import { emptyInbox, type Filter } from '../inbox-state.ts'
import { markRead, markUnread } from '../marks.store.ts'

/** Every day the random acts above have pages of one. */
export const pageSizes = process.env.SOAK === undefined ? [4, 50] : [1, 4, 50]

export function filterPromises(promise: PromiseOf): void {
  promise(
    'a list with any filter holds exactly the notifications that match, by page number and by cursor, after any acts (I6)',
    async (world) => {
      const acts = fc.array(anyAct, { maxLength: 40 })
      const filters = fc.array(anyFilter, { minLength: 1, maxLength: 4 })
      await fc.assert(
        fc.asyncProperty(
          acts,
          filters,
          fc.integer({ min: 1, max: 6 }),
          async (some, chosen, limit) => {
            const stage = await Stage.of(world)
            for (const act of some) await stage.perform(stage.turn(act))
            for (const person of stage.people)
              for (const filter of chosen)
                await checkList(stage.world, person, { ...filter, limit })
          },
        ),
        { numRuns: runs(6, 1_200) },
      )
    },
  )

  promise(
    'a filter by status and categories lists what matches both, in the order of the inbox',
    async (world) => {
      const ann = await world.addUser('ann')
      for (let round = 1; round <= 3; round++)
        for (const category of ['build', 'chat', '__proto__', null]) {
          const id = await world.send(ann, `${category} ${round}`, { category })
          if (round === 2) await world.store.write(markRead, { userId: ann.id, id, at: at(round) })
        }
      const titles = async (filter: Filter) => {
        const page = await world.page({ userId: ann.id, limit: 20, page: 1, ...filter })
        const items: Seen[] = JSON.parse(page.items)
        assert.equal(page.total, items.length)
        return items.map(({ title }) => title)
      }
      assert.deepEqual(await titles({ status: 'all', categories: ['chat'] }), [
        'chat 3',
        'chat 2',
        'chat 1',
      ])
      assert.deepEqual(await titles({ status: 'unread', categories: ['chat', 'build'] }), [
        'chat 3',
        'build 3',
        'chat 1',
        'build 1',
      ])
      assert.deepEqual(await titles({ status: 'read', categories: ['__proto__', 'build'] }), [
        '__proto__ 2',
        'build 2',
      ])
      assert.deepEqual(await titles({ status: 'read' }), [
        'null 2',
        '__proto__ 2',
        'chat 2',
        'build 2',
      ])
      assert.deepEqual(
        await titles({ status: 'all', categories: ['BUILD', 'buil', 'null', "'"] }),
        [],
      )
      await world.store.write(markAllRead, { userId: ann.id, throughId: null, at: at(4) })
      assert.deepEqual(await titles({ status: 'unread', categories: ['chat', 'build'] }), [])
      assert.equal((await titles({ status: 'read' })).length, 12)
    },
  )

  promise(
    'every list follows a mark as unread, a partial read-all and an undo, with any filter',
    async (world) => {
      const ann = await world.addUser('ann')
      const ids: string[] = []
      const send = async (count: number) => {
        for (let n = 0; n < count; n++)
          ids.push(
            await world.send(ann, `${n}`, { category: ['build', 'chat', null][n % 3] ?? null }),
          )
      }
      const of = (index: number) => ({
        userId: ann.id,
        id: ids[index] ?? assert.fail('there is no such notification'),
      })
      const checkAll = async (unread: number) => {
        assert.equal((await world.store.read(readInbox, ann.id)).unread, unread)
        for (const status of statuses)
          for (const categories of [undefined, ['build'], ['chat', 'build', 'none']])
            for (const limit of pageSizes)
              await checkList(world, ann, { status, categories, limit })
      }
      await send(24)
      await world.store.write(markAllRead, { userId: ann.id, throughId: null, at: at(1) })
      for (const index of [0, 3, 4, 5, 10, 15, 22, 23])
        await world.store.write(markUnread, of(index))
      await checkAll(8)
      await send(6)
      await world.store.write(markRead, { ...of(26), at: at(2) })
      await world.store.write(markRead, { ...of(10), at: at(2) })
      await checkAll(12)
      // Those above it stay unread.
      await world.store.write(markAllRead, { userId: ann.id, throughId: of(12).id, at: at(3) })
      await checkAll(8)
      await world.store.write(markAllRead, { userId: ann.id, throughId: of(25).id, at: at(4) })
      await world.store.write(markUnread, of(1))
      await checkAll(4)
      assert.equal(await world.store.write(undo, { userId: ann.id, at: at(5) }), 'done')
      await checkAll(9)
    },
  )

  promise(
    'an empty inbox has empty pages with every filter, at any distance past the end',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      await world.send(ben, 'Hi', { category: 'build' })
      for (const status of statuses)
        for (const categories of [['build'], ['build', 'chat']])
          for (const place of [
            { page: 1 },
            { page: 7 },
            { page: 1e20 },
            { before: 9 },
            { before: 1e20 },
          ]) {
            const query = { limit: 5, status, categories, ...place }
            const page = await world.page({ ...query, userId: ann.id })
            assert.deepEqual(page, { inbox: emptyInbox, total: 0, items: '[]', next: null })
            const { items } = await world.page({ ...query, userId: ben.id })
            const isThere =
              ['inbox', 'unread', 'all'].includes(status) && ('before' in place || place.page === 1)
            assert.equal(items !== '[]', isThere, JSON.stringify(query))
          }
    },
  )

  promise(
    'pages by cursor, with and without a filter, hold each matching notification once while others arrive',
    async (world) => {
      const ann = await world.addUser('ann')
      const send = async (category: string) => world.send(ann, 'Hi', { category })
      for (let round = 1; round <= 18; round++) {
        const id = await send(['build', 'other', 'chat'][round % 3] as string)
        if (round % 2 === 0)
          await world.store.write(markRead, { userId: ann.id, id, at: at(round) })
      }
      const categoriesOf = [['chat', 'build'], undefined]
      const filters = statuses.flatMap((status) =>
        categoriesOf.map((categories) => ({ status, categories })),
      )
      for (const filter of filters) {
        const query = { userId: ann.id, limit: 4, ...filter }
        const expected = (await world.list(ann)).filter(isMatch(query)).map(({ id }) => id)
        let { items, next } = await world.page({ ...query, page: 1 })
        const seen = idsIn(items)
        while (next !== null) {
          await Promise.all([send('build'), send('chat'), send('other')])
          ;({ items, next } = await world.page({ ...query, before: next }))
          seen.push(...idsIn(items))
          assert.ok(seen.length <= expected.length)
        }
        assert.deepEqual(seen, expected)
      }
    },
  )

  promise(
    'a page and its total, and all counts, belong to one moment while others arrive and are read',
    async (world) => {
      const ann = await world.addUser('ann')
      let isWriting = true
      const readRepeatedly = async () => {
        for (; isWriting; ) {
          for (const status of statuses) {
            const query = { userId: ann.id, limit: 100, status, categories: ['build'] }
            const { items, total, inbox } = await world.page({ ...query, page: 1 })
            assert.equal(idsIn(items).length, total)
            if (status === 'unread') assert.equal(total, inbox.unread)
          }
          const whole = { userId: ann.id, limit: 100, status: 'all', page: 1 } as const
          const { items, inbox } = await world.page(whole)
          assert.equal(idsIn(items).length, inbox.total)
          const counts = await world.store.read(readCounts, ann.id)
          assert.equal(counts.inbox.total, counts.categories.build?.total ?? 0)
          assert.equal(counts.inbox.unread, counts.categories.build?.unread ?? 0)
          await new Promise(setImmediate)
        }
      }
      const write = async () => {
        for (let round = 1; round <= 8; round++) {
          const ids = await Promise.all(
            Array.from({ length: 10 }, () => world.send(ann, 'Hi', { category: 'build' })),
          )
          await Promise.all(
            ids
              .slice(0, 5)
              .map((id) => world.store.write(markRead, { userId: ann.id, id, at: at(round) })),
          )
          if (round % 3 === 0)
            await world.store.write(markAllRead, { userId: ann.id, throughId: null, at: at(round) })
        }
      }
      const writing = write().finally(() => {
        isWriting = false
      })
      await Promise.all([writing, readRepeatedly()])
    },
  )
}

const anyFilter: fc.Arbitrary<Filter> = fc.record(
  {
    status: fc.constantFrom(...statuses),
    categories: fc.uniqueArray(fc.constantFrom('build', 'chat', 'none'), { minLength: 1 }),
  },
  { requiredKeys: ['status'] },
)

function isMatch({ status, categories }: Filter) {
  return (one: Seen) =>
    hasStatus(one, status) &&
    (categories === undefined || (one.category !== null && categories.includes(one.category)))
}

/** No write may be in progress. */
export async function checkList(
  world: World,
  person: Person,
  query: Filter & { limit: number },
): Promise<void> {
  const expected = (await world.list(person)).filter(isMatch(query))
  const { limit } = query
  const numbered = (page: number) => world.page({ ...query, userId: person.id, page })
  let found = await numbered(1)
  for (let page = 1; page <= Math.ceil(expected.length / limit) + 1; page++) {
    assert.deepEqual(JSON.parse(found.items), expected.slice((page - 1) * limit, page * limit))
    assert.equal(found.total, expected.length)
    const hasMore = page * limit < expected.length
    assert.equal(found.next, hasMore ? expected[page * limit - 1]?.seq : null)
    const before = found.next
    found = await numbered(page + 1)
    if (before !== null)
      assert.deepEqual(await world.page({ ...query, userId: person.id, before }), found)
  }
}

function idsIn(items: string): string[] {
  return (JSON.parse(items) as Seen[]).map(({ id }) => id)
}
