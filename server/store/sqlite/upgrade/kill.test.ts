// Processes that are killed, stopped or started at the same time while they upgrade a database: no row is lost or doubled.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { copyFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { runs } from '../../contract/world.ts'
import { type Digest, digestsOf } from '../../transfer/digest.ts'
import { openSqliteFile } from '../../transfer/endpoint/sqlite.ts'
import { carillon, start } from '../../transfer/testing/command.ts'
import { digestsAt, filledPlace } from '../../transfer/testing/filled.ts'
import { makeOlderDatabase } from '../../transfer/testing/older-database.ts'
import { Database } from '../database.ts'
import { assertIntact, newFolder } from '../testing/folder.ts'

const notifications = process.env.SOAK === undefined ? 50_000 : 1_000_000
/** About half of what an upgrade takes on a fast machine. */
const lastKillMs = notifications / 200
let made: Promise<{ original: string; digests: Digest[] }> | undefined
const folder = await mkdtemp(join(tmpdir(), 'carillon-'))
after(() => rm(folder, { recursive: true }))

test('kill -9 at any moment of an upgrade loses and doubles no row, and the next start continues', async (t) => {
  const { original, digests } = await largeOlderDatabase(t)
  let kills = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: lastKillMs }), { minLength: 3, maxLength: 6 }),
      async (moments) => {
        const path = await copyOf(t, original)
        for (const milliseconds of moments) {
          const upgrading = start(['migrate'], { CARILLON_DATABASE_URL: `sqlite:${path}` })
          const ended = once(upgrading, 'close')
          // It says so after its first transaction that moves rows.
          await Promise.race([once(upgrading.stderr as NodeJS.ReadableStream, 'data'), ended])
          await Promise.race([sleep(milliseconds), ended])
          upgrading.kill('SIGKILL')
          await ended
          if (isHalfUpgraded(path)) kills++
        }
        const last = await carillon(['migrate'], { CARILLON_DATABASE_URL: `sqlite:${path}` })
        assert.equal(last.status, 0, last.stderr)
        assert.deepEqual(await digestsAt(`sqlite:${path}`), digests)
        assertIntact(path)
      },
    ),
    { numRuns: runs(2) },
  )
  t.diagnostic(`${kills} kills while rows were moved`)
  assert.ok(kills > 0)
})

test('SIGTERM ends an upgrade between two transactions, and the next start continues', async (t) => {
  const { original, digests } = await largeOlderDatabase(t)
  let path: string | undefined
  for (let tries = 0; path === undefined && tries < 5; tries++) path = await endedBySigterm(t, original)
  assert.ok(path, 'five times the upgrade was over before the signal ended it')
  const next = await carillon(['migrate', '--json'], { CARILLON_DATABASE_URL: `sqlite:${path}` })
  assert.deepEqual([next.status, JSON.parse(next.stdout)], [0, { applied: ['0006-half-the-cost'] }])
  assert.deepEqual(await digestsAt(`sqlite:${path}`), digests)
})

/** The path of a copy whose upgrade SIGTERM has ended; undefined if it was over first, because this process was too slow to send the signal. */
async function endedBySigterm(t: TestContext, original: string): Promise<string | undefined> {
  const path = await copyOf(t, original)
  const upgrading = start(['serve'], { CARILLON_DATABASE_URL: `sqlite:${path}`, CARILLON_PORT: '0' })
  let stdout = ''
  upgrading.stdout?.on('data', (text) => {
    stdout += text
    if (upgrading.exitCode === null && stdout.includes('"event":"upgrade"')) upgrading.kill('SIGTERM')
  })
  const [status] = await once(upgrading, 'close')
  assert.equal(status, 0)
  if (!isHalfUpgraded(path)) return undefined
  assert.match(stdout, /"reason":"SIGTERM","msg":"stopped before it was ready"/)
  return path
}

test('of two starts at the same time one upgrades the database; the other waits, or says that it is locked', async (t) => {
  const { original, digests } = await largeOlderDatabase(t)
  const path = await copyOf(t, original)
  const env = { CARILLON_DATABASE_URL: `sqlite:${path}` }
  const ended = await Promise.all([carillon(['migrate'], env), carillon(['migrate'], env)])
  for (const { status, stderr } of ended)
    assert.ok(status === 0 || /is (locked|used) by another process/.test(stderr), stderr)
  assert.ok(ended.some(({ status }) => status === 0))
  assert.deepEqual(await digestsAt(`sqlite:${path}`), digests)
})

/** Made once. */
function largeOlderDatabase(t: TestContext): Promise<{ original: string; digests: Digest[] }> {
  made ??= makeLarge(t)
  return made
}

async function makeLarge(t: TestContext): Promise<{ original: string; digests: Digest[] }> {
  const original = join(folder, 'original.db')
  await makeOlderDatabase(t, original, { schema: '0005-safe-sign-in', from: await filledPlace(t, { notifications }) })
  const endpoint = openSqliteFile(original) ?? assert.fail()
  return { original, digests: await digestsOf(endpoint.batchesAfter(null)).finally(() => endpoint.close()) }
}

async function copyOf(t: TestContext, original: string): Promise<string> {
  const path = join(await newFolder(t), 'carillon.db')
  copyFileSync(original, path)
  return path
}

function isHalfUpgraded(path: string): boolean {
  const database = new Database(path, { readOnly: true })
  const [row] = database.prepare("select 1 from sqlite_schema where name = 'carillon_upgrade'").all()
  database.close()
  return row !== undefined
}
