// A missing or empty database is refused if another file proves that it existed (R6); not a first
// start, nor that of a process killed at any moment.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { examineIfThere } from '../commands/service/doctor.ts'
import { readDatabaseUrl } from '../config/database-url.ts'
import { openStore } from '../open-store.ts'
import { refuseLostDatabase, refuseMissingDatabase } from './database-file.ts'

function place(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'carillon.db')
  return {
    folder,
    path,
    database: readDatabaseUrl(`sqlite:${path}`),
    secret: join(folder, 'carillon.secret'),
  }
}

async function newDatabase(t: TestContext) {
  const there = place(t)
  const { store } = await openStore(there.database)
  await store.close()
  return { ...there, bytes: readFileSync(there.path) }
}

const restore = String.raw`Restore the database; to start with an empty one, remove that file too\.$`

test('a database that is missing or empty is refused beside its secret, by every command (R6)', async (t) => {
  const { path, database, secret, folder } = await newDatabase(t)
  writeFileSync(path, '')
  for (const left of [secret, join(folder, 'first-sign-in.txt')]) {
    writeFileSync(left, 'left')
    const sentence = new RegExp(`carillon\\.db is empty, but ${left} is still there\\. ${restore}`)
    for (const refuse of [refuseLostDatabase, refuseMissingDatabase])
      assert.throws(() => refuse(database), sentence)
    const { findings } = await examineIfThere(database)
    assert.deepEqual(
      findings.map(({ state, change }) => [state, change]),
      [['fault', 'Restore the database; to start with an empty one, remove that file too.']],
    )
    rmSync(left)
  }
  assert.equal(readFileSync(path).length, 0, 'the file is not changed')
  assert.deepEqual(readdirSync(folder), ['carillon.db'])
  rmSync(path)
  writeFileSync(secret, 'secret')
  assert.throws(
    () => refuseLostDatabase(database),
    new RegExp(`carillon\\.db is gone, but ${secret} is still there\\. ${restore}`),
  )
})

test('a truncated database does not count as a first start, and is left as it is (R6)', async (t) => {
  const { path, database, secret, bytes, folder } = await newDatabase(t)
  writeFileSync(secret, 'secret')
  for (const size of [60, 100, 4_096, bytes.length - 1]) {
    writeFileSync(path, bytes.subarray(0, size))
    await assert.rejects(
      openStore(database),
      /carillon\.db is (damaged|not a Carillon database) and was left as it is/,
    )
    assert.ok(readFileSync(path).equals(bytes.subarray(0, size)))
    assert.deepEqual(readdirSync(folder), ['carillon.db', 'carillon.secret'])
  }
})

test('an empty file beside a write-ahead log is refused: SQLite would delete the log (R6)', async (t) => {
  const { path, database } = place(t)
  writeFileSync(path, '')
  writeFileSync(`${path}-wal`, 'frames')
  assert.throws(
    () => refuseLostDatabase(database),
    /carillon\.db is empty, but .*carillon\.db-wal is still there\./,
  )
})

test('a first start and a complete database are not refused: no file, an empty one, a first-sign-in.txt of another database', async (t) => {
  const { path, database, folder } = place(t)
  refuseLostDatabase(database)
  writeFileSync(join(folder, 'first-sign-in.txt'), 'of another database')
  refuseLostDatabase(database)
  rmSync(join(folder, 'first-sign-in.txt'))
  writeFileSync(path, '')
  refuseLostDatabase(database)
  const complete = await newDatabase(t)
  writeFileSync(complete.secret, 'secret')
  refuseLostDatabase(complete.database)
})

test('a database without a table does not count as a first start (R6)', (t) => {
  const { path, database, secret } = place(t)
  writeFileSync(secret, 'secret')
  writeFileSync(path, withoutTables())
  assert.throws(
    () => refuseLostDatabase(database),
    /carillon\.db has no table, but .*carillon\.secret is still there\./,
  )
  // Until the first checkpoint, the tables are in the log.
  writeFileSync(`${path}-wal`, 'frames')
  refuseLostDatabase(database)
})

/** A database of one page: https://sqlite.org/fileformat.html sections 1.3 and 1.6. */
function withoutTables(): Buffer {
  const page = Buffer.alloc(4_096)
  page.write('SQLite format 3\0')
  page[100] = 0x0d
  return page
}
