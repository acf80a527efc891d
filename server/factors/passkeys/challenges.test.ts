import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Sealing } from '../../basics/secrets.ts'
import { newChallenge, type Purpose, readChallenge } from './ceremonies.ts'

const sealing = new Sealing({ current: 'the secret', previous: 'the secret before' })
const given = 1_767_225_600_000
const minutes = 60_000
const get: Purpose = { ceremony: 'get' }
const create = (userId: string): Purpose => ({ ceremony: 'create', userId })

test('a challenge is accepted for five minutes, also after a change of the secret (A18)', () => {
  for (const purpose of [get, create('ann')]) {
    const challenge = newChallenge(new Sealing({ current: 'the secret before' }), purpose, given)
    const read = (at: number) => readChallenge(sealing, purpose, { challenge, at })
    assert.equal(read(given)?.expiresAt, given + 6 * minutes)
    assert.match(read(given + 5 * minutes - 1)?.hash ?? '', /^[\w-]{43}$/)
    assert.equal(read(given + 5 * minutes), undefined)
  }
})

test('a challenge is accepted for no other purpose, user, secret or text (A18)', () => {
  const challenge = newChallenge(sealing, create('ann'), given)
  const read = (purpose: Purpose, text = challenge) =>
    readChallenge(sealing, purpose, { challenge: text, at: given })
  assert.ok(read(create('ann')))
  assert.equal(read(create('bob')), undefined)
  assert.equal(read(get), undefined)
  const later = challenge.replace(/^\d+/, String(given + 60 * minutes))
  for (const text of ['', 'a', `${challenge}A`, challenge.slice(1), later])
    assert.equal(read(create('ann'), text), undefined)
  const foreign = newChallenge(new Sealing({ current: 'another secret' }), create('ann'), given)
  assert.equal(read(create('ann'), foreign), undefined)
})

test('no two challenges are equal', () => {
  const some = Array.from({ length: 100 }, () => newChallenge(sealing, get, given))
  assert.equal(new Set(some).size, 100)
})
