// Without a running service: the order of checks, unknown keys, an early revocation.
import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { importJWK } from 'jose'
import { newId } from '../basics/ids.ts'
import { AccessTokens } from './access-token.ts'
import type { TokenRevocations } from './revocations.ts'
import { isSignedByUs, type Signature, SignatureChecks } from './signature-checks.ts'
import type { SigningKeys } from './signing-keys.ts'

type Key = { kid: string; publicKey: KeyObject; privateKey: Awaited<ReturnType<typeof importJWK>> }

async function newKey(kid: string): Promise<Key> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  return {
    kid,
    publicKey: createPublicKey(publicKey.export({ format: 'pem', type: 'spki' })),
    privateKey: await importJWK(privateKey.export({ format: 'jwk' }), 'EdDSA'),
  }
}

type Parts = {
  issuer?: string
  isRevoked?: TokenRevocations['isRevoked']
  signatures?: SignatureChecks
}

/** Another node may add keys to `known` later. */
function tokensWith(
  current: Key,
  known: readonly Key[],
  {
    issuer = 'http://127.0.0.1:7464',
    isRevoked = () => false,
    signatures = new SignatureChecks(isSignedByUs),
  }: Parts = {},
): AccessTokens {
  const find = (kid: string) => known.find((key) => key.kid === kid)?.publicKey
  const keys = { current, find, learn: async (kid: string) => find(kid), isDropped: () => false }
  return new AccessTokens({
    policy: { limitedFrom: () => Number.POSITIVE_INFINITY },
    keys: keys as unknown as SigningKeys,
    revocations: { isRevoked } as unknown as TokenRevocations,
    now: Date.now,
    issuer: () => issuer,
    lifetimeMs: 60_000,
    chainMs: 3_600_000,
    signatures,
  })
}

const user = () => ({ id: newId(Date.now()), username: 'ann', credentialGeneration: 0 })

test('a token that was verified before does not wait for the signature checks of forged tokens', async () => {
  const key = await newKey('one')
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const signatures = new SignatureChecks<Signature>(async (signature) => {
    await released
    return isSignedByUs(signature)
  })
  const tokens = tokensWith(key, [key], { signatures })
  const { token } = await tokens.issue(user(), newId(Date.now()))
  const body = token.slice(0, token.lastIndexOf('.'))
  let refused = 0
  let served = 0
  const forged = Array.from({ length: 300 }, async () => {
    assert.equal(await tokens.verify(`${body}.${randomBytes(64).toString('base64url')}`), null)
    refused++
  })
  const asked = Array.from({ length: 100 }, async () => {
    if ((await tokens.verify(token)) !== null) served++
  })
  // What waits for nothing is done by the next turn of the event loop.
  await nextTurn()
  assert.deepEqual([served, refused], [100, 0])
  release()
  await Promise.all([...forged, ...asked])
  assert.equal(refused, 300)
})

test('a token whose key is not known yet is refused, and valid as soon as the key is known', async () => {
  const old = await newKey('old')
  const fresh = await newKey('fresh')
  const known = [old]
  const tokens = tokensWith(old, known)
  const { token } = await tokensWith(fresh, [fresh]).issue(user(), newId(Date.now()))
  for (let n = 0; n < 3; n++) assert.equal(await tokens.verify(token), null)
  known.push(fresh)
  assert.equal((await tokens.verify(token))?.username, 'ann')
})

test('the longest username and public URL fit into a token', async () => {
  const key = await newKey('A'.repeat(43))
  const issuer = `https://${`${'a'.repeat(62)}.`.repeat(4)}a:65535`
  const tokens = tokensWith(key, [key], { issuer })
  const long = {
    id: newId(Date.now()),
    username: '\u{20000}'.repeat(64),
    credentialGeneration: Number.MAX_SAFE_INTEGER,
  }
  const { token } = await tokens.issue(long, newId(Date.now()))
  // A node that has not cached the token checks it in full.
  assert.equal((await tokensWith(key, [key], { issuer }).verify(token))?.username, long.username)
})

test('no token is issued for a password that was changed while it was checked: the generation is the one that was read (T7)', async () => {
  const key = await newKey('one')
  const isRevoked: TokenRevocations['isRevoked'] = ({ generation }) =>
    generation !== undefined && generation < 1
  const tokens = tokensWith(key, [key], { isRevoked })
  await assert.rejects(tokens.issue(user(), newId(Date.now())), { code: 'INVALID_CREDENTIALS' })
  const { token } = await tokens.issue({ ...user(), credentialGeneration: 1 }, newId(Date.now()))
  assert.equal((await tokens.verify(token))?.generation, 1)
})
