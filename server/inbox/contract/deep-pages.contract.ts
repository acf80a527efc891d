import assert from 'node:assert/strict'
import { maxAtOnce, type PromiseOf, runs, type Seen } from '../../contract/world.ts'
import { actsOf } from './places.contract.ts'

const limit = 20
/** In the soak, SQLite passes over so many in several turns of the event loop. */
const many = runs(300, 16_000)

export function deepPagePromises(promise: PromiseOf): void {
  promise(
    'a deep page of all or of unread notifications is correct if many sequence numbers are missing (I6)',
    async (world) => {
      const ann = await world.addUser('ann')
      let ids = await world.sendTimes(many, ann, { isKeyed: true })
      const read = ids.filter((_, n) => n % 3 === 1 || n < many / 8)
      for (let from = 0; from < read.length; from += maxAtOnce) {
        const some = read.slice(from, from + maxAtOnce)
        await Promise.all(some.map((id) => actsOf(world, ann).read(id, 1)))
      }
      const again = Array.from({ length: 30 }, (_, n) => ids[n * 7] ?? '')
      for (const id of again) ids = await world.sendAgain(ann, id, ids)
      const isUnread = (id: string) => again.includes(id) || !read.includes(id)
      for (const status of ['all', 'unread'] as const) {
        const expected = ids.filter((id) => status === 'all' || isUnread(id)).toReversed()
        const query = { userId: ann.id, limit, status }
        const last = Math.ceil(expected.length / limit)
        for (const page of [1, last >> 1, last - 1, last, last + 1]) {
          const found = await world.page({ ...query, page })
          const place = `${status}: page ${page} of ${last}`
          const listed = (JSON.parse(found.items) as Seen[]).map(({ id }) => id)
          assert.deepEqual(listed, expected.slice((page - 1) * limit, page * limit), place)
          assert.equal(found.next !== null, page < last, place)
          if (page === 1 || page > last) continue
          const { next } = await world.page({ ...query, page: page - 1 })
          assert.deepEqual(await world.page({ ...query, before: next ?? 0 }), found, place)
        }
      }
    },
  )
}
