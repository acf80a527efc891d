// POST /api/me/token: the token is of the same sign-in, and ends with the session.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { decodeJwt } from 'jose'
import { disableUser, setPassword } from '../../../server/users/access/user-changes.store.ts'
import { EventReader } from '../../support/event-source/event-source.ts'
import { type Proof, startTestService, type TestUser } from '../../support/service.ts'

const minute = 60_000
const soonMs = 30_000
const app = await startTestService({
  env: {
    CARILLON_SESSION_IDLE: '8m',
    CARILLON_SESSION_LIFETIME: '60m',
    CARILLON_TOKEN_LIFETIME: '10m',
  },
})
after(() => app.stop())

async function tokenOf(proof: Proof): Promise<Proof> {
  const response = await app.post('/api/me/token', undefined, proof)
  assert.equal(response.status, 201, response.text)
  assert.deepEqual(Object.keys(response.json().data), ['token', 'expiresAt'])
  return { authorization: `Bearer ${response.json().data.token}` }
}
const claimsIn = ({ authorization = '' }: Proof) => decodeJwt(authorization.slice('Bearer '.length))
const endOf = (token: Proof) => (claimsIn(token).exp ?? 0) * 1_000
const isOpen = async (proof: Proof) => (await app.get('/routeRestreinte', proof)).status === 200
const end = () => ({ at: app.now() })

async function signedIn(): Promise<{ ann: TestUser; session: Proof; token: Proof }> {
  const ann = await app.user()
  const session = await app.signIn(ann, 'stateful')
  return { ann, session, token: await tokenOf(session) }
}

test('a session’s owner gets a token that opens what the session opens', async () => {
  const { ann, session, token } = await signedIn()
  const { sub, preferred_username: name, scope } = claimsIn(token)
  assert.deepEqual([sub, name, scope], [ann.id, ann.username, undefined])
  for (const path of ['/routeRestreinte', '/api/me', '/api/notifications'])
    assert.equal((await app.get(path, token)).status, 200)
  assert.equal(claimsIn(await tokenOf(session)).sid, claimsIn(token).sid)
})

test('a token of a session has the time of the sign-in, not that of the token', async () => {
  const session = await app.signIn(await app.user(), 'stateful')
  const signedInAt = app.now()
  app.pass(5 * minute)
  assert.equal(claimsIn(await tokenOf(session)).auth_time, signedInAt / 1_000)
})

test('a token of a session never outlives it, by its lifetime or by its idle timeout (T18)', async () => {
  const session = await app.signIn(await app.user(), 'stateful')
  const from = app.now()
  assert.equal(endOf(await tokenOf(session)), from + 8 * minute)
  for (let n = 0; n < 8; n++) {
    app.pass(7 * minute)
    await app.get('/api/me', session)
    await app.noted()
  }
  assert.equal(endOf(await tokenOf(session)), from + 60 * minute)
  app.pass(4 * minute)
  assert.equal((await app.post('/api/me/token', undefined, session)).status, 401)
})

test('a request for a token uses the session, so the token ends with the idle timeout that begins there', async () => {
  for (let n = 0; n < 5; n++) {
    const session = await app.signIn(await app.user(), 'stateful')
    app.pass(8 * minute - 5_000)
    assert.equal(endOf(await tokenOf(session)), app.now() + 8 * minute)
    app.pass(8 * minute - 5_000)
    assert.ok(await isOpen(session))
  }
})

const ends: Record<
  string,
  (of: { ann: TestUser; session: Proof; token: Proof }) => Promise<unknown>
> = {
  'a sign-out with the cookie': ({ session }) => app.post('/logout', undefined, session),
  'a sign-out with the token': ({ token }) => app.post('/logout', undefined, token),
  'a stateful sign-in that replaces the session': ({ ann, session }) =>
    app.post(
      '/login',
      { username: ann.username, password: ann.password, variant: 'stateful' },
      session,
    ),
  'a stateless sign-in that replaces the session': ({ ann, session }) =>
    app.post(
      '/login',
      { username: ann.username, password: ann.password, variant: 'stateless' },
      session,
    ),
  'disabling the user': ({ ann }) => app.store.write(disableUser, { userId: ann.id, ...end() }),
  'a new password': ({ ann }) =>
    app.store.write(setPassword, { userId: ann.id, passwordHash: 'hash', ...end() }),
}
for (const [name, act] of Object.entries(ends))
  test(`${name} ends the session, its tokens and their streams, and no other sign-in`, async () => {
    const all = await signedIn()
    const { ann, session, token } = all
    const sameUser = name.startsWith('a s')
      ? [await app.signIn(ann, 'stateful'), await app.signIn(ann, 'stateless')]
      : []
    const others = [...sameUser, (await signedIn()).token]
    if (sameUser[0] !== undefined) others.push(await tokenOf(sameUser[0]))
    const readers = [await EventReader.of(app.url, session), await EventReader.of(app.url, token)]
    await act(all)
    if (!name.startsWith('a s')) await app.refused(token)
    for (const proof of [session, token]) assert.equal(await isOpen(proof), false)
    for (const reader of readers) {
      assert.deepEqual((await reader.next('session-ended', soonMs)).data, { reason: 'revoked' })
      await reader.ended(soonMs)
    }
    for (const proof of others) assert.ok(await isOpen(proof))
  })

test('a token of a session is renewed by no route, and the refusal says how to get another one', async () => {
  const { token } = await signedIn()
  for (const path of ['/token/renew', '/api/me/token']) {
    const response = await app.post(path, undefined, token)
    assert.deepEqual([response.status, response.json().error.code], [403, 'FORBIDDEN'])
    assert.match(response.json().error.message, /session.*POST \/api\/me\/token/)
    assert.equal(response.headers.get('www-authenticate'), 'Bearer error="insufficient_scope"')
  }
  assert.ok(await isOpen(token))
})

test('a token of a sign-in gets a fresh token of that sign-in, as by /token/renew', async () => {
  const token = await app.signIn(await app.user(), 'stateless')
  app.pass(minute)
  const fresh = await tokenOf(token)
  assert.equal(claimsIn(fresh).sid, claimsIn(token).sid)
  assert.equal(endOf(fresh), endOf(token) + minute)
  assert.equal((await app.post('/token/renew', undefined, fresh)).status, 200)
  await app.post('/logout', undefined, token)
  assert.equal(await isOpen(fresh), false)
})

test('no token without a valid proof, for a token of scope inbox, or for a page of another site', async () => {
  const ann = await app.user()
  const session = await app.signIn(ann, 'stateful')
  assert.equal((await app.post('/api/me/token')).status, 401)
  assert.equal((await app.post('/api/me/token', undefined, { cookie: 'carillon=x' })).status, 401)
  assert.equal((await app.post('/api/me/token', undefined, await app.issueToken(ann))).status, 403)
  const foreign = { ...session, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
  assert.equal(
    (await app.exchange('/api/me/token', { method: 'POST', fields: Object.entries(foreign) }))
      .status,
    403,
  )
})

test('a session gets tokens while other requests end it; none of them outlives it', async () => {
  for (let round = 0; round < 10; round++) {
    const session = await app.signIn(await app.user(), 'stateful')
    const requests = Array.from({ length: 4 }, () => app.post('/api/me/token', undefined, session))
    const [, ...responses] = await Promise.all([
      app.post('/logout', undefined, session),
      ...requests,
    ])
    for (const { status, json } of responses)
      if (status === 201)
        assert.equal(await isOpen({ authorization: `Bearer ${json().data.token}` }), false)
      else assert.equal(status, 401)
  }
})
