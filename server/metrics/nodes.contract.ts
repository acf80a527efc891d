import assert from 'node:assert/strict'
import { at, type PromiseOf } from '../contract/world.ts'
import { type Held, mostStreams, nodeLivesMs, putNode, removeNode } from './nodes.store.ts'

export function nodePromises(promise: PromiseOf): void {
  promise(
    'the streams of a user add up over the nodes that run, and not those of a killed one',
    async ({ store }) => {
      const put = (id: string, seconds: number, streams: Held[]) =>
        store.write(putNode, {
          id,
          name: id,
          seenAt: at(seconds),
          facts: JSON.stringify({ settings: {}, streams }),
        })
      const most = (seconds: number) => store.read(mostStreams, at(seconds))
      await put('a', 0, [{ userId: 'ann', streams: 9 }])
      await put('a', 1, [{ userId: 'ann', streams: 2 }])
      await put('b', 200, [
        { userId: 'ben', streams: 4 },
        { userId: 'ann', streams: 3 },
      ])
      assert.deepEqual(await most(200), [
        { userId: 'ann', streams: 5 },
        { userId: 'ben', streams: 4 },
      ])
      const killedAt = 1 + nodeLivesMs / 1_000 + 1
      assert.deepEqual(
        (await most(killedAt)).map(({ userId }) => userId),
        ['ben', 'ann'],
      )
      await put('c', killedAt, [])
      assert.equal((await most(0)).length, 2, 'the row of the killed one is gone')
      await store.write(removeNode, 'b')
      assert.deepEqual(await most(killedAt), [])
    },
  )
}
