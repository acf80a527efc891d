import assert from 'node:assert/strict'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readDatabaseUrl } from '../config/database-url.ts'
import { examineSecret } from '../doctor/secret.ts'
import type { Store } from '../store/store.ts'
import { replaceOperation, stubStore } from '../store/testing/operations.ts'
import { beginChange, endChange, removeKeptSecrets, sealingSecrets } from './sealing-secret.ts'
import { type SigningKey, signingKeys } from './signing-keys.store.ts'

const key: SigningKey = {
  kid: 'k',
  publicJwk: '{}',
  sealedPrivateJwk: 'sealed',
  createdAt: 0,
  startsAt: 0,
  retiredAt: null,
}

function storeWith(...keys: SigningKey[]): Store {
  const store = stubStore()
  replaceOperation(store, signingKeys, async () => keys)
  return store
}

test('on PostgreSQL the error suggests a new secret only if no signing key exists', async () => {
  const database = readDatabaseUrl('postgres://bell@db/carillon')
  await assert.rejects(
    sealingSecrets({ database }, storeWith()),
    /such as: openssl rand -base64 32$/,
  )
  await assert.rejects(
    sealingSecrets({ database }, storeWith(key)),
    /\. Set CARILLON_SECRET \(or CARILLON_SECRET_FILE\) to the secret that these signing keys were sealed with; for a database moved from SQLite/,
  )
})

test('on SQLite a missing secret is reported, and no new one is generated while signing keys exist', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const database = readDatabaseUrl(`sqlite:${join(folder, 'carillon.db')}`)
  await assert.rejects(
    sealingSecrets({ database }, storeWith(key)),
    /carillon\.secret is gone, and with it the secret of .* Set CARILLON_SECRET .* these signing keys were sealed with; /,
  )
  assert.equal(existsSync(join(folder, 'carillon.secret')), false)
  const made = await sealingSecrets({ database }, storeWith())
  assert.deepEqual(
    await sealingSecrets({ database }, storeWith(key)),
    made,
    'once the keys are deleted a new one is made',
  )
})

test('a secret file that leads to a file that is not there ends the start with an error', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-'))
  t.after(() => rmSync(folder, { recursive: true }))
  symlinkSync(join(folder, 'not-mounted'), join(folder, 'carillon.secret'))
  const database = readDatabaseUrl(`sqlite:${join(folder, 'carillon.db')}`)
  const store = stubStore()
  let reads = 0
  replaceOperation(store, signingKeys, async () => {
    assert.ok(++reads < 5, 'the secret is looked for again and again')
    return []
  })
  await assert.rejects(sealingSecrets({ database }, store), { code: 'ENOENT' })
})

test('a secret file that a power failure left empty is reported, and neither used nor replaced (R1)', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'carillon.secret')
  const database = readDatabaseUrl(`sqlite:${join(folder, 'carillon.db')}`)
  for (const content of ['', '\n']) {
    writeFileSync(file, content)
    for (const keys of [[], [key]])
      await assert.rejects(
        sealingSecrets({ database }, storeWith(...keys)),
        /carillon\.secret is empty; .* Put the secret back from your copy; without a copy, remove the file: .*\.$/,
      )
    assert.equal(readFileSync(file, 'utf8'), content)
    const [finding] = await examineSecret({ database, signingKeys: [key] })
    assert.equal(finding?.state, 'fault')
    assert.match(finding?.found ?? '', /carillon\.secret is empty/)
  }
})

test('each secret before stays in a file of its own until its day is over, and no other file is deleted (K1)', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'carillon.db')
  writeFileSync(join(folder, 'carillon.secret'), 'first\n', { mode: 0o600 })
  const before: string[] = []
  for (const day of ['2026-12-23', '2026-12-23', '2027-01-01', undefined]) {
    before.push(beginChange(path).previous ?? '')
    const kept = endChange(path, day)
    if (day === undefined) assert.equal(kept, undefined)
    else {
      assert.equal(readFileSync(kept ?? '', 'utf8'), `${before.at(-1)}\n`)
      assert.equal(statSync(kept ?? '').mode & 0o777, 0o600)
    }
  }
  assert.equal(new Set(before).size, 4)
  const kept = () => readdirSync(folder).filter((name) => name !== 'carillon.secret')
  const [first, second, third] = ['2026-12-23', '2026-12-23-2', '2027-01-01'].map(
    (day) => `carillon.secret.until-${day}`,
  )
  removeKeptSecrets(path, '2026-12-23')
  assert.deepEqual(kept(), [first, second, third])
  removeKeptSecrets(path, '2026-12-24')
  assert.deepEqual(kept(), [third])
  removeKeptSecrets(path, '2027-01-02')
  assert.deepEqual(readdirSync(folder), ['carillon.secret'])
})
