// A sandbox and the service accept no proof of the other, no secret of the visitor reaches the
// sandbox, and one sandbox concerns no other.
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import { after, test } from 'node:test'
import { listUsers } from '../../../server/users/users.store.ts'
import { demonstrationHere } from '../../support/demonstration/demonstration-here.ts'
import { Visitor } from '../../support/demonstration/visitor.ts'
import { type Proof, startTestService } from '../../support/service.ts'

const app = await startTestService()
after(() => app.stop())
const ann = await app.user('ann')
const visitor = await Visitor.of(app)
const other = await Visitor.of(app)
await visitor.again()

test('a cookie and a token of the demonstration open nothing of the service, under whatever name (S13)', async () => {
  const token = await visitor.signIn()
  const secret = visitor.cookies.get(visitor.cookieName)
  const proofs: Proof[] = [
    { cookie: visitor.cookie },
    { cookie: `carillon=${secret}` },
    { authorization: `Bearer ${token}` },
  ]
  for (const proof of proofs)
    for (const path of ['/routeRestreinte', '/api/me', '/api/notifications', '/api/me/sessions'])
      assert.equal((await app.get(path, proof)).status, 401, `${Object.keys(proof)} at ${path}`)
  const { user } = visitor
  assert.equal(
    (await app.post('/login', user)).status,
    401,
    'its user is not a user of the service',
  )
})

test('a cookie and a token of the service open nothing of a world, under whatever name (S13)', async () => {
  const { cookie = '' } = await app.signIn(ann, 'stateful')
  const { authorization = '' } = await app.signIn(ann, 'stateless')
  const secret = cookie.split('=')[1] ?? ''
  visitor.cookies.set('carillon', secret)
  visitor.cookies.set(visitor.cookieName, secret)
  assert.equal((await visitor.session('routeRestreinte')).status, 401)
  assert.equal(
    (await visitor.token('routeRestreinte', authorization.replace('Bearer ', ''))).status,
    401,
  )
  const { username, password } = ann
  const login = await visitor.session('login', { method: 'POST', body: { username, password } })
  assert.equal(login.status, 401, 'a user of the service is not a user of the world')
})

test('a cookie and a token of one world open nothing of another (S13)', async () => {
  const token = await visitor.signIn()
  other.cookies.set(other.cookieName, visitor.cookies.get(visitor.cookieName) ?? '')
  assert.equal((await other.session('routeRestreinte')).status, 401)
  assert.equal((await other.token('routeRestreinte', token)).status, 401)
})

test("the secret of the visitor's own session reaches neither the page nor the world, and that session stays (S14)", async () => {
  const own = await app.signIn(ann, 'stateful')
  const secret = (own.cookie ?? '').split('=')[1] ?? ''
  assert.ok(secret.length > 40)
  visitor.cookies.set('carillon', secret)
  await visitor.signIn()
  const seen = [await visitor.session('routeRestreinte'), await visitor.session('api/me/sessions')]
  for (const response of seen) {
    const exchange = JSON.stringify(await visitor.exchange(response))
    assert.ok(exchange.includes('carillon=…'), 'the transcript has the cookie without its value')
    for (const hidden of [secret, visitor.cookies.get('carillon-visit') ?? ''])
      assert.ok(!exchange.includes(hidden) && !response.text.includes(hidden))
  }
  assert.ok(!JSON.stringify(await visitor.state()).includes(secret))
  assert.equal((await visitor.session('logout', { method: 'POST' })).status, 204)
  assert.equal((await app.get('/routeRestreinte', own)).status, 200)
})

test('the request that a server of a world handles has only the cookies of the world (S14)', async () => {
  const demonstration = await demonstrationHere()
  const here = await demonstration.from('192.0.2.1').again()
  here.cookies.set('carillon', 'the-visitors-own-secret')
  await here.signIn()
  const handled: IncomingMessage[] = []
  const note = (message: unknown) => handled.push((message as { request: IncomingMessage }).request)
  const noteRoute = (message: unknown) =>
    handled.push((message as { request: { raw: IncomingMessage } }).request.raw)
  // Fastify and Node publish each request with what its handler gets.
  subscribe('tracing:fastify.request.handler:start', noteRoute)
  await here.session('routeRestreinte')
  unsubscribe('tracing:fastify.request.handler:start', noteRoute)
  subscribe('http.server.request.start', note)
  await here.send('other-server/me')
  unsubscribe('http.server.request.start', note)
  await demonstration.stop()
  // The listener of the process itself passes the second one on.
  assert.equal(handled.length, 3)
  const { cookieName } = here
  for (const { headers, rawHeaders } of [handled[0], handled[2]] as IncomingMessage[])
    for (const text of [headers.cookie ?? '', String(rawHeaders)]) {
      assert.ok(text.includes(`${cookieName}=${here.cookies.get(cookieName)}`))
      for (const hidden of ['the-visitors-own-secret', 'carillon-visit='])
        assert.ok(!text.includes(hidden), text)
    }
})

test('every cookie of the demonstration has the path of the demonstration, HttpOnly and SameSite (S13)', async () => {
  const responses = [
    await visitor.start(),
    await visitor.session('login', { method: 'POST', body: visitor.user }),
    await visitor.send('servers/memory/me', { method: 'POST' }),
    await visitor.session('logout', { method: 'POST' }),
  ]
  const set = responses.flatMap(({ headers }) => headers.getSetCookie())
  assert.equal(set.length, 5)
  for (const text of set)
    assert.match(text, /; Path=\/demonstration; Max-Age=\d+; HttpOnly; SameSite=(Lax|Strict)$/)
  assert.match(set[0] ?? '', /^carillon-visit=.*SameSite=Strict$/)
})

test('on HTTPS behind a path, the cookies have that path, Secure and the prefix __Secure-, and a world has the HSTS policy of the service', async () => {
  const behind = await startTestService({
    env: {
      CARILLON_PUBLIC_URL: 'https://localhost/bell/',
      CARILLON_PAGES_PREFIX: '/hello',
      CARILLON_HSTS_SUBDOMAINS: 'on',
    },
  })
  const response = await behind.request('/hello/demonstration/visits', { method: 'POST' })
  assert.equal(response.status, 201, response.text)
  const { cookieName, base, id } = response.json().data
  assert.deepEqual(
    [cookieName, base],
    ['__Secure-carillon-demonstration', '/bell/hello/demonstration'],
  )
  const [set = ''] = response.headers.getSetCookie()
  assert.match(
    set,
    /^__Secure-carillon-visit=[\w-]{22}; Path=\/bell\/hello\/demonstration; Max-Age=2592000; HttpOnly; SameSite=Strict; Secure$/,
  )
  const visit = { cookie: set.split(';')[0] ?? '', 'carillon-visit': id }
  const policyOf = async (path: string) =>
    (await behind.get(path, visit)).headers.get('strict-transport-security')
  const policy = await policyOf('/readyz')
  assert.match(policy ?? '', /includeSubDomains/)
  // The browser keeps the last one of a host.
  assert.equal(await policyOf('/hello/demonstration/service/routeRestreinte'), policy)
  await behind.stop()
})

test('a link leads no visitor into the transcript of another: only a form names a world in its query (S14)', async () => {
  await visitor.again()
  const headers = { cookie: 'carillon=secret; theme=dark', accept: 'text/html' }
  const path = `/demonstration/service/routeRestreinte?visit=${visitor.id}`
  for (const method of ['GET', 'HEAD', 'PUT', 'DELETE'])
    assert.equal((await app.request(path, { method, headers })).status, 404, method)
  assert.equal((await visitor.send('exchanges/1')).status, 404, 'the world had no request')
  const form = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } }
  assert.equal((await app.request(path.replace('routeRestreinte', 'logout'), form)).status, 415)
})

test('a world has no pages: their scripts would share the storage of the browser with those of the service (S14)', async () => {
  for (const path of [
    'account',
    'sign-in',
    'inbox',
    'docs',
    'carillon-client.js',
    '',
    'demonstration',
  ])
    assert.equal((await visitor.session(path)).status, 404, path)
  assert.equal((await visitor.session('sign-out', { method: 'POST' })).status, 404)
  for (const path of ['login/with/a', 'login/with/a/callback', 'verify', 'a']) {
    const { headers } = await visitor.session(path, { headers: { accept: 'text/html' } })
    assert.doesNotMatch(headers.get('content-type') ?? '', /html/, path)
  }
  assert.equal((await visitor.session('.well-known/jwks.json')).status, 200)
})

test('the routes of the demonstration need the cookie of the visit: its id alone does nothing there (S14)', async () => {
  const named = { 'carillon-visit': visitor.id }
  for (const path of ['visit', 'exchanges/1'])
    assert.equal((await app.get(`/demonstration/${path}`, named)).status, 404)
  assert.equal(
    (await app.post('/demonstration/controls/outage', { seconds: 1 }, named)).status,
    404,
  )
  assert.equal((await app.get('/demonstration/service/routeRestreinte')).status, 404)
})

test('a page of another site can start no demonstration, and change nothing in one (C1)', async () => {
  const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
  assert.equal((await new Visitor(app).start(foreign)).status, 403)
  assert.equal((await visitor.send('visits', { method: 'POST', headers: foreign })).status, 403)
  const outage = { method: 'POST', body: { seconds: 1 }, headers: foreign }
  assert.equal((await visitor.send('controls/outage', outage)).status, 403)
  await visitor.signIn()
  const refused = await visitor.session('logout', { method: 'POST', headers: foreign })
  assert.equal(refused.status, 403)
  assert.match(
    (await visitor.exchange(refused)).response.line,
    / 403 /,
    'the world refuses it, and the reader sees it',
  )
})

test('a reset, an outage and a clock set forward in one world touch neither another world nor the service (S15)', async () => {
  const token = await other.signIn()
  await visitor.signIn()
  const own = await app.signIn(ann, 'stateless')
  const statuses = async () => [
    (await other.session('routeRestreinte')).status,
    (await other.token('routeRestreinte', token)).status,
    (await app.get('/routeRestreinte', own)).status,
    (await app.get('/readyz')).status,
  ]
  await visitor.control('advance', { seconds: 35 * 24 * 3_600 })
  await visitor.control('outage', { seconds: 5 })
  assert.equal((await visitor.session('login', { method: 'POST', body: visitor.user })).status, 503)
  assert.deepEqual(await statuses(), [200, 200, 200, 200])
  const reset = visitor.start()
  for (let n = 0; n < 10; n++) assert.deepEqual(await statuses(), [200, 200, 200, 200])
  assert.equal((await reset).status, 201)
})

test('nothing of a world is in the database of the service', async () => {
  await visitor.signIn()
  assert.deepEqual(
    (await app.store.read(listUsers, { after: '', limit: 100 })).map(({ username }) => username),
    ['ann'],
  )
  assert.equal((await visitor.state()).user.username, 'visitor')
})
