import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { openForge } from '../../support/http/forge.ts'
import { type Proof, startTestService } from '../../support/service.ts'

const minute = 60_000
const hour = 60 * minute

const app = await startTestService({
  env: { CARILLON_TOKEN_LIFETIME: '10m', CARILLON_TOKEN_CHAIN: '1h' },
})
const forge = await openForge(app)
after(() => app.stop())
const ann = await app.user('ann')
const bob = await app.user('bob')

const request = async (proof: Proof) => (await app.get('/routeRestreinte', proof)).status
const tokenOf = (proof: Proof) => proof.authorization?.split(' ')[1] ?? ''
const bearer = (token: string): Proof => ({ authorization: `Bearer ${token}` })
const tokenFor = async (user = ann) => tokenOf(await app.signIn(user, 'stateless'))

test('T1, T4, T5: a token is an at+jwt of EdDSA with every claim of RFC 9068 that the service checks', async () => {
  const { username, password } = ann
  const { token, expiresAt } = (
    await app.post('/login', { username, password, variant: 'stateless' })
  ).json()
  assert.deepEqual(decodeProtectedHeader(token), { alg: 'EdDSA', typ: 'at+jwt', kid: forge.kid })
  const issuedAt = Math.floor(app.now() / 1000)
  const { jti, sid, ...claims } = decodeJwt(token)
  assert.deepEqual(claims, {
    iss: app.url,
    aud: app.url,
    sub: ann.id,
    preferred_username: 'ann',
    gen: 0,
    auth_time: issuedAt,
    iat: issuedAt,
    exp: issuedAt + 600,
  })
  assert.notEqual(jti, sid)
  assert.equal(expiresAt, new Date(app.now() + 10 * minute).toISOString())
})

test('T3: the published key set has no private part, and contains the key of every token', async () => {
  const response = await app.get('/.well-known/jwks.json')
  const { keys } = response.json()
  assert.deepEqual(
    keys.map((key: object) => Object.keys(key).sort()),
    [['alg', 'crv', 'kid', 'kty', 'use', 'x']],
  )
  assert.equal(keys[0].kid, decodeProtectedHeader(await tokenFor()).kid)
})

test('T6, T8: a token, which is cached by then, expires at its exp, to the second', async () => {
  const proof = bearer(await tokenFor())
  const { exp = 0 } = decodeJwt(tokenOf(proof))
  app.pass(exp * 1000 - app.now() - 1)
  assert.equal(await request(proof), 200)
  app.pass(1)
  assert.equal(await request(proof), 401)
})

test('T8: a cached token is revoked at once', async () => {
  const proof = bearer(await tokenFor())
  for (let use = 0; use < 3; use++) assert.equal(await request(proof), 200)
  await app.post('/logout', undefined, proof)
  for (let use = 0; use < 3; use++) assert.equal(await request(proof), 401)
})

test('T8: the cached contents of two tokens are never mixed up', async () => {
  const proofs = [
    bearer(await tokenFor(ann)),
    bearer(await tokenFor(bob)),
    bearer(await tokenFor(ann)),
  ]
  const requests = Array.from({ length: 60 }, async (_, n) => {
    const { data } = (await app.get('/routeRestreinte', proofs[n % 3])).json()
    assert.equal(data.userId, [ann, bob, ann][n % 3]?.id)
  })
  await Promise.all(requests)
  // The payload of one token with the signature of the other; both tokens were just verified.
  const anns = tokenOf(proofs[0] ?? {}).split('.')
  const bobs = tokenOf(proofs[1] ?? {}).split('.')
  assert.equal(await request(bearer([anns[0], anns[1], bobs[2]].join('.'))), 401)
  assert.equal(await request(bearer([anns[0], bobs[1], anns[2]].join('.'))), 401)
})

test('T9: a token is accepted in the Authorization header only', async () => {
  const token = await tokenFor()
  const places = [
    await app.get(`/routeRestreinte?access_token=${token}`),
    await app.get(`/routeRestreinte?token=${token}`),
    await app.get('/routeRestreinte', { 'x-access-token': token }),
    await app.get('/routeRestreinte', { 'x-auth-token': token }),
    await app.get('/routeRestreinte', { 'proxy-authorization': `Bearer ${token}` }),
    await app.get('/routeRestreinte', { cookie: `token=${token}` }),
    await app.post('/api/notifications/read-all', { access_token: token }),
    await app.request('/api/notifications/read-all', {
      method: 'POST',
      body: new URLSearchParams({ access_token: token }),
    }),
  ]
  for (const response of places) {
    assert.equal(response.status, 401)
    // The request presents no token in the right place, so the response names no error (RFC 6750, section 3.1).
    assert.equal(response.headers.get('www-authenticate'), 'Bearer')
  }
})

test('T9: a token with another scheme does not authenticate; the name of the scheme is not case-sensitive', async () => {
  const token = await tokenFor()
  const basic = Buffer.from(`ann:${token}`).toString('base64')
  const others = [
    token,
    `Token ${token}`,
    `Basic ${basic}`,
    `Basic ${token}`,
    `DPoP ${token}`,
    `JWT ${token}`,
    '',
  ]
  for (const authorization of others) {
    const response = await app.get('/routeRestreinte', { authorization })
    assert.deepEqual(
      [response.status, response.headers.get('www-authenticate')],
      [401, 'Bearer'],
      authorization,
    )
  }
  assert.equal(await request({ authorization: `bearer ${token}` }), 200)
  assert.equal(await request({ authorization: `BEARER ${token}` }), 200)
})

test('T9: two Authorization headers do not authenticate, even if they are equal', async () => {
  const good: [string, string] = ['Authorization', `Bearer ${await tokenFor()}`]
  assert.equal((await app.exchange('/routeRestreinte', { fields: [good] })).status, 200)
  for (const another of [good, ['authorization', 'Basic YTpi'], ['AUTHORIZATION', '']] as [
    string,
    string,
  ][])
    for (const fields of [
      [good, another],
      [another, good],
    ])
      assert.equal(
        (await app.exchange('/routeRestreinte', { fields })).status,
        401,
        JSON.stringify(another),
      )
})

test('if an Authorization header is present, the cookie is ignored, whether the header is valid or not', async () => {
  const session = await app.signIn(ann, 'stateful')
  const token = await app.signIn(bob, 'stateless')
  const both = await app.get('/routeRestreinte', { ...session, ...token })
  assert.deepEqual([both.json().data.userId, both.json().data.proof], [bob.id, 'access-token'])
  for (const authorization of ['Bearer a.b.c', 'Bearer', 'Basic YTpi', 'x', ''])
    assert.equal(await request({ ...session, authorization }), 401, authorization)
  assert.equal(await request({ cookie: 'carillon=made-up', ...token }), 200)
})

test('T13: a cookie’s secret is not accepted as a token, nor a token as a cookie’s secret', async () => {
  const session = await app.signIn(ann, 'stateful')
  const secret = session.cookie?.split('=')[1] ?? ''
  const token = await tokenFor()
  assert.equal(await request(bearer(secret)), 401)
  for (const part of secret.split('.'))
    assert.equal(await request(bearer(`${part}.${part}.${part}${part}`)), 401)
  assert.equal(await request({ cookie: `carillon=${token}` }), 401)
  const [, , signature = ''] = token.split('.')
  assert.equal(
    await request({
      cookie: `carillon=${ann.id}.${signature.slice(0, 22)}.${signature.slice(0, 43)}`,
    }),
    401,
  )
  assert.equal(await request(session), 200)
})

test('a token is verified without reading a session or a user from the store', async () => {
  const token = bearer(await tokenFor())
  const session = await app.signIn(ann, 'stateful')
  await app.database.change(
    'alter table session rename to session_away; alter table "user" rename to user_away',
  )
  try {
    assert.equal(await request(token), 200)
    assert.equal(await request(session), 500)
  } finally {
    await app.database.change(
      'alter table session_away rename to session; alter table user_away rename to "user"',
    )
  }
  assert.equal(await request(session), 200)
})

test('renewing gives a new token of the same sign-in, until the chain ends', async () => {
  const first = await tokenFor()
  const signedInAt = app.now()
  let token = first
  while (app.now() + 9 * minute < signedInAt + hour) {
    app.pass(9 * minute)
    const response = await app.post('/token/renew', undefined, bearer(token))
    assert.equal(response.status, 200)
    const { User, token: fresh, expiresAt } = response.json()
    assert.equal(User.id, ann.id)
    const lastMoment = Math.min(app.now() + 10 * minute, signedInAt + hour)
    assert.equal(expiresAt, new Date(lastMoment).toISOString())
    assert.deepEqual(sameSignIn(fresh), sameSignIn(first))
    assert.notEqual(decodeJwt(fresh).jti, decodeJwt(token).jti)
    assert.equal(await request(bearer(fresh)), 200)
    token = fresh
  }
  app.pass(signedInAt + hour - app.now() - 1)
  assert.equal(await request(bearer(token)), 200)
  app.pass(1)
  assert.equal(await request(bearer(token)), 401)
  const response = await app.post('/token/renew', undefined, bearer(token))
  assert.deepEqual([response.status, response.json().error.code], [401, 'UNAUTHORIZED'])
})

const sameSignIn = (token: string) => {
  const { sub, sid, auth_time } = decodeJwt(token)
  return { sub, sid, auth_time }
}

test('only a token can be renewed: a session or a request without a proof cannot', async () => {
  assert.equal((await app.post('/token/renew')).status, 401)
  assert.equal(
    (await app.post('/token/renew', undefined, await app.signIn(ann, 'stateful'))).status,
    401,
  )
  const late = bearer(await tokenFor())
  app.pass(10 * minute)
  assert.equal((await app.post('/token/renew', undefined, late)).status, 401)
})
