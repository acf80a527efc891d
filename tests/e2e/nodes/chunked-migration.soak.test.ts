// A kill in the middle of a migration in chunks leaves whole chunks, and the next process
// continues, on each engine. The test invents the migration that makes this version a new one
// (decision 0067).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '../../../server/store/sqlite/database.ts'
import { newDatabase, queryAt } from '../../support/postgres.ts'
import {
  CarillonProcess,
  carillon,
  type Environment,
  Folder,
} from '../../support/processes/carillon-process.ts'
import { copyOfProgram, migrationFiles } from '../../support/processes/copy-of-program.ts'

const rows = 40_000
const chunk = 500

/** It counts a row twice if two chunks changed it. */
const invented = `-- chunks
update notification set count = count + 1
  where (user_id, seq) in (select user_id, seq from notification where count < 2 limit ${chunk})`

type Place = {
  env: Environment /** The type of user_id. */
  key: string
  query(sql: string): Promise<Record<string, unknown>[]>
}

const places = {
  async sqlite(folder: Folder): Promise<Place & AsyncDisposable> {
    const path = folder.file('carillon.db')
    const query = async (sql: string) => {
      const database = connect(path)
      const found = database.prepare(sql).all()
      database.close()
      return found
    }
    const env = { CARILLON_DATABASE_URL: `sqlite:${path}` }
    return { env, key: 'blob', query, [Symbol.asyncDispose]: async () => {} }
  },
  async postgres(): Promise<Place & AsyncDisposable> {
    const { url, drop } = await newDatabase()
    const query = async (sql: string) => (await queryAt(url, sql)).rows
    return { env: { CARILLON_DATABASE_URL: url }, key: 'text', query, [Symbol.asyncDispose]: drop }
  },
}

for (const [engine, open] of Object.entries(places))
  test(`a migration in chunks that is killed is continued by the next process, and changes each row once, on ${engine} (R12)`, async () => {
    using folder = new Folder()
    using program = new Folder()
    await using place = await open(folder)
    const { env, key, query } = place
    assert.equal((await carillon(folder, ['migrate'], { env })).status, 0)
    await query(`insert into notification (user_id, seq, id, version, title, created_at)
      with recursive n (n) as (select 1 union all select n + 1 from n where n < ${rows})
      select cast(1 + n / 1000 as ${key}), n, 'id ' || n, n, '', 'now' from n`)
    const changed = async () =>
      Number((await query('select count(*) as rows from notification where count > 1'))[0]?.rows)
    const files = migrationFiles(engine as keyof typeof places, invented)
    const launcher = copyOfProgram(program, { files })
    let kills = 0
    let before = 0
    while (before < rows / 2) {
      await using killed = new CarillonProcess(folder, { args: ['migrate'], env, launcher })
      while ((await changed()) === before && killed.child.exitCode === null) await sleep(2)
      killed.child.kill('SIGKILL')
      await killed.isGone()
      kills++
      before = await changed()
    }
    assert.ok(kills > 0 && (await changed()) < rows, 'it was killed in the middle')
    assert.equal((await changed()) % chunk, 0)
    await using last = new CarillonProcess(folder, { args: ['migrate', '--json'], env, launcher })
    assert.equal((await last.isGone()).status, 0, last.stderr)
    assert.deepEqual(JSON.parse(last.stdout), { applied: ['9999-invented'] })
    assert.deepEqual(
      (await query('select count, count(*) as rows from notification group by count')).map(plain),
      [{ count: 2, rows }],
    )
  })

const plain = (row: Record<string, unknown>) => ({
  count: Number(row.count),
  rows: Number(row.rows),
})
