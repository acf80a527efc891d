import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { newId } from '../../../server/basics/ids.ts'
import { Sessions } from '../../../server/sessions/sessions.ts'
import { findCredentials } from '../../../server/users/users.store.ts'
import {
  type Proof,
  startTestService,
  type TestService,
  type TestUser,
} from '../../support/service.ts'

const minute = 60_000
const hour = 60 * minute
const idleMs = 30 * minute
const lifetimeMs = 2 * hour

const app = await startTestService({
  env: { CARILLON_SESSION_IDLE: '30m', CARILLON_SESSION_LIFETIME: '2h' },
})
after(() => app.stop())
const ann = await app.user('ann')
const bob = await app.user('bob')

const request = async (proof: Proof) => (await app.get('/routeRestreinte', proof)).status
const secretOf = (proof: Proof) => proof.cookie?.split('=')[1] ?? ''

const rowsOf = (proof: Proof) =>
  app.database.rows(`select * from session where secret_hash = '${sha256(secretOf(proof))}'`)

/** Without the work of the password hash. */
async function session(user: TestUser, service: TestService = app): Promise<Proof> {
  const checked = await service.store.read(findCredentials, user.username)
  assert.ok(checked)
  const sessions = new Sessions({
    policy: { limitedFrom: () => Number.POSITIVE_INFINITY },
    store: service.store,
    revocations: { note() {} },
    now: service.now,
    idleMs,
    lifetimeMs,
  })
  const signIn = { replaces: [], signInId: newId(service.now()), device: null, address: null }
  return { cookie: `carillon=${(await sessions.issue(checked, signIn)).secret}` }
}

test('S1: on HTTPS the cookie is __Host-, Secure, HttpOnly, SameSite, Path=/ and without Domain', async (t) => {
  const https = await startTestService({ env: { CARILLON_PUBLIC_URL: 'https://bell.example.org' } })
  t.after(() => https.stop())
  const { username, password } = await https.user()
  const login = await https.post('/login', { username, password })
  const month = 30 * 24 * 3600
  assert.match(
    login.headers.getSetCookie()[0] ?? '',
    new RegExp(
      `^__Host-carillon=[0-9a-f-]{36}\\.[\\w-]{22}\\.[\\w-]{43}; Path=/; Max-Age=${month}; HttpOnly; SameSite=Lax; Secure$`,
    ),
  )
  assert.match(
    login.headers.getSetCookie()[1] ?? '',
    /^__Host-carillon-device=[\w-]{22}\.[\w-]{43}; Path=\/; Max-Age=34560000; HttpOnly; SameSite=Lax; Secure$/,
  )
  assert.equal(login.headers.getSetCookie().length, 2)
  const proof = { cookie: login.headers.getSetCookie()[0]?.split(';')[0] ?? '' }
  assert.equal((await https.get('/routeRestreinte', proof)).status, 200)
  const underAnotherName = { cookie: proof.cookie.replace('__Host-', '') }
  assert.equal((await https.get('/routeRestreinte', underAnotherName)).status, 401)
  const logout = await https.post('/logout', undefined, proof)
  assert.deepEqual(logout.headers.getSetCookie(), [
    '__Host-carillon=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure',
  ])
})

test('S1: on plain HTTP, which is for this machine only, the cookie has no __Host- prefix and no Secure', async () => {
  const { username, password } = ann
  const cookies = (await app.post('/login', { username, password })).headers.getSetCookie()
  assert.equal(cookies.length, 2)
  assert.match(
    cookies[1] ?? '',
    /^carillon-device=[\w.-]{66}; Path=\/; Max-Age=34560000; HttpOnly; SameSite=Lax$/,
  )
  assert.match(
    cookies[0] ?? '',
    /^carillon=[0-9a-f-]{36}\.[\w-]{22}\.[\w-]{43}; Path=\/; Max-Age=7200; HttpOnly; SameSite=Lax$/,
  )
})

const random = (size: number) => randomBytes(size).toString('base64url')
/** A user may sign in 60 times at once, and then once in this time. */
const betweenSignInsMs = 10_000

test('S2: the secret in the cookie is 32 bytes and never repeats', async () => {
  const secrets: string[] = []
  for (let n = 0; n < 200; n++) {
    app.pass(betweenSignInsMs)
    secrets.push(secretOf(await session(ann)).split('.')[2] ?? '')
  }
  assert.equal(new Set(secrets).size, 200)
  for (const secret of secrets) {
    assert.equal(Buffer.from(secret, 'base64url').length, 32)
    assert.equal(Buffer.from(secret, 'base64url').toString('base64url'), secret)
  }
  // No bit of the 256 is the same in all of them.
  const bytes = secrets.map((secret) => Buffer.from(secret, 'base64url'))
  for (let bit = 0; bit < 256; bit++) {
    const ones = bytes.filter((of) => ((of[bit >> 3] ?? 0) >> (bit & 7)) & 1).length
    assert.ok(ones > 50 && ones < 150, `bit ${bit} is set in ${ones} of 200`)
  }
})

test('S3: the service never adopts a session id that the client made up', async () => {
  const { username, password } = ann
  const madeUp = { cookie: `carillon=${ann.id}.${random(16)}.${random(32)}` }
  const login = await app.post('/login', { username, password }, madeUp)
  assert.equal(login.status, 200)
  assert.ok(!login.headers.getSetCookie()[0]?.startsWith(madeUp.cookie))
  assert.equal(await request(madeUp), 401)
})

test('S3: a cookie that is not one of our sessions does not authenticate', async () => {
  const secret = secretOf(await session(ann))
  const [, constant = '', changing = ''] = secret.split('.')
  const halves = `${constant}.${changing}`
  const others = [
    '',
    'x',
    '.',
    '..',
    halves,
    `.${halves}`,
    `${ann.id}.`,
    `${ann.id}.${constant}`,
    `${ann.id}.${constant}.`,
    `${ann.id}.${changing}`,
    `${ann.id}..${changing}`,
    `${ann.id}.${random(16)}.${changing}`,
    `${ann.id}.${constant}.${random(32)}`,
    `${bob.id}.${halves}`,
    `${ann.id.toUpperCase()}.${halves}`,
    secret.slice(0, -1),
    `${secret}A`,
    `"${secret}"`,
    `${ann.id}.${constant}.${changing.toLowerCase()}`,
    `${ann.id}.${constant}.${sha256(secret)}`,
    sha256(secret),
  ]
  for (const other of others)
    assert.equal(await request({ cookie: `carillon=${other}` }), 401, other)
  for (const name of ['Carillon', 'xcarillon', 'theme=carillon', 'carillon carillon', 'carillonx'])
    assert.equal(await request({ cookie: `${name}=${secret}` }), 401, name)
  assert.equal(await request({ cookie: `theme=dark; carillon=${secret}; lang=fr` }), 200)
})

const rounds = process.env.SOAK === undefined ? 25 : 1_000

test(`S5: a request in flight never revives a session that ends: ${rounds} of ${rounds} races`, async () => {
  for (let round = 0; round < rounds; round++) {
    const proof = await session(bob)
    // Old enough that every use of it is stored.
    app.pass(2 * minute)
    const requests = [
      request(proof),
      request(proof),
      app.post('/logout', undefined, proof),
      request(proof),
      request(proof),
    ]
    const [, , logout] = await Promise.all(requests)
    assert.equal((logout as { status: number }).status, 204)
    assert.equal(await request(proof), 401, `round ${round}`)
    await app.noted()
    assert.deepEqual(await rowsOf(proof), [], `round ${round}`)
  }
})

test('S6: a session ends CARILLON_SESSION_LIFETIME after its login, even if it is used', async () => {
  const { username, password } = ann
  const login = await app.post('/login', { username, password })
  const end = app.now() + lifetimeMs
  assert.equal(login.json().expiresAt, new Date(end).toISOString())
  const proof = { cookie: login.headers.getSetCookie()[0]?.split(';')[0] ?? '' }
  while (app.now() + 20 * minute < end) {
    app.pass(20 * minute)
    assert.equal(await request(proof), 200)
    await app.noted()
  }
  app.pass(end - app.now() - 1)
  assert.equal(await request(proof), 200)
  assert.equal((await app.get('/api/me', proof)).json().data.expiresAt, new Date(end).toISOString())
  app.pass(1)
  assert.equal(await request(proof), 401)
})

test('S6: a session that is not used ends after CARILLON_SESSION_IDLE, counted from the last use', async (t) => {
  const hasty = await startTestService({ env: { CARILLON_SESSION_IDLE: '30s' } })
  t.after(() => hasty.stop())
  const proof = await hasty.signIn(await hasty.user(), 'stateful')
  for (let use = 0; use < 4; use++) {
    hasty.pass(20_000)
    assert.equal((await hasty.get('/routeRestreinte', proof)).status, 200, `use ${use}`)
    await hasty.noted()
  }
  hasty.pass(30_000)
  assert.equal((await hasty.get('/routeRestreinte', proof)).status, 401)
})

test('S12: every authenticated response has no-store, and a sign-out leaves the rest of the origin as it is', async () => {
  const proof = await session(ann)
  const responses = [
    await app.get('/routeRestreinte', proof),
    await app.get('/api/me', proof),
    await app.get('/api/notifications', proof),
    await app.get('/api/notifications/counts', proof),
    await app.get('/api/notifications'),
  ]
  for (const { headers } of responses) assert.equal(headers.get('cache-control'), 'no-store')
  // On the origin of an application it would empty the cache of the application.
  for (const path of ['/logout', '/sign-out']) {
    const { headers } = await app.post(path, undefined, proof)
    assert.equal(headers.get('clear-site-data'), null)
  }
})

test('two session cookies with different values do not authenticate; with equal values they count as one', async () => {
  const anns = await session(ann)
  const bobs = await session(bob)
  assert.equal(await request({ cookie: `${anns.cookie}; ${bobs.cookie}` }), 401)
  assert.equal(await request({ cookie: `${bobs.cookie}; ${anns.cookie}` }), 401)
  assert.equal(await request({ cookie: `${anns.cookie}; carillon=` }), 401)
  assert.equal(await request({ cookie: `${anns.cookie}; ${anns.cookie}` }), 200)
  const name = 'cookie'
  const value = anns.cookie ?? ''
  const inTwoFields: [string, string][] = [
    [name, value],
    [name, bobs.cookie ?? ''],
  ]
  assert.equal((await app.exchange('/routeRestreinte', { fields: inTwoFields })).status, 401)
})

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
