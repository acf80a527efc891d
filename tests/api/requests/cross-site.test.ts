// Requests that a page of another site makes a browser send (C1-C3, C7). `mayPass` states the rule
// independently of the product.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { comesFromOtherSite } from '../../../server/http/requests.ts'
import { refusalIn } from '../../support/http/envelope.ts'
import { HttpClient } from '../../support/http/http-client.ts'
import { exchangeBytes, readResponses } from '../../support/http/raw-http.ts'
import { type Proof, startTestService } from '../../support/service.ts'
import { inTurns } from '../../support/soak.ts'

const listed = 'https://shop.example.org'
const lists = { none: [] as string[], one: [listed, 'http://other.example.org:8080'] }
const services = await Promise.all(
  [lists.none, lists.one].map(async (allowed) => {
    const origins = allowed.join(',') || 'none'
    const app = await startTestService({
      env: { CARILLON_ALLOWED_ORIGINS: origins, CARILLON_ALLOWED_HOSTS: 'bell.example.org' },
    })
    const ann = await app.user('ann')
    const cookie = await app.signIn(ann, 'stateful')
    const [id = ''] = await app.deliver({ to: ann, title: 'Hi' })
    return {
      app,
      allowed,
      cookie,
      id,
      client: new HttpClient(app.url),
      host: new URL(app.url).host,
    }
  }),
)
const [strict, lenient] = services as [(typeof services)[0], (typeof services)[0]]
after(async () => {
  for (const { client, app } of services) {
    client.close()
    await app.stop()
  }
})

type Sent = { fetchSite: string | undefined; origin: string | undefined; host: string | undefined }

function isCrossSite({ fetchSite, origin, host }: Sent, allowed: readonly string[]): boolean {
  return comesFromOtherSite(
    { raw: { headers: { 'sec-fetch-site': fetchSite, origin, host } } },
    allowed,
  )
}

type Case = {
  method: string
  path: string
  hasCookie: boolean
  hasAuthorization: boolean
  fetchSite: string | undefined
  origin: string | undefined
  host: string
  allowed: readonly string[]
}

/**
 * Checked are unsafe methods with a cookie, a request with a cookie for a place, and the login.
 * `Sec-Fetch-Site` must be same-origin or none; without it the host of `Origin` must be `Host`.
 * Allowed origins pass. An Authorization header alone is the proof, and no page can make a browser
 * add one.
 */
function mayPass({
  method,
  path,
  hasCookie,
  hasAuthorization,
  fetchSite,
  origin,
  host,
  allowed,
}: Case): boolean {
  const takesPlace = [
    '/api/notifications/stream',
    '/api/notifications/changes?since=0',
    '/api/me/export',
  ].includes(path)
  if (['GET', 'HEAD', 'OPTIONS'].includes(method) && !takesPlace) return true
  const isLogin = method === 'POST' && path === '/login'
  const couldActForUser = isLogin || (hasCookie && !hasAuthorization)
  if (!couldActForUser) return true
  if (origin !== undefined && allowed.includes(origin)) return true
  if (fetchSite !== undefined) return ['same-origin', 'none'].includes(fetchSite)
  if (origin === undefined) return true
  const originHost = /^[a-z]+:\/\/([^/]*)$/.exec(origin)?.[1]
  return originHost === host
}

const fetchSites = [
  undefined,
  'same-origin',
  'none',
  'same-site',
  'cross-site',
  '',
  'SAME-ORIGIN',
  'same-origin, cross-site',
]

/** For a request to `host`. */
const originsFor = (host: string) => [
  undefined,
  `http://${host}`,
  `https://${host}`,
  `http://${host.replace(/:\d+$/, '')}`,
  `http://${host}.evil.example`,
  `http://evil.example?${host}`,
  'https://evil.example',
  'http://other.example.org',
  listed,
  `${listed}.evil.example`,
  `${listed}/`,
  listed.toUpperCase(),
  listed.replace('https', 'http'),
  'null',
  '',
  'file://',
  'http://',
  'no origin',
]

const acts = [
  { method: 'POST', path: '/login' },
  { method: 'POST', path: '/logout' },
  { method: 'POST', path: '/token/renew' },
  { method: 'PATCH', path: '/api/notifications/:id/read' },
  { method: 'POST', path: '/api/notifications/read-all' },
  { method: 'PATCH', path: '/api/notifications/:id/unread' },
  { method: 'POST', path: '/api/notifications/undo' },
  { method: 'POST', path: '/api/notifications' },
  { method: 'PUT', path: '/login' },
  { method: 'DELETE', path: '/nowhere' },
  { method: 'GET', path: '/api/me' },
  { method: 'HEAD', path: '/api/me' },
  { method: 'OPTIONS', path: '/api/me' },
  { method: 'GET', path: '/api/notifications/stream' },
  { method: 'GET', path: '/api/notifications/changes?since=0' },
  { method: 'GET', path: '/api/me/export' },
]

/** The rule depends on which fields are there, so no case ends the proof of the next one. */
const carried: Proof[] = [
  {},
  { cookie: `carillon=${'A'.repeat(43)}` },
  { cookie: 'theme=dark' },
  { authorization: 'Bearer a.b.c' },
  { cookie: `carillon=${'A'.repeat(43)}`, authorization: 'Bearer a.b.c' },
]

const table = services.flatMap((service) =>
  [service.host, 'bell.example.org'].flatMap((host) =>
    acts.flatMap((act) =>
      carried.flatMap((proof) =>
        fetchSites.flatMap((fetchSite) =>
          originsFor(host).map((origin) => ({ service, host, ...act, proof, fetchSite, origin })),
        ),
      ),
    ),
  ),
)

async function holds({
  service,
  host,
  method,
  path,
  proof,
  fetchSite,
  origin,
}: (typeof table)[0]): Promise<boolean> {
  const { client, id, allowed } = service
  const hasCookie = 'cookie' in proof
  const hasAuthorization = 'authorization' in proof
  const expected = mayPass({
    method,
    path,
    fetchSite,
    origin,
    host,
    allowed,
    hasCookie,
    hasAuthorization,
  })
  const site = fetchSite === undefined ? {} : { 'sec-fetch-site': fetchSite }
  const from = origin === undefined ? {} : { origin }
  const headers = { ...proof, host, ...site, ...from }
  const response = await client.request({ method, path: path.replace(':id', id), headers })
  const passed = response.status !== 403
  assert.equal(
    passed,
    expected,
    `${method} ${path} ${JSON.stringify(headers)} returned ${response.text}`,
  )
  if (!passed) assert.match(refusalIn(response).message, /CARILLON_ALLOWED_ORIGINS/)
  return passed
}

test('the rule holds for every method, route, proof, Sec-Fetch-Site, Origin, Host and allowed origin, and for the login (C1, C7)', async () => {
  // Each value with each other value in many cases; with SOAK=1 the whole table.
  const cases = inTurns(table, { every: 23 })
  const waiting = cases.values()
  let refused = 0
  const worker = async () => {
    for (const one of waiting) if (!(await holds(one))) refused++
  }
  await Promise.all(Array.from({ length: 20 }, worker))
  assert.ok(
    cases.length > 2_000 && refused > cases.length / 8,
    `${refused} of ${cases.length} were refused`,
  )
})

test('the refusal names the setting and the origin to add, and the request changes nothing (C1)', async () => {
  for (const { app, cookie, id, client } of services) {
    const before = await app.database.tables()
    const page: Proof = {
      ...cookie,
      origin: 'https://evil.example',
      'sec-fetch-site': 'cross-site',
    }
    for (const { method, path } of acts.slice(0, 6)) {
      const response = await client.request({
        method,
        path: path.replace(':id', id),
        headers: page,
      })
      const { code, status, message } = refusalIn(response)
      assert.deepEqual([code, status], ['FORBIDDEN', 403])
      assert.match(message, /https:\/\/evil\.example/)
      assert.match(message, /CARILLON_ALLOWED_ORIGINS/)
      assert.deepEqual(response.headers.getSetCookie(), [])
    }
    assert.deepEqual(await app.database.tables(), before)
    assert.equal((await app.get('/api/me', cookie)).status, 200)
  }
})

test('a page of a sibling host takes no stream, poll or export of a user by a request without CORS, and a link still leads to the export (C1)', async () => {
  const { app, cookie, client } = strict
  const sibling = {
    ...cookie,
    'sec-fetch-site': 'same-site',
    'sec-fetch-mode': 'no-cors',
    'sec-fetch-dest': 'empty',
  }
  for (const path of places) {
    const response = await client.request({ method: 'GET', path, headers: sibling })
    assert.deepEqual([response.status, refusalIn(response).code], [403, 'FORBIDDEN'], path)
  }
  const followed = {
    ...cookie,
    'sec-fetch-site': 'same-site',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': 'document',
  }
  assert.equal((await app.get('/api/me/export', followed)).status, 403, 'no click')
  assert.equal(
    (await app.get('/api/me/export', { ...followed, 'sec-fetch-user': '?1' })).status,
    200,
  )
})

const places = [
  '/api/notifications/stream',
  '/api/notifications/changes?since=0&wait=20',
  '/api/me/export',
]

test('a page that a browser prefetches takes no stream, poll or export, whichever site asked for it (C1)', async () => {
  const { app, cookie } = strict
  const navigation = { ...cookie, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
  for (const path of places)
    for (const purpose of ['prefetch', 'prefetch;prerender', 'prefetch;anonymous-client-ip'])
      for (const site of ['none', 'same-origin'])
        for (const user of [{}, { 'sec-fetch-user': '?1' }]) {
          const fields = { ...navigation, ...user, 'sec-fetch-site': site, 'sec-purpose': purpose }
          const response = await app.get(path, fields)
          assert.deepEqual([response.status, refusalIn(response).code], [403, 'FORBIDDEN'], path)
        }
  assert.equal(
    (await app.get('/api/me/export', { ...navigation, 'sec-fetch-site': 'none' })).status,
    200,
  )
})

test('a request whose response waits behind another one on its connection takes no stream, poll or export (L1)', async () => {
  const { app, cookie } = strict
  const fields = `Host: ${new URL(app.url).host}\r\nCookie: ${cookie.cookie}\r\n`
  for (const path of places) {
    const bytes = `GET /api/me HTTP/1.1\r\n${fields}\r\nGET ${path} HTTP/1.1\r\n${fields}Connection: close\r\n\r\n`
    const responses = readResponses((await exchangeBytes(app.url, [bytes])).bytes)
    assert.deepEqual(
      responses.map(({ status }) => status),
      [200, 429],
      path,
    )
  }
})

test('a page of an allowed origin may do what the user may, and a page of another origin may not (C1)', async () => {
  const { app } = lenient
  const ben = await app.user('ben')
  const proof = await app.signIn(ben, 'stateful')
  const [id = ''] = await app.deliver({ to: ben, title: 'Hi' })
  const read = (origin: string) =>
    app.request(`/api/notifications/${id}/read`, {
      method: 'PATCH',
      headers: { ...proof, origin, 'sec-fetch-site': 'cross-site' },
    })
  assert.equal((await read('https://evil.example')).status, 403)
  assert.equal((await app.list(proof)).unread, 1)
  assert.equal((await read(listed)).status, 204)
  assert.equal((await app.list(proof)).unread, 0)
})

test('no other site can sign a user in, in any variant and any encoding (C1, C7)', async () => {
  const { app } = strict
  const { username, password } = await app.user('eve')
  const from = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
  for (const variant of ['stateful', 'stateless']) {
    const json = await app.post('/login', { username, password, variant }, from)
    const body = new URLSearchParams({ username, password, variant })
    const form = await app.request('/login', { method: 'POST', headers: from, body })
    for (const response of [json, form]) {
      assert.equal(refusalIn(response).status, 403)
      assert.deepEqual(response.headers.getSetCookie(), [])
      assert.ok(!response.text.includes('token"'))
    }
    assert.equal((await app.post('/login', { username, password, variant })).status, 200)
  }
})

test('no other site can set a password by a link and sign the browser in with it (C1)', async () => {
  const { app } = strict
  const { id } = await app.user('kim')
  const { key } = await app.producerKey(['users'])
  const made = await app.post(
    `/api/users/${id}/links`,
    { purpose: 'reset' },
    { authorization: `Bearer ${key}` },
  )
  const token = new URL(made.json().data.url).hash.replace(/^#(?:token=)?/, '')
  const body = { token, newPassword: 'amber lantern field 62', variant: 'stateful' }
  for (const fetchSite of ['cross-site', 'same-site']) {
    const response = await app.post('/password/reset', body, {
      origin: 'https://evil.example',
      'sec-fetch-site': fetchSite,
    })
    assert.equal(refusalIn(response).status, 403)
    assert.deepEqual(response.headers.getSetCookie(), [])
  }
  assert.equal((await app.post('/password/reset', body)).status, 200)
})

test('two Origins, two Sec-Fetch-Sites, or one of each kind do not pass the check (C1)', async () => {
  const { app, cookie, host } = lenient
  const twice: [string, string][][] = [
    [
      ['origin', listed],
      ['origin', 'https://evil.example'],
    ],
    [
      ['origin', 'https://evil.example'],
      ['origin', `http://${host}`],
    ],
    [
      ['sec-fetch-site', 'same-origin'],
      ['sec-fetch-site', 'cross-site'],
    ],
    [
      ['sec-fetch-site', 'cross-site'],
      ['origin', `http://${host}`],
    ],
  ]
  for (const fields of twice) {
    const response = await app.exchange('/api/notifications/read-all', {
      method: 'POST',
      fields: [['cookie', cookie.cookie ?? ''], ...fields],
    })
    assert.equal(refusalIn(response).status, 403, JSON.stringify(fields))
  }
})

const numRuns = process.env.SOAK === undefined ? 200 : 10_000
const text = fc.oneof(
  fc.string(),
  fc.webUrl(),
  fc.constantFrom(...originsFor('a.example').filter((one) => one !== undefined)),
)

test('an origin that is not allowed passes only with the Sec-Fetch-Site same-origin or none, for random Origin, Host and allowed origins (C1)', () => {
  const fetchSite = fc
    .oneof(fc.constantFrom('cross-site', 'same-site', ''), fc.string())
    .filter((site) => site !== 'same-origin' && site !== 'none')
  const list = fc.array(text, { maxLength: 4 })
  fc.assert(
    fc.property(
      fetchSite,
      fc.option(text, { nil: undefined }),
      fc.option(text, { nil: undefined }),
      list,
      (site, origin, host, all) => {
        const allowed = all.filter((one) => one !== origin)
        assert.equal(isCrossSite({ fetchSite: site, origin, host }, allowed), true)
      },
    ),
    { numRuns },
  )
})

test('without Sec-Fetch-Site, an origin that is not allowed passes only if its host is Host (C1)', () => {
  fc.assert(
    fc.property(text, fc.option(text, { nil: undefined }), (origin, host) => {
      if (isCrossSite({ fetchSite: undefined, origin, host }, [])) return
      assert.ok(host !== undefined)
      assert.equal(origin.replace(/^https?:\/\//, ''), host.toLowerCase())
    }),
    { numRuns },
  )
})

test('without Sec-Fetch-Site, the own origin in a spelling that no browser sends does not pass (C1)', () => {
  const passes = (origin: string) =>
    !isCrossSite({ fetchSite: undefined, origin, host: 'a.example' }, [])
  assert.ok(passes('http://a.example'))
  for (const origin of [
    'http://a\u00ad.example',
    'http://A.example',
    'http://a.example/',
    'http://a.example/?b',
    'HTTP://a.example',
  ])
    assert.ok(!passes(origin), origin)
})

test('reading is never refused, whichever site the page is of (C2)', async () => {
  const { app, cookie } = strict
  for (const method of ['GET', 'HEAD'])
    for (const path of [
      '/api/me',
      '/api/notifications',
      '/routeRestreinte',
      '/livez',
      '/openapi.json',
      '/docs',
    ]) {
      const headers = { ...cookie, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
      const { status, headers: fields } = await app.request(path, { method, headers })
      assert.equal(status, 200, `${method} ${path}`)
      // The browser does not let the other page's script read the response.
      assert.equal(fields.get('access-control-allow-origin'), null)
    }
})
