import assert from 'node:assert/strict'
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { test } from 'node:test'
import { ProducerKeys } from '../producers/producer-key.ts'
import {
  addProducer,
  findProducer,
  type Producer,
  touchProducer,
} from '../producers/producers.store.ts'
import { replaceOperation, stubStore } from '../store/testing/operations.ts'
import { equalHashes, equalSecrets, hashOf } from './secrets.ts'

async function constantTimeComparisons(work: () => unknown): Promise<number> {
  const { timingSafeEqual } = crypto
  let count = 0
  crypto.timingSafeEqual = (a, b) => {
    count++
    return timingSafeEqual(a, b)
  }
  syncBuiltinESMExports()
  try {
    await work()
  } finally {
    crypto.timingSafeEqual = timingSafeEqual
    syncBuiltinESMExports()
  }
  return count
}

test('two secrets are equal only if every byte is, also if their lengths differ', () => {
  assert.equal(equalSecrets('abc', 'abc'), true)
  assert.equal(equalSecrets('', ''), true)
  for (const [a, b] of [
    ['abc', 'abd'],
    ['abc', 'ab'],
    ['abc', ''],
    ['é', 'e\u0301'],
    ['a'.repeat(43), `${'a'.repeat(42)}b`],
    ['a'.repeat(43), `b${'a'.repeat(42)}`],
  ] as const)
    assert.equal(equalSecrets(a, b), false)
})

test('two hashes are equal only if every character is', () => {
  const a = hashOf('abc')
  assert.equal(equalHashes(a, hashOf('abc')), true)
  for (const b of [hashOf('abd'), `${a.slice(0, -1)}*`, `*${a.slice(1)}`, a.slice(0, -1), ''])
    assert.equal(equalHashes(a, b), false, b)
})

test('compares two secrets, and the secret of a producer key, in constant time (D4)', async () => {
  assert.equal(await constantTimeComparisons(() => equalSecrets('abc', 'xyz')), 1)
  let kept: Producer | undefined
  const store = stubStore()
  replaceOperation(store, addProducer, async (producer) => {
    const unused = {
      revokedAt: null,
      lastUsedAt: 0,
      previousSecretHash: null,
      previousUntil: null,
      rate: null,
    }
    kept = { application: '', createsUsers: true, ...producer, ...unused }
  })
  replaceOperation(store, findProducer, async () => kept)
  replaceOperation(store, touchProducer, async () => {})
  const keys = new ProducerKeys({ store, now: () => 0 })
  const { id, key } = await keys.issue({ name: 'shop', scopes: ['send'], expiresAt: null })
  const wrong = `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`
  assert.equal(
    await constantTimeComparisons(async () => assert.equal((await keys.verify(key))?.id, id)),
    1,
  )
  assert.equal(
    await constantTimeComparisons(async () => assert.equal(await keys.verify(wrong), null)),
    1,
  )
})
