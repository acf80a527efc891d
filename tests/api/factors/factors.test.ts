// Adding, listing and removing second factors, and how recent the sign-in must be (A17, A18).
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { decodeJwt } from 'jose'
import { newId } from '../../../server/basics/ids.ts'
import { addFactor, factorsOf, useFactor } from '../../../server/factors/factors.store.ts'
import { replaceOperation } from '../../../server/store/testing/operations.ts'
import { type Proof, startTestService } from '../../support/service.ts'
import {
  Authenticator,
  carefulUser,
  challengeOf,
  signInWithCode,
} from '../../support/sign-in/authenticator.ts'

const app = await startTestService()
after(() => app.stop())

const minute = 60_000
const add = (proof: Proof, body: unknown = {}) => app.post('/api/me/factors/totp', body, proof)
const confirmTotp = (proof: Proof, body: object) =>
  app.post('/api/me/factors/totp/confirm', body, proof)
const listed = async (proof: Proof) => (await app.get('/api/me/factors', proof)).json().data
const remove = (proof: Proof, id: string) =>
  app.request(`/api/me/factors/${id}`, { method: 'DELETE', headers: proof })
const confirm = (proof: Proof, body: object) => app.post('/api/me/confirm', body, proof)

test('a factor counts only after its first code, which gives the recovery codes once', async () => {
  const user = await app.user()
  const proof = await app.signIn(user, 'stateful')
  assert.deepEqual(await listed(proof), { items: [], recoveryCodesLeft: 0, passkeys: null })
  const added = await add(proof, { label: 'My phone' })
  assert.equal(added.status, 201, added.text)
  const { id, secret, uri, qr } = added.json().data
  assert.match(secret, /^[A-Z2-7]{32}$/)
  assert.ok(
    uri.startsWith(`otpauth://totp/127.0.0.1:${user.username}?`) && uri.includes(secret),
    uri,
  )
  assert.match(qr, /^<svg /)
  assert.equal((await app.post('/login', { ...user, id: undefined })).status, 200)
  const phone = new Authenticator(secret)
  const wrong = await confirmTotp(proof, { id, code: phone.wrongCode(app.now()) })
  assert.deepEqual([wrong.status, wrong.json().error.code], [401, 'INVALID_CREDENTIALS'])
  const right = await confirmTotp(proof, { id, code: phone.code(app.now()) })
  assert.equal(right.status, 200, right.text)
  assert.equal(right.json().data.recoveryCodes.length, 10)
  const again = await confirmTotp(proof, { id, code: phone.code(app.now(), 1) })
  assert.deepEqual([again.status, again.json().error.code], [409, 'CONFLICT'])
  const { items, recoveryCodesLeft } = await listed(proof)
  assert.equal(recoveryCodesLeft, 10)
  const [{ createdAt, lastUsedAt, ...factor }] = items
  assert.deepEqual(factor, { id, kind: 'totp', label: 'My phone', confirmed: true })
  assert.equal(createdAt, new Date(app.now()).toISOString())
  const second = (await add(proof)).json().data
  const code = new Authenticator(second.secret).code(app.now())
  const without = (await confirmTotp(proof, { id: second.id, code })).json().data
  assert.deepEqual([without.label, 'recoveryCodes' in without], ['Authenticator app', false])
})

test('a body is not needed to add a factor; a label is a text of up to 64 characters', async () => {
  const proof = await app.signIn(await app.user(), 'stateful')
  assert.equal((await app.post('/api/me/factors/totp', undefined, proof)).status, 201)
  for (const label of ['', 'x'.repeat(65), 7])
    assert.equal((await add(proof, { label })).status, 400)
})

test('a sealed secret that is copied into the row of another user opens nothing', async () => {
  const ann = await app.user()
  const eve = await carefulUser(app)
  const [stolen] = (await app.store.read(factorsOf, eve.id)).factors
  const factor = {
    ...stolen,
    id: newId(app.now()),
    kind: 'totp',
    label: 'Copy',
    createdAt: 1,
    confirmedAt: 1,
  } as const
  await app.store.write(addFactor, {
    userId: ann.id,
    factor,
    maxFactors: 1,
    recoveryCodeHashes: [],
  })
  const challenge = await challengeOf(app, ann, 'stateful')
  const response = await app.post('/login/second-factor', {
    challenge,
    code: eve.app.code(app.now()),
  })
  assert.equal(response.status, 403)
})

test("another user's factor cannot be confirmed or removed (Z1)", async () => {
  const ann = await carefulUser(app)
  const eve = await app.user()
  const proof = await app.signIn(eve, 'stateful')
  const added = (await add(await signInWithCode(app, ann, 'stateful'))).json().data
  const code = new Authenticator(added.secret).code(app.now())
  assert.equal((await confirmTotp(proof, { id: added.id, code })).status, 404)
  for (const id of [ann.factorId, added.id, 'none'])
    assert.equal((await remove(proof, id)).status, 404)
  assert.equal((await app.store.read(factorsOf, ann.id)).factors.length, 2)
})

test('a user has at most ten factors', async () => {
  const user = await app.user()
  const proof = await app.signIn(user, 'stateful')
  for (let n = 0; n < 10; n++) {
    const { id, secret } = (await add(proof)).json().data
    assert.equal(
      (await confirmTotp(proof, { id, code: new Authenticator(secret).code(app.now()) })).status,
      200,
    )
  }
  const refused = await add(proof)
  assert.deepEqual([refused.status, refused.json().error.code], [409, 'CONFLICT'])
})

test('adding and removing factors needs a sign-in of the last ten minutes; a code renews it (A18)', async () => {
  const user = await carefulUser(app)
  const proof = await signInWithCode(app, user, 'stateless')
  const changes = [
    () => add(proof),
    () => confirmTotp(proof, { id: user.factorId, code: '000000' }),
    () => app.post('/api/me/factors/recovery-codes', undefined, proof),
    () => remove(proof, user.factorId),
  ]
  app.pass(10 * minute)
  assert.equal((await add(proof)).status, 201)
  app.pass(1_000)
  for (const change of changes) {
    const { status, json } = await change()
    assert.deepEqual([status, json().error.code], [403, 'FRESH_SIGN_IN_REQUIRED'])
  }
  assert.equal((await listed(proof)).items.length, 2)
  const confirmed = await confirm(proof, { code: user.app.code(app.now()) })
  assert.equal(confirmed.status, 201, confirmed.text)
  const { token } = confirmed.json().data
  const before = decodeJwt((proof.authorization ?? '').slice(7))
  const now = decodeJwt(token)
  assert.deepEqual([now.sid, now.auth_time], [before.sid, Math.floor(app.now() / 1_000)])
  const fields = Object.entries({ ...proof, 'content-type': 'application/json' })
  const copy = await app.exchange('/api/me/factors/totp', {
    method: 'POST',
    fields,
    body: '{}',
  })
  assert.equal(copy.status, 401, 'the token before is revoked')
  const fresh = { authorization: `Bearer ${token}` }
  assert.equal((await add(fresh)).status, 201)
  app.pass(10 * minute)
  const removed = await remove(fresh, user.factorId)
  assert.equal(removed.status, 200)
  const last = { authorization: `Bearer ${removed.json().data.token}` }
  assert.equal((await app.post('/api/me/factors/recovery-codes', undefined, last)).status, 409)
})

test('the freshness of a token is renewed with it, and not made anew by a renewal (A18)', async () => {
  const user = await app.user()
  const proof = await app.signIn(user, 'stateless')
  app.pass(8 * minute)
  const renewed = {
    authorization: `Bearer ${(await app.post('/token/renew', undefined, proof)).json().token}`,
  }
  assert.equal((await add(renewed)).status, 201)
  app.pass(2 * minute + 1_000)
  assert.equal((await add(renewed)).status, 403)
  const confirmed = await confirm(renewed, { password: user.password })
  const fresh = { authorization: `Bearer ${confirmed.json().data.token}` }
  const later = await app.post('/token/renew', undefined, fresh)
  assert.equal((await add({ authorization: `Bearer ${later.json().token}` })).status, 201)
})

test('the token of a session confirms nothing and changes no credential, however fresh: only the cookie does (S17)', async () => {
  const user = await app.user()
  const session = await app.signIn(user, 'stateful')
  const proof = {
    authorization: `Bearer ${(await app.post('/api/me/token', undefined, session)).json().data.token}`,
  }
  const put = { method: 'PUT', headers: { ...proof, 'content-type': 'application/json' } }
  const body = JSON.stringify({
    currentPassword: user.password,
    newPassword: 'grey heron over the weir',
  })
  const refused = [
    await confirm(proof, { password: user.password }),
    await app.request('/api/me/password', { ...put, body }),
    await add(proof),
    await confirmTotp(proof, { id: user.id, code: '000000' }),
    await app.post('/api/me/factors/passkeys', { response: {} }, proof),
    await app.post('/api/me/factors/recovery-codes', undefined, proof),
    await remove(proof, user.id),
    await app.post('/api/me/providers/staff/link', {}, proof),
    await app.delete('/api/me/providers/staff', proof),
  ]
  for (const { status, json } of refused) {
    assert.equal(status, 403)
    assert.match(
      json().error.message,
      /^The token of a session confirms nothing and changes no credential/,
    )
  }
  assert.equal((await app.get('/routeRestreinte', session)).status, 200)
  assert.equal((await confirm(session, { password: user.password })).status, 204)
})

test('without a factor the password confirms; with one it does not, and a right one demands the factor (A18)', async () => {
  const plain = await app.user()
  const proof = await app.signIn(plain, 'stateful')
  assert.equal((await confirm(proof, { password: plain.password })).status, 204)
  const careful = await carefulUser(app)
  const session = await signInWithCode(app, careful, 'stateful')
  app.pass(11 * minute)
  const refused = await confirm(session, { password: careful.password })
  assert.deepEqual([refused.status, refused.json().error.code], [401, 'SECOND_FACTOR_REQUIRED'])
  assert.equal((await add(session)).status, 403)
  assert.equal((await confirm(session, { recoveryCode: careful.recoveryCodes[0] })).status, 204)
  assert.equal((await add(session)).status, 201)
})

test('a wrong or used proof confirms nothing, and is counted as a guess (A9)', async () => {
  const user = await carefulUser(app)
  const proof = await signInWithCode(app, user, 'stateful')
  const used = user.app.code(app.now())
  app.pass(11 * minute)
  for (const body of [
    { password: 'not the password' },
    { code: user.app.wrongCode(app.now()) },
    { code: used },
    { recoveryCode: 'aaaa-bbbb-cccc-dddd-eeee-ffff' },
  ]) {
    const { status, json } = await confirm(proof, body)
    assert.deepEqual([status, json().error.code], [401, 'INVALID_CREDENTIALS'])
  }
  assert.equal((await add(proof)).status, 403)
  for (let n = 0; n < 3; n++) await confirm(proof, { code: user.app.wrongCode(app.now()) })
  assert.equal((await confirm(proof, { code: user.app.code(app.now()) })).status, 429)
  for (const body of [{}, { password: 'a', code: '1' }, { pin: '1' }])
    assert.equal((await confirm(proof, body)).status, 400)
})

test('a right code that comes too late for its proof is no failure: the next one is not delayed (S17)', async () => {
  const user = await carefulUser(app)
  const proof = await signInWithCode(app, user, 'stateful')
  app.pass(minute)
  const restore = replaceOperation(app.store, useFactor, async () => 'outdated' as const)
  for (let n = 0; n < 7; n++)
    assert.equal(
      (await confirm(proof, { code: user.app.code(app.now()) })).json().error.code,
      'UNAUTHORIZED',
    )
  restore()
  const confirmed = await confirm(proof, { code: user.app.code(app.now()) })
  assert.equal(confirmed.status, 204, confirmed.text)
})
