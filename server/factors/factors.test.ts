import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashOf } from '../basics/secrets.ts'
import { hashOfRecoveryCode, newRecoveryCodes } from './factors.ts'

test('ten codes of 24 characters in readable groups, none of them twice (A18)', () => {
  const all = Array.from({ length: 20 }, () => newRecoveryCodes().codes).flat()
  assert.equal(new Set(all).size, 200)
  for (const code of all) assert.match(code, /^([a-kmnp-z2-9]{4}-){5}[a-kmnp-z2-9]{4}$/)
  const letters = Map.groupBy(all.join('').replaceAll('-', ''), (letter) => letter)
  assert.equal(letters.size, 32)
  for (const [letter, found] of letters)
    assert.ok(found.length > 80, `${letter} is in ${found.length} of 4,800 places`)
})

test('only the hash is kept, and it is the same however the code is typed', () => {
  const { codes, recoveryCodeHashes: hashes } = newRecoveryCodes()
  const [code = ''] = codes
  const [hash] = hashes
  assert.equal(hash, hashOf(code.replaceAll('-', '')))
  for (const typed of [
    code,
    code.toUpperCase(),
    code.replaceAll('-', ''),
    ` ${code.replaceAll('-', ' ')} `,
    code.replaceAll('-', '–'),
  ])
    assert.equal(hashOfRecoveryCode(typed), hash, typed)
  assert.notEqual(hashOfRecoveryCode(codes[1] ?? ''), hash)
})
