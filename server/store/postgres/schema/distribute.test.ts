// Citus is not installed here: replacements of its functions record how they are called.
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { newDatabase } from '../../../../tests/support/postgres.ts'
import { openPool } from '../connection/pool.ts'
import { migrate } from './migrate.ts'

const script = readFileSync(new URL('./distribute.sql', import.meta.url), 'utf8')
const ofUsers = [
  'audit',
  'bulk',
  'challenge',
  'factor',
  'inbox',
  'inbox_category',
  'known_device',
  'notification',
  'one_time_link',
  'preference',
  'recovery_code',
  'reminder',
  'removal',
  'revocation',
  'session',
]
const forAll = [
  ...[
    'category',
    'delivery',
    'erased_id',
    'factor_rule',
    'guess_count',
    'hourly',
    'key_change',
    'node',
    'producer',
  ],
  ...[
    'provider_account',
    'scheduled_backup',
    'sealed_key',
    'signing_key',
    'time_seen',
    'user',
    'webhook',
  ],
]
const ledger = ['history', 'migration', 'outbox', 'push_subscription']

async function connect({ isBare = false } = {}) {
  const { url, drop } = await newDatabase({ isBare })
  const client = new pg.Client(url)
  await client.connect()
  const notices: string[] = []
  client.on('notice', ({ message }) => notices.push(message ?? ''))
  after(async () => {
    await client.end()
    await drop()
  })
  const rows = async (sql: string) =>
    (await client.query({ text: sql, rowMode: 'array' })).rows as unknown[][]
  return { rows, notices, url }
}

const schema = `
  select c.oid, c.relname, c.relkind, c.xmin from pg_class c where relnamespace = 'public'::regnamespace
  union all select p.oid, p.proname, 'f', p.xmin from pg_proc p where pronamespace = 'public'::regnamespace order by 1`

test('without Citus the script says so and changes nothing', async () => {
  const { rows, notices } = await connect()
  const before = await rows(schema)
  await rows(script)
  assert.deepEqual(notices, [
    'Citus is not in this database (create extension citus); nothing was changed',
  ])
  assert.deepEqual(await rows(schema), before)
})

test("the script refuses a database without Carillon's tables", async () => {
  const { rows } = await connect({ isBare: true })
  await assert.rejects(rows(script), /no tables of Carillon/)
})

test('with Citus every table except the ledger is named once: distributed by user_id beside the inbox, or copied to every node', async () => {
  const { rows, notices } = await connect()
  const tables = await rows(`
    select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
      and not relispartition order by 1`)
  assert.deepEqual(tables.flat().toSorted(), [...ofUsers, ...forAll, ...ledger].toSorted())
  await rows(replacements)
  await rows(script)
  const calls = await rows('select called, name, by, beside from calls order by called, name')
  assert.deepEqual(calls, [
    ...ofUsers.map((name) => ['distributed', name, 'user_id', name === 'inbox' ? 'none' : 'inbox']),
    ...forAll.map((name) => ['reference', name, null, null]),
  ])
  assert.match(notices[0] ?? '', /^Each shard will have 3 partitions/)
  const [first] = await rows(
    "select name from calls where called = 'distributed' order by at limit 1",
  )
  assert.deepEqual(first, ['inbox'], 'the other tables are colocated with it')

  await rows('delete from calls')
  await rows(script)
  assert.deepEqual(await rows('select * from calls'), [], 'the second run has nothing to do')
})

/** As Citus declares them, as far as the script uses them (its API reference, "Utility Functions"). */
const replacements = `
  create schema citus_stand_in;
  create table citus_stand_in.calls (
    at bigint generated always as identity, called text, name text, by text, beside text);
  create table citus_stand_in.pg_dist_partition (logicalrelid regclass primary key);
  create function citus_stand_in.create_distributed_table(
    table_name regclass, distribution_column text, distribution_type text default 'hash',
    colocate_with text default 'default', shard_count int default null
  ) returns void language sql as $$
    insert into citus_stand_in.calls (called, name, by, beside)
      values ('distributed', trim('"' from table_name::text), distribution_column, colocate_with);
    insert into citus_stand_in.pg_dist_partition values (table_name);
  $$;
  create function citus_stand_in.create_reference_table(table_name regclass) returns void language sql as $$
    insert into citus_stand_in.calls (called, name) values ('reference', trim('"' from table_name::text));
    insert into citus_stand_in.pg_dist_partition values (table_name);
  $$;
  set search_path to public, citus_stand_in`

test('a migration of distributed tables uses one connection to each node, as Citus requires for the functions after it', async (t) => {
  const { rows, url } = await connect({ isBare: true })
  const path = mkdtempSync(join(tmpdir(), 'carillon-distribute-'))
  t.after(() => rmSync(path, { recursive: true }))
  cpSync(new URL('../../schema/0001-schema.sql', import.meta.url), join(path, '0001-schema.sql'))
  const mode = "current_setting('citus.multi_shard_modify_mode')"
  writeFileSync(join(path, '9999-mode.sql'), `create table found as select ${mode} as mode`)
  const pool = openPool(url)
  t.after(() => pool.end())
  await migrate(pool, { partitions: 1, from: pathToFileURL(`${path}/`) })
  assert.deepEqual(await rows('select mode from found'), [['sequential']])
})

test('there are no foreign keys, and only usernames, ids, accounts at providers and names of categories have a unique key across users', async () => {
  const { rows } = await connect()
  assert.deepEqual(await rows("select conname from pg_constraint where contype = 'f'"), [])
  const keys = await rows(`
    select c.relname, i.indexrelid::regclass::text, exists (
      select from pg_attribute where attrelid = c.oid and attname = 'user_id' and attnum = any (i.indkey)
    ) from pg_index i join pg_class c on c.oid = i.indrelid
    where i.indisunique and c.relnamespace = 'public'::regnamespace and not c.relispartition
      and c.relname not in ('migration', 'history', 'outbox', 'push_subscription') order by 1, 2`)
  const spanning = keys.filter(([, , isOfUser]) => !isOfUser).map(([table]) => table)
  assert.deepEqual([...new Set(spanning)], forAll)
  const reached = new Set(keys.filter(([, , isOfUser]) => isOfUser).map(([table]) => table))
  assert.deepEqual([...reached], ofUsers)
})

test('user_id, which decides on the node of a row, has the same collation in every table', async () => {
  const { rows } = await connect()
  const collations = await rows(`
    select distinct l.collname, l.collisdeterministic from pg_attribute a
    join pg_class c on c.oid = a.attrelid join pg_collation l on l.oid = a.attcollation
    where a.attname = 'user_id' and c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace`)
  assert.deepEqual(collations, [['C', true]])
})
