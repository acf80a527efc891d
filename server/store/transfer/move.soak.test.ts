// Of two moves at once into SQLite the second waits for the lock of the first.
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { CarillonError } from '../../basics/errors.ts'
import { fillingOf } from './endpoint/endpoint.ts'
import { checksumsAt, emptyTables, filledPlace, onEndpoint, rowsAt } from './testing/filled.ts'
import { interrupted } from './testing/interrupted.ts'
import { acceptsWrites, isFilling, move } from './testing/moves.ts'

test('a move that is killed again and again loses and doubles no row, from SQLite to PostgreSQL and back', async (t) => {
  let from = await filledPlace(t, { notifications: 30_000 })
  const expected = await checksumsAt(from)
  const total = await rowsAt(from)
  for (const engine of ['postgres', 'sqlite'] as const) {
    const to = await emptyTables(t, engine)
    let kills = 0
    let rows = 0
    for (; ; kills++) {
      const isDue = async () => (await isFilling(to)) && sleep(randomInt(1, 60) * 2 ** kills, true)
      const args = ['move', '--from', from, '--to', to, '--json']
      if ((await interrupted({ args, signal: 'SIGKILL', isDue })) === undefined) break
      const before = rows
      rows = await rowsAt(to)
      assert.ok(rows >= before && rows <= total, `${rows} of ${total} rows after ${before}`)
      assert.equal(await acceptsWrites(from), false)
      assert.ok(
        rows === total || (await onEndpoint(to, fillingOf)) !== undefined,
        'it is marked as incomplete',
      )
    }
    assert.ok(kills > 1, `${kills} kills`)
    t.diagnostic(`${kills} kills into ${engine}, the last at ${rows} of ${total} rows`)
    assert.deepEqual(await checksumsAt(to), expected)
    from = to
  }
})

test('two moves of the same database at once into SQLite lose and double no row', async (t) => {
  const from = await filledPlace(t, { notifications: 3_000 })
  const expected = await checksumsAt(from)
  const to = await emptyTables(t, 'sqlite')
  const ends = await Promise.allSettled([move(from, to), move(from, to)])
  const reasons = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []))
  for (const reason of reasons) assert.ok(reason instanceof CarillonError, reason)
  if (reasons.length === 2) await move(from, to)
  assert.deepEqual(await checksumsAt(to), expected)
})
