// What doctor finds about a proxy with one fault, and that it finds nothing wrong with a proxy without one.
import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { type RunningProxy, type Spoil, startProxy } from '../../../tests/support/network/proxy.ts'
import { startBehindPath } from '../../../tests/support/network/stripping-proxy.ts'
import { startTestService, type TestUser } from '../../../tests/support/service.ts'
import type { Finding } from '../finding.ts'
import { ProbeClient } from './probe-client.ts'
import { reach } from './reach.ts'
import { setCookieFinding } from './set-cookie.ts'
import { trySignIn } from './sign-in.ts'
import { examineWay } from './through-the-proxy.ts'

const partner = 'https://partner.example'
const service = await startTestService({ env: { CARILLON_ALLOWED_ORIGINS: partner } })
const behindHttps = await startTestService({ env: { CARILLON_PUBLIC_URL: 'https://bell.example' } })
after(() => Promise.all([service.stop(), behindHttps.stop()]))
const ann: TestUser = await service.user('ann')
const signingKeys = await service.store.signingKeys()

type Look = {
  proxy: RunningProxy
  publicUrl?: string
  keys?: typeof signingKeys
  isMoved?: boolean
  isDatabaseAway?: boolean
  now?: () => number
}

async function look(options: Look): Promise<Finding[]> {
  const {
    proxy,
    publicUrl = proxy.url,
    keys = signingKeys,
    isMoved = false,
    isDatabaseAway = false,
    now = Date.now,
  } = options
  const client = new ProbeClient({ url: proxy.url, now })
  const compared = { direct: service.url, publicUrl, signingKeys: keys, isMoved, isDatabaseAway }
  const { isReached, findings } = await reach({ client, ...compared })
  if (!isReached) return findings
  return [
    ...findings,
    ...(await examineWay({ client, publicUrl, allowedOrigins: [partner] })),
    ...(await trySignIn(client, ann)),
  ]
}

async function lookThrough(spoil: Spoil, target = service.url): Promise<Finding[]> {
  const proxy = await startProxy(target, spoil)
  try {
    return await look({ proxy })
  } finally {
    await proxy.stop()
  }
}

const wrong = (findings: Finding[]) => findings.filter(({ state }) => state !== 'ok')

/** Exactly these findings, in this order: the check, its state, and what to change. */
function isFound(findings: Finding[], expected: [string, Finding['state'], RegExp][]): void {
  const found = wrong(findings)
  assert.deepEqual(
    found.map(({ check, state }) => [check, state]),
    expected.map(([check, state]) => [check, state]),
    JSON.stringify(found, null, 2),
  )
  for (const [i, [, , change]] of expected.entries()) assert.match(found[i]?.change ?? '', change)
}

test('runs every check, and finds nothing wrong with a proxy that passes everything on', async () => {
  const findings = await lookThrough({})
  isFound(findings, [])
  const checks = ['reached', 'ready', 'database', 'public URL', 'clock', 'header fields', 'caching', 'Host and Origin']
  checks.push('foreign Origin', 'Sec-Fetch-Site', 'Authorization', 'Set-Cookie', 'Cookie', 'allowed origin')
  assert.deepEqual(
    findings.map(({ check }) => check),
    [...checks, 'sign-in', 'ETag', 'sign-out'],
  )
})

const lost =
  (name: string): NonNullable<Spoil['onTheWay']> =>
  ({ headers }) => {
    headers[name] = undefined
  }
const html = (status: number): Spoil => ({
  onTheWayBack(returning) {
    returning.status = status
    returning.headers = { 'content-type': 'text/html' }
    returning.body = Buffer.from('<h1>Hello</h1>')
  },
})
const changedCookie = (from: RegExp, to: string): Spoil => ({
  onTheWayBack({ headers }) {
    headers['set-cookie'] = [headers['set-cookie'] ?? []].flat().map((line) => line.replace(from, to))
  },
})
function cache(): Spoil {
  const kept = new Map<string, { status: number; headers: Record<string, never>; body: Buffer }>()
  return {
    onTheWayBack(returning, { method, path }) {
      if (method !== 'GET') return
      const known = kept.get(path)
      if (known === undefined)
        kept.set(path, structuredClone({ ...returning, body: Buffer.from(returning.body) }) as never)
      else Object.assign(returning, known, { body: Buffer.from(known.body) })
    },
  }
}

suite('finds each fault of a proxy alone, with the line to change', () => {
  const spoils: [string, Spoil, [string, Finding['state'], RegExp][]][] = [
    [
      'Authorization is stripped',
      { onTheWay: lost('authorization') },
      [['Authorization', 'fault', /proxy_set_header Authorization \$http_authorization;/]],
    ],
    [
      'Host is rewritten',
      { onTheWay: ({ headers }) => Object.assign(headers, { host: '127.0.0.1:1' }) },
      [
        ['Host and Origin', 'fault', /proxy_set_header Host \$http_host;.*ProxyPreserveHost On/],
        ['sign-in', 'fault', /./],
      ],
    ],
    [
      'Host is replaced by a name of the inner network',
      { onTheWay: ({ headers }) => Object.assign(headers, { host: 'carillon-7:7464' }) },
      [
        ['Host and Origin', 'fault', /proxy_set_header Host \$http_host;.*CARILLON_ALLOWED_HOSTS/],
        ['sign-in', 'fault', /./],
      ],
    ],
    [
      'Origin is dropped',
      { onTheWay: lost('origin') },
      [
        ['foreign Origin', 'fault', /proxy_set_header Origin \$http_origin;/],
        ['allowed origin', 'fault', /./],
      ],
    ],
    [
      'Origin is rewritten',
      { onTheWay: ({ headers }) => headers.origin && Object.assign(headers, { origin: 'http://inner' }) },
      [
        ['Host and Origin', 'fault', /proxy_set_header Origin \$http_origin;/],
        ['allowed origin', 'fault', /./],
        ['sign-in', 'fault', /./],
      ],
    ],
    [
      'Sec-Fetch-Site is dropped',
      { onTheWay: lost('sec-fetch-site') },
      [['Sec-Fetch-Site', 'warning', /proxy_set_header Sec-Fetch-Site/]],
    ],
    [
      'Set-Cookie is stripped',
      { onTheWayBack: ({ headers }) => Object.assign(headers, { 'set-cookie': undefined }) },
      [
        ['Set-Cookie', 'fault', /no proxy_hide_header and no proxy_ignore_headers for Set-Cookie/],
        ['sign-in', 'fault', /Set-Cookie/],
      ],
    ],
    [
      'the cookie gets another path',
      changedCookie(/Path=\//, 'Path=/bell'),
      [['Set-Cookie', 'fault', /no proxy_cookie_path/]],
    ],
    [
      'the cookie gets a domain',
      changedCookie(/$/, '; Domain=example.org'),
      [['Set-Cookie', 'fault', /proxy_cookie_domain/]],
    ],
    [
      'Cookie is dropped',
      { onTheWay: lost('cookie') },
      [
        ['Cookie', 'fault', /proxy_set_header Cookie \$http_cookie;/],
        ['sign-in', 'fault', /Cookie/],
        ['ETag', 'warning', /./],
      ],
    ],
    [
      'the ETag is stripped',
      { onTheWayBack: ({ headers }) => Object.assign(headers, { etag: undefined }) },
      [['ETag', 'warning', /etag on;/]],
    ],
    [
      'the ETag is changed',
      { onTheWayBack: ({ headers }) => headers.etag && Object.assign(headers, { etag: '"mine"' }) },
      [['ETag', 'warning', /If-None-Match/]],
    ],
    [
      'Cache-Control is rewritten',
      { onTheWayBack: ({ headers }) => Object.assign(headers, { 'cache-control': 'public, max-age=60' }) },
      [['header fields', 'fault', /cache-control/]],
    ],
    [
      'a security header is stripped',
      { onTheWayBack: ({ headers }) => Object.assign(headers, { 'x-content-type-options': undefined }) },
      [['header fields', 'warning', /x-content-type-options/]],
    ],
    [
      'WWW-Authenticate is stripped',
      { onTheWayBack: ({ headers }) => Object.assign(headers, { 'www-authenticate': undefined }) },
      [['Authorization', 'warning', /WWW-Authenticate/]],
    ],
    [
      'the clock is 10 minutes ahead',
      { onTheWayBack: ({ headers }) => Object.assign(headers, { date: new Date(Date.now() + 600_000).toUTCString() }) },
      [['clock', 'fault', /timedatectl set-ntp true/]],
    ],
    ['the response is an HTML page', html(200), [['reached', 'fault', /proxy_pass http:\/\/127\.0\.0\.1:\d+; \}/]]],
    ['the response is a login page of the proxy', html(401), [['reached', 'fault', /proxy_pass/]]],
    ['the gateway sends a response of its own', html(502), [['reached', 'fault', /proxy_pass/]]],
    [
      'the path gets a prefix',
      { onTheWay: (passing) => Object.assign(passing, { path: `/bell${passing.path}` }) },
      [['reached', 'fault', /no path behind the port/]],
    ],
    [
      'it leads on to another address',
      {
        onTheWayBack(returning) {
          returning.status = 301
          returning.headers = { location: 'https://bell.example/livez' }
        },
      },
      [['reached', 'fault', /^CARILLON_PUBLIC_URL=https:\/\/bell\.example$/]],
    ],
    [
      'a firewall refuses a POST',
      {
        onTheWayBack(returning, { method }) {
          if (method !== 'POST') return
          returning.status = 403
          returning.body = Buffer.from('blocked')
          returning.headers = { 'content-type': 'text/plain' }
        },
      },
      [
        ['Host and Origin', 'fault', /firewall/],
        ['foreign Origin', 'fault', /firewall/],
        ['Sec-Fetch-Site', 'fault', /firewall/],
        ['Set-Cookie', 'fault', /./],
        ['sign-in', 'fault', /./],
      ],
    ],
  ]
  for (const [name, spoil, expected] of spoils) test(name, async () => isFound(await lookThrough(spoil), expected))

  test('responses come from a cache', async () => {
    const findings = wrong(await lookThrough(cache()))
    assert.ok(
      findings.some(
        ({ check, state, change }) => check === 'caching' && state === 'fault' && /cache off/.test(change ?? ''),
      ),
    )
  })
})

test('finds a service that does not know that it is behind HTTPS, and a request that bypasses the HTTPS proxy', async (t) => {
  const inner = await startProxy(behindHttps.url)
  t.after(inner.stop)
  const client = new ProbeClient({ url: inner.url, now: Date.now })
  const past = await examineWay({ client, publicUrl: 'https://bell.example', allowedOrigins: [] })
  isFound(past, [
    ['public URL', 'warning', /^npx carillon doctor https:\/\/bell\.example$/],
    ['Set-Cookie', 'warning', /^npx carillon doctor https:\/\/bell\.example$/],
  ])
  const cookie = await client.request('/logout', { method: 'POST' })
  const origin = 'https://bell.example'
  isFound([setCookieFinding(cookie, { url: origin, publicUrl: origin })], [])
  const [line = ''] = cookie.headers.getSetCookie()
  // A browser does not take U+00A0 for a space, so `Secure` with one after it is lost.
  const changed = { ...cookie, headers: new Headers({ 'set-cookie': `${line}\xa0` }) }
  isFound([setCookieFinding(changed, { url: origin, publicUrl: origin })], [['Set-Cookie', 'fault', /nginx/]])
  const plain = await new ProbeClient({ url: service.url, now: Date.now }).request('/logout', { method: 'POST' })
  isFound(
    [setCookieFinding(plain, { url: origin, publicUrl: origin })],
    [['Set-Cookie', 'fault', /^CARILLON_PUBLIC_URL=https:\/\/bell\.example, then start the service again$/]],
  )
})

test('finds nothing wrong behind a proxy that strips the path of the public URL', async (t) => {
  const behind = await startBehindPath()
  t.after(behind.stop)
  const bob = await behind.service.user('bob')
  const client = new ProbeClient({ url: behind.url, now: Date.now })
  const place = { client, publicUrl: behind.url, direct: behind.service.url }
  const { findings } = await reach({ ...place, signingKeys: await behind.service.store.signingKeys() })
  isFound([...findings, ...(await examineWay({ ...place, allowedOrigins: [] })), ...(await trySignIn(client, bob))], [])
})

test('says how a proxy strips the path of the public URL if it does not', async (t) => {
  const proxy = await startProxy(service.url)
  t.after(proxy.stop)
  isFound(await look({ proxy: { ...proxy, url: `${proxy.url}/bell` } }), [
    ['reached', 'fault', /^Caddy: handle_path \/bell\/\* \{ reverse_proxy http:\S+ \} .*with-a-path/],
  ])
})

test('finds a service on another database than the settings name', async (t) => {
  const proxy = await startProxy(service.url)
  t.after(proxy.stop)
  const findings = await look({ proxy, keys: await behindHttps.store.signingKeys() })
  isFound(findings, [['database', 'warning', /CARILLON_DATABASE_URL as the service has it, or the proxy to http/]])
})

test('warns if the database of the settings is being moved, since both databases have the same signing keys', async (t) => {
  const proxy = await startProxy(service.url)
  t.after(proxy.stop)
  isFound(await look({ proxy, isMoved: true }), [['database', 'warning', /^start the service again once /]])
})

test('does not advise a public URL that is set already', async (t) => {
  const proxy = await startProxy(service.url, {
    onTheWayBack(returning) {
      returning.status = 301
      returning.headers = { location: 'https://bell.example/livez' }
    },
  })
  t.after(proxy.stop)
  const expected = /^npx carillon doctor https:\/\/bell\.example$/
  isFound(await look({ proxy, publicUrl: 'https://bell.example' }), [['reached', 'fault', expected]])
})

test('finds that no program listens, and that a name is unknown', async () => {
  const proxy = await startProxy(service.url)
  await proxy.stop()
  isFound(await look({ proxy }), [['reached', 'fault', /start the proxy, or correct CARILLON_PUBLIC_URL/]])
  const nowhere = { url: 'http://nowhere.invalid', stop: async () => {} }
  isFound(await look({ proxy: nowhere }), [['reached', 'fault', /./]])
})

test('finds a service that is not ready, and does not advise a restart if its database cannot be reached', async (t) => {
  const notReady = (message: string): Spoil => ({
    onTheWayBack(returning, { path }) {
      if (path !== '/readyz') return
      returning.status = 503
      const error = { code: 'UNAVAILABLE', message, requestId: 'a' }
      returning.body = Buffer.from(JSON.stringify({ success: false, error }))
      returning.headers['content-length'] = String(returning.body.length)
    },
  })
  for (const [message, isDatabaseAway, change] of [
    ['Not now', false, /^start it again/],
    ['The store cannot be reached now; nothing was done', true, /^start the database, .* then continues$/],
  ] as const) {
    const proxy = await startProxy(service.url, notReady(message))
    t.after(proxy.stop)
    const [, ready] = await look({ proxy, isDatabaseAway })
    assert.deepEqual([ready?.check, ready?.state, ready?.found], ['ready', 'fault', message])
    assert.match(ready?.change ?? '', change)
  }
})

test('reports refused credentials without the password', async () => {
  const password = 'not the password of ann'
  const [finding, ...none] = await trySignIn(new ProbeClient({ url: service.url, now: Date.now }), {
    username: 'ann',
    password,
  })
  assert.deepEqual([finding?.state, finding?.change, none], ['fault', 'npx carillon user password ann', []])
  assert.ok(!JSON.stringify(finding).includes(password))
})
