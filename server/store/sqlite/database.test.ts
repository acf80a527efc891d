// One sentence says what to do, and the file stays unchanged (R4, R5, R6).
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { isUnavailable } from '../../contract/world.ts'
import { readInbox, readNotification } from '../../inbox/inbox.store.ts'
import { openStore } from '../../open-store.ts'
import { listProducers } from '../../producers/producers.store.ts'
import { listUsers } from '../../users/users.store.ts'
import { connect, Database, openingFailure, refuseOldSqlite } from './database.ts'
import { contentOf, newFolder } from './testing/folder.ts'
import { openWorld } from './testing/open-world.ts'
import { OtherProcess } from './testing/other-process.ts'

const nameAnother =
  /is not a Carillon database and was left as it is\. Name another file in the database URL\.$/
const restore =
  /is damaged and was left as it is\. Restore a backup, or name another file in the database URL\. Keep this one: carillon doctor --deep names what is damaged\.$/
const makeWritable =
  /cannot be written\. Make the file and its folder writable for this user, then start again\.$/

test('refuses what is not a Carillon database, and leaves it as it is (R6)', async (t) => {
  const isRefused = async (make: (path: string) => void, sentence = nameAnother) => {
    const path = join(await newFolder(t), 'carillon.db')
    make(path)
    await refuses(path, sentence)
  }
  for (const text of ['x', 'Dear diary, this is no database.\n'.repeat(500), 'SQLite format 3\0'])
    await isRefused((path) => writeFileSync(path, text))
  for (const setting of ['user_version = 7', 'application_id = 12345', 'journal_mode = wal'])
    await isRefused((path) => {
      const database = new Database(path)
      database.exec(
        `pragma ${setting}; create table diary (entry text); insert into diary values ('Hi')`,
      )
      database.close()
    })
  await isRefused(
    (path) => writeFileSync(path, gzipSync('{"carillon":"backup"}')),
    /is a backup and was left as it is\. Give it another name, and then restore it: carillon restore NAME --to sqlite:/,
  )
  await isRefused(
    (path) => void mkdirSync(path),
    /is a folder\. Name a file in the database URL\.$/,
  )
})

test('refuses a path that leads through a file, and a folder that cannot be made, also in /proc', async (t) => {
  await refuses(
    '/proc/x/y/carillon.db',
    /^\/proc\/x\/y\/carillon\.db cannot be opened/,
    '',
    import.meta.dirname,
  )
  const folder = await newFolder(t)
  writeFileSync(join(folder, 'file'), 'text')
  await refuses(join(folder, 'file', 'carillon.db'), /cannot be opened: .*\.$/, '', folder)
})

test('says that the disk is full if a migration or an upgrade needs more room than there is', async (t) => {
  const path = join(await newFolder(t), 'full.db')
  const database = new Database(path)
  t.after(() => database.close())
  database.exec('create table diary (entry blob); pragma max_page_count = 3')
  assert.throws(
    () => database.exec('insert into diary values (zeroblob(100000))'),
    (error) =>
      /full\.db is on a full disk\. Make room, then start again/.test(
        openingFailure(error, path).message,
      ),
  )
})

test('refuses a database with damaged pages that the start reads (R6)', async (t) => {
  const { path, original } = await filledDatabase(t)
  const pageSize = 4_096
  const damages: Record<string, (bytes: Buffer) => Buffer> = {
    'the schema': (bytes) => bytes.fill(0xa5, 100, pageSize),
    'everything after the header': (bytes) => bytes.fill(0xa5, 100),
    'everything after the schema': (bytes) => bytes.fill(0xa5, pageSize),
    'without its end': (bytes) => bytes.subarray(0, 2 * pageSize),
    'header only': (bytes) => bytes.subarray(0, 100),
  }
  for (const [what, damage] of Object.entries(damages)) {
    writeFileSync(path, damage(Buffer.from(original)))
    await refuses(path, restore, what)
  }
})

test('throws UNAVAILABLE for a damaged page that a later read needs, and serves other reads', async (t) => {
  const { path, original, ids } = await filledDatabase(t)
  const pageSize = 4_096
  const damaged = Math.floor(original.indexOf('x'.repeat(300)) / pageSize) * pageSize
  writeFileSync(path, Buffer.from(original).fill(0xa5, damaged, damaged + pageSize))
  await using opened = await openWorld(t, path)
  const { store } = opened
  const [ann] = await store.read(listUsers, { after: '', limit: 1 })
  const userId = ann?.id ?? ''
  const refused: unknown[] = []
  for (const id of ids)
    await store.read(readNotification, { userId, id }).catch((error) => refused.push(error))
  assert.ok(refused.length > 0 && refused.every(isUnavailable))
  assert.equal((await store.read(readInbox, userId)).total, ids.length)
})

test('refuses a database that a newer Carillon wrote (R6)', async (t) => {
  const { path } = await filledDatabase(t)
  const database = connect(path)
  database.exec("insert into migration values ('9999-future', '2030-01-01T00:00:00.000Z')")
  database.close()
  await refuses(
    path,
    /newer Carillon \(schema 9999-future; .*\)\. Run that version or a later one; .* as it is\.$/,
  )
})

test('refuses a database that another process has locked, and says what to do (R5)', async (t) => {
  const sentence =
    /is locked by another process\. Stop that process, or wait until it is done, and start again\.$/
  const locks = ['pragma locking_mode = exclusive; begin exclusive', 'begin immediate']
  await Promise.all(
    locks.map(async (lock) => {
      const { path } = await filledDatabase(t)
      await using holder = await OtherProcess.start()
      await using late = await OtherProcess.start()
      await holder.run(path, lock)
      const before = contentOf(join(path, '..'))
      assertSentence(await late.open(path).catch((reason: unknown) => reason), sentence, lock)
      assert.deepEqual(contentOf(join(path, '..')), before, lock)
    }),
  )
})

test('waits for another process that has a new database locked', async (t) => {
  const folder = await newFolder(t)
  for (const lock of ['begin; select * from sqlite_schema', 'begin immediate']) {
    const path = join(folder, `${lock.length}.db`)
    await using holder = await OtherProcess.start()
    await using late = await OtherProcess.start()
    await holder.run(path, `pragma application_id = 0x43524c4e; ${lock}`)
    let isOpen = false
    const opening = late.open(path).then(() => {
      isOpen = true
    })
    await new Promise((resolve) => setTimeout(resolve, 300))
    assert.ok(!isOpen, lock)
    await holder.kill()
    await opening
  }
})

test('says which file or folder to make writable (R4)', async (t) => {
  const { path } = await filledDatabase(t)
  const folder = join(path, '..')
  const cases = [
    { fileMode: 0o444, folderMode: 0o777, name: path },
    { fileMode: 0o666, folderMode: 0o555, name: path },
    { fileMode: 0o444, folderMode: 0o555, name: path },
    { fileMode: 0o666, folderMode: 0o555, name: join(folder, 'new.db') },
    { fileMode: 0o666, folderMode: 0o555, name: join(folder, 'new folder', 'new.db') },
  ]
  for (const { fileMode, folderMode, name } of cases) {
    await using other = await OtherProcess.start()
    chmodSync(path, fileMode)
    chmodSync(folder, folderMode)
    const before = contentOf(folder)
    const error = await other.openDatabaseUnprivileged(name).catch((reason: unknown) => reason)
    assertSentence(error, makeWritable, JSON.stringify({ fileMode, folderMode, name }))
    assert.deepEqual(contentOf(folder), before)
    chmodSync(folder, 0o700)
  }
})

test('refuses a SQLite that is too old, and says which version it needs', () => {
  const runNewer =
    /brings SQLite .*; Carillon needs 3\.51\.3 or later\. Run it with a newer Node\.$/
  for (const version of ['0', '3.51.2', '3.9.99', '2.99.99'])
    assert.throws(
      () => refuseOldSqlite(version),
      (error) => assertSentence(error, runNewer),
    )
  const newEnough = ['3.51.3', '3.51.10', '3.100.0', '4.0.0', process.versions.sqlite ?? '']
  for (const version of newEnough) refuseOldSqlite(version)
})

test('creates the file and its folder readable for their owner only', async (t) => {
  const folder = join(await newFolder(t), 'new', 'folder')
  const path = join(folder, 'carillon.db')
  await using opened = await openWorld(t, path)
  await opened.world.addUser('ann')
  for (const file of [path, `${path}-wal`, `${path}-shm`])
    assert.equal(statSync(file).mode & 0o777, 0o600, file)
  for (const made of [folder, join(folder, '..')])
    assert.equal(statSync(made).mode & 0o777, 0o700, made)
})

test('uses an empty file as a new database', async (t) => {
  const path = join(await newFolder(t), 'carillon.db')
  writeFileSync(path, '')
  await (await openWorld(t, path)).store.close()
  await using opened = await openWorld(t, path)
  assert.equal((await opened.store.read(listProducers)).length, 2)
})

test('uses a path literally, even if it has a special meaning for SQLite', async (t) => {
  const folder = await newFolder(t)
  const here = process.cwd()
  process.chdir(folder)
  t.after(() => process.chdir(here))
  for (const path of [':memory:', 'file:a.db?mode=memory', 'a b%20c#d?e.db']) {
    const first = await openWorld(t, path)
    await first.world.addUser('ann')
    await first.store.close()
    await using again = await openWorld(t, path)
    assert.equal((await again.store.read(listUsers, { after: '', limit: 9 })).length, 1, path)
    assert.ok(statSync(join(folder, path)).size > 0, path)
  }
})

/** Closed properly, with a few hundred notifications. */
async function filledDatabase(
  t: TestContext,
): Promise<{ path: string; original: Buffer; ids: string[] }> {
  await using opened = await openWorld(t)
  const { world, path } = opened
  const ann = await world.addUser('ann')
  const ids = await Promise.all(Array.from({ length: 300 }, () => world.send(ann, 'x'.repeat(300))))
  await opened.store.close()
  return { path, original: readFileSync(path), ids }
}

async function refuses(
  path: string,
  sentence: RegExp,
  what = '',
  folder = join(path, '..'),
): Promise<void> {
  const before = contentOf(folder)
  const error = await openStore({ engine: 'sqlite', path }).then(
    ({ store }) => store.close(),
    (reason: unknown) => reason,
  )
  assertSentence(error, sentence, what)
  assert.deepEqual(contentOf(folder), before, what)
}

function assertSentence(error: unknown, sentence: RegExp, what = ''): true {
  assert.ok(isUnavailable(error), `${what}: ${error}`)
  assert.match(error.message, sentence, what)
  assert.match(error.message, /^[^\n]+\.$/)
  assert.doesNotMatch(error.message, /SQLITE_|node:| at /)
  return true
}
