// What can a page do whose name resolves to this machine?
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { knownHosts } from '../../../server/http/requests.ts'
import { startTestService } from '../../support/service.ts'

const derived = await startTestService({ env: { CARILLON_ALLOWED_HOSTS: 'carillon.internal' } })
const named = await startTestService({ env: { CARILLON_PUBLIC_URL: 'https://bell.example.org' } })
after(() => Promise.all([derived.stop(), named.stop()]))

type RawRequest = {
  start?: string
  host?: string | undefined
  lines?: readonly string[]
  body?: string
}

async function exchange(
  service: typeof derived,
  { start = 'GET /api/me HTTP/1.1', host, lines = [], body = '' }: RawRequest,
): Promise<{ status: number; text: string }> {
  const head = [
    start,
    ...(host === undefined ? [] : [`Host: ${host}`]),
    'Connection: close',
    ...lines,
  ]
  const text = await service.raw(`${head.join('\r\n')}\r\n\r\n${body}`)
  return { status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1] ?? 0), text }
}

const strange = [
  'evil.example',
  'localhost.evil.example',
  'evil-localhost',
  'evil.localhost',
  'bell.example.org.evil.example',
  'evilbell.example.org',
  'a.bell.example.org',
  '127.0.0.1.evil.example',
  '127.1',
  '2130706433',
  '0x7f000001',
  'carillon.internal..',
  '%6cocalhost',
]
/** RFC 9112, section 3.2. */
const malformed = [
  'localhost@evil.example',
  'evil.example:80@localhost',
  'localhost:80:evil.example',
  'local host',
  '::1',
]
const addresses = [
  '127.0.0.1',
  '127.0.0.1:7464',
  '192.0.2.7:80',
  '[::1]',
  '[::1]:7464',
  '[2001:DB8::1]',
  '127.0.0.1:',
]

test('the response is 421 if Host is not a name of the service, on every route that needs no Authorization (L6)', async () => {
  for (const service of [derived, named])
    for (const host of strange) {
      const { status, text } = await exchange(service, { host })
      assert.equal(status, 421, host)
      assert.match(text, /"code":"MISDIRECTED_REQUEST".*CARILLON_ALLOWED_HOSTS/)
    }
  for (const host of malformed) assert.equal((await exchange(derived, { host })).status, 400, host)
  const starts = [
    'GET /api/notifications',
    'GET /docs',
    'GET /openapi.json',
    'GET /no-such-route',
    'OPTIONS /api/me',
  ]
  for (const start of starts)
    assert.equal(
      (await exchange(derived, { host: 'evil.example', start: `${start} HTTP/1.1` })).status,
      421,
      start,
    )
})

test('addresses, localhost, the public URL and CARILLON_ALLOWED_HOSTS are accepted, with any port and letter case (L6)', async () => {
  const everywhere = [...addresses, 'localhost', 'LOCALHOST:1', 'localhost.', 'localhost.:80']
  const own = [
    'bell.example.org',
    'bell.example.org:443',
    'Bell.Example.ORG',
    'bell.example.org.',
    'bell.example.org:8443',
  ]
  for (const host of [...everywhere, 'carillon.internal', 'CARILLON.internal:7464'])
    assert.equal((await exchange(derived, { host })).status, 401, host)
  for (const host of [...everywhere, ...own])
    assert.equal((await exchange(named, { host })).status, 401, host)
  for (const host of own) assert.equal((await exchange(derived, { host })).status, 421, host)
  assert.equal((await exchange(named, { host: 'carillon.internal' })).status, 421)
})

test('a login under an unknown name is refused, even with the right password and an Authorization field (L6)', async () => {
  const { username, password } = await derived.user()
  const body = JSON.stringify({ username, password })
  const lines = ['Content-Type: application/json', `Content-Length: ${body.length}`]
  const start = 'POST /login HTTP/1.1'
  const signIn = (host: string, more: readonly string[] = []) =>
    exchange(derived, { start, host, lines: [...lines, ...more], body })
  assert.equal((await signIn('evil.example')).status, 421)
  assert.equal((await signIn('evil.example', ['Authorization: Bearer made-up'])).status, 421)
  assert.equal((await signIn('carillon.internal')).status, 200)
})

test('under an unknown name a session is refused, and a token and a key are accepted: a backend may use an internal name (L6)', async () => {
  const user = await derived.user()
  const session = await derived.signIn(user, 'stateful')
  const token = await derived.signIn(user, 'stateless')
  const host = 'db-7.cluster.internal'
  assert.equal(
    (await exchange(derived, { host, lines: [`Cookie: ${session.cookie}`] })).status,
    421,
  )
  assert.equal(
    (await exchange(derived, { host: 'localhost', lines: [`Cookie: ${session.cookie}`] })).status,
    200,
  )
  const authorization = [`Authorization: ${token.authorization}`]
  assert.equal((await exchange(derived, { host, lines: authorization })).status, 200)
  assert.equal(
    (await exchange(derived, { host, lines: ['Authorization: Bearer made-up'] })).status,
    401,
  )
  const { key } = await derived.producerKey()
  const body = JSON.stringify({ recipients: [{ username: user.username }], title: 'x' })
  const lines = [
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ]
  assert.equal(
    (await exchange(derived, { start: 'POST /api/notifications HTTP/1.1', host, lines, body }))
      .status,
    201,
  )
  assert.equal(
    (await exchange(derived, { start: 'POST /logout HTTP/1.1', host, lines: authorization }))
      .status,
    204,
  )
})

test('/livez, /readyz and the key set are served under every name, for supervisors and backends (L6)', async () => {
  for (const path of ['/livez', '/readyz', '/.well-known/jwks.json', '/livez?probe=1'])
    assert.equal(
      (await exchange(derived, { host: 'pod-7.internal', start: `GET ${path} HTTP/1.1` })).status,
      200,
      path,
    )
  for (const path of ['/livez/', '/readyz/x', '//livez', '/api/me?/livez'])
    assert.equal(
      (await exchange(derived, { host: 'pod-7.internal', start: `GET ${path} HTTP/1.1` })).status,
      421,
      path,
    )
})

test('a target in absolute form does not hide an unknown name (L6)', async () => {
  const get = (target: string, host: string) =>
    exchange(derived, { start: `GET ${target} HTTP/1.1`, host })
  for (const authority of [
    'evil.example',
    'localhost@evil.example',
    'evil.example:80',
    'localhost:80@evil.example',
  ])
    assert.equal((await get(`http://${authority}/api/me`, 'localhost')).status, 400, authority)
  assert.equal((await get('http://localhost/api/me', 'evil.example')).status, 400)
  assert.equal((await get('http://evil.example/api/me', 'evil.example')).status, 421)
  assert.equal((await get('http://localhost/api/me', 'localhost')).status, 401)
})

test('browsers use HTTPS for every subdomain if CARILLON_HSTS_SUBDOMAINS is on, and for the name alone otherwise (C5)', async (t) => {
  const env = { CARILLON_PUBLIC_URL: 'https://bell.example.org', CARILLON_HSTS_SUBDOMAINS: 'on' }
  const on = await startTestService({ env })
  t.after(() => on.stop())
  const plain = await startTestService({ env: { CARILLON_HSTS_SUBDOMAINS: 'on' } })
  t.after(() => plain.stop())
  const sent = async (service: typeof on) =>
    (await service.get('/livez')).headers.get('strict-transport-security')
  assert.equal(await sent(on), 'max-age=63072000; includeSubDomains')
  assert.equal(await sent(named), 'max-age=63072000')
  assert.equal(await sent(plain), null)
})

test('the memory of known hosts changes no decision, however many names are sent', () => {
  const isKnown = knownHosts(['bell.example'])
  for (let i = 0; i < 5_000; i++) {
    assert.ok(isKnown(`bell.example:${i}`))
    assert.ok(!isKnown(`evil${i}.example`))
  }
  assert.ok(isKnown('bell.example:1'))
  assert.ok(!isKnown('evil1.example'))
})
