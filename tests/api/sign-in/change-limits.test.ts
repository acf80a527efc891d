// A change without effect causes no entry, and the others 60 at once (L1).
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { listAudit } from '../../../server/audit/audit.store.ts'
import { reserveGuess } from '../../../server/guessing/guesses.store.ts'
import { Passwords } from '../../../server/passwords/passwords.ts'
import { refusalIn } from '../../support/http/envelope.ts'
import { type Proof, startTestService } from '../../support/service.ts'
import { Authenticator, carefulUser, signInWithCode } from '../../support/sign-in/authenticator.ts'

const app = await startTestService()
after(() => app.stop())

const send = (method: string, path: string, proof: Proof, body?: object) =>
  app.request(path, {
    method,
    headers: { ...proof, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
const rename = (proof: Proof, displayName: string) =>
  send('PATCH', '/api/me', proof, { displayName })
const entriesOf = async (userId: string) =>
  (await app.store.read(listAudit, { userId, limit: 500 }))
    .map(({ event }) => event)
    .filter((event) => event !== 'sign-in')

const idOf = async (proof: Proof) =>
  (await app.get('/api/me/sessions', proof)).json().data.items[0].id

/** At the same time, so that the changes share commits. */
async function renameOften(proof: Proof, times: number): Promise<void> {
  const renamed = await Promise.all(
    Array.from({ length: times }, (_, n) => rename(proof, `Ann ${n}`)),
  )
  for (const { status } of renamed) assert.equal(status, 200)
}

test('a profile that is sent again as it is writes no entry and counts against no limit (L1)', async () => {
  const ann = await app.user()
  const proof = await app.signIn(ann, 'stateless')
  const profile = { displayName: 'Ann', locale: 'de' }
  assert.equal((await send('PATCH', '/api/me', proof, profile)).status, 200)
  const before = await entriesOf(ann.id)
  for (let n = 0; n < 100; n++) {
    const again = await send('PATCH', '/api/me', proof, n % 2 === 0 ? profile : {})
    assert.equal(again.status, 200, again.text)
    assert.equal(again.json().data.user.displayName, 'Ann')
  }
  assert.deepEqual(await entriesOf(ann.id), before)
  assert.equal(
    (await send('PATCH', '/api/me', proof, { displayName: 'Ann', locale: 'fr' })).status,
    200,
  )
  const [changed] = await app.store.read(listAudit, { userId: ann.id, limit: 1 })
  assert.deepEqual(changed?.detail, { fields: 'locale' })
})

test('a user changes the account 60 times, is then refused on every node, and again once a minute (L1)', async () => {
  const ann = await app.user()
  const proof = await app.signIn(ann, 'stateful')
  const [id] = await app.deliver({ to: ann, title: 'Parcel' })
  const entries = await entriesOf(ann.id)
  await renameOften(proof, 60)
  const refused = await rename(proof, 'Eve')
  assert.equal(refused.status, 429, refused.text)
  assert.equal(refusalIn(refused).code, 'TOO_MANY_REQUESTS')
  assert.equal(refused.headers.get('retry-after'), '60')
  await app.restart()
  assert.equal((await rename(proof, 'Eve')).status, 429)
  assert.equal((await entriesOf(ann.id)).length, entries.length + 60)
  assert.equal((await send('PATCH', `/api/notifications/${id}/read`, proof)).status, 204)
  assert.equal((await send('POST', '/api/notifications/read-all', proof)).status, 204)
  assert.equal((await rename(await app.signIn(await app.user(), 'stateful'), 'Bob')).status, 200)
  app.pass(60_000)
  assert.equal((await rename(proof, 'Eve')).status, 200)
  assert.equal((await rename(proof, 'Ann')).status, 429)
  app.pass(3_600_000)
  await renameOften(proof, 60)
})

test("a thief who uses up the changes of an account cannot keep its owner from confirming and ending the thief's sign-in (L1)", async () => {
  const ann = await app.user()
  const thief = await app.signIn(ann, 'stateful')
  const owner = await app.signIn(ann, 'stateful')
  await renameOften(thief, 60)
  for (let n = 0; n < 100; n++)
    assert.equal(
      (await send('DELETE', `/api/me/sessions/${crypto.randomUUID()}`, thief)).status,
      404,
    )
  assert.equal((await send('DELETE', '/api/me/sessions', owner)).status, 204)
  assert.equal((await rename(thief, 'Eve')).status, 401)
  for (let n = 1; n < 60; n++)
    assert.equal((await send('DELETE', '/api/me/sessions', owner)).status, 204)
  assert.equal((await send('DELETE', '/api/me/sessions', owner)).status, 429)
})

test('a stale sign-in that uses up what it may change blocks nothing that needs a fresh one (S19)', async () => {
  const ann = await app.user()
  const thief = await app.signIn(ann, 'stateful')
  const thiefsId = await idOf(thief)
  const ended: string[] = []
  for (let n = 0; n < 60; n++) {
    app.pass(1_000)
    ended.push(await idOf(await app.signIn(ann, 'stateless')))
  }
  app.pass(11 * 60_000)
  for (const id of ended)
    assert.equal((await send('DELETE', `/api/me/sessions/${id}`, thief)).status, 204)
  await renameOften(thief, 60)
  assert.equal((await rename(thief, 'Eve')).status, 429)
  for (let n = 0; n < 6; n++)
    await send('POST', '/api/me/confirm', thief, { password: `wrong ${n}` })
  assert.equal(
    (await send('POST', '/api/me/confirm', thief, { password: ann.password })).status,
    429,
  )

  const owner = await app.signIn(ann, 'stateful')
  const { password } = ann
  assert.equal((await send('POST', '/api/me/confirm', owner, { password })).status, 204)
  const { id, secret } = (await send('POST', '/api/me/factors/totp', owner, {})).json().data
  const code = new Authenticator(secret).code(app.now())
  assert.equal(
    (await send('POST', '/api/me/factors/totp/confirm', owner, { id, code })).status,
    200,
  )
  assert.equal((await send('POST', '/api/me/factors/recovery-codes', owner)).status, 201)
  assert.equal((await send('DELETE', `/api/me/factors/${id}`, owner)).status, 204)
  assert.equal((await send('DELETE', `/api/me/sessions/${thiefsId}`, owner)).status, 204)
  assert.equal((await send('POST', `/api/me/sessions/${thiefsId}/disown`, owner)).status, 200)
  assert.equal((await send('DELETE', '/api/me/sessions', owner)).status, 204)
})

test('a confirmation that is refused by the limit uses up no recovery code, and the cookie stays (L1)', async () => {
  const ann = await carefulUser(app)
  const proof = await signInWithCode(app, ann, 'stateful')
  // As 60 confirmations and new passwords would; a code is accepted once in 30 s.
  const limits = [{ key: `user ${ann.id} defences`, intervalMs: 60_000, burst: 60 }]
  for (let n = 0; n < 60; n++)
    assert.deepEqual(await app.store.write(reserveGuess, { limits, at: app.now() }), [])
  const [recoveryCode = ''] = ann.recoveryCodes
  const confirm = () => send('POST', '/api/me/confirm', proof, { recoveryCode })
  const refused = await confirm()
  assert.equal(refused.status, 429, refused.text)
  assert.deepEqual(refused.headers.getSetCookie(), [])
  assert.equal((await app.get('/api/me', proof)).status, 200)
  app.pass(60_000)
  assert.equal((await confirm()).status, 204)
  const [{ event, detail } = {}] = await app.store.read(listAudit, { userId: ann.id, limit: 1 })
  assert.deepEqual([event, detail], ['confirmed', { method: 'recovery-code' }])
})

test('a fresh copy that ends sign-ins as often as it can delays neither a new password nor a confirmation (L1)', async () => {
  const ann = await app.user()
  const thief = await app.signIn(ann, 'stateful')
  const owner = await app.signIn(ann, 'stateful')
  const ownersId = await idOf(owner)
  const others = await Promise.all(
    Array.from({ length: 3 }, async () => idOf(await app.signIn(ann, 'stateless'))),
  )
  for (const id of others)
    assert.equal((await send('POST', `/api/me/sessions/${id}/disown`, thief)).status, 200)
  for (let n = others.length; n < 60; n++)
    assert.equal((await send('DELETE', '/api/me/sessions', thief)).status, 204)
  assert.equal((await send('DELETE', '/api/me/sessions', thief)).status, 429)
  assert.notEqual(await idOf(thief), ownersId)
  // The copies of the thief's cookie are the owner's, too.
  const { password } = ann
  assert.equal((await send('POST', '/api/me/confirm', thief, { password })).status, 204)
  const body = { currentPassword: password, newPassword: 'quiet heron over the weirs' }
  assert.equal((await send('PUT', '/api/me/password', thief, body)).status, 204)
})

test('with a second factor, a right password confirms nothing and writes nothing, and after 60 it is not hashed (L1, A12)', async (context) => {
  const ann = await carefulUser(app)
  const proof = await signInWithCode(app, ann, 'stateless')
  const other = await signInWithCode(app, ann, 'stateful')
  const { verify } = Passwords.prototype
  const hashed = context.mock.method(Passwords.prototype, 'verify', verify)
  const tables = async () => {
    const { audit, challenge } = await app.database.tables()
    return { audit, challenge }
  }
  const before = await tables()
  const confirm = (by: Proof) => send('POST', '/api/me/confirm', by, { password: ann.password })
  for (let n = 0; n < 60; n++) {
    const { status, json } = await confirm(proof)
    const { code, challenge } = json().error
    assert.deepEqual([status, code, challenge], [401, 'SECOND_FACTOR_REQUIRED', ''])
  }
  for (const by of [proof, other])
    assert.equal(refusalIn(await confirm(by)).code, 'TOO_MANY_REQUESTS')
  assert.equal(hashed.mock.callCount(), 60)
  assert.deepEqual(await tables(), before)
  app.pass(10_000)
  assert.equal((await confirm(proof)).status, 401)
})

test('what hashes a password for a signed-in user waits by network and account, so that a flood displaces itself (A12)', async (context) => {
  const ann = await app.user()
  const proof = await app.signIn(ann, 'stateful')
  const { verify, hash } = Passwords.prototype
  const verified = context.mock.method(Passwords.prototype, 'verify', verify)
  const hashed = context.mock.method(Passwords.prototype, 'hash', hash)
  const { password } = ann
  assert.equal((await send('POST', '/api/me/confirm', proof, { password })).status, 204)
  const body = { currentPassword: password, newPassword: 'quiet heron over the weirs' }
  assert.equal((await send('PUT', '/api/me/password', proof, body)).status, 204)
  const attempts = [
    ...verified.mock.calls.map((call) => call.arguments[2]),
    ...hashed.mock.calls.map((call) => call.arguments[1]),
  ]
  assert.deepEqual(
    attempts.map((attempt) => attempt?.address),
    ['127.0.0.1', '127.0.0.1', '127.0.0.1'],
  )
})
