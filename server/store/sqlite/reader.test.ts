import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { isUnavailable } from '../../contract/world.ts'
import { connect, type Database, ioError, openDatabase } from './database.ts'
import { Reader } from './reader.ts'
import { newFolder } from './testing/folder.ts'

const key = {}
const text = 'select name from session'

async function readerOf(t: TestContext) {
  const path = join(await newFolder(t), 'carillon.db')
  const writer = openDatabase(path)
  writer.exec("create table session (name text); insert into session values ('ann')")
  const database = connect(path)
  const reader = new Reader(database, connect(path))
  t.after(() => {
    reader.close()
    writer.close()
  })
  return {
    writer,
    database,
    kept: () => reader.kept<[string]>(key, text, () => []),
    one: () => reader.one(text),
  }
}

/** Reads of one row fail until the returned function is called. */
function failing(t: TestContext, database: Database): () => void {
  const { mock } = t.mock.method(Object.getPrototypeOf(database.prepare('select 1')), 'get', () => {
    throw Object.assign(new Error('disk I/O error'), { errcode: ioError })
  })
  return () => mock.restore()
}

test('a kept row is read again after a commit of another connection', async (t) => {
  const { writer, kept } = await readerOf(t)
  assert.deepEqual(kept(), ['ann'])
  await turn()
  assert.deepEqual(kept(), ['ann'])
  writer.exec('delete from session')
  await turn()
  assert.equal(kept(), undefined)
})

test('a database that cannot be read has no kept rows, and its snapshot ends with the turn', async (t) => {
  const { writer, database, kept, one } = await readerOf(t)
  assert.deepEqual(kept(), ['ann'])
  await turn()
  writer.exec('delete from session')
  const restore = failing(t, database)
  assert.throws(kept, isUnavailable)
  restore()
  assert.equal(kept(), undefined)
  writer.exec("insert into session values ('ben')")
  assert.equal(one(), undefined)
  await turn()
  assert.deepEqual(one(), ['ben'])
  assert.deepEqual(kept(), ['ben'])
})
