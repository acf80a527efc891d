// Contents are checked before the signature, and forged tokens are cached as refused.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { after, beforeEach, test } from 'node:test'
import { newId } from '../../../server/basics/ids.ts'
import { type Claims, type Header, openForge } from '../../support/http/forge.ts'
import { startTestService } from '../../support/service.ts'

const minute = 60_000

// Counts the checks of signatures.
const crypto = process.getBuiltinModule('node:crypto')
const { verify } = crypto
let checks = 0
crypto.verify = ((...args: Parameters<typeof verify>) => {
  checks++
  return verify(...args)
}) as typeof verify
syncBuiltinESMExports()

const app = await startTestService()
const forge = await openForge(app)
after(() => app.stop())
const ann = await app.user('ann')
beforeEach(() => {
  checks = 0
})

const request = async (one: string) =>
  (await app.get('/routeRestreinte', { authorization: `Bearer ${one}` })).status
const seconds = () => Math.floor(app.now() / 1000)
const claims = (changes: Claims = {}): Claims => ({ ...forge.claims(ann), ...changes })
const token = (changes: Claims = {}, header: Header = {}) =>
  forge.token({ ...forge.header, ...header }, claims(changes))
/** Valid except for the signature. */
const forged = async () => {
  const whole = await token({ jti: newId(app.now()) })
  return `${whole.slice(0, whole.lastIndexOf('.'))}.${randomBytes(64).toString('base64url')}`
}

const wrong: Record<string, () => Promise<string>> = {
  'has expired': () => token({ iat: seconds() - 901, exp: seconds() - 1 }),
  'is dated ahead': () => token({ iat: seconds() + 61, exp: seconds() + 120 }),
  'names another issuer': () => token({ iss: 'https://other.example' }),
  'names an unknown key': () => token({}, { kid: 'A'.repeat(43) }),
  'names another algorithm': () => token({}, { alg: 'Ed25519' }),
  'has more than 2,048 characters': () => token({ more: 'x'.repeat(1_500) }),
  'has no signature': async () => (await token()).replace(/\.[^.]+$/, '.'),
}

for (const [what, make] of Object.entries(wrong))
  test(`a token that ${what} is refused without a check of its signature`, async () => {
    const one = await make()
    for (let n = 0; n < 3; n++) assert.equal(await request(one), 401)
    assert.equal(checks, 0)
    assert.equal(await request(await token()), 200)
    assert.equal(checks, 1)
  })

test('a forged signature is checked once, even if many requests present it at the same time and again later', async () => {
  const one = await forged()
  const responses = await Promise.all(Array.from({ length: 20 }, () => request(one)))
  for (let n = 0; n < 20; n++) responses.push(await request(one))
  assert.deepEqual(new Set(responses), new Set([401]))
  assert.equal(checks, 1)
})

test('a valid signature is checked once, even if many requests present it at the same time', async () => {
  const one = await token()
  const responses = await Promise.all(Array.from({ length: 20 }, () => request(one)))
  assert.deepEqual(new Set(responses), new Set([200]))
  assert.equal(checks, 1)
})

test('a token that this process issued needs no check of its signature', async () => {
  const proof = await app.signIn(ann, 'stateless')
  assert.equal((await app.get('/routeRestreinte', proof)).status, 200)
  const renewed = await app.post('/token/renew', undefined, proof)
  assert.equal(await request(renewed.json().token), 200)
  assert.equal(checks, 0)
})

test('a token that was refused as too early is valid once its time has come', async () => {
  const ahead = await token({ iat: seconds() + 120, exp: seconds() + 900 })
  const notYet = await token({ nbf: seconds() + 120 })
  for (let n = 0; n < 3; n++)
    assert.deepEqual([await request(ahead), await request(notYet)], [401, 401])
  app.pass(2 * minute)
  assert.deepEqual([await request(ahead), await request(notYet)], [200, 200])
})

test('during a flood of forged tokens, users with a cached token and users with a new one are served', async () => {
  const known = await token()
  assert.equal(await request(known), 200)
  const flood = await Promise.all(Array.from({ length: 400 }, forged))
  const flooding = flood.map(request)
  const fresh = request(await token())
  for (let n = 0; n < 5; n++) assert.equal(await request(known), 200)
  assert.equal(await fresh, 200)
  assert.deepEqual(new Set(await Promise.all(flooding)), new Set([401]))
})
