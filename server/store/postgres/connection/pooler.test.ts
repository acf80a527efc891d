// tests/support/network/pooler.ts imitates PgBouncer. Only its session mode works.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Pooler } from '../../../../tests/support/network/pooler.ts'
import { newDatabase, queryAt } from '../../../../tests/support/postgres.ts'
import { readDatabaseUrl } from '../../../config/database-url.ts'
import { isUnavailable, World } from '../../../contract/world.ts'
import { examinePostgres } from '../../../doctor/store/postgres.ts'
import { readInbox } from '../../../inbox/inbox.store.ts'
import { openStore } from '../../../open-store.ts'
import { newFolder } from '../../sqlite/testing/folder.ts'
import { backUp, restoreBackup } from '../../transfer/backup.ts'
import { checksumsAt, emptyPlace, filledPlace, report } from '../../transfer/testing/filled.ts'
import { acceptsWrites, move } from '../../transfer/testing/moves.ts'
import { poolingOf } from './opening.ts'
import { openPool } from './pool.ts'

const { url, drop } = await newDatabase()
after(drop)
const port = Number(new URL(url).port)

async function poolingAt(at: string) {
  const pool = openPool(at)
  try {
    return await poolingOf(pool)
  } finally {
    await pool.end()
  }
}

test('in session mode a store opens, writes, reads and sends change signals without further settings', async () => {
  await using pooler = await Pooler.before(port, { mode: 'session' })
  const here = await openStore(readDatabaseUrl(pooler.urlFor(url)))
  const other = await openStore(readDatabaseUrl(url))
  try {
    const received = Promise.withResolvers<void>()
    const world = await World.on(here.store)
    const ann = await world.addUser('ann')
    other.store.onChange(
      (signal) => signal.about === 'inbox' && signal.userId === ann.id && received.resolve(),
    )
    await Promise.all(Array.from({ length: 30 }, () => world.send(ann)))
    await received.promise
    assert.equal((await here.store.read(readInbox, ann.id)).total, 30)
  } finally {
    await here.store.close()
    await other.store.close()
  }
})

test('a connection has the same settings behind a pooler, whatever the URL says', async () => {
  await using pooler = await Pooler.before(port, { mode: 'session' })
  const settings = `select current_setting('plan_cache_mode') as plan, current_setting('jit') as jit,
    current_setting('max_parallel_workers_per_gather') as workers,
    current_setting('default_transaction_isolation') as isolation, current_setting('statement_timeout') as timeout`
  const of = async (at: string) => {
    const pool = openPool(at)
    const { rows } = await pool.query(settings)
    await pool.end()
    return rows[0]
  }
  const usual = {
    plan: 'force_generic_plan',
    jit: 'off',
    workers: '0',
    isolation: 'read committed',
    timeout: '4s',
  }
  assert.deepEqual(await of(url), usual)
  assert.deepEqual(await of(pooler.urlFor(url)), usual)
  const options = new URLSearchParams({
    options: '-c plan_cache_mode=auto -c statement_timeout=3000',
  })
  assert.deepEqual(await of(`${url}?${options}`), usual)
})

const lent = [
  { mode: 'transaction', size: 1, isInTurns: false },
  { mode: 'transaction', size: 2, isInTurns: true },
  { mode: 'transaction', size: 20, isInTurns: false },
  { mode: 'transaction', size: 20, isInTurns: true },
  { mode: 'statement', size: 1, isInTurns: false },
  { mode: 'statement', size: 3, isInTurns: true },
] as const
for (const { mode, size, isInTurns } of lent)
  test(`${mode} mode is refused at the start, with ${size} connections, lent ${isInTurns ? 'in turn' : 'latest first'}`, async () => {
    await using pooler = await Pooler.before(port, { mode, size, isInTurns })
    const through = pooler.urlFor(url)
    await assert.rejects(openStore(readDatabaseUrl(through)), (error) => {
      assert.ok(isUnavailable(error))
      assert.match(
        error.message,
        /^The pooler in front of PostgreSQL lends .* Set pool_mode = session in pgbouncer\.ini, or [^\n]+\.$/,
      )
      return true
    })
    const { findings } = await examinePostgres(through, Date.now)
    const [finding] = findings.filter(({ check }) => check === 'pooler')
    assert.equal(finding?.state, 'fault')
    assert.match(finding?.found ?? '', /^it lends a connection for one transaction/)
  })

test('move and restore refuse transaction mode before they start, as source and as target', async (t) => {
  await using pooler = await Pooler.before(port, { mode: 'transaction' })
  const through = pooler.urlFor(url)
  const folder = await newFolder(t)
  const from = await filledPlace(t)
  const file = join(folder, 'backup.gz')
  await backUp({ from: readDatabaseUrl(from), file, at: '2026-01-01T00:00:00.000Z', report })
  const refused =
    /lends a connection for one transaction or statement.* Set pool_mode = session in pgbouncer\.ini/
  await assert.rejects(move(from, through), refused)
  await assert.rejects(move(through, `sqlite:${join(folder, 'new.db')}`), refused)
  await assert.rejects(
    restoreBackup({ file, to: readDatabaseUrl(through), partitions: 1, report }),
    refused,
  )
  assert.equal(await acceptsWrites(from), true)
})

test('session mode: a move through the pooler carries every row', async (t) => {
  await using pooler = await Pooler.before(port, { mode: 'session' })
  const from = await filledPlace(t)
  const empty = await emptyPlace(t, 'postgres')
  await move(from, pooler.urlFor(empty))
  assert.deepEqual(await checksumsAt(empty), await checksumsAt(from))
})

test('a server without a pooler, and a pooler in session mode, are always recognised', async () => {
  await using pooler = await Pooler.before(port, { mode: 'session' })
  for (let n = 0; n < 20; n++) {
    assert.equal(await poolingAt(url), 'none')
    assert.equal(await poolingAt(pooler.urlFor(url)), 'session')
  }
  const { findings } = await examinePostgres(url, Date.now)
  assert.deepEqual(
    findings.filter(({ check }) => check === 'pooler'),
    [],
  )
})

test('a start through a pooler in session mode with one connection is refused', async () => {
  await using single = await Pooler.before(port, { mode: 'session', size: 1 })
  await assert.rejects(
    openStore(readDatabaseUrl(single.urlFor(url))),
    /has no second connection for this process, which needs 11\. Set default_pool_size/,
  )
  assert.equal((await queryAt(url, 'select 1')).rows.length, 1)
})

for (const [size, found] of [
  [1, /^more connections that it has for this role: 1; .* needs 11$/],
  [10, /for this role: 10;/],
  [11, /^it is in session mode/],
] as const)
  test(`doctor says how many connections a pooler in session mode has, if a process needs more: ${size}`, async () => {
    await using pooler = await Pooler.before(port, { mode: 'session', size })
    const { findings } = await examinePostgres(pooler.urlFor(url), Date.now)
    const [finding] = findings.filter(({ check }) => check === 'pooler')
    assert.match(finding?.found ?? '', found)
    assert.equal(finding?.state, size < 11 ? 'fault' : 'ok')
  })
