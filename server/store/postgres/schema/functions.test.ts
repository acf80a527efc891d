// Versions start in any order. tests/e2e/nodes/rolling-upgrade.test.ts runs two at the same time.
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { newDatabase, queryAt } from '../../../../tests/support/postgres.ts'
import { untilSo } from '../../../../tests/support/processes/nodes.ts'
import { readDatabaseUrl } from '../../../config/database-url.ts'
import { openStore } from '../../../open-store.ts'
import { endSessions } from '../../../sessions/sessions.store.ts'
import { openPool } from '../connection/pool.ts'
import { bringFunctions, knownFunctions, needsFunctions } from './functions.ts'
import { migrate } from './migrate.ts'

const folder = new URL('../functions/', import.meta.url)

const otherText = `create or replace function
  mark_together(kinds text[], users text[], ids text[], seqs bigint[], moments text[], untils text[])
  returns text[] language sql as $$ select '{absent}'::text[] $$`

const program = knownFunctions()
const labelOf = (version: string) => `carillon functions ${version} 0123456789abcdef`

type Asked = Parameters<typeof needsFunctions>[0]
type Query = (sql: string) => Promise<Record<string, unknown>[]>
const ours = "from pg_proc where pronamespace = 'public'::regnamespace order by proname"
const textsOf = (query: Query) => query(`select proname, prosrc, proargnames ${ours}`)

test('R9: sessions end while their sign-out waits for a migration that adds a column to their table', async (t) => {
  const { url, query } = await database(t)
  const { store } = await openStore(readDatabaseUrl(url))
  const pool = openPool(url)
  t.after(() => Promise.all([store.close(), pool.end()]))
  await query(`insert into "user" (id, username, created_at) values ('u', 'ann', 1)`)
  await query(`insert into session (user_id, family_hash, secret_hash, username, created_at, last_seen_at, sign_in_id, has_tokens)
    select 'u', n, n, 'ann', 1, 1, n, 0 from generate_series(1, 3) n`)
  const end = (secretHash: string) =>
    store.write(endSessions, {
      keys: [{ userId: 'u', familyHash: secretHash, secretHash }],
      at: 2,
    })
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

const labels: [found: string, label: string, isReplaced: boolean][] = [
  ['no label', 'null', true],
  ['those of an older version', `'${labelOf('0.0.99')}'`, true],
  ['another text of this version', `'${labelOf(program.version)}'`, true],
  ['those of a newer version', `'${labelOf('99.0.0')}'`, false],
]
for (const [found, label, isReplaced] of labels)
  test(`a start ${isReplaced ? 'replaces' : 'leaves'} the functions if the database has ${found}`, async (t) => {
    const { url, query } = await database(t)
    const current = await textsOf(query)
    await query(`${otherText}; comment on table migration is ${label}`)
    const others = await textsOf(query)
    assert.notDeepEqual(others, current)
    await open(url)
    assert.deepEqual(await textsOf(query), isReplaced ? current : others)
  })

test('a start on a database with the current functions changes nothing, so it waits for no lock', async (t) => {
  const { url, query } = await database(t)
  await open(url)
  const before = await query(`select oid, xmin ${ours}`)
  await open(url)
  assert.deepEqual(await query(`select oid, xmin ${ours}`), before)
})

test('versions are compared by their three numbers, and not by their texts', async (t) => {
  const { query } = await database(t)
  const isCreated = async ({ found, by }: { found: string; by: string }) => {
    await query(`comment on table migration is '${labelOf(found)}'`)
    const asked = {
      query: async (text: string) => ({ rows: await query(text) }),
    } as unknown as Asked
    return needsFunctions(asked, { version: by, hash: 'f'.repeat(16), text: '' })
  }
  const rising = ['0.2.0', '0.10.0', '0.10.2', '0.10.10', '1.0.0']
  for (const [n, older] of rising.entries())
    for (const newer of rising.slice(n + 1)) {
      assert.equal(await isCreated({ found: older, by: newer }), true, `${older}, then ${newer}`)
      assert.equal(await isCreated({ found: newer, by: older }), false, `${newer}, then ${older}`)
    }
  assert.equal(await isCreated({ found: '1.0.0-rc.1', by: '1.0.0' }), true)
  assert.equal(await isCreated({ found: '1.0.0', by: '1.0.0-rc.2' }), true)
})

test('nodes that start at the same time create the functions once, and no running request fails', async (t) => {
  const { url, query } = await database(t)
  await query('comment on table migration is null')
  const pools = Array.from({ length: 5 }, () => openPool(url))
  const calls = openPool(url)
  t.after(() => Promise.all([...pools, calls].map((pool) => pool.end())))
  let isDone = false
  const requests = (async () => {
    do
      assert.equal(
        (
          await calls.query(
            "select (mark_together('{read}', '{u}', '{n}', '{null}', '{now}', '{null}'))[1] as is",
          )
        ).rows[0].is,
        'absent',
      )
    while (!isDone)
  })()
  const outcomes = await Promise.all(pools.map((pool) => bringFunctions(pool, program)))
  isDone = true
  await requests
  assert.deepEqual(outcomes.toSorted(), [false, false, false, false, true])
})

test('if a function cannot be created, its migration is rolled back with it', async (t) => {
  const path = mkdtempSync(join(tmpdir(), 'carillon-functions-'))
  t.after(() => rmSync(path, { recursive: true }))
  cpSync(new URL('../../schema/', import.meta.url), join(path, 'schema'), { recursive: true })
  cpSync(folder, join(path, 'functions'), { recursive: true })
  writeFileSync(join(path, 'schema', '0002-more.sql'), 'create table more (what text);')
  writeFileSync(
    join(path, 'functions', 'zebra.sql'),
    'create function zebra() returns text language nothing as $$ $$;',
  )
  const { query, url } = await database(t, { isBare: true })
  const pool = openPool(url)
  t.after(() => pool.end())
  const [from, functions] = ['schema/', 'functions/'].map((name) =>
    pathToFileURL(join(path, name)),
  ) as [URL, URL]
  await assert.rejects(
    migrate(pool, { partitions: 1, from, functions: knownFunctions(functions) }),
    /nothing/,
  )
  assert.deepEqual(await query("select 1 from pg_proc where proname = 'deliver_together'"), [])
  // What is before the last migration stays.
  assert.deepEqual(await query('select name from migration'), [{ name: '0001-schema' }])
  assert.deepEqual(await query("select 1 from pg_tables where tablename = 'more'"), [])
})

async function database(
  t: TestContext,
  options: { isBare?: boolean } = {},
): Promise<{ url: string; query: Query }> {
  const { url, drop } = await newDatabase(options)
  t.after(drop)
  return { url, query: async (sql) => [await queryAt(url, sql)].flat().at(-1)?.rows ?? [] }
}

async function open(url: string): Promise<void> {
  const { store } = await openStore(readDatabaseUrl(url))
  await store.close()
}
