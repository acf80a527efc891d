import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { connect, openDatabase } from '../database.ts'
import { newFolder } from '../testing/folder.ts'
import { FileGuard } from './identity.ts'

const pageSize = 4_096

test('a checkpoint in progress after a vacuum is not a loss; a file that stays shorter is (R1)', async (t) => {
  const path = join(await newFolder(t), 'carillon.db')
  openDatabase(path).close()
  const database = connect(path)
  database.exec(
    'pragma user_version = 7; create table t (x); insert into t values (zeroblob(400000)); drop table t',
  )
  database.close()
  const { dev, ino } = statSync(path, { bigint: true })
  const guard = new FileGuard({ path, database: { dev, ino }, schemaNow: () => 99 })
  guard.expect([7, 7, 7])
  assert.equal(guard.loss(), undefined)
  const again = connect(path)
  again.exec('vacuum; create table u (x); insert into u values (zeroblob(200000))')
  again.close()
  const whole = readFileSync(path)
  writeFileSync(`${path}.whole`, whole)
  truncateSync(path, 2 * pageSize)
  // The other process starts to write before the guard checks, and ends when it has written.
  const finish = `setTimeout(() => require('node:fs').writeFileSync(${JSON.stringify(path)}, require('node:fs').readFileSync(${JSON.stringify(`${path}.whole`)}), { flag: 'r+' }), 200); console.log('begun')`
  const checkpoint = spawn(process.execPath, ['-e', finish], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(checkpoint.stdout, 'data')
  assert.equal(guard.loss(), undefined)
  writeFileSync(path, whole)
  assert.equal(guard.loss(), undefined)
  truncateSync(path, 2 * pageSize)
  assert.match(guard.loss()?.reason ?? '', /carillon\.db was overwritten/)
})
