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
import { readCounts, readVersion } from '../inbox.store.ts'
import { emptyInbox, type Filter } from '../inbox-state.ts'
import { actsOf } from './places.contract.ts'

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
    'an empty page, not an error, comes from an empty inbox and from any distance past the end',
    async (world) => {
      const ann = await world.addUser('ann')
      const ben = await world.addUser('ben')
      await world.sendTimes(3, ben, { category: 'build' })
      for (const status of statuses)
        for (const categories of [undefined, ['build']]) {
          const past = [{ page: 1 }, { page: 7 }, { page: 1e20 }, { before: 9 }]
          for (const place of past) {
            const query = { userId: ann.id, limit: 5, status, categories, ...place }
            const empty = { inbox: emptyInbox, total: 0, items: '[]', next: null }
            assert.deepEqual(await world.page(query), empty)
          }
          for (const page of [2, 3, 1_000_000_000, 1e20]) {
            const query = { userId: ben.id, limit: 3, status, categories, page }
            const { items, next, inbox } = await world.page(query)
            assert.deepEqual([items, next, inbox.total], ['[]', null, 3])
          }
        }
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
      await actsOf(world, ann).read(id, 1)
      assert.equal(await version(), 2)
    },
  )

  promise(
    'counts and lists each category under its own name, including names such as __proto__',
    async (world) => {
      const ann = await world.addUser('ann')
      const names = ['build', '__proto__', 'constructor', 'a b', 'é']
      for (const category of [...names, ...names, null]) await world.send(ann, 'Hi', { category })
      const { inbox, categories } = await world.store.read(readCounts, ann.id)
      const expected = names.map((name) => [name, { total: 2, unread: 2 }] as const)
      assert.deepEqual(new Map(Object.entries(categories)), new Map(expected))
      assert.deepEqual([inbox.total, inbox.unread], [11, 11])
      for (const name of names)
        assert.deepEqual(
          (await world.list(ann, { categories: [name] })).map(({ category }) => category),
          [name, name],
        )
      assert.deepEqual(await world.list(ann, { categories: ['BUILD', 'buil', 'null', "'"] }), [])
    },
  )

  promise(
    'pages by cursor, with and without a filter, hold each matching notification once while others arrive',
    async (world) => {
      const ann = await world.addUser('ann')
      const send = async (category: string) => world.send(ann, 'Hi', { category })
      for (let round = 1; round <= 18; round++) {
        const id = await send(['build', 'other', 'chat'][round % 3] as string)
        if (round % 2 === 0) await actsOf(world, ann).read(id, round)
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
          await Promise.all(ids.slice(0, 5).map((id) => actsOf(world, ann).read(id, round)))
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
async function checkList(
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
