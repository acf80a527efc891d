import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startTestService } from '../../tests/support/service.ts'
import { Sealing } from '../basics/secrets.ts'
import { readDatabaseUrl } from '../config/database-url.ts'
import { signingKeys } from '../tokens/signing-keys.store.ts'
import { examineSecret } from './secret.ts'

async function place(t: TestContext) {
  const service = await startTestService()
  t.after(service.stop)
  const keys = await service.store.read(signingKeys)
  const file = join(service.dir, 'carillon.secret')
  return {
    database: readDatabaseUrl(`sqlite:${join(service.dir, 'carillon.db')}`),
    signingKeys: keys,
    file,
  }
}

async function wrong(
  given: Parameters<typeof examineSecret>[0],
): Promise<[string, string | undefined][]> {
  const findings = await examineSecret(given)
  return findings.filter(({ state }) => state !== 'ok').map(({ state, change }) => [state, change])
}

test('finds nothing wrong with the secret before and after the first start', async (t) => {
  const { database, signingKeys: keys, file } = await place(t)
  assert.deepEqual(await wrong({ database, signingKeys: keys }), [])
  assert.deepEqual(
    await wrong({ database, signingKeys: keys, secret: readFileSync(file, 'utf8').trim() }),
    [],
  )
  rmSync(file)
  assert.deepEqual(await wrong({ database, signingKeys: [] }), [])
})

test('finds a secret file that other users can read, beside the database or elsewhere', async (t) => {
  const { database, signingKeys: keys, file } = await place(t)
  chmodSync(file, 0o644)
  assert.deepEqual(await wrong({ database, signingKeys: keys }), [['fault', `chmod 600 ${file}`]])
  const folder = mkdtempSync(join(tmpdir(), 'carillon-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const secretFile = join(folder, 'secret')
  const secret = readFileSync(file, 'utf8').trim()
  writeFileSync(secretFile, secret, { mode: 0o604 })
  assert.deepEqual(await wrong({ database, signingKeys: keys, secret, secretFile }), [
    ['fault', `chmod 600 ${secretFile}`],
  ])
})

test('counts the second factors that neither secret opens, and says how to get out (K1)', async (t) => {
  const { database, signingKeys: keys, file } = await place(t)
  const current = readFileSync(file, 'utf8').trim()
  const previousSecret = 'the secret before, of 32 characters'
  const headerOf = async (secret: string) =>
    (await new Sealing({ current: secret }).seal('factors', 'x')).split('.')[0] ?? ''
  const sealedFactors = [
    { header: await headerOf(current), count: 5 },
    { header: await headerOf(previousSecret), count: 3 },
    { header: await headerOf('a secret that was lost, long enough'), count: 2 },
  ]
  const given = { database, signingKeys: keys, secret: current, sealedFactors }
  const found = await examineSecret(given)
  const [fault] = found.filter(({ state }) => state === 'fault')
  assert.match(fault?.found ?? '', /does not open, whose codes are refused: 5/)
  assert.match(
    fault?.change ?? '',
    /CARILLON_SECRET_PREVIOUS .*npx carillon user factors reset --unreadable$/,
  )
  const withPrevious = await examineSecret({ ...given, previousSecret })
  assert.match(
    withPrevious.find(({ state }) => state === 'fault')?.found ?? '',
    /does not open, whose codes are refused: 2/,
  )
  assert.deepEqual(await wrong({ ...given, sealedFactors: sealedFactors.slice(0, 1) }), [])
})

test('finds a wrong secret, a lost one, and a missing one on PostgreSQL', async (t) => {
  const { database, signingKeys: keys, file } = await place(t)
  const [[state, change] = []] = await wrong({
    database,
    signingKeys: keys,
    secret: 'another secret of 32 characters!',
  })
  assert.equal(state, 'fault')
  assert.match(change ?? '', /^Set CARILLON_SECRET to that one/)
  rmSync(file)
  assert.match(
    (await wrong({ database, signingKeys: keys }))[0]?.[1] ?? '',
    /^put \S+ back \(backups do not contain it\); /,
  )
  const onPostgres = await wrong({
    database: readDatabaseUrl('postgres://bell@db/carillon'),
    signingKeys: [],
  })
  assert.match(onPostgres[0]?.[1] ?? '', /^CARILLON_SECRET_FILE=/)
  const movedThere = await wrong({
    database: readDatabaseUrl('postgres://bell@db/carillon'),
    signingKeys: keys,
  })
  assert.match(
    movedThere[0]?.[1] ?? '',
    /to the secret that these signing keys were sealed with; for a database moved from SQLite, that is the/,
  )
})
