// Which secret is asked for, where none is set: a new one opens no signing key that is there already.

import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readDatabaseUrl } from '../config/database-url.ts'
import { examineSecret } from '../doctor/secret.ts'
import type { SigningKey } from '../store/store.ts'
import { sealingSecret } from './sealing-secret.ts'

const key: SigningKey = { kid: 'k', publicJwk: '{}', sealedPrivateJwk: 'sealed', createdAt: 0 }
const storeWith = (...keys: SigningKey[]) => ({ signingKeys: async () => keys })

test('on PostgreSQL a new secret is asked for only where no signing key was sealed with an old one', async () => {
  const database = readDatabaseUrl('postgres://bell@db/carillon')
  await assert.rejects(sealingSecret({ database }, storeWith()), /such as: openssl rand -base64 32$/)
  await assert.rejects(
    sealingSecret({ database }, storeWith(key)),
    /\. Set CARILLON_SECRET \(or CARILLON_SECRET_FILE\) to the secret that these signing keys were sealed with; from SQLite/,
  )
})

test('on SQLite a secret that is gone is named, and none is made in its place', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const database = readDatabaseUrl(`sqlite:${join(folder, 'carillon.db')}`)
  await assert.rejects(
    sealingSecret({ database }, storeWith(key)),
    /carillon\.secret is gone, and with it the secret of .* Set CARILLON_SECRET .* these signing keys were sealed with; /,
  )
  assert.equal(existsSync(join(folder, 'carillon.secret')), false)
  const made = await sealingSecret({ database }, storeWith())
  assert.equal(await sealingSecret({ database }, storeWith(key)), made, 'once the keys are deleted a new one is made')
})

test('a secret that a power cut left empty is named, and neither used nor replaced (R1)', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'carillon.secret')
  const database = readDatabaseUrl(`sqlite:${join(folder, 'carillon.db')}`)
  for (const content of ['', '\n']) {
    writeFileSync(file, content)
    for (const keys of [[], [key]])
      await assert.rejects(
        sealingSecret({ database }, storeWith(...keys)),
        /carillon\.secret is empty; .* Put the secret back from your copy; without a copy, remove the file: .*\.$/,
      )
    assert.equal(readFileSync(file, 'utf8'), content)
    const [finding] = await examineSecret({ database, signingKeys: [key] })
    assert.equal(finding?.state, 'fault')
    assert.match(finding?.found ?? '', /carillon\.secret is empty/)
  }
})
