// Each is applied once, completely or not at all, whatever starts or is lost meanwhile (R12).
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { TcpProxy } from '../../../../tests/support/network/tcp-proxy.ts'
import { newDatabase, PostgresServer, queryAt } from '../../../../tests/support/postgres.ts'
import { isUnavailable } from '../../../contract/world.ts'
import { openStore } from '../../../open-store.ts'
import { isInChunks, knownMigrations, type Notice, type Noticed, textOf } from '../../migrations.ts'
import { openPool } from '../connection/pool.ts'
import { appliedMigrations, migrate } from './migrate.ts'

const isSoak = process.env.SOAK !== undefined
const good = 'create table diary (entry text);\ninsert into diary values (1);'
const failsHalfWay =
  'create table half (done text);\ndrop table diary;\ninsert into nowhere values (1);'

test('a migration that fails is rolled back, and the migrations before it stay', async (t) => {
  const place = await newPlace(t)
  place.write('0001-start', good)
  place.write('0002-broken', failsHalfWay)
  await assert.rejects(place.migrate(), /nowhere/)
  assert.deepEqual(await place.tables(), ['diary'])
  assert.deepEqual(await place.query('select entry from diary'), [{ entry: '1' }])
  assert.deepEqual(await place.query('select name from migration'), [{ name: '0001-start' }])
  place.write('0002-broken', 'create table half (done text)')
  assert.deepEqual(await place.migrate(), ['0002-broken'])
})

test('refuses a newer schema, and applies nothing to it', async (t) => {
  const place = await newPlace(t)
  place.write('0001-start', good)
  await place.migrate()
  await place.query("insert into migration values ('0003-newer', '')")
  place.write('0002-other', 'create table other (what text)')
  await assert.rejects(place.migrate(), (error) => {
    assert.ok(isUnavailable(error))
    assert.match(error.message, /schema 0003-newer; this program knows 0002-other/)
    return true
  })
  assert.deepEqual(await place.tables(), ['diary'])
})

test('processes that migrate at the same time apply each migration once, and all find the schema (R12)', async (t) => {
  for (let round = 0; round < (isSoak ? 5 : 1); round++) {
    const place = await newPlace(t)
    place.write('0001-start', good)
    place.write(
      '0002-slow',
      'create index concurrently diary_by_entry on diary (entry);\nselect pg_sleep(0.1); create table slow (done text)',
    )
    const applied = await Promise.all(Array.from({ length: 5 }, () => place.migrate()))
    assert.deepEqual(applied.flat().sort(), ['0001-start', '0002-slow'])
    assert.deepEqual(await place.query('select entry from diary'), [{ entry: '1' }])
  }
})

// At every seventh message, and with SOAK=1 at every one.
test('if the connection is lost at any message, each migration is complete or absent, and the next run applies the rest (R12)', async (t) => {
  const place = await newPlace(t)
  place.write('0001-start', good)
  place.write(
    '0002-more',
    'create table more (what text);\ninsert into more values (2);\nalter table diary add page integer;',
  )
  await using proxy = await TcpProxy.to(Number(new URL(place.url).port))
  const through = proxy.urlFor(place.url)
  const whole = [[], ['diary'], ['diary', 'more']]
  const seen = new Set<number>()
  for (const direction of ['to server', 'to client'] as const)
    for (let breakAt = 1; ; breakAt += isSoak ? 1 : 7) {
      let messages = 0
      proxy.intercept = (passing) =>
        passing.direction === direction && ++messages === breakAt
          ? { disconnects: true }
          : undefined
      const isDone = await place.migrate({ url: through }).then(
        () => true,
        () => false,
      )
      await place.isAlone()
      const tables = await place.tables()
      assert.ok(
        whole.some((each) => each.join() === tables.join()),
        `broken at ${breakAt} ${direction}: ${tables}`,
      )
      seen.add(tables.length)
      await place.migrate()
      assert.deepEqual(await place.tables(), whole.at(-1))
      assert.deepEqual(await place.query('select entry, page from diary'), [
        { entry: '1', page: null },
      ])
      assert.deepEqual(await place.query('select what from more'), [{ what: '2' }])
      await place.query('drop schema public cascade; create schema public')
      if (isDone) break
    }
  // The breaks covered every state.
  assert.ok(seen.has(0) && seen.has(2), `${[...seen]}`)
})

test('while a migration waits for a table that a backup reads, other processes can use that table (R12)', async (t) => {
  const place = await newPlace(t)
  place.write('0001-start', good)
  await place.migrate()
  place.write('0002-more', 'alter table diary add column page integer')
  const backup = new pg.Client({ connectionString: place.url })
  backup.on('error', () => {})
  await backup.connect()
  await backup.query('begin isolation level repeatable read; select from diary')
  let isApplied = false
  const migrating = place.migrate().finally(() => {
    isApplied = true
  })
  for (let round = 0; round < 2; round++) {
    while ((await place.query('select from pg_locks where not granted')).length === 0)
      await sleep(2)
    // If the migration did not give up, this would fail with a timeout.
    await place.query("set statement_timeout = '20s'; select entry from diary")
  }
  assert.equal(isApplied, false)
  await backup.end()
  assert.deepEqual(await migrating, ['0002-more'])
})

test('a migration has all locks of its first line before its first statement, in the order in which requests take them (R14)', async (t) => {
  const place = await newPlace(t)
  const tables = ['notification', 'inbox', 'user']
  place.write('0001-start', tables.map((name) => `create table "${name}" (page integer)`).join(';'))
  await place.migrate()
  place.write(
    '0002-more',
    `-- locks: ${tables.join(', ')}
    create table seen as select relation::regclass::text as name from pg_locks where pid = pg_backend_pid() and relation in ('"user"'::regclass, 'inbox'::regclass, 'notification'::regclass) and mode = 'AccessExclusiveLock'`,
  )
  const holder = new pg.Client({ connectionString: place.url })
  await holder.connect()
  await holder.query('begin; select from inbox')
  const migrating = place.migrate()
  migrating.catch(() => {})
  const waiting = "select pid from pg_locks where relation = 'inbox'::regclass and not granted"
  let held: string[] = []
  while (held.length === 0)
    held = (
      await place.query(`select relation::regclass::text as name from pg_locks where granted and mode = 'AccessExclusiveLock'
        and pid in (${waiting})`)
    ).map(({ name }) => String(name))
  assert.deepEqual(held, ['"user"'])
  await holder.end()
  await migrating
  const seen = (await place.query('select name from seen')).map(({ name }) => String(name))
  assert.deepEqual(seen.sort(), ['"user"', 'inbox', 'notification'])
})

test('a migration that PostgreSQL ends because of a deadlock is repeated (R14)', async (t) => {
  const place = await newPlace(t)
  place.write('0001-start', `${good}\ncreate sequence tries;`)
  place.write(
    '0002-more',
    "do $$ begin if nextval('tries') < 2 then raise sqlstate '40P01'; end if; end $$",
  )
  assert.deepEqual(await place.migrate(), ['0001-start', '0002-more'])
})

test('an autovacuum of a table ends if it holds up a migration (R14)', async (t) => {
  const server = await PostgresServer.start({ settings: { autovacuum_naptime: '1s' } })
  t.after(() => server.remove())
  const place = await newPlace(t, await server.newDatabase({ isBare: true }))
  // It vacuums some pages and then sleeps for 100 ms.
  place.write(
    '0001-start',
    `create table diary (entry text) with (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0,
      autovacuum_vacuum_insert_threshold = 0, autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1);
    insert into diary select repeat('x', 1000) from generate_series(1, 30000)`,
  )
  await place.migrate()
  const vacuums = "select from pg_stat_progress_vacuum where relid = 'diary'::regclass"
  const begun = performance.now()
  while ((await place.query(vacuums)).length === 0) {
    assert.ok(performance.now() - begun < 120_000, 'no autovacuum began')
    await sleep(20)
  }
  place.write('0002-more', '-- locks: diary\nalter table diary add column page integer')
  assert.deepEqual(await place.migrate(), ['0002-more'])
})

test('an index of a partitioned table is built without a lock on its rows, also after a build that failed (R14)', async (t) => {
  const place = await newPlace(t)
  place.write(
    '0001-start',
    `create table diary (page integer) partition by hash (page);
    create table diary_0 partition of diary for values with (modulus 2, remainder 0);
    create table diary_1 partition of diary for values with (modulus 2, remainder 1);
    insert into diary select 7 from generate_series(1, 2)`,
  )
  await place.migrate()
  const holding = (
    await place.query('select tableoid::regclass::text as name from diary limit 1')
  )[0]?.name
  const left = `diary_by_page_on_${holding}`
  await assert.rejects(
    place.query(`create unique index concurrently ${left} on ${holding} (page)`),
    /could not create/,
  )
  place.write(
    '0002-more',
    'create index concurrently diary_by_page on diary (page);\nalter table diary add column entry text',
  )
  // The index is built beside this request, and only the column waits.
  const request = new pg.Client({ connectionString: place.url })
  await request.connect()
  await request.query('begin; insert into diary values (8)')
  const migrating = place.migrate()
  migrating.catch(() => {})
  // The build waits for transactions that began before it.
  while (
    (await place.query("select from pg_locks where locktype = 'virtualxid' and not granted"))
      .length === 0
  )
    await sleep(2)
  await place.query("set statement_timeout = '20s'; insert into diary values (9)")
  await request.query('commit')
  await request.end()
  assert.deepEqual(await migrating, ['0002-more'])
  const indexes =
    await place.query(`select c.relname as name, indisvalid, indisunique, inhrelid is not null as is_part from pg_index
    join pg_class c on c.oid = indexrelid left join pg_inherits on inhrelid = indexrelid order by 1`)
  const partOf = (name: string, isPart: boolean) => ({
    name,
    indisvalid: true,
    indisunique: false,
    is_part: isPart,
  })
  const found = indexes.filter(({ name }) => String(name).startsWith('diary'))
  assert.deepEqual(found, [
    partOf('diary_by_page', false),
    partOf('diary_by_page_on_diary_0', true),
    partOf('diary_by_page_on_diary_1', true),
  ])
})

/** Without those that it has created itself. */
function changedTables(text: string): string[] {
  const namesAfter = (words: RegExp) => [...text.matchAll(words)].map(([, table]) => table ?? '')
  const made = namesAfter(/^create table "?(\w+)/gm)
  const changed = namesAfter(
    /^(?:alter table|create (?:unique )?index (?:concurrently )?\w+ on|update|delete from|insert into) "?(\w+)/gm,
  )
  return [...new Set(changed)].filter((table) => !made.includes(table)).sort()
}

test('each migration names every table that it changes in its first line, or runs in chunks (R14)', () => {
  const invented =
    'create table diary (page bigint);\nalter table "user" add a text;\ninsert into diary values (1);'
  assert.deepEqual(changedTables(`${invented}\ncreate index concurrently by_a on session (a);`), [
    'session',
    'user',
  ])
  const [schema, ...migrations] = knownMigrations()
  assert.equal(schema, '0001-schema')
  for (const name of migrations) {
    const text = textOf(name, 'postgres')
    if (isInChunks(text)) continue
    const needed = changedTables(text)
    const locks = /^-- locks: (.+)/m.exec(text)?.[1]?.split(', ') ?? []
    assert.deepEqual(
      locks.toSorted(),
      needed,
      `the first line of ${name} must be: -- locks: ${needed.join(', ')}`,
    )
  }
})

test('a migration in chunks changes a part of its table in each transaction (R12)', async (t) => {
  const place = await newPlace(t)
  place.write(
    '0001-start',
    'create table diary (page integer, entry text);\ninsert into diary select generate_series(1, 10)',
  )
  await place.migrate()
  place.write(
    '0002-chunks',
    `-- chunks
    update diary set entry = 'of transaction ' || txid_current()
      where page in (select page from diary where entry is null order by page limit 3)`,
  )
  assert.deepEqual(await place.migrate(), ['0002-chunks'])
  const found = await place.query(
    'select count(*)::int as rows from diary group by entry order by min(page)',
  )
  assert.deepEqual(
    found.map(({ rows }) => rows),
    [3, 3, 3, 1],
  )
  assert.deepEqual(await place.migrate(), [])
})

test('a migration that waits says every five seconds which connection holds what, and since when', async (t) => {
  const place = await newPlace(t)
  place.write('0001-start', good)
  await place.migrate()
  const now = performance.now.bind(performance)
  t.mock.method(performance, 'now', () => now() * 20)
  const waits: [migration: string, holder: string, held: RegExp][] = [
    [
      'alter table diary add column page integer',
      'begin; select from diary',
      /holds AccessShareLock on diary since \d{4}-/,
    ],
    [
      'create index concurrently by_entry on diary (entry);',
      'begin isolation level repeatable read; select 1',
      /holds ExclusiveLock on virtualxid since \d{4}-/,
    ],
    [
      'select 1',
      'select pg_advisory_lock(7160004213)',
      /holds ExclusiveLock on advisory since \d{4}-/,
    ],
  ]
  for (const [n, [migration, work, held]] of waits.entries()) {
    const holder = new pg.Client({
      connectionString: place.url,
      application_name: 'nightly backup',
    })
    holder.on('error', () => {})
    await holder.connect()
    await holder.query(work)
    place.write(`000${n + 2}-waits`, migration)
    const said: string[] = []
    const { promise: saidTwice, resolve } = Promise.withResolvers<void>()
    const migrating = place.migrate({
      onNotice({ event, sentence }) {
        said.push(`${event}: ${sentence}`)
        if (said.length === 2) resolve()
      },
    })
    await saidTwice
    for (const sentence of said) {
      assert.match(
        sentence,
        /^migration-waits: A migration waits: connection \d+ \(nightly backup, idle/,
      )
      assert.match(sentence, held)
      assert.doesNotMatch(sentence, /;/)
    }
    await holder.end()
    await migrating
  }
})

test('an opened store passes on what its migration says', async (t) => {
  const { url, drop } = await newDatabase({ isBare: true })
  t.after(drop)
  const holder = new pg.Client({ connectionString: url })
  await holder.connect()
  await holder.query('select pg_advisory_lock(7160004213)')
  const now = performance.now.bind(performance)
  t.mock.method(performance, 'now', () => now() * 100)
  const { promise: said, resolve: onNotice } = Promise.withResolvers<Notice>()
  const opening = openStore({ engine: 'postgres', url }, { onNotice })
  assert.equal((await said).event, 'migration-waits')
  await holder.end()
  await (await opening).store.close()
})

type Migrating = { url?: string } & Noticed

async function newPlace(t: TestContext, other?: string) {
  const path = mkdtempSync(join(tmpdir(), 'carillon-migrations-'))
  const { url, drop } =
    other === undefined ? await newDatabase({ isBare: true }) : { url: other, drop: async () => {} }
  t.after(async () => {
    await drop()
    rmSync(path, { recursive: true })
  })
  const migrations = pathToFileURL(`${path}/`)
  const query = async (sql: string) => (await queryAt(url, sql)).rows
  return {
    url,
    query,
    write: (name: string, sql: string) => writeFileSync(new URL(`${name}.sql`, migrations), sql),
    async migrate({ url: way = url, onNotice }: Migrating = {}): Promise<string[]> {
      const pool = openPool(way)
      try {
        const applied = await migrate(pool, { partitions: 3, from: migrations, onNotice })
        assert.ok((await appliedMigrations(pool)).length >= applied.length)
        return applied
      } finally {
        await pool.end()
      }
    },
    async tables(): Promise<string[]> {
      const rows = await query(
        "select tablename from pg_tables where schemaname = 'public' order by 1",
      )
      return rows.map(({ tablename }) => tablename as string).filter((name) => name !== 'migration')
    },
    /** The server finishes the work of a client that is gone. */
    async isAlone(): Promise<void> {
      const others =
        'select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()'
      while ((await query(others)).length > 0) await sleep(2)
    },
  }
}
