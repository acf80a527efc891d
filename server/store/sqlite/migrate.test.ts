// Migrations on SQLite: each is applied once, completely or not at all.
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { isUnavailable } from '../contract/world.ts'
import { type Database, openDatabase } from './database.ts'
import { migrate } from './migrate.ts'
import { newFolder } from './testing/folder.ts'

const good = 'create table diary (entry text);\ninsert into diary values (1);'
const failsHalfWay = 'create table half (done text);\ndrop table diary;\ninsert into nowhere values (1);'

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
  assert.deepEqual(place.query('select name from kysely_migration'), [{ name: '0001-start' }])
  place.write('0002-broken', 'create table half (done text)')
  assert.deepEqual(await place.migrate(), ['0002-broken'])
})

test('a first migration that fails leaves no table behind', async (t) => {
  await using place = await newPlace(t)
  place.write('0001-start', `${good}\n${failsHalfWay}`)
  await assert.rejects(place.migrate(), /nowhere/)
  assert.deepEqual(place.query("select name from sqlite_schema where name in ('diary', 'half')"), [])
  place.write('0001-start', good)
  assert.deepEqual(await place.migrate(), ['0001-start'])
})

test('refuses a schema with an unknown migration, and applies nothing', async (t) => {
  await using place = await newPlace(t)
  place.write('0001-start', good)
  place.write('0003-newer', 'create table newer (what text)')
  await place.migrate()
  const older = place.folder('older')
  writeFileSync(new URL('0001-start.sql', older), good)
  writeFileSync(new URL('0002-other.sql', older), 'create table other (what text)')
  await assert.rejects(migrate(place.database, { from: older }), (error) => {
    assert.ok(isUnavailable(error))
    assert.match(error.message, /schema 0003-newer; this program knows 0002-other/)
    return true
  })
  assert.deepEqual(place.query("select name from sqlite_schema where name = 'other'"), [])
})

/** A new database and a folder of migrations. */
async function newPlace(t: TestContext) {
  const path = await newFolder(t)
  const database: Database = openDatabase(join(path, 'carillon.db'))
  const folder = (name: string) => {
    mkdirSync(join(path, name))
    return pathToFileURL(`${join(path, name)}/`)
  }
  const migrations = folder('migrations')
  return {
    database,
    folder,
    write: (name: string, sql: string) => writeFileSync(new URL(`${name}.sql`, migrations), sql),
    migrate: () => migrate(database, { from: migrations }),
    query: (sql: string) => Array.from(database.prepare(sql).iterate(), (row) => ({ ...row })),
    async [Symbol.asyncDispose]() {
      database.close()
    },
  }
}
