// A software authenticator makes passkeys; tests/e2e/browser/passkeys.test.ts uses a real browser.
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { after, test } from 'node:test'
import { listAudit } from '../../../server/audit/audit.store.ts'
import { newId } from '../../../server/basics/ids.ts'
import { factorsOf } from '../../../server/factors/factors.store.ts'
import { disableUser } from '../../../server/users/access/user-changes.store.ts'
import { putUsers } from '../../../server/users/put-users.store.ts'
import { addPasskey } from '../../support/passkeys.ts'
import { startTestService } from '../../support/service.ts'
import {
  type Forgery,
  type Passkey,
  SoftwareAuthenticator,
} from '../../support/software-authenticator.ts'

const origin = 'https://carillon.example'
const partner = 'https://www.carillon.example'
const app = await startTestService({
  env: { CARILLON_PUBLIC_URL: origin, CARILLON_ALLOWED_ORIGINS: partner },
})
after(() => app.stop())
const authenticator = new SoftwareAuthenticator({ origin })
const minute = 60_000

const requestOptions = async () => (await app.post('/login/passkey/options')).json()

const withPasskey = (user: { id: string }) =>
  addPasskey(app, authenticator, user, 'carillon.example')

async function signIn(passkey: Passkey, forgery: Forgery = {}) {
  const response = authenticator.get(passkey, await requestOptions(), forgery)
  return app.post('/login/passkey', { response })
}

async function stateOf(userId: string) {
  const { factors } = await app.store.read(factorsOf, userId)
  return factors.map(({ signCount, lastUsedAt }) => [signCount, lastUsedAt])
}

test('a passkey signs its user in without a password (A17)', async () => {
  const ann = await app.user()
  const passkey = await withPasskey(ann)
  for (const count of [1, 2]) {
    const response = await signIn(passkey)
    assert.equal(response.status, 200, response.text)
    assert.equal(response.json().User.id, ann.id)
    const [cookie = ''] = response.headers.getSetCookie()
    const proof = { cookie: cookie.split(';')[0] ?? '' }
    assert.equal((await app.get('/routeRestreinte', proof)).status, 200)
    assert.deepEqual(await stateOf(ann.id), [[count, app.now()]])
  }
})

test('a passkey signs in a user without a username and without a password', async () => {
  const users = [{ newId: newId(app.now()), externalId: 'customer-7' }]
  const [put] = await app.store.write(putUsers, { issuer: '', at: app.now(), users })
  const passkey = await withPasskey(put?.user ?? { id: '' })
  const response = await signIn(passkey)
  assert.equal(response.status, 200, response.text)
  assert.equal(response.json().User.externalId, 'customer-7')
})

test('pages of an allowed origin may use a passkey', async () => {
  assert.equal(
    (await signIn(await withPasskey(await app.user()), { clientData: { origin: partner } })).status,
    200,
  )
})

test('a response for another page, host or purpose, or without verification of the user, is a 422 that says why (A17)', async () => {
  const ann = await app.user()
  const passkey = await withPasskey(ann)
  const unacceptable: [Forgery, RegExp][] = [
    [
      { clientData: { origin: 'https://carillon.example.evil' } },
      /page https:\/\/carillon\.example\.evil may not/,
    ],
    [{ clientData: { origin: 'http://carillon.example' } }, /may not use passkeys/],
    [{ clientData: { type: 'webauthn.create' } }, /not webauthn\.get/],
    [{ clientData: { crossOrigin: true } }, /frame of another site/],
    [{ clientData: { topOrigin: 'https://evil.example' } }, /frame of another site/],
    [{ clientData: { challenge: 'AAAA' } }, /challenge is not one of this service/],
    [{ clientData: { challenge: undefined } }, /challenge is not one of this service/],
    [{ rpId: 'www.carillon.example' }, /not one for carillon\.example/],
    [{ isVerified: false }, /did not verify its user/],
  ]
  for (const [forgery, message] of unacceptable) {
    const response = await signIn(passkey, forgery)
    assert.deepEqual(
      [response.status, response.json().error.code],
      [422, 'UNPROCESSABLE'],
      response.text,
    )
    assert.match(response.json().error.message, message)
    assert.deepEqual(response.headers.getSetCookie(), [])
  }
  assert.deepEqual(await stateOf(ann.id), [[0, null]])
})

test('an unknown passkey, a wrong signature, a passkey of another user and a disabled user get the same response (A17)', async () => {
  const ann = await app.user()
  const eve = await app.user()
  const gone = await app.user()
  const ofAnn = await withPasskey(ann)
  const ofEve = await withPasskey(eve)
  const ofGone = await withPasskey(gone)
  await app.store.write(disableUser, { userId: gone.id, at: app.now() })
  const { privateKey: signer } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const handleOf = (text: string) => Buffer.from(text).toString('base64url')
  const refused = [
    await signIn(ofAnn, { signer }),
    await signIn(ofAnn, { isPresent: false }),
    await signIn(ofAnn, { id: 'AAAAAAAAAAAAAAAAAAAAAAAA' }),
    await signIn(ofAnn, { userHandle: handleOf(eve.id) }),
    await signIn(ofAnn, { userHandle: handleOf(newId(app.now())) }),
    await signIn(ofAnn, { userHandle: handleOf('\0'.repeat(36)) }),
    await signIn(ofAnn, { userHandle: null }),
    await signIn(ofEve, { id: ofAnn.id, userHandle: handleOf(ann.id) }),
    await signIn(ofGone),
  ]
  const [one] = refused.map(({ status, json }) => [status, json().error.code, json().error.message])
  assert.deepEqual(one?.slice(0, 2), [401, 'INVALID_CREDENTIALS'])
  for (const { status, json, headers } of refused) {
    assert.deepEqual([status, json().error.code, json().error.message], one)
    assert.deepEqual(headers.getSetCookie(), [])
  }
  for (const { id } of [ann, eve, gone]) assert.deepEqual(await stateOf(id), [[0, null]])
})

test('a challenge signs in once: a replayed response is refused, also after a restart, and changes nothing (A18)', async () => {
  const ann = await app.user()
  const passkey = await withPasskey(ann)
  const options = await requestOptions()
  const response = authenticator.get(passkey, options)
  const post = (body: object) => app.post('/login/passkey', { response: body })
  assert.equal((await post(response)).status, 200)
  const state = await stateOf(ann.id)
  for (const replayed of [response, authenticator.get(passkey, options)]) {
    const refused = await post(replayed)
    assert.deepEqual([refused.status, refused.json().error.code], [422, 'UNPROCESSABLE'])
    assert.match(refused.json().error.message, /used already. Request new options/)
  }
  await app.restart()
  assert.equal((await post(response)).status, 422)
  assert.deepEqual(await stateOf(ann.id), state)
})

test('a counter that does not rise is refused as a copy, is in the audit log, and changes nothing (A17)', async () => {
  const ann = await app.user()
  const passkey = await withPasskey(ann)
  const original = { ...passkey }
  for (let n = 0; n < 3; n++) assert.equal((await signIn(original)).status, 200)
  const state = await stateOf(ann.id)
  for (const count of [3, 1, 0]) {
    const refused = await signIn(passkey, { count })
    assert.deepEqual([refused.status, refused.json().error.code], [401, 'INVALID_CREDENTIALS'])
    assert.match(refused.json().error.message, /did not rise, so there may be a copy/)
  }
  assert.deepEqual(await stateOf(ann.id), state)
  const copies = (await auditOf(ann.id)).filter(({ event }) => event === 'passkey-copied')
  assert.deepEqual(copies.map(({ detail }) => detail?.signCount).toSorted(), [0, 1, 3])
  assert.equal((await signIn(original)).status, 200)
})

test('wrong passwords for the account, and from the address, never delay a passkey (A9)', async () => {
  const ann = await app.user()
  const passkey = await withPasskey(ann)
  const guess = (username: string) =>
    app.post('/login', { username, password: 'a wrong guess of it' })
  for (let n = 0; n < 6; n++) await guess(ann.username)
  assert.equal((await guess(ann.username)).status, 429)
  for (let n = 0; n < 100; n++) await guess(`nobody${n}`)
  assert.equal((await guess('another')).status, 429)
  assert.equal((await signIn(passkey)).status, 200)
})

test('refused passkeys of one address are slowed down after 100, and a right one is not counted', async () => {
  const passkey = await withPasskey(await app.user())
  app.pass(24 * 60 * minute)
  for (let n = 0; n < 5; n++) assert.equal((await signIn(passkey)).status, 200)
  const { privateKey: signer } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  for (let n = 0; n < 100; n++) assert.equal((await signIn(passkey, { signer })).status, 401)
  const delayed = await signIn(passkey, { signer })
  assert.equal(delayed.status, 429)
  assert.ok(Number(delayed.headers.get('retry-after')) > 0)
  app.pass(24 * 60 * minute)
})

test('right passkeys of one account from one address: 60 at once, and then one in 10 s; passwords are counted apart (L1)', async () => {
  const ann = await app.user()
  const passkey = await withPasskey(ann)
  for (let n = 0; n < 60; n++) assert.equal((await signIn(passkey)).status, 200)
  const before = await stateOf(ann.id)
  for (let n = 0; n < 3; n++) {
    const refused = await signIn(passkey)
    assert.deepEqual(
      [refused.status, refused.headers.get('retry-after')],
      [429, '10'],
      refused.text,
    )
  }
  assert.deepEqual(await stateOf(ann.id), before, 'nothing was written')
  assert.equal((await signIn(await withPasskey(await app.user()))).status, 200)
  assert.equal(
    (await app.post('/login', { username: ann.username, password: ann.password })).status,
    401,
  )
  app.pass(10_000)
  assert.equal((await signIn(passkey)).status, 200)
})

test('options and responses that are malformed get a clear 400', async () => {
  const passkey = await withPasskey(await app.user())
  const response = authenticator.get(passkey, await requestOptions())
  const broken: [object, string][] = [
    [{}, 'response'],
    [{ response: {} }, 'response.id'],
    [{ response: { ...response, id: 'not base64url!' } }, 'response.id'],
    [
      { response: { ...response, response: { ...response.response, signature: undefined } } },
      'response.response.signature',
    ],
    [{ response, variant: 'both' }, 'variant'],
    [{ response, username: 'ann' }, 'username'],
  ]
  for (const [body, field] of broken) {
    const refused = await app.post('/login/passkey', body)
    assert.equal(refused.status, 400, refused.text)
    assert.equal(refused.json().error.details[0].field, field)
  }
  for (const body of [{ user: 'ann' }, [], 'ann'])
    assert.equal((await app.post('/login/passkey/options', body)).status, 400)
  for (const body of [undefined, {}])
    assert.equal((await app.post('/login/passkey/options', body)).status, 200)
})

test('the options of one user reveal nothing: everybody gets the same, but for the challenge', async () => {
  const { challenge: one, ...options } = await requestOptions()
  const { challenge: other, ...others } = await requestOptions()
  assert.notEqual(one, other)
  assert.deepEqual(options, others)
  assert.deepEqual(
    [options.rpId, options.userVerification, options.allowCredentials],
    ['carillon.example', 'required', []],
  )
})

test('another site cannot sign a browser in with its own passkey (C1)', async () => {
  const response = authenticator.get(await withPasskey(await app.user()), await requestOptions())
  const refused = await app.post(
    '/login/passkey',
    { response },
    { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
  )
  assert.deepEqual([refused.status, refused.json().error.code], [403, 'FORBIDDEN'])
})

async function auditOf(userId: string) {
  return app.store.read(listAudit, { userId, limit: 100 })
}
