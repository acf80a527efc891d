// A token is read and checked with the public key alone, as the service signs it; also if the browser cannot.
import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { test } from 'node:test'
import { withOtherName } from './forgery.ts'
import { claimsOf, cryptoSupport, isSignatureValid } from './signature.ts'

const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
const signed = `${encoded({ alg: 'EdDSA', typ: 'at+jwt', kid: 'first' })}.${encoded({ sub: 'a1', preferred_username: 'zoe7', name: 'Zoë' })}`
const token = `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`
const keySet = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'first', alg: 'EdDSA', use: 'sig' }] }

test('reads the claims without a key, in UTF-8', () => {
  assert.deepEqual(claimsOf(token), { sub: 'a1', preferred_username: 'zoe7', name: 'Zoë' })
  assert.equal(claimsOf('no.token'), null)
})

test('the signature is valid with the key that the token names, and with no other', async () => {
  assert.equal(await isSignatureValid(token, keySet), true)
  const other = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
  assert.equal(await isSignatureValid(token, { keys: [{ ...other, kid: 'first' }] }), false)
  assert.equal(await isSignatureValid(token, { keys: [] }), false)
})

test('one changed character names another user, and makes the signature invalid', async () => {
  const forged = withOtherName(token)
  assert.equal([...forged].filter((character, at) => character !== token[at]).length, 1)
  const { preferred_username: name, ...others } = claimsOf(forged) ?? {}
  assert.match(String(name), /^(?!zoe7)[a-z\d]{4}$/)
  assert.deepEqual(others, { sub: 'a1', name: 'Zoë' })
  assert.equal(await isSignatureValid(forged, keySet), false)
})

test('says whether Web Crypto is missing, or only Ed25519', async () => {
  assert.equal(await cryptoSupport(), 'supported')
  assert.equal(await cryptoSupport(null), 'no-web-crypto')
  const refusing = { generateKey: () => Promise.reject(new DOMException('no such algorithm', 'NotSupportedError')) }
  assert.equal(await cryptoSupport(refusing as unknown as SubtleCrypto), 'no-ed25519')
})
