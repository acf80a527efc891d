// The secret before a change: how long it stays beside the new one.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { beginChange, endChange, removeKeptSecrets } from './secret-files.ts'

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
