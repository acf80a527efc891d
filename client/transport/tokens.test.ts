import assert from 'node:assert/strict'
import { after, mock, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { CarillonError, createCarillon, isCarillonError } from '../carillon-client.ts'
import { failureOf } from '../testing/clients.ts'
import { jwt } from '../testing/jwt.ts'
import type { TokenRequest, TokenResult } from './tokens.ts'

// The tests move both clocks: if the machine paused, the client would renew tokens at once.
mock.timers.enable({ apis: ['Date'], now: Date.now() })
let monotonic = performance.now()
mock.method(performance, 'now', () => monotonic)
after(() => mock.reset())

function pass(ms: number): void {
  monotonic += ms
  mock.timers.tick(ms)
}

/** The server refuses them when `isRefusing` resolves. */
function clientWith(
  auth: (request: TokenRequest) => TokenResult | Promise<TokenResult>,
  refused = new Set<string>(),
  isRefusing = Promise.resolve(),
) {
  const calls: TokenRequest[] = []
  const sent: string[] = []
  const fetch = async (_url: string, { headers }: RequestInit) => {
    const token = new Headers(headers).get('authorization')?.slice('Bearer '.length) ?? ''
    sent.push(token)
    if (!refused.has(token)) return new Response('{"success":true,"data":{}}')
    await isRefusing
    return new Response('{"success":false,"error":{"code":"UNAUTHORIZED","message":"Refused"}}', {
      status: 401,
    })
  }
  const noted = (request: TokenRequest) => {
    calls.push(request)
    return auth(request)
  }
  const { inbox } = createCarillon({ baseUrl: 'https://bell.example', fetch, auth: noted })
  return { calls, sent, request: () => inbox.counts() }
}

test('before a token ends, a request renews it: `auth` gets the reason and the token, and the request has the new one', async () => {
  const tokens: string[] = []
  const { calls, sent, request } = clientWith(() => {
    const token = jwt({ id: calls.length, endsIn: 30.3, lifetime: 300 })
    tokens.push(token)
    return token
  })
  while (calls.length < 3) {
    await request()
    pass(20)
  }
  assert.deepEqual(calls, [
    { reason: 'first', token: undefined },
    { reason: 'expiring', token: tokens[0] },
    { reason: 'expiring', token: tokens[1] },
  ])
  assert.deepEqual([...new Set(sent)], tokens)
  assert.equal(sent.at(-1), tokens[2])
})

test('requests that wait for a renewal share one call of `auth`', async () => {
  const old = jwt({ id: 1, endsIn: 30.1, lifetime: 300 })
  const fresh = jwt({ id: 2, endsIn: 100 })
  const { calls, sent, request } = clientWith(async ({ token }) => {
    await setImmediate()
    return token ? fresh : old
  })
  await request()
  pass(150)
  await Promise.all(Array.from({ length: 8 }, request))
  assert.equal(calls.length, 2)
  assert.deepEqual(sent, [old, ...Array(8).fill(fresh)])
})

test('`auth` may return the response of a sign-in or a renewal', async () => {
  const { sent, request } = clientWith(async () => ({
    token: 'a.b.c',
    expiresAt: '2030-01-01T00:00:00.000Z',
  }))
  await request()
  assert.deepEqual(sent, ['a.b.c'])
})

test('a refused token is not given to `auth`, which cannot renew it', async () => {
  const tokens = ['one', 'two', 'three']
  const refused = new Set(['one'])
  const { calls, request } = clientWith(() => tokens[calls.length - 1] ?? assert.fail(), refused)
  await request()
  refused.add('two')
  await request()
  assert.deepEqual(calls, [
    { reason: 'first', token: undefined },
    { reason: 'refused', token: undefined },
    { reason: 'refused', token: undefined },
  ])
})

test('if a renewal fails, requests carry the token that is still valid; after its refusal they get another one', async () => {
  const old = jwt({ id: 1, endsIn: 30.1, lifetime: 300 })
  const fresh = jwt({ id: 2, endsIn: 100 })
  const refused = new Set<string>()
  const { calls, sent, request } = clientWith(({ reason }) => {
    if (reason === 'expiring') throw new Error('the sign-in is too long ago')
    return reason === 'first' ? old : fresh
  }, refused)
  await request()
  pass(150)
  await Promise.all([request(), request()])
  await request()
  assert.deepEqual(
    calls.map(({ reason }) => reason),
    ['first', 'expiring'],
    'the next renewal is later',
  )
  refused.add(old)
  await request()
  assert.equal(calls.at(-1)?.reason, 'refused')
  assert.deepEqual(sent, [old, old, old, old, old, fresh])
})

test('a token that is refused during its renewal is not used again, even if the renewal fails', async () => {
  const old = jwt({ id: 1, endsIn: 30.1, lifetime: 300 })
  const fresh = jwt({ id: 2, endsIn: 100 })
  const refused = new Set<string>()
  const renewal = Promise.withResolvers<string>()
  const isRefusing = Promise.withResolvers<void>()
  const { calls, sent, request } = clientWith(
    ({ reason }) => ({ first: old, expiring: renewal.promise, refused: fresh })[reason],
    refused,
    isRefusing.promise,
  )
  await request()
  refused.add(old)
  const early = request()
  pass(150)
  const late = request()
  isRefusing.resolve()
  await setImmediate()
  renewal.reject(new Error('the sign-in was revoked'))
  await Promise.all([early, late])
  assert.deepEqual(sent, [old, old, fresh, fresh])
  assert.deepEqual(
    calls.map(({ reason }) => reason),
    ['first', 'expiring', 'refused'],
  )
})

const neverRenewed = {
  'a token that is not a JSON Web Token': 'opaque',
  'a token with a payload that is not JSON': 'a.b.c',
  'a token with a payload of null': `a.${btoa('null')}.c`,
  'a token without an end': jwt({ id: 1 }),
  'a token with an end in a thousand years': jwt({ id: 1, endsIn: 3e10 }),
  'a token that ended long ago by a wrong clock': jwt({ id: 1, endsIn: -3_600, lifetime: 900 }),
  'a token from the future by a wrong clock': jwt({ id: 1, endsIn: 3_600, lifetime: 900 }),
  'a token without a lifetime': jwt({ id: 1, endsIn: -1, lifetime: 0 }),
}
for (const [what, token] of Object.entries(neverRenewed))
  test(`${what} is kept until it is refused`, async () => {
    const refused = new Set<string>()
    const { calls, request } = clientWith(
      ({ reason }) => (reason === 'first' ? token : 'another'),
      refused,
    )
    for (let count = 0; count < 5; count++) await request()
    assert.equal(calls.length, 1)
    refused.add(token)
    await request()
    assert.deepEqual(calls[1], { reason: 'refused', token: undefined })
  })

test('if `auth` always returns the same token, it is renewed once at most, and its refusal is thrown', async () => {
  const token = jwt({ id: 1, endsIn: 30.1, lifetime: 300 })
  const refused = new Set<string>()
  const { calls, request } = clientWith(() => token, refused)
  await request()
  pass(150)
  for (let count = 0; count < 5; count++) await request()
  assert.deepEqual(
    calls.map(({ reason }) => reason),
    ['first', 'expiring'],
  )
  refused.add(token)
  assert.match(`${await failureOf(request())}`, /Refused/)
})

for (const [what, result] of Object.entries({
  null: null,
  'an object whose token is null': { token: null },
})) {
  test(`if \`auth\` returns ${what}, no user is signed in: the request is not sent and throws UNAUTHORIZED`, async () => {
    const { calls, sent, request } = clientWith(() => result as TokenResult)
    const error = await failureOf(request())
    assert.ok(isCarillonError(error, 'UNAUTHORIZED'))
    assert.deepEqual([error.status, error.message], [401, 'No user is signed in'])
    await failureOf(request())
    assert.deepEqual([calls.map(({ reason }) => reason), sent], [['first', 'first'], []])
  })

  test(`if \`auth\` returns ${what} for a token that ends soon, that token is not used again`, async () => {
    const old = jwt({ id: 1, endsIn: 30.1, lifetime: 300 })
    const { calls, sent, request } = clientWith(() =>
      calls.length === 1 ? old : (result as TokenResult),
    )
    await request()
    pass(150)
    for (let count = 0; count < 2; count++)
      assert.ok(isCarillonError(await failureOf(request()), 'UNAUTHORIZED'))
    assert.deepEqual(
      [calls.map(({ reason }) => reason), sent],
      [['first', 'expiring', 'first'], [old]],
    )
  })
}

const secret = 'hunter2 has a blank'
const noTokens: [what: string, result: unknown, says: string][] = [
  ['nothing', undefined, 'undefined'],
  ['a number', 7, 'number'],
  ['a text with a blank', secret, 'a text with a blank or another character that no token has'],
  ['a function', () => secret, 'function'],
  [
    'the envelope of a response',
    { success: true, data: { token: secret } },
    'an object without a token; its members: success,data',
  ],
  ['an object whose token is a number', { token: 7 }, 'an object whose token is number'],
  ['an object whose token is empty', { token: '' }, 'an object whose token is an empty text'],
]
for (const [what, result, says] of noTokens)
  test(`if \`auth\` returns ${what}, requests throw AUTH_FAILED, one warning says so without its value, and a renewal changes nothing`, async (t) => {
    const warn = t.mock.method(console, 'warn', () => {})
    const first = clientWith(() => result as unknown as TokenResult)
    for (let times = 0; times < 2; times++) {
      const error = await failureOf(first.request())
      assert.ok(isCarillonError(error, 'AUTH_FAILED'))
      assert.ok(error.cause instanceof TypeError)
      assert.doesNotMatch(`${error} ${error.cause}`, /hunter2/)
    }
    assert.deepEqual(first.sent, [])
    assert.deepEqual(
      warn.mock.calls.map(({ arguments: said }) => said),
      [[`Carillon: auth returned ${says}, which is neither null nor a token`]],
    )

    const old = jwt({ id: 1, endsIn: 30.1, lifetime: 300 })
    const renewed = clientWith(({ reason }) =>
      reason === 'first' ? old : (result as unknown as TokenResult),
    )
    await renewed.request()
    pass(150)
    await renewed.request()
    assert.deepEqual([renewed.calls.length, renewed.sent], [2, [old, old]])
  })

test('white space around a token, such as the line break of a text response, is not part of it', async () => {
  const { sent, request } = clientWith(() => 'a.b.c\n')
  await request()
  assert.deepEqual(sent, ['a.b.c'])
})

const failures: Record<string, { thrown: unknown; code: string }> = {
  'an error of the backend': { thrown: new Error('status 500'), code: 'AUTH_FAILED' },
  'no error but a text': { thrown: 'no', code: 'AUTH_FAILED' },
  'a defect of the function': {
    thrown: new TypeError("can't access property of null"),
    code: 'AUTH_FAILED',
  },
  'a failed fetch of Chromium': { thrown: new TypeError('Failed to fetch'), code: 'NETWORK' },
  'a failed fetch of Firefox': {
    thrown: new TypeError('NetworkError when attempting to fetch resource.'),
    code: 'NETWORK',
  },
  'a failed fetch of Safari': { thrown: new TypeError('Load failed'), code: 'NETWORK' },
  'a failed fetch of Node': { thrown: new TypeError('fetch failed'), code: 'NETWORK' },
}
for (const [what, { thrown, code }] of Object.entries(failures))
  test(`if \`auth\` throws ${what}, the request throws ${code} with that as its cause`, async () => {
    for (const auth of [() => Promise.reject(thrown), () => thrower(thrown)]) {
      const { sent, request } = clientWith(auth)
      const error = await failureOf(request())
      assert.ok(isCarillonError(error))
      assert.deepEqual([error.code, error.cause, sent], [code, thrown, []])
    }
  })

test('a CarillonError of `auth` is thrown as it is', async () => {
  const thrown = new CarillonError('TOO_MANY_REQUESTS', 'Slow down', { status: 429 })
  const { request } = clientWith(() => thrower(thrown))
  assert.equal(await failureOf(request()), thrown)
})

function thrower(thrown: unknown): never {
  throw thrown
}
