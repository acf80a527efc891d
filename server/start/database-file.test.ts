// Which databases are refused as lost (R6)? A missing, empty or truncated one, if another file proves that it existed. Not
// refused: a first start, and the database of a process that was killed at any moment.

import assert from 'node:assert/strict'
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { readDatabaseUrl } from '../config/database-url.ts'
import { examineDatabase } from '../doctor/database.ts'
import { openStore } from '../open-store.ts'
import { addProducer } from '../producers/producers.store.ts'
import { refuseLostDatabase, refuseMissingDatabase } from './database-file.ts'

function place(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'carillon.db')
  return { folder, path, database: readDatabaseUrl(`sqlite:${path}`), secret: join(folder, 'carillon.secret') }
}

/** A database that no process has open. */
async function newDatabase(t: TestContext) {
  const there = place(t)
  const { store } = await openStore(there.database)
  await store.close()
  return { ...there, bytes: readFileSync(there.path) }
}

const restore = String.raw`Restore the database; to start with an empty one, remove that file too\.$`

test('a database that is missing, empty, truncated or without a table is refused beside its secret, by every command (R6)', async (t) => {
  const { path, database, secret, bytes, folder } = await newDatabase(t)
  writeFileSync(secret, 'secret')
  const losses: [what: string, content: Buffer][] = [
    ['is empty', Buffer.alloc(0)],
    // The bytes that make the page count valid come after these.
    [`is truncated \\(60 of 4096 bytes\\)`, bytes.subarray(0, 60)],
    [`is truncated \\(100 of ${bytes.length} bytes\\)`, bytes.subarray(0, 100)],
    [`is truncated \\(4096 of ${bytes.length} bytes\\)`, bytes.subarray(0, 4_096)],
    [`is truncated \\(${bytes.length - 1} of ${bytes.length} bytes\\)`, bytes.subarray(0, -1)],
    ['has no table', withoutTables(bytes)],
  ]
  for (const [what, content] of losses) {
    writeFileSync(path, content)
    for (const left of [secret, join(folder, 'first-sign-in.txt')]) {
      rmSync(secret, { force: true })
      writeFileSync(left, 'left')
      const sentence = new RegExp(`carillon\\.db ${what}, but ${left} is still there\\. ${restore}`)
      for (const refuse of [refuseLostDatabase, refuseMissingDatabase])
        assert.throws(() => refuse(database), sentence, what)
      const { findings } = await examineDatabase(database, { now: Date.now })
      assert.deepEqual(
        findings.map(({ state, change }) => [state, change]),
        [['fault', 'Restore the database; to start with an empty one, remove that file too.']],
      )
      rmSync(left)
    }
    assert.ok(readFileSync(path).equals(content), 'the file is not changed')
    assert.deepEqual(readdirSync(folder), ['carillon.db'])
  }
  rmSync(path)
  writeFileSync(secret, 'secret')
  assert.throws(
    () => refuseLostDatabase(database),
    new RegExp(`carillon\\.db is gone, but ${secret} is still there\\. ${restore}`),
  )
})

test('a process that starts while another process creates the database is not refused', (t) => {
  const { path, database } = place(t)
  writeFileSync(path, withoutTables(Buffer.from('SQLite format 3\0'.padEnd(100, '\0'))))
  writeFileSync(`${path}-wal`, '')
  refuseLostDatabase(database)
})

test('an empty file beside a write-ahead log is refused: SQLite would delete the log (R6)', async (t) => {
  const { path, database } = place(t)
  writeFileSync(path, '')
  writeFileSync(`${path}-wal`, 'frames')
  assert.throws(() => refuseLostDatabase(database), /carillon\.db is empty, but .*carillon\.db-wal is still there\./)
})

test('a first start is not refused: no file, an empty file, a first-sign-in.txt of another database', async (t) => {
  const { path, database, folder } = place(t)
  refuseLostDatabase(database)
  writeFileSync(join(folder, 'first-sign-in.txt'), 'of another database')
  refuseLostDatabase(database)
  rmSync(join(folder, 'first-sign-in.txt'))
  writeFileSync(path, '')
  refuseLostDatabase(database)
})

test('a complete database is not refused, nor one whose tables are still in its write-ahead log', async (t) => {
  const { path, database, secret } = await newDatabase(t)
  writeFileSync(secret, 'secret')
  refuseLostDatabase(database)
  const { store } = await openStore(database)
  await store.write(addProducer, producer)
  refuseLostDatabase(database)
  const killed = place(t)
  copyFileSync(path, killed.path)
  copyFileSync(`${path}-wal`, `${killed.path}-wal`)
  await store.close()
  writeFileSync(killed.path, withoutTables(readFileSync(killed.path)))
  writeFileSync(killed.secret, 'secret')
  assert.ok(existsSync(`${killed.path}-wal`))
  refuseLostDatabase(killed.database)
})

const producer = { id: 'p', name: 'app', secretHash: 'h', scopes: ['send'], createdAt: 0, expiresAt: null }

/** A database of one page with our application id: https://sqlite.org/fileformat.html sections 1.3 and 1.6. */
function withoutTables(bytes: Buffer): Buffer {
  const page = Buffer.alloc(4_096)
  bytes.copy(page, 0, 0, 100)
  page.writeUInt32BE(1, 28)
  page[100] = 0x0d
  page.writeUInt16BE(4_096, 105)
  return page
}
