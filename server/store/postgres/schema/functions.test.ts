// A database has the functions of the newest version of Carillon that was started on it, in whatever order versions start.
// tests/e2e/nodes/rolling-upgrade.test.ts runs two versions at the same time.
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { newDatabase, queryAt } from '../../../../tests/support/postgres.ts'
import { untilSo } from '../../../../tests/support/processes/nodes.ts'
import { readDatabaseUrl } from '../../../config/database-url.ts'
import { knownMigrations } from '../../migrations.ts'
import { openStore } from '../../open.ts'
import { openPool } from '../connection/pool.ts'
import { bringFunctions, functionsVersion, knownFunctions } from './functions.ts'
import { migrate } from './migrate.ts'

const folder = new URL('../functions/', import.meta.url)

/** The hash of the texts of each version number. A changed text needs a new number, and a new line here. */
const hashes: Record<number, string> = {
  1: '6aa6a8f733224d45',
  2: 'a18970bc624d570f',
  3: '242397cece2f0de3',
  4: '10bf59ca845cbbfb',
  5: 'b259ee52ec7bc5ac',
  6: '0eb7e6fa82905767',
  7: '43d06744c53badc5',
  8: 'bf321c3561226b13',
  9: '6e77dafe2be5a92f',
  10: '21df07d9bef9cef5',
  11: '8ae246a0bf037657',
  12: '768f0cd1ce553dd5',
  13: '92f7f90f6526fba3',
  14: '58fa95b9fe35ebd0',
  15: '1982f48e1f9f71bb',
  16: '3da3c0fc7c3a8367',
  17: '46527fda3245a170',
  18: '1bf7af3e6fd9fa9a',
  19: '81744c4effcc3c3d',
  20: '3403f1410a7d8bb7',
  21: '8e734b53d7f1b7d9',
  22: '546e8d7618a79056',
  23: 'f926a7a62e75ce01',
  24: '8de1170b4dd651d7',
  25: '120f32caba6620a3',
  26: '9d7ed2fa8b5bb1ec',
  27: '21b85c8cc4afec04',
  28: '196411d5e694fe61',
  29: 'd6f7f263ba7ee188',
  30: 'bc8cd9575650395d',
  31: '58ebe3159650c4ff',
  32: 'f38b8ddc996486a5',
  33: '8d6e4f7eb5712c7f',
  34: 'e933076417fa8320',
  35: '217e916ab48bf5da',
  36: 'abf31432573379d9',
  37: '0cfc71d1610cf8f0',
  38: '5922aa93de42d631',
  39: '5b2dfb8e0199ffc4',
  40: '472d0b65ca5de424',
  41: 'd69da181894cfef4',
  42: '026c60fb64bb07ae',
  43: 'c539b164b75a99fa',
  44: '52eff44823e43ca4',
  45: 'b20c6f8355fe3bb9',
  46: '86c56ee86f955b88',
  47: '3f94020627fb60b4',
  48: '68a0c3ae104c663e',
}

/** Functions that nodes of the version before call. Those nodes must work during a rolling upgrade, so each stays for one version. */
const calledByTheVersionBefore = [
  'add_session(text,text,text,bigint,text,text)',
  'add_session_replacing(text,text,text,bigint,text[],text[])',
  'cut_tokens(text,text,bigint,bigint)',
  'deliver(text,text,text,text,text[],text[],text[],text,text,text,bigint)',
  'disable_user(text,bigint,bigint)',
  'end_sessions(text[],text[])',
  'end_sessions_and_tokens(text[],text[],bigint,bigint)',
  'ensure_signing_key(text,text,text,bigint)',
  'mark_all_read(text,text,text)',
  'mark_read(text,text,text)',
  'set_password(text,text,bigint,bigint)',
  'tell_session_ended(text)',
]

test('a changed function has a new version number, so that an older node does not replace it by its own text', () => {
  const known = knownFunctions(folder)
  assert.equal(
    known?.hash,
    hashes[functionsVersion],
    'A text in functions/ changed: raise functionsVersion in functions.ts, and add its hash here.',
  )
  assert.equal(Math.max(...Object.keys(hashes).map(Number)), functionsVersion)
})

test('every function that a node of the version before calls exists with the same arguments', async (t) => {
  const { query } = await database(t)
  const rows = await query('select p.oid::regprocedure::text as signature from pg_proc p')
  const present = rows.map(({ signature }) => signature)
  assert.deepEqual(
    calledByTheVersionBefore.filter((signature) => !present.includes(signature)),
    [],
  )
})

test('the functions that a node of the version before calls raise the credential generation and revoke by it (T7)', async (t) => {
  const { query } = await database(t)
  await query(`insert into "user" (id, username, password_hash, created_at) values ('u', 'ann', 'old', 1)`)
  const calls = [
    "set_password('u', 'new', 5, 905)",
    "cut_tokens('u', '', 6, 906)",
    "disable_user('u', 7, 907)",
    "set_password('u', 'newer', 1, 900)",
  ]
  const found: unknown[] = []
  for (const call of calls) {
    await query(`select ${call}`)
    const [row] = await query(`select u.credential_generation, c.first_generation, c.not_before, c.expires_at
      from "user" u join token_cutoff c on c.user_id = u.id`)
    found.push(Object.values(row ?? {}).map(Number))
  }
  assert.deepEqual(found, [
    [1, 1, 5, 905],
    [1, 1, 6, 906],
    [2, 2, 7, 907],
    [3, 3, 7, 907],
  ])
})

test('R9: sessions end while their sign-out waits for a migration that adds a column to their table', async (t) => {
  const { url, query } = await database(t)
  const { store } = await openStore(readDatabaseUrl(url))
  const pool = openPool(url)
  t.after(() => Promise.all([store.close(), pool.end()]))
  await query(`insert into "user" (id, username, created_at) values ('u', 'ann', 1)`)
  await query(`insert into session (user_id, secret_hash, username, created_at, last_seen_at)
    select 'u', n, 'ann', 1, 1 from generate_series(1, 3) n`)
  const end = (secretHash: string) =>
    store.endSessions({ keys: [{ userId: 'u', secretHash }], at: 2, revocationExpiresAt: 902 })
  // The database plans the statement for the columns of now.
  assert.equal((await end('1')).length, 1)
  const migration = await pool.connect()
  await migration.query('begin; alter table session add column extra text')
  const waiting = end('2')
  const locks = "select 1 from pg_locks where relation = 'session'::regclass and not granted"
  await untilSo(async () => (await query(locks)).length > 0)
  await migration.query('commit')
  migration.release()
  assert.deepEqual(
    (await waiting).map(({ userId, hadTokens }) => [userId, hadTokens]),
    [['u', false]],
  )
  assert.equal((await end('3')).length, 1)
  assert.deepEqual(await query('select 1 from session'), [])
})

test('every function is PL/pgSQL, since Citus cannot plan an SQL function that has parameters', async (t) => {
  const { query } = await database(t)
  assert.deepEqual(
    await query(`select proname from pg_proc p join pg_language l on l.oid = p.prolang
      where pronamespace = 'public'::regnamespace and lanname <> 'plpgsql'`),
    [],
  )
})

test('a delivery on Citus, by user or by shard, stores and returns the same as the single statement', async (t) => {
  const outcomes = []
  for (const deliver of ['deliver_new', 'deliver_one_by_one', 'deliver_by_shard']) {
    const { query } = await database(t)
    await query(`insert into "user" (id, username, password_hash, created_at)
      select 'u' || n, 'name' || n, 'hash', n from generate_series(1, 3) n`)
    const returned = []
    for (const [n, category] of ["'orders'", 'null', "'orders'"].entries())
      returned.push(
        await query(`select ${deliver}('d', array['u3', 'u1', null, 'u1', 'u2'],
          array['a${n}', 'b${n}', 'c${n}', 'd${n}', 'e${n}'], '"title":"x"', ${category}) as outcome`),
      )
    const rows = []
    for (const table of ['inbox', 'inbox_category', 'notification'])
      rows.push(await query(`select * from ${table} order by 1, 2`))
    outcomes.push({ returned, rows })
  }
  assert.deepEqual(outcomes[1], outcomes[0])
  assert.deepEqual(outcomes[2], outcomes[0])
})

test('a delivery with a key on Citus stores and returns the same by shard as by user', async (t) => {
  const outcomes = []
  for (const deliver of ['deliver_keyed', 'deliver_keyed_by_shard']) {
    const { query } = await database(t)
    await query(`insert into "user" (id, username, password_hash, created_at)
      select 'u' || n, 'name' || n, 'hash', n from generate_series(1, 4) n`)
    const returned: unknown[] = []
    const send = async (n: number, category: string, key: string, users: string, again = false) =>
      returned.push(
        await query(`select ${deliver}('d', array['u3', null, 'u1', ${users}],
          array['a${n}', 'b${n}', 'c${n}', 'd${n}'], '"title":"${n}","createdAt":"2026-01-01T00:00:0${n}.000Z"', ${category}, '${key}', ${again})
          as outcome`),
      )
    await send(0, "'orders'", 'k', "'u3'")
    // One is read alone, one by a read-all, one is unread, and one user has none with this key.
    await query(`select mark_read('u1', 'c0', 'now')`)
    await send(1, 'null', 'other', "'u2'")
    await query(`select mark_all_read('u3', null, 'now')`)
    await send(2, "'orders'", 'k', "'u2'")
    await send(3, "'bills'", 'k', "'u4'", true)
    await send(4, 'null', 'k', "'u2'")
    await query(`select mark_read('u1', 'c0', 'now')`)
    await send(5, "'orders'", 'k', "'u1'")
    await send(6, 'null', 'k', "'u2'", true)
    await send(7, "'orders'", 'new', "'u2'", true)
    // An undo would make unread those of u2, u3 and u4; that of u1 was marked as unread.
    for (const user of ['u1', 'u2', 'u3', 'u4']) await query(`select mark_all_read('${user}', null, 'now')`)
    await query(`select mark_unread('u1', 'c0')`)
    await send(8, "'bills'", 'k', "'u2'")
    await send(9, 'null', 'k', "'u4'", true)
    const rows = []
    for (const table of ['inbox', 'inbox_category', 'notification', 'read_mark'])
      rows.push(await query(`select * from ${table} order by 1, 2`))
    outcomes.push({ returned, rows })
  }
  assert.match(JSON.stringify(outcomes[0]?.returned), /updated/)
  assert.deepEqual(outcomes[1], outcomes[0])
})

test('a database with older functions, or with functions from a migration, gets the current ones at the next start', async (t) => {
  const { url, query } = await database(t)
  const current = await textsOf(query)
  for (const label of ['null', "'carillon functions 0 0123456789abcdef'"]) {
    await query(`${oldText}; comment on table kysely_migration is ${label}`)
    assert.notDeepEqual(await textsOf(query), current)
    await open(url)
    assert.deepEqual(await textsOf(query), current)
  }
})

test('a start on a database with the current functions changes nothing, so it waits for no lock', async (t) => {
  const { url, query } = await database(t)
  await open(url)
  const before = await rowsOf(query)
  await open(url)
  assert.deepEqual(await rowsOf(query), before)
})

test('a node of an older version leaves newer functions as they are', async (t) => {
  const { url, query } = await database(t)
  const label = `carillon functions ${functionsVersion + 1} 0123456789abcdef`
  await query(`${oldText}; comment on table kysely_migration is '${label}'`)
  const before = await rowsOf(query)
  await open(url)
  assert.deepEqual(await rowsOf(query), before)
})

test('nodes that start at the same time create the functions once, and no running request fails', async (t) => {
  const { url, query } = await database(t)
  await query('comment on table kysely_migration is null')
  const functions = knownFunctions(folder)
  assert.ok(functions)
  const pools = Array.from({ length: 5 }, () => openPool(url))
  const calls = openPool(url)
  t.after(() => Promise.all([...pools, calls].map((pool) => pool.end())))
  let isDone = false
  const requests = (async () => {
    do assert.equal((await calls.query("select mark_read('u', 'n', 'now') as is")).rows[0].is, 'absent')
    while (!isDone)
  })()
  const outcomes = await Promise.all(pools.map((pool) => bringFunctions(pool, functions)))
  isDone = true
  await requests
  assert.deepEqual(outcomes.toSorted(), [false, false, false, false, true])
})

test('if a function cannot be created, its migration is rolled back with it', async (t) => {
  const path = mkdtempSync(join(tmpdir(), 'carillon-functions-'))
  t.after(() => rmSync(path, { recursive: true }))
  for (const name of ['migrations', 'functions'])
    cpSync(new URL(`../${name}/`, import.meta.url), join(path, name), { recursive: true })
  writeFileSync(join(path, 'functions', 'zebra.sql'), 'create function zebra() returns text language nothing as $$ $$;')
  const { query, url } = await database(t, { isBare: true })
  const pool = openPool(url)
  t.after(() => pool.end())
  await assert.rejects(migrate(pool, { partitions: 1, from: pathToFileURL(join(path, 'migrations/')) }), /nothing/)
  assert.deepEqual(await query("select 1 from pg_proc where proname = 'deliver'"), [])
  // The migrations before the last one stay.
  const before = knownMigrations(new URL('../migrations/', import.meta.url)).slice(0, -1)
  assert.deepEqual(
    await query('select name from kysely_migration order by name'),
    before.map((name) => ({ name })),
  )
})

const oldText = `create or replace function mark_read(of_user text, of_id text, moment text)
  returns text language sql as $$ select 'absent' $$`

type Query = (sql: string) => Promise<Record<string, unknown>[]>
const ours = "from pg_proc where pronamespace = 'public'::regnamespace order by proname"
const textsOf = (query: Query) => query(`select proname, prosrc, proargnames ${ours}`)
const rowsOf = (query: Query) => query(`select oid, xmin ${ours}`)

async function database(t: TestContext, options: { isBare?: boolean } = {}): Promise<{ url: string; query: Query }> {
  const { url, drop } = await newDatabase(options)
  t.after(drop)
  return { url, query: async (sql) => [await queryAt(url, sql)].flat().at(-1)?.rows ?? [] }
}

async function open(url: string): Promise<void> {
  const { store } = await openStore(readDatabaseUrl(url))
  await store.close()
}
