// A software authenticator, which shares no code with the service, makes honest and forged
// passkeys.
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import {
  type Cbor,
  type Forgery,
  SoftwareAuthenticator,
} from '../../../tests/support/software-authenticator.ts'
import {
  creationOptions,
  readClientData,
  refuseUnverified,
  requestOptions,
  verifyAssertion,
  verifyRegistration,
} from './ceremonies.ts'

const relyingParty = { id: 'carillon.example', origins: ['https://carillon.example'] }
const challenge = 'a challenge, as text'
const user = { id: '01a1fbae-026f-70d9-870c-6a7ae6c205a5', name: 'ann', displayName: 'Ann' }
const authenticator = new SoftwareAuthenticator({ origin: 'https://carillon.example' })

async function create(forgery: Forgery = {}) {
  const options = await creationOptions({ relyingParty, challenge, user, existing: [] })
  const { passkey, response } = authenticator.create(
    { ...options, rp: { id: options.rp.id as string } },
    forgery,
  )
  const read = readClientData(response.response.clientDataJSON, 'create', relyingParty)
  const verified = await verifyRegistration(response as never, { relyingParty, challenge: read })
  return { passkey, credential: verified }
}

test('the options name the host, request a passkey that is found without a username, and exclude those that exist', async () => {
  const existing = [{ credentialId: 'AAAA', transports: ['usb'] }]
  const options = await creationOptions({ relyingParty, challenge, user, existing })
  assert.deepEqual(options.rp, { id: 'carillon.example', name: 'carillon.example' })
  assert.equal(Buffer.from(options.user.id, 'base64url').toString(), user.id)
  assert.equal(options.attestation, 'none')
  assert.equal(options.authenticatorSelection?.residentKey, 'required')
  assert.equal(options.authenticatorSelection?.userVerification, 'required')
  assert.deepEqual(options.excludeCredentials, [
    { id: 'AAAA', transports: ['usb'], type: 'public-key' },
  ])
  const request = await requestOptions({ relyingParty, challenge, allowed: [] })
  assert.deepEqual(
    [request.rpId, request.userVerification, request.allowCredentials],
    ['carillon.example', 'required', []],
  )
})

test('a new passkey is accepted, and its signature afterwards', async () => {
  const { passkey, credential } = await create()
  assert.equal(credential.credentialId, passkey.id)
  assert.deepEqual(credential.transports, ['internal'])
  const signed = authenticator.get(
    passkey,
    await requestOptions({ relyingParty, challenge, allowed: [] }),
  )
  assert.equal(readClientData(signed.response.clientDataJSON, 'get', relyingParty), challenge)
  await refuseUnverified(signed as never, relyingParty)
  assert.equal(await verifyAssertion(signed as never, { relyingParty, challenge, credential }), 1)
})

test('a passkey is not created for another page, host, purpose, or without verification of the user (A17)', async () => {
  const unacceptable: [Forgery, RegExp][] = [
    [
      { clientData: { origin: 'https://carillon.example.evil' } },
      /page https:\/\/carillon\.example\.evil may not/,
    ],
    [
      { clientData: { origin: 'https://carillon.example:444' } },
      /may not use passkeys.*Use https:\/\/carillon.example\./,
    ],
    [{ clientData: { origin: undefined } }, /The page without a name may not/],
    [{ clientData: { type: 'webauthn.get' } }, /type webauthn.get, and not webauthn.create/],
    [{ clientData: { crossOrigin: true } }, /frame of another site/],
    [{ clientData: { topOrigin: 'https://evil.example' } }, /frame of another site/],
    [{ clientData: { challenge: 'AAAA' } }, /challenge/],
    [{ rpId: 'evil.example' }, /RP ID/],
    [{ isVerified: false }, /not be verified/],
    [{ isPresent: false }, /not present/],
  ]
  for (const [forgery, message] of unacceptable) {
    const { response } = authenticator.create({ challenge: Buffer.from(challenge).toString('base64url'), rp: relyingParty, user: { id: 'YQ' } }, forgery) // biome-ignore format: one story
    const attempt = async () => {
      readClientData(response.response.clientDataJSON, 'create', relyingParty)
      await verifyRegistration(response as never, { relyingParty, challenge })
    }
    await assert.rejects(attempt, { code: 'UNPROCESSABLE', message }, JSON.stringify(forgery))
  }
})

test('a certificate of the maker is refused and not read: it could name an address to fetch', async () => {
  const withCertificate = new Map<string, Cbor>(
    Object.entries({ alg: -7, sig: Buffer.from('a'), x5c: [Buffer.from('b')] }),
  )
  for (const [format, statement] of [
    ['packed', withCertificate],
    ['fido-u2f', withCertificate],
    ['tpm', withCertificate],
    ['android-key', withCertificate],
    ['apple', withCertificate],
    ['android-safetynet', new Map()],
    ['unknown', new Map()],
  ] as const)
    await assert.rejects(
      create({ format, statement }),
      { code: 'UNPROCESSABLE', message: /comes with an attestation/ },
      format,
    )
  const wrongSelf = new Map<string, Cbor>(Object.entries({ alg: -7, sig: Buffer.from('a') }))
  await assert.rejects(create({ format: 'packed', statement: wrongSelf }), {
    code: 'UNPROCESSABLE',
  })
})

test('bytes that no authenticator makes are refused with a reason', async () => {
  const { response } = authenticator.create({ challenge, rp: relyingParty, user: { id: 'YQ' } })
  for (const attestationObject of [
    '',
    'AAAA',
    '____',
    'oA',
    response.response.attestationObject.slice(0, 60),
  ]) {
    const broken = { ...response, response: { ...response.response, attestationObject } }
    await assert.rejects(verifyRegistration(broken as never, { relyingParty, challenge }), {
      code: 'UNPROCESSABLE',
    })
  }
  for (const clientDataJSON of [
    '',
    'AAAA',
    Buffer.from('null').toString('base64url'),
    Buffer.from('[]').toString('base64url'),
  ])
    assert.throws(() => readClientData(clientDataJSON, 'create', relyingParty), {
      code: 'UNPROCESSABLE',
    })
  const assertion = { response: { authenticatorData: 'AAAA' } }
  await assert.rejects(refuseUnverified(assertion as never, relyingParty), {
    code: 'UNPROCESSABLE',
  })
})

test('a signature for another host, challenge, key, or without verification of the user is refused (A17)', async () => {
  const { passkey, credential } = await create()
  const options = await requestOptions({ relyingParty, challenge, allowed: [] })
  const unverified = (forgery: Forgery) =>
    refuseUnverified(authenticator.get(passkey, options, forgery) as never, relyingParty)
  await assert.rejects(unverified({ rpId: 'evil.example' }), {
    code: 'UNPROCESSABLE',
    message: /not one for carillon.example/,
  })
  await assert.rejects(unverified({ isVerified: false }), {
    code: 'UNPROCESSABLE',
    message: /PIN, a fingerprint/,
  })
  const { privateKey: signer } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  for (const forgery of [
    { signer },
    { rpId: 'evil.example' },
    { isVerified: false },
    { isPresent: false },
    { clientData: { challenge: 'AAAA' } },
    { clientData: { origin: 'https://evil.example' } },
    { clientData: { type: 'webauthn.create' } },
  ] satisfies Forgery[]) {
    const signed = authenticator.get(passkey, options, forgery)
    const counter = await verifyAssertion(signed as never, { relyingParty, challenge, credential })
    assert.equal(counter, undefined, JSON.stringify(forgery))
  }
})
