import assert from 'node:assert/strict'
import type { PromiseOf } from '../contract/world.ts'
import { addHourly, removeOldHourly, sizeNow, sumHourly } from './hourly.store.ts'

export function hourlyPromises(promise: PromiseOf): void {
  promise(
    'the counts of several nodes add up, and the largest gauge of an hour stays',
    async ({ store }) => {
      const rows = (hour: number, count: number, max: number) => [
        { name: 'deliveries', hour, count, max: 0 },
        { name: 'streams-open', hour, count: 0, max },
      ]
      const written = [rows(10, 2, 5), rows(10, 3, 9), rows(10, 4, 7), rows(11, 1, 1)]
      await Promise.all(written.map((some) => store.write(addHourly, some)))
      const summed = async (from: number, to: number) =>
        (await store.read(sumHourly, { from, to })).toSorted((one, other) =>
          one.name < other.name ? -1 : 1,
        )
      const of = (count: number, max: number) => [
        { name: 'deliveries', count, max: 0 },
        { name: 'streams-open', count: 0, max },
      ]
      const plain = async (from: number, to: number) =>
        (await summed(from, to)).map((row) => ({ ...row }))
      assert.deepEqual(await plain(10, 11), of(9, 9))
      assert.deepEqual(await plain(10, 12), of(10, 9))
      await store.write(removeOldHourly, 11)
      assert.deepEqual(await plain(0, 12), of(1, 1))
    },
  )

  promise(
    'the numbers of an hour send no change signal, so kept pages stay valid',
    async (world) => {
      const ann = await world.addUser('ann')
      const { promise: delivered, resolve } = Promise.withResolvers<void>()
      const seen: string[] = []
      world.store.onChange(({ about }) => {
        seen.push(about)
        if (about === 'inbox') resolve()
      })
      await world.store.write(addHourly, [{ name: 'deliveries', hour: 10, count: 1, max: 0 }])
      await world.deliver({ to: [ann] })
      await delivered
      assert.deepEqual(seen, ['inbox'])
    },
  )

  promise('the size of the database is known', async ({ store }) => {
    const { bytes, waiting } = await store.read(sizeNow)
    assert.ok(bytes > 10_000, `${bytes}`)
    assert.equal(waiting, 0)
  })
}
