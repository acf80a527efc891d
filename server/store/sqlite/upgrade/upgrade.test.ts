// The upgrade of a database from before migration 0006: every row is moved, and what prevents that is said before anything changes.
import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { readDatabaseUrl } from '../../../config/database-url.ts'
import { at, isoAt, isUnavailable, runs } from '../../contract/world.ts'
import { contentJson } from '../../notification-json.ts'
import { openSource } from '../../transfer/endpoint/open.ts'
import { digestsAt } from '../../transfer/testing/filled.ts'
import { migrationsUpTo } from '../../transfer/testing/older-database.ts'
import { refusedWrite } from '../../transfer-state.ts'
import { contentSql } from '../content.ts'
import { connect, Database, openingFailure } from '../database.ts'
import { migrate } from '../migrate.ts'
import { openSqliteStore } from '../store.ts'
import { assertIntact, contentOf, newFolder } from '../testing/folder.ts'
import { OtherProcess } from '../testing/other-process.ts'
import { upgradeFile } from './upgrade-file.ts'

const versionBefore = '0005-safe-sign-in'
/** A database that the version before wrote, and the hash of the digests that it read from it, with the columns that 0007 adds. */
const fixture = gunzipSync(readFileSync(new URL('../testing/version-0005.db.gz', import.meta.url)))
const digestsBefore = '633ba0f6bc60a7450e56fda4cb103a9837bae96b895f56852b3b8961de73545b'

async function olderDatabase(t: TestContext): Promise<string> {
  const path = join(await newFolder(t), 'carillon.db')
  writeFileSync(path, fixture, { mode: 0o600 })
  return path
}

test('a database of the version before opens, and holds the rows that the version before read from it', async (t) => {
  const path = await olderDatabase(t)
  const { store, migrations } = await openSqliteStore(path)
  await store.close()
  assert.deepEqual(migrations, ['0006-half-the-cost', '0007-repairs'])
  const digests = await digestsAt(`sqlite:${path}`)
  assert.equal(createHash('sha256').update(JSON.stringify(digests)).digest('hex'), digestsBefore)
  assert.deepEqual(rowsIn(path, "select name from sqlite_schema where name like '%old_%' or name like 'carillon%'"), [])
  assert.deepEqual(rowsIn(path, "select count(*) as found from sqlite_schema where name = 'notification_by_id'"), [
    { found: 1 },
  ])
  assertIntact(path)
})

test('numbers rise with the ids of the users', async (t) => {
  const path = await olderDatabase(t)
  await (await openSqliteStore(path)).store.close()
  const users = rowsIn(path, 'select number from user order by id')
  assert.deepEqual(
    users.map(({ number }) => number),
    users.map((_, i) => i + 1),
  )
})

test('a file that another process uses is refused and left as it is', async (t) => {
  const path = await olderDatabase(t)
  const other = connect(path)
  other.prepare('select 1 from user').get()
  const before = rowsIn(path, 'select name, sql from sqlite_schema')
  await assert.rejects(
    upgradeFile(path),
    unavailable(/ is used by another process, and this version has to move its rows\. Stop every/),
  )
  assert.deepEqual(rowsIn(path, 'select name, sql from sqlite_schema'), before)
  other.close()
  assert.deepEqual(await upgradeFile(path), ['0006-half-the-cost', '0007-repairs'])
})

test('two processes start on a database of the version before, one moves the rows, and both serve it', async (t) => {
  await using one = await OtherProcess.start()
  await using two = await OtherProcess.start()
  for (let round = 0; round < runs(6); round++) {
    const path = await olderDatabase(t)
    const applied = await Promise.all([one.open(path), two.open(path)])
    assert.deepEqual(applied.flat(), ['0006-half-the-cost', '0007-repairs'])
    const ann = { id: randomUUID(), username: `ann ${round}`, displayName: null, passwordHash: null, createdAt: at(0) }
    assert.equal(await one.store.addUser(ann), 'added')
    assert.equal((await two.store.findUser(ann.id))?.username, ann.username)
    await Promise.all([one.store.close(), two.store.close()])
    assertIntact(path)
  }
})

test('nothing else can open the file while its rows are moved', async (t) => {
  const path = await olderDatabase(t)
  let tried = 0
  const report = () => {
    const other = new Database(path, { timeout: 0 })
    assert.throws(() => other.prepare('select 1 from user').get(), /database is locked/)
    other.close()
    tried++
  }
  await upgradeFile(path, { report })
  assert.ok(tried > 0)
})

test('a disk with too little room is refused, and nothing is changed', async (t) => {
  const path = await olderDatabase(t)
  const before = contentOf(join(path, '..'))
  const missing = upgradeFile(path, { freeOn: () => 60 * 2 ** 20 })
  await assert.rejects(missing, unavailable(/: its disk needs 5 MiB more of free space\. Make room, then start again/))
  assert.deepEqual(contentOf(join(path, '..')), before)
})

test('a disk that gets full during the upgrade is named as the reason, and the next start continues', async (t) => {
  const path = await olderDatabase(t)
  const database = connect(path)
  database.exec(`pragma max_page_count = ${database.prepare('pragma page_count').get()?.page_count}`)
  const failed = migrate(database).catch((error: unknown) => {
    throw openingFailure(error, path)
  })
  await assert.rejects(failed, unavailable(/ is on a full disk\. Make room, then start again; an upgrade continues\.$/))
  database.close()
  assert.deepEqual(await upgradeFile(path), ['0006-half-the-cost', '0007-repairs'])
  const digests = await digestsAt(`sqlite:${path}`)
  assert.equal(createHash('sha256').update(JSON.stringify(digests)).digest('hex'), digestsBefore)
})

test('a database that the version before has moved away is refused and left as it is, and the sentence says what to do', async (t) => {
  const path = await olderDatabase(t)
  for (const table of ['kysely_migration', 'notification'])
    change(
      path,
      `create trigger carillon_moving_${table}_insert before insert on ${table} begin select raise(abort, '${refusedWrite}'); end`,
    )
  const before = rowsIn(path, 'select name, sql from sqlite_schema')
  await assert.rejects(
    openSqliteStore(path),
    unavailable(/ was moved, by an earlier version\. Finish the move or take it/),
  )
  assert.deepEqual(rowsIn(path, 'select name, sql from sqlite_schema'), before)
})

test('an interrupted upgrade is continued; until then transfers and the version before refuse the database', async (t) => {
  const path = await olderDatabase(t)
  await interrupt(path)
  await assert.rejects(
    openSource(readDatabaseUrl(`sqlite:${path}`)),
    unavailable(/ are not all moved to the tables of this version\. Bring it up/),
  )
  const database = connect(path)
  const older = await migrationsUpTo(t, versionBefore)
  await assert.rejects(migrate(database, { from: older }), unavailable(/^The database was written by a newer Carillon/))
  database.close()
  await (await openSqliteStore(path)).store.close()
  const digests = await digestsAt(`sqlite:${path}`)
  assert.equal(createHash('sha256').update(JSON.stringify(digests)).digest('hex'), digestsBefore)
})

test('every content is the same afterwards, whatever its members are', async (t) => {
  const path = await olderDatabase(t)
  const database = connect(path)
  const set = database.prepare(`
    update notification set content = ?, category = ? where id = (select id from notification order by id limit 1 offset ?)`)
  const datas = [null, { a: 1, category: 'orders', data: 2 }, { a: 1, category: 'x', k: 'y', data: 2, key: null }]
  const categories = [null, 'orders', 'x","k":"y', '\u0000é😀', '\\', 'null']
  const contents = categories.flatMap((category) =>
    datas.flatMap((data) => [null, 'k'].map((key) => ({ category, data, key }))),
  )
  for (const [n, { category, data, key }] of contents.entries()) {
    const title = `,"category":null,"data": é ${n}`
    const content = contentJson({ title, body: null, url: null, category, data, key, createdAt: isoAt(n) })
    assert.equal(set.run(content, n % 5 === 4 ? 'another' : category, n).changes, 1)
  }
  database.close()
  const before = rowsIn(path, 'select id, content from notification order by id')
  await upgradeFile(path)
  const after = rowsIn(path, `select id, ${contentSql('n')} as content from notification n order by id`)
  assert.deepEqual(after, before)
  assert.ok(rowsIn(path, 'select 1 from notification where data is not null and category is not null').length > 2)
})

test('a row whose user is missing stops the upgrade and is not lost', async (t) => {
  const path = await olderDatabase(t)
  change(path, 'delete from user where id in (select user_id from notification)')
  const counts = rowsIn(path, 'select (select count(*) from inbox), (select count(*) from notification)')
  const refused = /^The rows of inbox cannot be moved .*NOT NULL constraint failed: inbox.user_number\. No row is lost/
  for (const _ of ['first', 'again']) await assert.rejects(upgradeFile(path), unavailable(refused))
  const left = rowsIn(path, 'select (select count(*) from old_inbox), (select count(*) from old_notification)')
  assert.deepEqual(left.map(Object.values), counts.map(Object.values))
})

/** Ends the upgrade after the first transaction that moves rows. */
async function interrupt(path: string): Promise<void> {
  const report = () => {
    throw new Error('interrupted')
  }
  await assert.rejects(upgradeFile(path, { report }), /interrupted/)
}

function rowsIn(path: string, sql: string): Record<string, unknown>[] {
  const database = connect(path)
  const rows = database.prepare(sql).all()
  database.close()
  return rows.map((row) => ({ ...row }))
}

function change(path: string, sql: string): void {
  const database = connect(path)
  database.exec(sql)
  database.close()
}

function unavailable(sentence: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(isUnavailable(error), String(error))
    assert.match(error.message, sentence)
    return true
  }
}
