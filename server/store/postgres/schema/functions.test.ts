// Which texts do the functions of a database have, whichever versions of Carillon start on it, at once or one after another?

import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { newDatabase, queryAt } from '../../../../tests/support/postgres.ts'
import { readDatabaseUrl } from '../../../config/database-url.ts'
import { openStore } from '../../open.ts'
import { openPool } from '../connection/pool.ts'
import { bringFunctions, functionsVersion, knownFunctions } from './functions.ts'
import { migrate } from './migrate.ts'

const folder = new URL('../functions/', import.meta.url)

/** Of each released number the hash of its texts. A changed text needs a new number, and a new line here. */
const hashes: Record<number, string> = {
  1: '6aa6a8f733224d45',
  2: 'a18970bc624d570f',
  3: '242397cece2f0de3',
  4: '10bf59ca845cbbfb',
  5: 'b259ee52ec7bc5ac',
  6: '0eb7e6fa82905767',
  7: '43d06744c53badc5',
}

/** What nodes of the version before call. They go on working during a rolling upgrade, so each of these stays for one version. */
const calledByTheVersionBefore = [
  'add_session(text,text,text,bigint,text,text)',
  'add_session_replacing(text,text,text,bigint,text[],text[])',
  'cut_tokens(text,text,bigint,bigint)',
  'deliver(text,text,text,text,text[],text[],text[],text,text,text,bigint)',
  'disable_user(text,bigint,bigint)',
  'end_sessions(text[],text[])',
  'ensure_signing_key(text,text,text,bigint)',
  'mark_all_read(text,text,text)',
  'mark_read(text,text,text)',
  'set_password(text,text,bigint,bigint)',
  'tell_session_ended(text)',
]

test('a changed function has a new number, so that an older node does not put its own text over it', () => {
  const known = knownFunctions(folder)
  assert.equal(
    known?.hash,
    hashes[functionsVersion],
    'A text in functions/ changed: raise functionsVersion in functions.ts, and add its hash here.',
  )
  assert.equal(Math.max(...Object.keys(hashes).map(Number)), functionsVersion)
})

test('a node of the version before finds every function that it calls, with the same arguments', async (t) => {
  const { ask } = await database(t)
  const rows = await ask('select p.oid::regprocedure::text as signature from pg_proc p')
  const present = rows.map(({ signature }) => signature)
  assert.deepEqual(
    calledByTheVersionBefore.filter((signature) => !present.includes(signature)),
    [],
  )
})

test('what a node of the version before calls raises the credential generation, and revokes by it (T7)', async (t) => {
  const { ask } = await database(t)
  await ask(`insert into "user" (id, username, password_hash, created_at) values ('u', 'ann', 'old', 1)`)
  const calls = [
    "set_password('u', 'new', 5, 905)",
    "cut_tokens('u', '', 6, 906)",
    "disable_user('u', 7, 907)",
    "set_password('u', 'newer', 1, 900)",
  ]
  const found: unknown[] = []
  for (const call of calls) {
    await ask(`select ${call}`)
    const [row] = await ask(`select u.credential_generation, c.first_generation, c.not_before, c.expires_at
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

test('every function is PL/pgSQL, since Citus cannot plan an SQL function that has parameters', async (t) => {
  const { ask } = await database(t)
  assert.deepEqual(
    await ask(`select proname from pg_proc p join pg_language l on l.oid = p.prolang
      where pronamespace = 'public'::regnamespace and lanname <> 'plpgsql'`),
    [],
  )
})

test('a delivery on Citus, by user or by shard, leaves and answers what the single statement does', async (t) => {
  const outcomes = []
  for (const deliver of ['deliver_new', 'deliver_one_by_one', 'deliver_by_shard']) {
    const { ask } = await database(t)
    await ask(`insert into "user" (id, username, password_hash, created_at)
      select 'u' || n, 'name' || n, 'hash', n from generate_series(1, 3) n`)
    const answers = []
    for (const [n, category] of ["'orders'", 'null', "'orders'"].entries())
      answers.push(
        await ask(`select ${deliver}('d', array['name3', null, 'nobody', 'name1', null], array[null, 'u1', null, null, 'u2'],
          array['a${n}', 'b${n}', 'c${n}', 'd${n}', 'e${n}'], '"title":"x"', ${category}) as answer`),
      )
    const rows = []
    for (const table of ['inbox', 'inbox_category', 'notification'])
      rows.push(await ask(`select * from ${table} order by 1, 2`))
    outcomes.push({ answers, rows })
  }
  assert.deepEqual(outcomes[1], outcomes[0])
  assert.deepEqual(outcomes[2], outcomes[0])
})

test('a delivery with a key on Citus, by shard, leaves and answers what the one by user does', async (t) => {
  const outcomes = []
  for (const deliver of ['deliver_keyed', 'deliver_keyed_by_shard']) {
    const { ask } = await database(t)
    await ask(`insert into "user" (id, username, password_hash, created_at)
      select 'u' || n, 'name' || n, 'hash', n from generate_series(1, 4) n`)
    const answers: unknown[] = []
    const send = async (n: number, category: string, key: string, users: string) =>
      answers.push(
        await ask(`select ${deliver}('d', array['name3', 'nobody', 'name1', null], array[null, null, null, ${users}],
          array['a${n}', 'b${n}', 'c${n}', 'd${n}'], '"title":"${n}"', ${category}, '${key}') as answer`),
      )
    await send(0, "'orders'", 'k', "'u3'")
    // One is read by itself, one by the watermark, one is unread, and one user has none with this key.
    await ask(`select mark_read('u1', 'c0', 'now')`)
    await send(1, 'null', 'other', "'u2'")
    await ask(`select mark_all_read('u3', null, 'now')`)
    await send(2, "'orders'", 'k', "'u2'")
    await send(3, "'bills'", 'k', "'u4'")
    await send(4, 'null', 'k', "'u2'")
    await send(5, "'orders'", 'k', "'u1'")
    const rows = []
    for (const table of ['inbox', 'inbox_category', 'notification', 'read_mark'])
      rows.push(await ask(`select * from ${table} order by 1, 2`))
    outcomes.push({ answers, rows })
  }
  assert.match(JSON.stringify(outcomes[0]?.answers), /updated/)
  assert.deepEqual(outcomes[1], outcomes[0])
})

test('a database whose functions are older, or came with a migration, gets the current ones at the next start', async (t) => {
  const { url, ask } = await database(t)
  const current = await textsOf(ask)
  for (const label of ['null', "'carillon functions 0 0123456789abcdef'"]) {
    await ask(`${oldText}; comment on table kysely_migration is ${label}`)
    assert.notDeepEqual(await textsOf(ask), current)
    await open(url)
    assert.deepEqual(await textsOf(ask), current)
  }
})

test('a start with the current functions changes nothing, so that it waits for no lock', async (t) => {
  const { url, ask } = await database(t)
  await open(url)
  const before = await rowsOf(ask)
  await open(url)
  assert.deepEqual(await rowsOf(ask), before)
})

test('a node of an older version leaves newer functions as they are', async (t) => {
  const { url, ask } = await database(t)
  const label = `carillon functions ${functionsVersion + 1} 0123456789abcdef`
  await ask(`${oldText}; comment on table kysely_migration is '${label}'`)
  const before = await rowsOf(ask)
  await open(url)
  assert.deepEqual(await rowsOf(ask), before)
})

test('nodes that start at once on older functions create them once, and requests under way go on', async (t) => {
  const { url, ask } = await database(t)
  await ask('comment on table kysely_migration is null')
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

test('a function that cannot be created takes its migration back with it', async (t) => {
  const path = mkdtempSync(join(tmpdir(), 'carillon-functions-'))
  t.after(() => rmSync(path, { recursive: true }))
  for (const name of ['migrations', 'functions'])
    cpSync(new URL(`../${name}/`, import.meta.url), join(path, name), { recursive: true })
  writeFileSync(join(path, 'functions', 'zebra.sql'), 'create function zebra() returns text language nothing as $$ $$;')
  const { ask, url } = await database(t, { isBare: true })
  const pool = openPool(url)
  t.after(() => pool.end())
  await assert.rejects(migrate(pool, { partitions: 1, from: pathToFileURL(join(path, 'migrations/')) }), /nothing/)
  assert.deepEqual(await ask("select 1 from pg_proc where proname = 'deliver'"), [])
  // The migrations before the last one are whole.
  assert.deepEqual(await ask('select name from kysely_migration'), [{ name: '0001-start' }])
  const column = "select 1 from information_schema.columns where column_name = 'credential_generation'"
  assert.deepEqual(await ask(column), [])
})

const oldText = `create or replace function mark_read(of_user text, of_id text, moment text)
  returns text language sql as $$ select 'absent' $$`

type Ask = (sql: string) => Promise<Record<string, unknown>[]>
const ours = "from pg_proc where pronamespace = 'public'::regnamespace order by proname"
const textsOf = (ask: Ask) => ask(`select proname, prosrc, proargnames ${ours}`)
const rowsOf = (ask: Ask) => ask(`select oid, xmin ${ours}`)

async function database(t: TestContext, options: { isBare?: boolean } = {}): Promise<{ url: string; ask: Ask }> {
  const { url, drop } = await newDatabase(options)
  t.after(drop)
  return { url, ask: async (sql) => [await queryAt(url, sql)].flat().at(-1)?.rows ?? [] }
}

async function open(url: string): Promise<void> {
  const { store } = await openStore(readDatabaseUrl(url))
  await store.close()
}
