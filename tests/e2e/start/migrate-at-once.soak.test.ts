// Processes that migrate one PostgreSQL database at the same time, and one that is killed during the migration (R12).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TcpProxy } from '../../support/network/tcp-proxy.ts'
import { newDatabase, queryAt } from '../../support/postgres.ts'
import { CarillonProcess, carillon, Folder } from '../../support/processes/carillon-process.ts'

const schemaOf = async (url: string) =>
  (await queryAt(url, 'select count(*)::int as tables from pg_tables')).rows[0].tables

test('processes that start at once on an empty database migrate it once (R12)', async (t) => {
  const { url, drop } = await newDatabase({ isBare: true })
  t.after(drop)
  using folder = new Folder()
  const env = { CARILLON_DATABASE_URL: url }
  const all = await Promise.all(
    [1, 2, 3].map(() => carillon(folder, ['migrate', '--json'], { env })),
  )
  for (const { status, stderr } of all) assert.equal(status, 0, stderr)
  const applied = all.flatMap(({ stdout }) => JSON.parse(stdout).applied as string[])
  assert.ok(applied.length > 0)
  assert.deepEqual(applied.toSorted(), [...new Set(applied)].sort())
})

test('a process that is killed during a migration leaves no part of it, and the next process applies all of it (R12)', async (t) => {
  const { url, drop } = await newDatabase({ isBare: true })
  t.after(drop)
  using folder = new Folder()
  const before = await schemaOf(url)
  await using proxy = await TcpProxy.to(Number(new URL(url).port))
  const env = { CARILLON_DATABASE_URL: proxy.urlFor(url) }
  await using killed = new CarillonProcess(folder, { args: ['migrate'], env })
  proxy.intercept = ({ direction, bytes }) => {
    // The process has made the tables by then, in a transaction that is not ended.
    if (direction === 'to client' && bytes.includes('CREATE INDEX')) killed.child.kill('SIGKILL')
    return undefined
  }
  assert.equal((await killed.isGone()).signal, 'SIGKILL')
  proxy.intercept = undefined
  const next = await carillon(folder, ['migrate', '--json'], { env })
  assert.equal(next.status, 0, next.stderr)
  assert.ok(
    JSON.parse(next.stdout).applied.includes('0001-schema'),
    'the killed one had done it already',
  )
  assert.ok((await schemaOf(url)) > before)
  const again = await carillon(folder, ['migrate', '--json'], { env })
  assert.deepEqual(JSON.parse(again.stdout), { applied: [] })
})
