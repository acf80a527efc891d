// scopes.test.ts has the routes that these tokens do not open.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { decodeJwt } from 'jose'
import { newId } from '../../../server/basics/ids.ts'
import { disableUser } from '../../../server/users/access/user-changes.store.ts'
import { putUsers } from '../../../server/users/put-users.store.ts'
import { EventReader } from '../../support/event-source/event-source.ts'
import { type HttpResponse, type Proof, startTestService } from '../../support/service.ts'

const app = await startTestService()
after(() => app.stop())
const users: Proof = { authorization: `Bearer ${(await app.producerKey(['users'])).key}` }
const soonMs = 30_000

const tokensOf = (externalId: string) =>
  `/api/users/external/${encodeURIComponent(externalId)}/tokens`
const inbox = { scope: 'inbox' }
const proofIn = (response: HttpResponse): Proof => ({
  authorization: `Bearer ${response.json().data.token}`,
})
const claimsIn = ({ authorization = '' }: Proof) => decodeJwt(authorization.slice('Bearer '.length))
const revoke = (path: string, headers = users) => app.request(path, { method: 'DELETE', headers })
const opensInbox = async (proof: Proof) =>
  (await app.get('/api/notifications', proof)).status === 200
const end = () => ({ at: app.now() })

async function externalUser(externalId: string): Promise<{ id: string }> {
  const one = { newId: newId(app.now()), externalId }
  const [put] = await app.store.write(putUsers, { issuer: '', at: app.now(), users: [one] })
  return put?.user ?? assert.fail()
}

test('a token is issued by external id and by id, for 15 minutes, and opens the inbox of that user', async () => {
  const { id } = await externalUser('erin')
  for (const path of [tokensOf('erin'), `/api/users/${id}/tokens`]) {
    const response = await app.post(path, inbox, users)
    assert.equal(response.status, 201)
    assert.deepEqual(Object.keys(response.json().data), ['token', 'expiresAt'])
    assert.equal(response.json().data.expiresAt, new Date(app.now() + 900_000).toISOString())
    const token = proofIn(response)
    const { data } = (await app.get('/api/session', token)).json()
    assert.deepEqual([data.user.id, data.proof], [id, 'access-token'])
    assert.ok(await opensInbox(token))
  }
})

test('an issued token names its scope and its user’s id, and no name', async () => {
  const { id } = await app.user()
  const { sub, scope, ign, gen, sid, ...others } = claimsIn(await app.issueToken({ id }))
  assert.deepEqual([sub, scope, ign, gen], [id, 'inbox', 0, 0])
  assert.deepEqual(Object.keys(others).sort(), ['aud', 'auth_time', 'exp', 'iat', 'iss', 'jti'])
  assert.notEqual(claimsIn(await app.issueToken({ id })).sid, sid, 'each is a sign-in of its own')
})

test('a token ends after the lifetime that was requested, which is at most 900 seconds', async () => {
  const user = await app.user()
  const path = `/api/users/${user.id}/tokens`
  for (const lifetime of [1, 60, 900]) {
    const token = await app.issueToken(user, { lifetime })
    app.pass(lifetime * 1_000 - 1)
    assert.ok(await opensInbox(token))
    app.pass(1)
    assert.equal(await opensInbox(token), false)
  }
  for (const lifetime of [0, -1, 901, 1.5, '60', null, 1e300, [60]]) {
    const response = await app.post(path, { ...inbox, lifetime }, users)
    assert.equal(response.status, 400, String(lifetime))
    assert.equal(response.json().error.details[0].field, 'lifetime')
  }
})

test('a request for another scope, without a scope, or with an unknown field is refused', async () => {
  const { id } = await app.user()
  for (const body of [
    {},
    { scope: 'send' },
    { scope: ['inbox'] },
    { scope: 'inbox ' },
    { ...inbox, userId: id },
    [],
  ]) {
    const { status } = await app.post(`/api/users/${id}/tokens`, body, users)
    assert.equal(status, 400, JSON.stringify(body))
  }
})

test('an unknown user is 404, and a disabled user is refused with what to do', async () => {
  for (const path of [
    tokensOf('unknown'),
    `/api/users/${newId(app.now())}/tokens`,
    '/api/users/x/tokens',
  ]) {
    assert.equal((await app.post(path, inbox, users)).json().error.code, 'NOT_FOUND')
    assert.equal((await revoke(path)).status, 404)
  }
  const { id } = await app.user()
  await app.store.write(disableUser, { userId: id, ...end() })
  const { status, json } = await app.post(`/api/users/${id}/tokens`, inbox, users)
  assert.deepEqual([status, json().error.code], [409, 'CONFLICT'])
  assert.match(json().error.message, /disabled.*Enable/)
  assert.equal((await revoke(`/api/users/${id}/tokens`)).status, 204)
})

test('DELETE revokes every issued token of the user at once, and nothing else; later tokens are valid (T17)', async () => {
  const ann = await app.user()
  const ben = await app.user()
  const issued = [await app.issueToken(ann), await app.issueToken(ann)]
  const others = [
    await app.issueToken(ben),
    await app.signIn(ann, 'stateless'),
    await app.signIn(ann, 'stateful'),
    proofIn(await app.post('/api/me/token', undefined, await app.signIn(ann, 'stateful'))),
  ]
  // The clock is frozen: the token before and the token after have the same times.
  for (let round = 0; round < 3; round++) {
    assert.equal((await revoke(`/api/users/${ann.id}/tokens`)).status, 204)
    for (const token of issued)
      assert.equal((await app.get('/api/notifications', token)).status, 401)
    for (const proof of others) assert.ok(await opensInbox(proof))
    const later = await app.issueToken(ann)
    assert.ok(await opensInbox(later))
    issued.push(later)
  }
})

const ends: Record<string, (user: { id: string }, token: Proof) => Promise<unknown>> = {
  'DELETE .../tokens': ({ id }) => revoke(`/api/users/${id}/tokens`),
  'disabling the user': ({ id }) => app.store.write(disableUser, { userId: id, ...end() }),
  'a sign-out with the token': (_, token) => app.post('/logout', undefined, token),
}
for (const [name, act] of Object.entries(ends))
  test(`${name} ends the streams of an issued token, and the token is refused`, async () => {
    const ann = await app.user()
    const token = await app.issueToken(ann)
    using reader = await EventReader.of(app.url, token)
    await act(ann, token)
    if (name.includes(' with ') || name.startsWith('DELETE'))
      assert.equal(await opensInbox(token), false, 'at once')
    assert.deepEqual((await reader.next('session-ended', soonMs)).data, { reason: 'revoked' })
    await reader.ended(soonMs)
    assert.equal((await app.get('/api/notifications', token)).status, 401)
    assert.equal((await app.get('/api/session', token)).json().data, null)
  })

test('a sign-out with one issued token leaves the others', async () => {
  const ann = await app.user()
  const one = await app.issueToken(ann)
  const other = await app.issueToken(ann)
  await app.post('/logout', undefined, one)
  assert.deepEqual([await opensInbox(one), await opensInbox(other)], [false, true])
})
