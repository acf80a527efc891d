// What is replayed, foreign or somebody else's changes nothing.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { listAudit } from '../../../server/audit/audit.store.ts'
import { newId } from '../../../server/basics/ids.ts'
import { factorsOf } from '../../../server/factors/factors.store.ts'
import { addPasskey } from '../../support/passkeys.ts'
import { type Proof, startTestService, type TestUser } from '../../support/service.ts'
import {
  type Forgery,
  type Passkey,
  SoftwareAuthenticator,
} from '../../support/software-authenticator.ts'

const origin = 'https://carillon.example'
const app = await startTestService({ env: { CARILLON_PUBLIC_URL: origin } })
after(() => app.stop())
const authenticator = new SoftwareAuthenticator({ origin })
const minute = 60_000
const factorsPath = '/api/me/factors/passkeys'

const creationOptions = async (proof: Proof) =>
  (await app.post(`${factorsPath}/options`, undefined, proof)).json().data
const requestOptions = async (body = {}) => (await app.post('/login/passkey/options', body)).json()
const passkeyOf = (user: { id: string }) => addPasskey(app, authenticator, user, 'carillon.example')
const signed = async (passkey: Passkey, forgery?: Forgery) =>
  authenticator.get(passkey, await requestOptions(), forgery)

async function add(proof: Proof, forgery?: Forgery) {
  const { passkey, response } = authenticator.create(await creationOptions(proof), forgery)
  return {
    passkey,
    response,
    added: await app.post(factorsPath, { response, label: 'Key' }, proof),
  }
}

async function waitingSignIn(
  { username, password }: TestUser,
  variant = 'stateful',
): Promise<string> {
  const waiting = await app.post('/login', { username, password, variant })
  assert.equal(waiting.json().error.code, 'SECOND_FACTOR_REQUIRED', waiting.text)
  return waiting.json().error.challenge
}

const codeOf = ({ json }: { json: () => { error: { code: string } } }) => json().error.code
const countOf = async ({ id }: { id: string }) =>
  (await app.store.read(factorsOf, id)).factors.length

test('a signed-in user adds passkeys, and gets recovery codes with the first (A17)', async () => {
  const ann = await app.user()
  const proof = await app.signIn(ann, 'stateful')
  const first = await add(proof)
  assert.equal(first.added.status, 201, first.added.text)
  const { id, recoveryCodes, ...factor } = first.added.json().data
  const now = new Date(app.now()).toISOString()
  assert.deepEqual(factor, {
    kind: 'passkey',
    label: 'Key',
    confirmed: true,
    createdAt: now,
    lastUsedAt: null,
  })
  assert.equal(recoveryCodes.length, 10)
  const options = await creationOptions(proof)
  assert.deepEqual(options.rp, { id: 'carillon.example', name: 'carillon.example' })
  assert.deepEqual(options.user, {
    id: Buffer.from(ann.id).toString('base64url'),
    name: ann.username,
    displayName: ann.username,
  })
  assert.deepEqual(options.excludeCredentials, [
    { id: first.passkey.id, type: 'public-key', transports: ['internal'] },
  ])
  const second = await add(proof)
  assert.equal(second.added.status, 201)
  assert.equal('recoveryCodes' in second.added.json().data, false)
  assert.equal(
    (await app.post('/login/passkey', { response: await signed(first.passkey) })).status,
    200,
  )
  const events = (await app.store.read(listAudit, { userId: ann.id, limit: 100 })).map(
    ({ event, detail }) => [event, detail?.factorId ?? detail?.method],
  )
  assert.ok(events.some(([event, of]) => event === 'factor-added' && of === id))
  assert.ok(events.some(([event, of]) => event === 'sign-in' && of === 'passkey'))
})

test('a challenge adds one passkey, for its own user, and only within five minutes (A18)', async () => {
  const ann = await app.user()
  const eve = await app.user()
  const ofAnn = await app.signIn(ann, 'stateful')
  const ofEve = await app.signIn(eve, 'stateless')
  const options = await creationOptions(ofAnn)
  const post = (proof: Proof, given = options) =>
    app.post(factorsPath, { response: authenticator.create(given).response }, proof)
  assert.equal((await post(ofEve)).status, 422)
  const raced = await Promise.all(Array.from({ length: 5 }, () => post(ofAnn)))
  // With the passkey, the session gets a new cookie: a request that is later than that is not signed in.
  const statuses = raced.map(({ status }) => (status === 401 ? 422 : status))
  assert.deepEqual(statuses.toSorted(), [201, 422, 422, 422, 422])
  assert.equal((await post(ofAnn)).status, 422)
  assert.equal(
    (await post(ofAnn, { ...options, challenge: (await requestOptions()).challenge })).status,
    422,
  )
  const late = await creationOptions(ofAnn)
  app.pass(5 * minute)
  assert.equal((await post(ofAnn, late)).status, 422)
  assert.deepEqual([await countOf(ann), await countOf(eve)], [1, 0])
})

test('the same passkey twice is a 409', async () => {
  const ann = await app.user()
  const proof = await app.signIn(ann, 'stateful')
  const { passkey } = await add(proof)
  const again = await add(proof, { id: passkey.id })
  assert.deepEqual([again.added.status, codeOf(again.added)], [409, 'CONFLICT'])
  assert.equal(await countOf(ann), 1)
})

test('only a recent sign-in adds a passkey (A18)', async () => {
  const ann = await app.user()
  const proof = await app.signIn(ann, 'stateful')
  const { response } = authenticator.create(await creationOptions(proof))
  app.pass(10 * minute + 1)
  for (const [path, body] of [[`${factorsPath}/options`], [factorsPath, { response }]] as const)
    assert.equal(codeOf(await app.post(path, body, proof)), 'FRESH_SIGN_IN_REQUIRED')
  assert.equal(await countOf(ann), 0)
})

test('a passkey completes a sign-in with a password, once (A17, A18)', async () => {
  const ann = await app.user()
  const passkey = await passkeyOf(ann)
  const challenge = await waitingSignIn(ann, 'stateless')
  const options = await requestOptions({ challenge })
  assert.deepEqual(options.allowCredentials, [
    { id: passkey.id, type: 'public-key', transports: [] },
  ])
  const body = { challenge, passkey: authenticator.get(passkey, options) }
  const completed = await app.post('/login/second-factor', body)
  assert.equal(completed.status, 200, completed.text)
  assert.deepEqual([completed.json().User.id, completed.json().variant], [ann.id, 'stateless'])
  const replayed = await app.post('/login/second-factor', body)
  assert.deepEqual([replayed.status, codeOf(replayed)], [401, 'UNAUTHORIZED'])
  const reused = await app.post('/login/second-factor', {
    ...body,
    challenge: await waitingSignIn(ann),
  })
  assert.deepEqual([reused.status, codeOf(reused)], [422, 'UNPROCESSABLE'])
})

test('a passkey of another user, a wrong signature and a copy complete nothing, and the right passkey still does (A17)', async () => {
  const ann = await app.user()
  const eve = await app.user()
  const ofAnn = await passkeyOf(ann)
  const ofEve = await passkeyOf(eve)
  const challenge = await waitingSignIn(ann)
  const complete = async (response: object) =>
    app.post('/login/second-factor', { challenge, passkey: response })
  const handle = Buffer.from(ann.id).toString('base64url')
  for (const response of [
    await signed(ofEve),
    await signed(ofEve, { userHandle: handle }),
    await signed(ofEve, { userHandle: null }),
    await signed(ofAnn, { signer: ofEve.privateKey }),
    await signed(ofAnn, { id: ofEve.id }),
  ]) {
    const refused = await complete(response)
    assert.deepEqual([refused.status, codeOf(refused)], [401, 'INVALID_CREDENTIALS'])
    assert.deepEqual(refused.headers.getSetCookie(), [])
  }
  assert.equal((await complete(await signed(ofAnn, { isVerified: false }))).status, 422)
  assert.equal((await complete(await signed(ofAnn, { userHandle: null }))).status, 200)
  const waiting = await waitingSignIn(ann)
  const copied = await app.post('/login/second-factor', {
    challenge: waiting,
    passkey: await signed(ofAnn, { count: 1 }),
  })
  assert.deepEqual([copied.status, codeOf(copied)], [401, 'INVALID_CREDENTIALS'])
  assert.equal((await app.store.read(factorsOf, eve.id)).factors[0]?.lastUsedAt, null)
})

test('wrong codes of others never delay a passkey as the second factor (A9)', async () => {
  const ann = await app.user()
  const passkey = await passkeyOf(ann)
  const challenge = await waitingSignIn(ann)
  const guess = async () =>
    app.post('/login/second-factor', { challenge, recoveryCode: 'a wrong code' })
  for (let n = 0; n < 5; n++) assert.equal((await guess()).status, 401)
  assert.equal((await guess()).status, 429)
  assert.equal(
    (await app.post('/login/second-factor', { challenge, passkey: await signed(passkey) })).status,
    200,
  )
})

test('a challenge that has ended, or belongs to no sign-in, gives no options and completes nothing (A18)', async () => {
  const ann = await app.user()
  const passkey = await passkeyOf(ann)
  const ended = await waitingSignIn(ann)
  app.pass(5 * minute)
  const response = await signed(passkey)
  for (const challenge of [
    ended,
    `${ann.id}.${'x'.repeat(43)}`,
    `${newId(app.now())}.${'x'.repeat(43)}`,
  ]) {
    for (const [path, body] of [
      ['/login/passkey/options'],
      ['/login/second-factor', { passkey: response }],
    ] as const) {
      const refused = await app.post(path, { challenge, ...body })
      assert.deepEqual([refused.status, codeOf(refused)], [401, 'UNAUTHORIZED'])
    }
  }
  assert.equal((await app.post('/login/passkey', { response })).status, 200)
})

test('a passkey of the same user confirms a sign-in (A18)', async () => {
  const ann = await app.user()
  const eve = await app.user()
  const proof = await app.signIn(ann, 'stateless')
  const ofAnn = await passkeyOf(ann)
  const ofEve = await passkeyOf(eve)
  app.pass(10 * minute + 1)
  const confirm = async (passkey: object) => app.post('/api/me/confirm', { passkey }, proof)
  const refused = await confirm(await signed(ofEve))
  assert.deepEqual([refused.status, codeOf(refused)], [401, 'INVALID_CREDENTIALS'])
  const response = await signed(ofAnn)
  const confirmed = await confirm(response)
  assert.equal(confirmed.status, 201)
  assert.equal((await confirm(response)).status, 422)
  const renewed = { authorization: `Bearer ${confirmed.json().data.token}` }
  assert.equal((await app.post(`${factorsPath}/options`, undefined, renewed)).status, 200)
})

test('more or less than one factor in a request is a clear 400', async () => {
  const ann = await app.user()
  const passkey = await signed(await passkeyOf(ann))
  const challenge = await waitingSignIn(ann)
  for (const body of [
    {},
    { passkey, code: '123456' },
    { passkey, recoveryCode: 'a' },
    { passkey: {} },
  ]) {
    const refused = await app.post('/login/second-factor', { challenge, ...body })
    assert.deepEqual([refused.status, codeOf(refused)], [400, 'INVALID_REQUEST'], refused.text)
  }
})

test('the database has no challenge of a passkey, only hashes of those that were used (A18)', async () => {
  const ann = await app.user()
  const passkey = await passkeyOf(ann)
  const used = await requestOptions()
  const unused = await requestOptions()
  assert.equal(
    (await app.post('/login/passkey', { response: authenticator.get(passkey, used) })).status,
    200,
  )
  const stored = JSON.stringify(await app.database.rows('select * from challenge'))
  for (const { challenge } of [used, unused]) {
    assert.ok(!stored.includes(challenge))
    assert.ok(!stored.includes(Buffer.from(challenge, 'base64url').toString()))
  }
  assert.ok(stored.includes(ann.id))
})

test('a passkey has the name that its user typed, else that of its authenticator, else the suggested one', async () => {
  const proof = await app.signIn(await app.user(), 'stateful')
  const bitwarden = 'd548826e-79b4-db40-a3d8-11116f7e8349'
  const unknown = '00000000-0000-7000-8000-000000000001'
  const cases: [aaguid: string | undefined, labels: object, label: string][] = [
    [bitwarden, { label: 'Mine', suggestedLabel: 'Firefox on Linux' }, 'Mine'],
    [bitwarden, { suggestedLabel: 'Firefox on Linux' }, 'Bitwarden'],
    [bitwarden, {}, 'Bitwarden'],
    [unknown, { suggestedLabel: 'Firefox on Linux' }, 'Firefox on Linux'],
    [undefined, { suggestedLabel: 'Firefox on Linux' }, 'Firefox on Linux'],
    [undefined, {}, 'Passkey'],
  ]
  for (const [aaguid, labels, label] of cases) {
    const { response } = authenticator.create(
      await creationOptions(proof),
      aaguid === undefined ? {} : { aaguid },
    )
    const added = await app.post(factorsPath, { response, ...labels }, proof)
    assert.equal(added.json().data.label, label)
  }
})

test('the list of factors has all passkeys of the user, and no other, for the password managers of the browser', async () => {
  const ann = await app.user()
  const ben = await app.user()
  const proof = await app.signIn(ann, 'stateful')
  await passkeyOf(ben)
  const known = async () => (await app.get('/api/me/factors', proof)).json().data.passkeys
  const userId = Buffer.from(ann.id).toString('base64url')
  const names = { rpId: 'carillon.example', userId, name: ann.username, displayName: ann.username }
  assert.deepEqual(await known(), { ...names, credentialIds: [] })
  const first = await passkeyOf(ann)
  const second = await passkeyOf(ann)
  const credentialIds = [first.id, second.id].toSorted()
  const { credentialIds: listed, ...others } = await known()
  assert.deepEqual([listed.toSorted(), others], [credentialIds, names])
})
