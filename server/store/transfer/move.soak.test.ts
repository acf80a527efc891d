// A move that is killed again and again, and two moves at once into SQLite, where the second waits for the lock of the first.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CarillonError } from '../../basics/errors.ts'
import { readDatabaseUrl } from '../../config/database-url.ts'
import { openStore } from '../../open-store.ts'
import { sourceAt } from './endpoint/endpoint.ts'
import { checksumsAt, emptyPlace, filledPlace, onEndpoint } from './testing/filled.ts'
import { interrupted } from './testing/interrupted.ts'
import { acceptsWrites, fillingAt, move } from './testing/moves.ts'

test('a move that is killed after each batch of rows loses and doubles none, from SQLite to PostgreSQL and back', async (t) => {
  let from = await filledPlace(t, { notifications: 30_000 })
  const expected = await checksumsAt(from)
  for (const engine of ['postgres', 'sqlite'] as const) {
    const to = await emptyPlace(t, engine)
    await (await openStore(readDatabaseUrl(to))).store.close()
    const kills = await onEndpoint(to, async (target) => {
      const total = async () => (await sourceAt(target)).total
      for (let count = 0; ; count++) {
        const before = await total()
        const isDue = async () => (await total()) > before
        const args = ['move', '--from', from, '--to', to, '--json']
        if ((await interrupted({ args, signal: 'SIGKILL', isDue })) === undefined) return count
        assert.ok((await total()) >= before)
        assert.equal(await acceptsWrites(from), false)
      }
    })
    assert.ok(kills > 3, `${kills} kills`)
    assert.deepEqual(await checksumsAt(to), expected)
    assert.equal(await fillingAt(to), null)
    from = to
  }
})

test('two moves of the same database at once into SQLite lose and double no row', async (t) => {
  const from = await filledPlace(t, { notifications: 3_000 })
  const expected = await checksumsAt(from)
  const to = await emptyPlace(t, 'sqlite')
  await (await openStore(readDatabaseUrl(to))).store.close()
  const ends = await Promise.allSettled([move(from, to), move(from, to)])
  const reasons = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []))
  for (const reason of reasons) assert.ok(reason instanceof CarillonError, reason)
  if (reasons.length === 2) await move(from, to)
  assert.deepEqual(await checksumsAt(to), expected)
  assert.equal(await fillingAt(to), null)
})
