// Of two guesses the second sees the first, although both began before it was committed.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import pg from 'pg'
import { newDatabase } from '../../tests/support/postgres.ts'
import { openPostgresStore } from '../store/postgres/store.ts'
import { reserveGuess } from './guesses.store.ts'

const { url, drop } = await newDatabase()
const { store } = await openPostgresStore(url, { partitions: 3 })
after(async () => {
  await store.close()
  await drop()
})

test('a guess waits for one of the same account that another node is counting, and is refused by it (A9)', async (t) => {
  const other = new pg.Client(url)
  await other.connect()
  t.after(() => other.end())
  // Two guesses are free, the third has to wait a minute.
  const limits = { limits: [{ key: 'a', delaysMs: [0, 0, 60_000], keptMs: 1_000_000 }], at: 1_000 }
  assert.deepEqual(await store.write(reserveGuess, limits), [])
  await other.query('begin')
  // The other node has locked the row, and has not yet counted.
  await other.query("select from guess_count where key = 'a' for update")
  const third = store.write(reserveGuess, limits)
  const waiting =
    "select from pg_stat_activity where wait_event_type = 'Lock' and query like '%from guess_count%for update'"
  while ((await other.query(waiting)).rows.length === 0) {
    await nextTurn()
    // A transaction sees the activity of its first look.
    await other.query('select pg_stat_clear_snapshot()')
  }
  await other.query("update guess_count set failures = 2 where key = 'a'")
  await other.query('commit')
  assert.deepEqual(await third, [{ key: 'a', notBefore: 61_000 }])
})
