// A provider lies or is away (P3, P5): nobody is signed in, nothing is stored, no other address is
// contacted, no secret reaches response or log. The provider signs what a test changes with its
// real keys.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, afterEach, suite, test } from 'node:test'
import { generateKeyPair } from 'jose'
import { pino } from 'pino'
import { listUsers } from '../../../server/users/users.store.ts'
import { refusalIn } from '../../support/http/envelope.ts'
import { startWithProvider, type Visited } from '../../support/http/provider-browser.ts'
import { clientSecret, sendJson } from '../../support/network/sign-in-provider.ts'

const lines: string[] = []
const { app, provider, browser, stop } = await startWithProvider(
  { createUsers: true, displayName: 'Example Staff' },
  { log: pino({ base: null, level: 'trace' }, { write: (line: string) => lines.push(line) }) },
)
after(stop)
afterEach(() => {
  provider.lies.clear()
  // The endpoints are read again after an hour.
  app.pass(3_600_000)
})

const discovery = '/.well-known/openid-configuration'
const failures = () =>
  lines.filter((line) => line.includes('"provider-failed"')).map((line) => JSON.parse(line).reason)
const usersOf = () => app.store.read(listUsers, { after: '', limit: 100 })
let subjects = 0

/** No request may come here. */
const trapped: string[] = []
const trap = createServer((request, response) => {
  trapped.push(`${request.method} ${request.url}`)
  response.end('{}')
})
await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve))
after(() => trap.close())
const trapUrl = `http://127.0.0.1:${(trap.address() as AddressInfo).port}/`

/** The sentence names the provider, and no secret is in it. */
async function isRefused(response: Visited, status: number, message: RegExp): Promise<void> {
  assert.equal(response.status, status, response.text)
  assert.match(refusalIn(response).message, message)
  assert.ok(!response.headers.getSetCookie().some((set) => /^carillon=./.test(set)))
  for (const secret of [clientSecret, 'eyJ'])
    assert.ok(!response.text.includes(secret), response.text)
}

async function signInIsRefused(status: number, message: RegExp): Promise<void> {
  const before = await usersOf()
  const visitor = browser()
  await isRefused(await visitor.signIn('staff', `subject-${++subjects}`), status, message)
  assert.deepEqual(visitor.begun, [])
  assert.deepEqual(await usersOf(), before)
}

const failedCheck =
  /^The response of Example Staff failed a check, so nobody was signed in\. Sign in again\./
const unusable = /^Example Staff cannot be used for a sign-in now\. Try again in a moment/

test('the same steps without a lie sign a user in', async () => {
  provider.lies.set(discovery, async ({ response, honest }) =>
    sendJson(response, 200, (await honest()).body),
  )
  app.pass(3_600_000)
  provider.lieAboutIdToken({ sub: 'honest' })
  provider.lies.set('/me', ({ response }) => sendJson(response, 200, { sub: 'honest' }))
  assert.equal((await browser().signIn('staff', 'honest')).status, 303)
})

suite('an ID token that lies', () => {
  const seconds = () => Math.floor(Date.now() / 1000)
  const lies: Record<string, Parameters<typeof provider.lieAboutIdToken>[0]> = {
    'another nonce': { nonce: randomBytes(32).toString('base64url') },
    'no nonce': { nonce: undefined } as never,
    'another issuer': { iss: 'https://accounts.google.com' },
    'the issuer with a slash': { iss: `${provider.url}/` },
    'another audience': { aud: 'another-client' },
    'another audience beside ours, for another party': { aud: ['bell', 'other'], azp: 'other' },
    'expired an hour ago': { exp: seconds() - 3_600, iat: seconds() - 7_200 },
    'no expiry': { exp: undefined } as never,
    'not valid before tomorrow': { nbf: seconds() + 86_400 },
    'no subject': { sub: undefined } as never,
    'an empty subject': { sub: '' },
    'a subject that is a number': { sub: 7 } as never,
    'a subject of two lines': { sub: 'a\nb' },
    'a subject of 256 characters': { sub: 'a'.repeat(256) },
  }
  for (const [what, claims] of Object.entries(lies))
    test(`${what} signs nobody in (P3)`, async () => {
      provider.lieAboutIdToken(claims)
      await signInIsRefused(403, failedCheck)
    })

  for (const [what, algorithm, header] of [
    ['another key', 'RS256', undefined],
    ['another algorithm', 'ES256', { alg: 'ES256' }],
  ] as const)
    test(`a signature by ${what} signs nobody in (P3)`, async () => {
      const { privateKey: key } = await generateKeyPair(algorithm)
      provider.lieAboutIdToken({}, { key, ...(header && { header }) })
      await signInIsRefused(403, failedCheck)
    })

  test('an unknown key id signs nobody in (P3)', async () => {
    provider.lieAboutIdToken({}, { header: { kid: 'unknown' } })
    await signInIsRefused(403, failedCheck)
  })

  const forged: Record<string, (parts: string[]) => string | undefined> = {
    'alg none without a signature': ([, payload]) => `${encoded({ alg: 'none' })}.${payload}.`,
    'alg none with the signature': ([, payload, signature]) =>
      `${encoded({ alg: 'none' })}.${payload}.${signature}`,
    'alg HS256': ([, payload, signature]) =>
      `${encoded({ alg: 'HS256', kid: 'real' })}.${payload}.${signature}`,
    'a changed payload': ([header, , signature]) =>
      `${header}.${encoded({ sub: 'ann' })}.${signature}`,
    'no JWT': () => 'none',
    'an empty text': () => '',
    'no ID token at all': () => undefined,
  }
  for (const [what, forge] of Object.entries(forged))
    test(`${what} signs nobody in (P3)`, async () => {
      provider.lies.set('/token', async ({ response, honest }) => {
        const { status, body } = await honest()
        sendJson(response, status, { ...body, id_token: forge(String(body.id_token).split('.')) })
      })
      await signInIsRefused(403, failedCheck)
    })

  test('user info about another subject signs nobody in (P3)', async () => {
    provider.lies.set('/me', ({ response }) => sendJson(response, 200, { sub: 'ann', name: 'Ann' }))
    await signInIsRefused(403, failedCheck)
  })
})

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

suite('a way back that lies', () => {
  const begun = async () => {
    const visitor = browser()
    const { location } = await visitor.start('staff')
    return { visitor, wayBack: new URL(await visitor.wayBack(location, 'ann')), location }
  }
  const notBegun =
    /^This sign-in did not begin in this browser in the last 10 minutes\. Begin again at /

  test('the response of another browser, a wrong, a missing or a repeated state signs nobody in (P2)', async () => {
    const { visitor, wayBack } = await begun()
    await isRefused(await browser().send(wayBack.href), 400, notBegun)
    const state = wayBack.searchParams.get('state') ?? ''
    for (const wrong of [
      '',
      'x',
      state.slice(0, 42),
      `${state}x`,
      state.slice(0, 8) + 'x'.repeat(35),
    ]) {
      wayBack.searchParams.set('state', wrong)
      await isRefused(await visitor.send(wayBack.href), 400, notBegun)
    }
    wayBack.searchParams.set('state', state)
    wayBack.searchParams.append('state', state)
    await isRefused(await visitor.send(wayBack.href), 400, notBegun)
  })

  test('a cookie that another sign-in, another provider or a stranger made is refused (P2)', async () => {
    const first = await begun()
    const second = await begun()
    const name = first.visitor.begun[0] ?? ''
    const other = second.visitor.begun[0] ?? ''
    const sealed = first.visitor.jar.get(name) ?? ''
    for (const value of [
      second.visitor.jar.get(other) ?? '',
      'x',
      `${sealed}x`,
      sealed.slice(1),
      sealed.slice(0, -5),
    ]) {
      first.visitor.jar.set(name, value)
      await isRefused(await first.visitor.send(first.wayBack.href), 400, notBegun)
    }
  })

  test('a sign-in of ten minutes ago is refused', async () => {
    const { visitor, wayBack } = await begun()
    app.pass(10 * 60_000)
    await isRefused(await visitor.send(wayBack.href), 400, notBegun)
  })

  test('a code is used once: a replayed one is refused, and so is one that nobody gave', async () => {
    const { visitor, wayBack } = await begun()
    const jar = new Map(visitor.jar)
    assert.equal((await visitor.send(wayBack.href)).status, 303)
    const [name = ''] = jar.keys()
    visitor.jar.clear()
    visitor.jar.set(name, jar.get(name) ?? '')
    const used =
      /^Example Staff does not accept this sign-in: it was used, or has expired\. Sign in again/
    await isRefused(await visitor.send(wayBack.href), 400, used)
    const second = await begun()
    second.wayBack.searchParams.set('code', randomBytes(32).toString('base64url'))
    await isRefused(await second.visitor.send(second.wayBack.href), 400, used)
  })

  test('the issuer of the response must be the provider (RFC 9207)', async () => {
    for (const change of [
      (query: URLSearchParams) => query.set('iss', 'https://evil.example'),
      (query: URLSearchParams) => query.delete('iss'),
      (query: URLSearchParams) => query.append('iss', 'https://evil.example'),
    ]) {
      const { visitor, wayBack } = await begun()
      change(wayBack.searchParams)
      await isRefused(await visitor.send(wayBack.href), 403, failedCheck)
    }
  })

  test('a user who cancels there gets a clear answer, and can begin again', async () => {
    const visitor = browser()
    const { location } = await visitor.start('staff')
    const cancelled = await visitor.send(await provider.cancel(location, `${app.url}/login/with/`))
    await isRefused(
      cancelled,
      403,
      /^The sign-in with Example Staff was refused there \(access_denied\)\. Nothing was changed/,
    )
    assert.equal((await visitor.signIn('staff', 'ann')).status, 303)
  })

  test('an error with a text of its own choice is not repeated', async () => {
    const { visitor, location } = await begun()
    const state = new URL(location).searchParams.get('state') ?? ''
    const query = new URLSearchParams({
      state,
      iss: provider.url,
      error: '<b>call 0800</b>',
      error_description: 'call',
    })
    const refused = await visitor.send(`/login/with/staff/callback?${query}`)
    await isRefused(
      refused,
      403,
      /^The sign-in with Example Staff was refused there\. Nothing was changed/,
    )
    assert.ok(!refused.text.includes('call'))
  })
})

suite('a provider that cannot be used', () => {
  async function startIsRefused(): Promise<void> {
    const refused = await browser().start('staff')
    await isRefused(refused, 503, unusable)
    assert.equal(refused.headers.get('retry-after'), '5')
    assert.deepEqual(refused.headers.getSetCookie(), [])
  }

  test('a start is 503 with a sentence, the provider gets one request in five seconds, and the log one line', async () => {
    app.pass(60_000)
    provider.lies.set(discovery, ({ response }) => response.writeHead(500).end())
    const asked = provider.requested.length
    const logged = failures().length
    for (let n = 0; n < 10; n++) await startIsRefused()
    assert.equal(provider.requested.length - asked, 1)
    assert.equal(failures().length - logged, 1)
    provider.lies.clear()
    app.pass(5_000)
    assert.equal((await browser().start('staff')).status, 302)
  })

  const documents: Record<string, (honest: Record<string, unknown>) => Record<string, unknown>> = {
    'another issuer': (honest) => ({ ...honest, issuer: 'https://evil.example' }),
    'the issuer with a slash': (honest) => ({ ...honest, issuer: `${provider.url}/` }),
    'no authorization endpoint': ({ authorization_endpoint: _, ...honest }) => honest,
    'an authorization endpoint elsewhere': (honest) => ({
      ...honest,
      authorization_endpoint: 'https://evil.example/a',
    }),
    'a script as authorization endpoint': (honest) => ({
      ...honest,
      authorization_endpoint: 'javascript:alert(1)',
    }),
  }
  for (const [what, document] of Object.entries(documents))
    test(`a discovery document with ${what} sends no browser anywhere (P3)`, async () => {
      provider.lies.set(discovery, async ({ response, honest }) => {
        sendJson(response, 200, document((await honest()).body))
      })
      await startIsRefused()
    })

  const responses: Record<string, Parameters<typeof provider.lies.set>[1]> = {
    'no JSON': ({ response }) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
    // 307: the client secret would be sent again.
    'a redirect': ({ response }) => response.writeHead(307, { location: trapUrl }).end(),
    'a megabyte': ({ response }) =>
      sendJson(response, 200, { issuer: provider.url, more: 'x'.repeat(1_000_000) }),
    'an end in the middle': ({ response }) => {
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
        .write('{')
      setTimeout(() => response.destroy(), 50)
    },
  }
  for (const [what, lie] of Object.entries(responses))
    test(`${what} in place of the discovery document or the tokens is 503 (P3)`, async () => {
      provider.lies.set(discovery, lie)
      await startIsRefused()
      provider.lies.clear()
      app.pass(5_000)
      provider.lies.set('/token', lie)
      await signInIsRefused(503, unusable)
      assert.deepEqual(trapped, [])
    })

  test('a provider that never responds costs five seconds (P3)', async () => {
    provider.lies.set(discovery, () => {})
    const from = performance.now()
    await startIsRefused()
    // The delay of a busy machine is added.
    assert.ok(performance.now() - from < 20_000)
    assert.match(failures().at(-1) ?? '', /cannot be reached: no response within 5 s/)
  })

  test('at most 50 sign-ins wait for it: further ones are refused at once', async () => {
    const held = Promise.withResolvers<void>()
    provider.lies.set(discovery, async ({ response }) => {
      await held.promise
      response.writeHead(500).end()
    })
    app.pass(60_000)
    const refused: string[] = []
    const someRefused = Promise.withResolvers<void>()
    const starts = Array.from({ length: 60 }, async () => {
      refused.push(refusalIn(await browser().start('staff')).message)
      if (refused.length === 10) someRefused.resolve()
    })
    await someRefused.promise
    for (const message of refused)
      assert.match(message, /^Too many sign-ins wait for this provider/)
    held.resolve()
    await Promise.all(starts)
  })

  test('endpoints at other addresses are not contacted, and get no client secret (P3)', async (t) => {
    const received: string[] = []
    const elsewhere = createServer((request, response) => {
      received.push(request.url ?? '')
      response.end('{}')
    })
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
    t.after(() => elsewhere.close())
    const address = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`
    for (const endpoint of ['token_endpoint', 'jwks_uri', 'userinfo_endpoint']) {
      provider.lies.set(discovery, async ({ response, honest }) => {
        sendJson(response, 200, { ...(await honest()).body, [endpoint]: `${address}/${endpoint}` })
      })
      app.pass(3_600_000)
      await signInIsRefused(503, unusable)
      assert.match(
        failures().at(-1) ?? '',
        /which is neither the origin of the issuer nor in "origins"/,
      )
    }
    assert.deepEqual(received, [])
  })

  test('a provider that no longer accepts the client is 503, and the log says so', async () => {
    app.pass(60_000)
    provider.lies.set('/token', ({ response }) =>
      sendJson(response, 401, { error: 'invalid_client' }),
    )
    await signInIsRefused(503, unusable)
    assert.match(failures().at(-1) ?? '', /invalid_client/)
  })
})

test('no line of the log has a client secret, a code, a state, or a token (P5)', async () => {
  const visitor = browser()
  const { location } = await visitor.start('staff', '?variant=stateless')
  const wayBack = await visitor.wayBack(location, 'ann')
  const back = await visitor.send(wayBack)
  const code = new URLSearchParams(back.location.split('#')[1]).get('sign-in-code') ?? ''
  const { token } = (await app.post('/login/with/staff', { code }, visitor.proof)).json()
  const all = lines.join('')
  assert.ok(all.includes('"event":"sign-in"') && all.includes('"provider-failed"'))
  const { searchParams: there } = new URL(location)
  const { searchParams: returned } = new URL(wayBack)
  const secrets = [
    clientSecret,
    there.get('state'),
    there.get('nonce'),
    returned.get('code'),
    code,
    token,
    'eyJ',
  ]
  for (const secret of secrets)
    assert.ok(typeof secret === 'string' && secret !== '' && !all.includes(secret), `${secret}`)
  const stored = JSON.stringify(await app.database.tables())
  assert.ok(stored.includes('provider_account'))
  // Other secrets are stored sealed, which also begins with these characters.
  for (const secret of secrets.slice(0, -1)) assert.ok(!stored.includes(`${secret}`), `${secret}`)
})
