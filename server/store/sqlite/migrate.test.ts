import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { CarillonError } from '../../basics/errors.ts'
import { knownMigrations, type Notice, type Noticed, textOf } from '../migrations.ts'
import { refusedWrite } from '../transfer-state.ts'
import { type Database, openDatabase, openingFailure } from './database.ts'
import { migrate } from './migrate.ts'
import { newFolder } from './testing/folder.ts'

const good = 'create table diary (entry text);\ninsert into diary values (1);'
const failsHalfWay =
  'create table half (done text);\ndrop table diary;\ninsert into nowhere values (1);'

test('applies each migration once, in order, and returns their names', async (t) => {
  await using place = await newPlace(t)
  place.write('0002-more', 'alter table diary add column page integer')
  place.write('0001-start', good)
  assert.deepEqual(await place.migrate(), ['0001-start', '0002-more'])
  assert.deepEqual(await place.migrate(), [])
  place.write('0003-last', "update diary set entry = entry || '!'")
  assert.deepEqual(await place.migrate(), ['0003-last'])
  assert.deepEqual(place.query('select entry, page from diary'), [{ entry: '1!', page: null }])
})

test('a migration that fails leaves nothing behind; those before it stay applied', async (t) => {
  await using place = await newPlace(t)
  place.write('0001-start', good)
  place.write('0002-broken', failsHalfWay)
  await assert.rejects(place.migrate(), /nowhere/)
  assert.deepEqual(place.query("select name from sqlite_schema where name = 'half'"), [])
  assert.deepEqual(place.query('select entry from diary'), [{ entry: '1' }])
  assert.deepEqual(place.query('select name from migration'), [{ name: '0001-start' }])
  place.write('0002-broken', 'create table half (done text)')
  assert.deepEqual(await place.migrate(), ['0002-broken'])
})

test('a first migration that fails leaves no table behind', async (t) => {
  await using place = await newPlace(t)
  place.write('0001-start', `${good}\n${failsHalfWay}`)
  await assert.rejects(place.migrate(), /nowhere/)
  assert.deepEqual(
    place.query("select name from sqlite_schema where name in ('diary', 'half')"),
    [],
  )
  place.write('0001-start', good)
  assert.deepEqual(await place.migrate(), ['0001-start'])
})

test('a migration in chunks changes a part of its table in each transaction, and continues after an interruption', async (t) => {
  await using place = await newPlace(t)
  place.write(
    '0001-start',
    `create table diary (page integer primary key, entry text);
    create table budget (chunks integer);
    insert into budget values (2);
    insert into diary (page) with recursive n (n) as (values (1) union all select n + 1 from n where n < 10) select n from n`,
  )
  await place.migrate()
  // The second chunk is the last that the trigger allows, like the death of the process.
  place.database.exec(`create trigger ending before update on diary when new.page in (4, 7) begin
    update budget set chunks = chunks - 1;
    select raise(abort, 'ended') where (select chunks from budget) < 1;
  end`)
  place.write(
    '0002-chunks',
    `-- chunks
    update diary set entry = 'changed' where page in (select page from diary where entry is null order by page limit 3)`,
  )
  await assert.rejects(place.migrate(), /ended/)
  assert.deepEqual(place.query('select count(*) as changed from diary where entry is not null'), [
    { changed: 6 },
  ])
  place.database.exec('drop trigger ending')
  assert.deepEqual(await place.migrate(), ['0002-chunks'])
  assert.deepEqual(place.query('select count(*) as changed from diary where entry is not null'), [
    { changed: 10 },
  ])
  assert.deepEqual(await place.migrate(), [])
})

test('a migration in chunks says every ten seconds how many are done', async (t) => {
  await using place = await newPlace(t)
  t.mock.timers.enable({ apis: ['setInterval'] })
  place.database.function('pass_four_seconds', () => {
    t.mock.timers.tick(4_000)
    return 1
  })
  place.write(
    '0001-chunks',
    `-- chunks
    update diary set page = page - 1 where page > 0 and pass_four_seconds()`,
  )
  place.database.exec('create table diary (page integer); insert into diary values (6)')
  const notices: Notice[] = []
  await place.migrate({ onNotice: (notice) => notices.push(notice) })
  assert.deepEqual(
    notices.map(({ event, sentence }) => [event, sentence]),
    [2, 4].map((chunks) => [
      'migration-continues',
      `Migration 0001-chunks: ${chunks} chunks are done`,
    ]),
  )
})

test('a database that is being moved is not migrated, and the error says what to do', async (t) => {
  await using place = await newPlace(t)
  place.write('0001-start', good)
  await place.migrate()
  place.database.exec(
    `create trigger moving before insert on migration begin select raise(abort, '${refusedWrite.moving}'); end`,
  )
  place.write('0002-more', 'alter table diary add column page integer')
  await assert.rejects(place.migrate(), (error) => {
    const { message, remedy } = openingFailure(error, 'carillon.db') as CarillonError
    assert.match(
      `${message} ${remedy}`,
      / was moved, by an earlier version\. Finish the move or take it/,
    )
    return true
  })
  assert.deepEqual(place.query('select * from diary'), [{ entry: '1' }])
})

test('the indexes and views use only functions that SQLite 3.40 has, so that the shells of systems can check a file', () => {
  const known = ['char', 'coalesce', 'instr', 'lower', 'substr']
  for (const name of knownMigrations()) {
    const statements =
      textOf(name, 'sqlite').match(/^create (?:unique )?(?:index|view) [^;]*/gm) ?? []
    assert.ok(statements.length > 0 || name !== '0001-schema')
    const used = statements.flatMap((text) =>
      [...text.matchAll(/(\w+)\(/g)].map(([, called = '']) => called),
    )
    assert.deepEqual(
      [...new Set(used)].sort(),
      known.filter((each) => used.includes(each)),
      name,
    )
  }
})

async function newPlace(t: TestContext) {
  const path = await newFolder(t)
  const database: Database = openDatabase(join(path, 'carillon.db'))
  mkdirSync(join(path, 'migrations'))
  const migrations = pathToFileURL(`${join(path, 'migrations')}/`)
  return {
    database,
    write: (name: string, sql: string) => writeFileSync(new URL(`${name}.sql`, migrations), sql),
    migrate: (noticed: Noticed = {}) => migrate(database, { from: migrations, ...noticed }),
    query: (sql: string) => Array.from(database.prepare(sql).iterate(), (row) => ({ ...row })),
    async [Symbol.asyncDispose]() {
      database.close()
    },
  }
}
