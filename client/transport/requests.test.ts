import assert from 'node:assert/strict'
import { getEventListeners, once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, type TestContext, test } from 'node:test'
import { startTestService, type TestService } from '../../tests/support/service.ts'
import {
  CarillonError,
  createCarillon,
  createProducer,
  type ErrorCode,
  isCarillonError,
} from '../carillon-client.ts'
import { failureOf, signedIn } from '../testing/clients.ts'
import { Requests } from './requests.ts'

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.stop())

async function serving(respond: (response: ServerResponse) => void) {
  const server = createServer((_request, response) => respond(response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

test('after a refused token the client calls `auth` once for all refused calls, and sends each of them again', async () => {
  const ann = await service.user()
  const fresh = await service.signIn(ann, 'stateless')
  let calls = 0
  const auth = async () =>
    ++calls === 1 ? 'an.old.token' : (fresh.authorization?.slice('Bearer '.length) ?? '')
  const carillon = createCarillon({ baseUrl: service.url, auth })
  const responses = await Promise.all(Array.from({ length: 8 }, () => carillon.me()))
  assert.deepEqual(
    responses.map((me) => me?.user.id),
    Array(8).fill(ann.id),
  )
  assert.equal(calls, 2)
})

test('if the next token of `auth` is refused too, the call throws the refusal', async () => {
  let tokens = 0
  const auth = () => `old.${++tokens}`
  const carillon = createCarillon({ baseUrl: service.url, auth })
  assert.ok(isCarillonError(await failureOf(carillon.restricted()), 'Unauthorized'))
  assert.equal(tokens, 2)
})

test('if `auth` does not return in time, the next call calls it again, and a late first token is not kept', async () => {
  const late = Promise.withResolvers<string>()
  const responses = [late.promise, 'second', 'third']
  const sent: (string | null)[] = []
  const fetchNoted = async (_url: string, init: RequestInit) => {
    sent.push(new Headers(init.headers).get('authorization'))
    return new Response('{"success":true,"data":{}}')
  }
  const connection = { baseUrl: 'https://app.example', fetch: fetchNoted }
  const requests = new Requests(connection, async () => responses.shift() ?? assert.fail(), 100)
  const hanging = requests.data({ path: 'one' })
  const failure = await failureOf(requests.data({ path: 'two', signal: AbortSignal.timeout(10) }))
  assert.equal((failure as Error).name, 'TimeoutError')
  assert.equal(responses.length, 2, 'at first, both requests share one call of auth')
  await new Promise((resolve) => setTimeout(resolve, 120))
  await requests.data({ path: 'three' })
  late.resolve('first')
  await hanging
  await new Promise((resolve) => setTimeout(resolve, 120))
  await requests.data({ path: 'four' })
  assert.deepEqual(sent, ['Bearer second', 'Bearer first', 'Bearer second'])
})

test('an aborted call does not abort the call of `auth` that other calls wait for', async () => {
  const ann = await service.user()
  const proof = await service.signIn(ann, 'stateless')
  const tokenPromise = Promise.withResolvers<string>()
  const { inbox } = createCarillon({ baseUrl: service.url, auth: () => tokenPromise.promise })
  const controller = new AbortController()
  const impatient = failureOf(inbox.list({ signal: controller.signal }))
  const patient = inbox.list()
  controller.abort()
  assert.equal(((await impatient) as Error).name, 'AbortError')
  tokenPromise.resolve(proof.authorization?.slice('Bearer '.length) ?? '')
  assert.equal((await patient).total, 0)
})

test('a request whose cookie was refused is sent once more: the response to another one may have replaced the cookie (S17)', async () => {
  const refusal = (code: string) =>
    new Response(JSON.stringify({ success: false, error: { code } }), { status: 401 })
  const requests = (responses: Response[]) => {
    const fetchNext = async () =>
      responses.shift() ?? assert.fail('the client sent one request too many')
    return createCarillon({ baseUrl: 'https://app.example', fetch: fetchNext })
  }
  const counts = new Response('{"success":true,"data":{"unread":3}}')
  assert.equal((await requests([refusal('UNAUTHORIZED'), counts]).inbox.counts()).unread, 3)
  const twice = failureOf(
    requests([refusal('UNAUTHORIZED'), refusal('UNAUTHORIZED')]).inbox.counts(),
  )
  assert.ok(isCarillonError(await twice, 'UNAUTHORIZED'))
  const ofProxy = () => new Response('<html>', { status: 401 })
  assert.ok(
    isCarillonError(await failureOf(requests([ofProxy(), ofProxy()]).inbox.counts()), 'UNREADABLE'),
  )
  // A wrong password is a guess: it is not sent twice.
  const wrong = requests([refusal('INVALID_CREDENTIALS')]).login({
    username: 'ann',
    password: 'wrong',
  })
  assert.ok(isCarillonError(await failureOf(wrong), 'INVALID_CREDENTIALS'))
})

test('an error has code, status, request id and details, its message has the first of them, and its type narrows by the code', async () => {
  const { inbox } = await signedIn(service, await service.user(), 'stateless')
  const error = await failureOf(inbox.list({ page: 0 }))
  assert.ok(error instanceof CarillonError && error instanceof Error)
  assert.equal(error.name, 'CarillonError')
  assert.equal(error.status, 400)
  assert.match(error.requestId ?? '', /^[\w-]{8,}$/)
  assert.equal(error.details?.[0]?.field, 'page')
  assert.equal(error.message, 'The request is invalid (page: must be at least 1)')
  assert.equal(isCarillonError(error, 'NOT_FOUND'), false)
  assert.equal(isCarillonError(error, 'NOT_FOUND', 'INVALID_REQUEST'), true)
  assert.equal(isCarillonError(new TypeError('other')), false)
  // These lines check the types.
  if (isCarillonError(error, 'INVALID_REQUEST')) error.code satisfies 'INVALID_REQUEST'
  if (error.code === 'INVALID_REQUEST') error.code satisfies 'INVALID_REQUEST'
})

const json = { 'content-type': 'application/json' }
const envelope = (code: string) =>
  JSON.stringify({
    success: false,
    error: { code, status: 0, message: 'Because', requestId: 'r-1' },
  })
const breaksOff = (status: number, begins: string) => (response: ServerResponse) => {
  response.writeHead(status, { ...json, 'content-length': '1000' }).write(begins)
  setTimeout(() => response.destroy(), 20)
}
const strange: {
  what: string
  code: ErrorCode
  status: number | undefined
  respond: (response: ServerResponse) => void
}[] = [
  {
    what: "a proxy's error page",
    code: 'UNREADABLE',
    status: 502,
    respond: (response) =>
      response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad Gateway</h1>'),
  },
  {
    what: 'a login page with status 200',
    code: 'UNREADABLE',
    status: 200,
    respond: (response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Welcome to our hotel</h1>'),
  },
  {
    what: 'JSON null',
    code: 'UNREADABLE',
    status: 200,
    respond: (response) => response.writeHead(200, json).end('null'),
  },
  {
    what: 'a JSON error of another service',
    code: 'UNREADABLE',
    status: 418,
    respond: (response) => response.writeHead(418, json).end('{"error":"teapot"}'),
  },
  {
    what: 'an empty 500',
    code: 'UNREADABLE',
    status: 500,
    respond: (response) => response.writeHead(500).end(),
  },
  {
    what: 'an incomplete response',
    code: 'NETWORK',
    status: undefined,
    respond: breaksOff(200, '{"success":true'),
  },
  {
    what: 'an incomplete error response',
    code: 'NETWORK',
    status: undefined,
    respond: breaksOff(500, '{"success":false'),
  },
  {
    what: 'a connection that is closed without a response',
    code: 'NETWORK',
    status: undefined,
    respond: (response) => response.destroy(),
  },
  {
    what: 'an error code that only a newer server has',
    code: 'BRAND_NEW' as ErrorCode,
    status: 499,
    respond: (response) => response.writeHead(499, json).end(envelope('BRAND_NEW')),
  },
]
for (const { what, code, status, respond } of strange)
  test(`${what} throws ${code}`, async () => {
    await using server = await serving(respond)
    const error = await failureOf(createCarillon(server).inbox.list())
    assert.ok(isCarillonError(error, code), `${error}`)
    assert.equal(error.status, status)
  })

test('a 200 whose body is not from Carillon throws UNREADABLE, even for a call that expects no body', async () => {
  const bodies = [
    '<h1>Welcome to our hotel</h1>',
    '{}',
    '[]',
    '"x"',
    '{"success":true}',
    '{"data":{}}',
  ]
  let body = ''
  await using server = await serving((response) => response.writeHead(200, json).end(body))
  const { inbox, login, renew } = createCarillon(server)
  for (body of bodies)
    for (const call of [
      () => inbox.list(),
      () => inbox.readAll(),
      () => login({ username: 'ann', password: 'x' }),
      () => renew('a.b.c'),
    ])
      assert.ok(isCarillonError(await failureOf(call()), 'UNREADABLE'), body)
})

test('retryAfter is in seconds, also of a response that is not from Carillon, and undefined for a text that is not a number', async () => {
  for (const [value, body, code, expected] of [
    ['7', envelope('TOO_MANY_REQUESTS'), 'TOO_MANY_REQUESTS', 7],
    ['soon', envelope('TOO_MANY_REQUESTS'), 'TOO_MANY_REQUESTS', undefined],
    ['-5', envelope('TOO_MANY_REQUESTS'), 'TOO_MANY_REQUESTS', 0],
    ['9', 'Soon', 'UNREADABLE', 9],
  ] as const) {
    await using server = await serving((response) =>
      response.writeHead(429, { ...json, 'retry-after': value }).end(body),
    )
    const error = await failureOf(createCarillon(server).inbox.list())
    assert.ok(isCarillonError(error, code))
    assert.equal(error.retryAfter, expected)
  }
})

test('an abort ends a call promptly with the reason of the signal, and no listener stays on the signal', async () => {
  await using silent = await serving(() => {})
  const { inbox } = createCarillon(silent)
  const controller = new AbortController()
  const failing = failureOf(inbox.list({ signal: controller.signal }))
  const reason = new Error('enough')
  setTimeout(() => controller.abort(reason), 20)
  assert.equal(await failing, reason)
  assert.deepEqual(getEventListeners(controller.signal, 'abort'), [])
  assert.equal(await failureOf(inbox.list({ signal: controller.signal })), reason)
  await using half = await serving((response) => response.writeHead(200, json).write('{"succ'))
  const failure = await failureOf(
    createCarillon(half).inbox.list({ signal: AbortSignal.timeout(50) }),
  )
  assert.equal((failure as Error).name, 'TimeoutError')
})

test('a path prefix in baseUrl is kept, with and without a slash at its end', async () => {
  const urls: string[] = []
  const fetchNoted = async (url: string) => {
    urls.push(url)
    return new Response('{"success":true,"data":{}}')
  }
  for (const baseUrl of [
    'https://app.example/bell',
    'https://app.example/bell/',
    new URL('https://app.example/bell//'),
  ])
    await createCarillon({ baseUrl, fetch: fetchNoted }).inbox.list({ page: 2, status: 'unread' })
  assert.deepEqual(
    urls,
    Array(3).fill('https://app.example/bell/api/notifications?page=2&status=unread'),
  )
})

test('without a page, a client can be created with a relative baseUrl, and its first call says what to set', async () => {
  for (const baseUrl of [undefined, '/bell/', 'bell.example']) {
    const fetchNever = () => assert.fail('the client sent a request')
    const carillon = createCarillon({ baseUrl, fetch: fetchNever })
    const calls = [
      () => carillon.inbox.list(),
      () => carillon.login({ username: 'ann', password: 'plum orchard gate 41' }),
      () => carillon.inbox.subscribe().next(),
    ]
    for (const call of calls) {
      const failure = await failureOf(call())
      assert.ok(failure instanceof TypeError)
      assert.match(failure.message, /is no absolute URL: correct baseUrl/)
    }
  }
})

test('the first call resolves a relative baseUrl, after a page with an address exists', async (t) => {
  const urls: string[] = []
  const fetchNoted = async (url: string) => {
    urls.push(url)
    return new Response('{"success":true,"data":{}}')
  }
  const clients = [undefined, '/bell'].map((baseUrl) =>
    createCarillon({ baseUrl, fetch: fetchNoted }),
  )
  atPage(t, 'https://app.example/shop?a#b')
  for (const { inbox } of clients) await inbox.counts()
  assert.deepEqual(urls, [
    'https://app.example/api/notifications/counts',
    'https://app.example/bell/api/notifications/counts',
  ])
})

test('without a response from another origin, the error names CARILLON_ALLOWED_ORIGINS and the origin of the page', async (t) => {
  const fetchFailing = () => Promise.reject(new TypeError('Failed to fetch'))
  const messageFor = async (baseUrl: string) =>
    `${await failureOf(createCarillon({ baseUrl, fetch: fetchFailing }).inbox.list())}`
  assert.doesNotMatch(
    await messageFor('https://bell.example'),
    /CARILLON_ALLOWED_ORIGINS/,
    'no page',
  )
  atPage(t, 'https://app.example/shop')
  assert.equal(
    await messageFor('https://bell.example'),
    'CarillonError: No response from Carillon, or CARILLON_ALLOWED_ORIGINS of https://bell.example lacks https://app.example',
  )
  assert.doesNotMatch(
    await messageFor('https://app.example/bell/'),
    /CARILLON_ALLOWED_ORIGINS/,
    'the same origin',
  )
})

/** The address of the page, until the end of the test. */
function atPage(t: TestContext, href: string): void {
  Object.defineProperty(globalThis, 'location', { value: new URL(href), configurable: true })
  t.after(() => Reflect.deleteProperty(globalThis, 'location'))
}

test('createCarillon throws TypeError for a baseUrl that is not a URL', () => {
  for (const baseUrl of ['https://bell example', 'http://['])
    assert.throws(() => createCarillon({ baseUrl }), TypeError)
})

for (const status of [302, 307])
  test(`the client follows no redirect (${status}): no password, token, key or cookie reaches another server`, async () => {
    let arrived = 0
    await using elsewhere = await serving((response) => {
      arrived++
      response.end('{}')
    })
    await using redirecting = await serving((response) =>
      response.writeHead(status, { location: `${elsewhere.baseUrl}/login` }).end(),
    )
    const { baseUrl } = redirecting
    const byToken = createCarillon({ baseUrl, auth: () => 'a.b.c' })
    const byCookie = createCarillon({ baseUrl })
    const calls = [
      byCookie.login({ username: 'ann', password: 'plum orchard gate 41' }),
      byCookie.me(),
      byToken.inbox.list(),
      byToken.inbox.readAll(),
      byToken.logout(),
      new Requests({ baseUrl }, () => 'a.b.c').open({
        path: 'api/notifications/stream',
        signal: new AbortController().signal,
      }),
      createProducer({ baseUrl, key: 'crl_a_b' }).send({
        recipients: [{ username: 'ann' }],
        title: 'x',
      }),
    ]
    for (const failure of await Promise.all(calls.map(failureOf))) {
      assert.ok(isCarillonError(failure, 'UNREADABLE'), String(failure))
      assert.match(failure.message, /^The server redirects: correct baseUrl$/)
    }
    assert.equal(arrived, 0)
  })

test('requests include credentials only if the cookie is the proof', async () => {
  const inits: RequestInit[] = []
  const fetchNoted = async (_url: string, init: RequestInit) => {
    inits.push(init)
    return new Response('{"success":true,"data":{}}')
  }
  await createCarillon({ baseUrl: 'https://app.example', fetch: fetchNoted }).me()
  await createCarillon({
    baseUrl: 'https://app.example',
    fetch: fetchNoted,
    auth: () => 'a.b.c',
  }).me()
  assert.deepEqual(
    inits.map(({ credentials, headers }) => [
      credentials,
      new Headers(headers).get('authorization'),
    ]),
    [
      ['include', null],
      [undefined, 'Bearer a.b.c'],
    ],
  )
})

test('twelve calls at once put one listener on a signal: Node 20 warns of a leak at the eleventh', async () => {
  const { signal } = new AbortController()
  const responses = Promise.withResolvers<void>()
  const fetchLater = async () => {
    await responses.promise
    return new Response('{"success":true,"data":{}}')
  }
  const requests = new Requests(
    { baseUrl: 'https://app.example', fetch: fetchLater },
    () => 'a.b.c',
  )
  const calls = Array.from({ length: 12 }, () => requests.data({ path: 'x', signal }))
  for (const each of [signal, requests.session.signal])
    assert.equal(getEventListeners(each, 'abort').length, 1)
  responses.resolve()
  await Promise.all(calls)
  for (const each of [signal, requests.session.signal])
    assert.deepEqual(getEventListeners(each, 'abort'), [])
})

test('a redirect that fetch followed, and one that a browser hides, are refused', async () => {
  const own = 'https://app.example'
  const hidden = { type: 'opaqueredirect', status: 0, url: `${own}/x` }
  const elsewhere = { type: 'default', status: 200, url: 'https://other.example/x' }
  const here = { type: 'default', status: 200, url: `${own}/x` }
  for (const [shown, isRefused] of [
    [hidden, true],
    [elsewhere, true],
    [here, false],
  ] as const) {
    const text = async () => '{"success":true,"data":7}'
    const fetchOnce = async () =>
      ({ ...shown, ok: shown.status === 200, headers: new Headers(), text }) as Response
    const call = new Requests({ baseUrl: own, fetch: fetchOnce }, () => 'a.b.c').data({ path: 'x' })
    if (isRefused) assert.match(`${await failureOf(call)}`, /The server redirects: correct baseUrl/)
    else assert.equal(await call, 7)
  }
})
