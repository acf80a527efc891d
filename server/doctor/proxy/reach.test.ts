// Each proxy has one fault, or none.
import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { type RunningProxy, type Spoil, startProxy } from '../../../tests/support/proxies/proxy.ts'
import { startBehindPath } from '../../../tests/support/proxies/stripping-proxy.ts'
import { startTestService } from '../../../tests/support/service.ts'
import { signingKeys } from '../../tokens/signing-keys.store.ts'
import type { Finding } from '../finding.ts'
import { examineWay, reach } from './reach.ts'

const service = await startTestService()
const behindHttps = await startTestService({ env: { CARILLON_PUBLIC_URL: 'https://bell.example' } })
after(() => Promise.all([service.stop(), behindHttps.stop()]))
const storedKeys = await service.store.read(signingKeys)

type Look = {
  proxy: RunningProxy
  publicUrl?: string
  keys?: typeof storedKeys
  isMoved?: boolean
  isDatabaseAway?: boolean
  now?: () => number
}

async function look(options: Look): Promise<Finding[]> {
  const {
    proxy,
    publicUrl = proxy.url,
    keys = storedKeys,
    isMoved = false,
    isDatabaseAway = false,
    now = Date.now,
  } = options
  const compared = { direct: service.url, publicUrl, signingKeys: keys, isMoved, isDatabaseAway }
  const place = { url: proxy.url, now, ...compared }
  const findings = await reach(place)
  if (findings[0].state === 'fault') return findings
  return [...findings, ...(await examineWay(place))]
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

/** In this order: the check, its state, and what to change. */
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
  assert.deepEqual(
    findings.map(({ check }) => check),
    ['reached', 'ready', 'database', 'public URL', 'clock', 'Host'],
  )
})

const html = (status: number): Spoil => ({
  onTheWayBack(returning) {
    returning.status = status
    returning.headers = { 'content-type': 'text/html' }
    returning.body = Buffer.from('<h1>Hello</h1>')
  },
})

const redirecting: Spoil = {
  onTheWayBack(returning) {
    returning.status = 301
    returning.headers = { location: 'https://bell.example/livez' }
  },
}

suite('finds each fault of a proxy alone, with the line to change', () => {
  const spoils: [string, Spoil, [string, Finding['state'], RegExp][]][] = [
    [
      'Host is replaced by a name of the inner network',
      { onTheWay: ({ headers }) => Object.assign(headers, { host: 'carillon-7:7464' }) },
      [['Host', 'fault', /proxy_set_header Host \$http_host;.*CARILLON_ALLOWED_HOSTS/]],
    ],
    [
      'the clock is 10 minutes ahead',
      {
        onTheWayBack: ({ headers }) =>
          Object.assign(headers, { date: new Date(Date.now() + 600_000).toUTCString() }),
      },
      [['clock', 'fault', /timedatectl set-ntp true/]],
    ],
    [
      'the response is an HTML page',
      html(200),
      [['reached', 'fault', /proxy_pass http:\/\/127\.0\.0\.1:\d+; \}/]],
    ],
    ['the response is a login page of the proxy', html(401), [['reached', 'fault', /proxy_pass/]]],
    ['the gateway sends a response of its own', html(502), [['reached', 'fault', /proxy_pass/]]],
    [
      'the path gets a prefix',
      { onTheWay: (passing) => Object.assign(passing, { path: `/bell${passing.path}` }) },
      [['reached', 'fault', /no path behind the port/]],
    ],
    [
      'it leads on to another address',
      redirecting,
      [['reached', 'fault', /^CARILLON_PUBLIC_URL=https:\/\/bell\.example$/]],
    ],
  ]
  for (const [name, spoil, expected] of spoils)
    test(name, async () => isFound(await lookThrough(spoil), expected))
})

test('without a public URL, leaves it to the settings to say whether one is needed', async () => {
  const findings = await examineWay({ url: service.url, now: Date.now, publicUrl: undefined })
  assert.deepEqual(
    findings.map(({ check }) => check),
    ['clock', 'Host'],
  )
})

test('finds another public URL than the examined address', async (t) => {
  const proxy = await startProxy(behindHttps.url)
  t.after(proxy.stop)
  isFound(await examineWay({ url: proxy.url, now: Date.now, publicUrl: 'https://bell.example' }), [
    ['public URL', 'warning', /^npx carillon doctor https:\/\/bell\.example$/],
  ])
})

test('finds nothing wrong behind a proxy that strips the path of the public URL', async (t) => {
  const behind = await startBehindPath()
  t.after(behind.stop)
  const place = {
    url: behind.url,
    now: Date.now,
    publicUrl: behind.url,
    direct: behind.service.url,
  }
  const findings = await reach({
    ...place,
    signingKeys: await behind.service.store.read(signingKeys),
  })
  isFound([...findings, ...(await examineWay(place))], [])
})

const looks: [
  what: string,
  options: (proxy: RunningProxy) => Partial<Look> | Promise<Partial<Look>>,
  found: [string, Finding['state'], RegExp],
  spoil?: Spoil,
][] = [
  [
    'says how a proxy strips the path of the public URL if it does not',
    (proxy) => ({ proxy: { ...proxy, url: `${proxy.url}/bell` } }),
    [
      'reached',
      'fault',
      /^Caddy: handle_path \/bell\/\* \{ reverse_proxy http:\S+ \} .*with-a-path/,
    ],
  ],
  [
    'finds a service on another database than the settings name',
    async () => ({ keys: await behindHttps.store.read(signingKeys) }),
    ['database', 'fault', /CARILLON_DATABASE_URL as the service has it, or the proxy to http/],
  ],
  [
    'warns if the database of the settings is being moved, since both databases have the same signing keys',
    () => ({ isMoved: true }),
    ['database', 'warning', /^start the service again once /],
  ],
  [
    'does not advise a public URL that is set already',
    () => ({ publicUrl: 'https://bell.example' }),
    ['reached', 'fault', /^npx carillon doctor https:\/\/bell\.example$/],
    redirecting,
  ],
]
for (const [what, options, found, spoil] of looks)
  test(what, async (t) => {
    const proxy = await startProxy(service.url, spoil)
    t.after(proxy.stop)
    isFound(await look({ proxy, ...(await options(proxy)) }), [found])
  })

test('finds that no program listens, and that a name is unknown', async () => {
  const proxy = await startProxy(service.url)
  await proxy.stop()
  isFound(await look({ proxy }), [
    ['reached', 'fault', /start the proxy, or correct CARILLON_PUBLIC_URL/],
  ])
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
    [
      'The store cannot be reached now; nothing was done',
      true,
      /^start the database, .* then continues$/,
    ],
  ] as const) {
    const proxy = await startProxy(service.url, notReady(message))
    t.after(proxy.stop)
    const [, ready] = await look({ proxy, isDatabaseAway })
    assert.deepEqual([ready?.check, ready?.state, ready?.found], ['ready', 'fault', message])
    assert.match(ready?.change ?? '', change)
  }
})
