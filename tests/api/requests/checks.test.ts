// Media types, encodings, sizes, depth, text (I1-I6, C3). malformed-http.test.ts has the bytes
// below HTTP, methods-and-paths.test.ts methods and paths.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusalIn } from '../../support/http/envelope.ts'
import { startEveryRoute } from '../../support/http/every-route.ts'
import type { HttpRequest } from '../../support/http/http-client.ts'
import type { Proof } from '../../support/service.ts'
import { inTurns } from '../../support/soak.ts'

const { app, client, ann, session: proof, producer, routes } = await startEveryRoute()

/** With the proof that opens it. */
const bodied = routes.filter(({ takesBody }) => takesBody)
/** They change something and take no body. */
const bodiless = ['/logout', '/api/notifications/read-all'].map((path) => ({
  method: 'POST',
  path,
  proof,
}))

async function refused(status: number, request: HttpRequest) {
  const response = await client.request(request)
  assert.equal(
    response.status,
    status,
    `${request.method ?? 'GET'} ${request.path} ${JSON.stringify(request.headers)}: ${response.text}`,
  )
  return refusalIn(response)
}

const typed = (type: string, more: Proof = {}) => ({ 'content-type': type, ...more })
const json = (more: Proof = {}) => typed('application/json', more)
const anything = '{"username":"ann"}'

// Media types

const invalidTypes = [
  'text/plain',
  'text/plain;charset=UTF-8',
  'multipart/form-data; boundary=x',
  'text/json',
  'application/jsonp',
  'application/x-json',
  'application/vnd.api+json',
  'application/json, text/plain',
  'text/plain; application/json',
  'application/xml',
  'application/octet-stream',
  '*/*',
  'json',
  ';',
  '\u00a0application/json',
  'application/json;\u00a0charset=utf-16',
]

test('only JSON is accepted: any other media type, or none, is 415 on every route that changes something (I1, C3)', async () => {
  for (const [turn, { method, path, proof: carried }] of [...bodied, ...bodiless].entries()) {
    // RFC 8058: mail programs may send the one click as multipart.
    const isOneClick = path === '/unsubscribe'
    for (const type of inTurns(invalidTypes, { every: 4, turn }).filter(
      (one) => !(isOneClick && one.startsWith('multipart/')),
    )) {
      const request = { method, path, body: anything, headers: typed(type, carried) }
      assert.equal((await refused(415, request)).code, 'UNSUPPORTED_MEDIA_TYPE')
    }
    await refused(415, { method, path, body: anything, headers: carried })
  }
})

/** Without a script. */
const forms = [
  '/login',
  '/sign-in',
  '/sign-out',
  '/forgot',
  '/unsubscribe',
  '/login/with/staff/start',
]

test('form encoding is 415, except at the login and the forms of the pages (I1, C3)', async () => {
  const form = 'username=ann&password=plum+orchard+gate+41'
  const headers = typed('application/x-www-form-urlencoded')
  for (const { method, path, proof: carried } of [...bodied, ...bodiless])
    if (!forms.includes(path))
      await refused(415, { method, path, body: form, headers: { ...headers, ...carried } })
  assert.equal(
    (await client.request({ method: 'POST', path: '/login', body: form, headers })).status,
    200,
  )
})

test('JSON and forms are UTF-8: the media type may have this charset and no other (I1)', async () => {
  const { username, password } = ann
  const bodies = {
    'application/json': JSON.stringify({ username, password }),
    'application/x-www-form-urlencoded': new URLSearchParams({ username, password }).toString(),
  }
  for (const [type, body] of Object.entries(bodies)) {
    for (const charset of [
      '; charset=utf-8',
      ';charset=UTF-8',
      '; charset="utf-8"',
      '; charset=utf8',
      '; a=b',
      '',
    ])
      assert.equal(
        (
          await client.request({
            method: 'POST',
            path: '/login',
            body,
            headers: typed(type + charset),
          })
        ).status,
        200,
      )
    for (const charset of ['iso-8859-1', 'utf-16', '"utf-16le"', 'utf-7', 'utf-8x', ''])
      await refused(415, {
        method: 'POST',
        path: '/login',
        body,
        headers: typed(`${type}; charset=${charset}`),
      })
  }
})

test('a body with any Content-Encoding is 415 (I4)', async () => {
  for (const coding of ['gzip', 'identity, gzip', ''])
    for (const { method, path, proof: carried } of [...bodied, ...bodiless])
      await refused(415, {
        method,
        path,
        body: anything,
        headers: json({ ...carried, 'content-encoding': coding }),
      })
})

// Size and content of a body

const sized = (bytes: number) => `{"x":"${'a'.repeat(bytes - 8)}"}`

/** A profile, passwords with each character escaped, or the response of an authenticator. */
const upTo16KiB = [
  ...[
    'PATCH /api/me',
    'POST /api/users',
    'PATCH /api/users/{id}',
    'PUT /api/users/external/{externalId}',
  ],
  'PATCH /api/users/external/{externalId}',
  ...['PUT /api/me/password', 'POST /password/reset'],
  ...['POST /api/webhooks', 'PATCH /api/webhooks/{id}'],
  ...[
    'POST /api/me/confirm',
    'POST /api/me/factors/passkeys',
    'POST /login/passkey',
    'POST /login/second-factor',
  ],
]

function limitOf({ method, template }: { method: string; template: string }): number {
  if (template === '/api/notifications' || template.includes('/by-key/')) return 1024 * 1024
  if (template === '/api/me/preferences') return 128 * 1024
  if (template === '/api/categories/{category}') return 64 * 1024
  if (template === '/api/users' && method === 'PUT') return 4 * 1024 * 1024
  // Percent-encoded, and with a return_to.
  if (template === '/sign-in') return 8 * 1024
  return upTo16KiB.includes(`${method} ${template}`) ? 16 * 1024 : 4 * 1024
}

test('a body of 4 KiB is read (of the sign-in form 8 KiB, of a profile, a new password or a passkey 16 KiB, of a category 64 KiB, of preferences 128 KiB, of many users 4 MiB, of a delivery 1 MiB), and one byte more is 413, with Content-Length or in chunks (I2)', async () => {
  assert.deepEqual(
    new Set(bodied.map(limitOf)),
    new Set([4096, 8192, 16_384, 65_536, 131_072, 1_048_576, 4_194_304]),
  )
  for (const { method, path, template, proof: carried } of bodied)
    for (const chunked of [false, true]) {
      const request = { method, path, chunked, headers: json(carried) }
      const limit = limitOf({ method, template })
      await refused(400, { ...request, body: sized(limit) })
      const { code, message } = await refused(413, { ...request, body: sized(limit + 1) })
      assert.equal(code, 'PAYLOAD_TOO_LARGE')
      assert.ok(message.includes(`${limit} bytes`), message)
    }
})

test('32 levels of nesting are accepted, 33 are 400 (I2)', async () => {
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
  const delivery = (levels: number) =>
    `{"recipients":[{"username":"ann"}],"title":"Deep","data":{"x":${nested(levels)}}}`
  const request = { method: 'POST', path: '/api/notifications', headers: json(producer) }
  assert.equal((await client.request({ ...request, body: delivery(30) })).status, 201)
  const { details } = await refused(400, { ...request, body: delivery(31) })
  assert.match(details?.[0]?.reason ?? '', /deeper than 32 levels/)
  await refused(400, { ...request, body: nested(200_000) })
})

const illFormed: Record<string, string | Buffer> = {
  'bytes that are not UTF-8': Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
  'an overlong encoding': Buffer.from([0x22, 0xc0, 0x80, 0x22]),
  'a surrogate in UTF-8': Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
  'a byte order mark': '\ufeff{"username":"ann"}',
  'an escaped NUL': '{"username":"a\\u0000b","password":"x"}',
  'a lone surrogate': '{"username":"a\\ud800b","password":"x"}',
  'a key twice': '{"username":"ann","username":"ben","password":"x"}',
  'a number out of range': '{"username":1e999}',
  __proto__: '{"__proto__":{"username":"ann"},"password":"x"}',
  'constructor.prototype': '{"constructor":{"prototype":{"username":"ann"}},"password":"x"}',
  'no JSON': '{username:ann}',
  'half of it': '{"username":"ann"',
  nothing: '',
  null: 'null',
  'a list': '[]',
  'a text': '"ann"',
}

/** No bytes and null mean the same. */
const withOptionalBody = ['/login/passkey/options', '/api/me/factors/totp']

test('a body that is malformed, or that sets a prototype, is 400 with the reason, and changes nothing (I3, I5)', async () => {
  const version = await app.database.version()
  for (const [turn, [name, body]] of Object.entries(illFormed).entries())
    for (const { method, path, template, proof: carried } of inTurns(bodied, { every: 4, turn })) {
      if (['nothing', 'null'].includes(name) && withOptionalBody.includes(template)) continue
      const { code, details } = await refused(400, { method, path, body, headers: json(carried) })
      assert.equal(code, 'INVALID_REQUEST', name)
      assert.equal(details?.[0]?.field, 'body', name)
    }
  assert.equal(await app.database.version(), version)
  assert.deepEqual(Object.keys(Object.prototype), [])
})

test('names of Object.prototype are unknown fields like any other (I5)', async () => {
  for (const name of ['toString', 'constructor'])
    for (const { method, path, proof: carried } of bodied) {
      const { details = [] } = await refused(400, {
        method,
        path,
        body: `{"${name}":1}`,
        headers: json(carried),
      })
      assert.ok(
        details.some(({ field, reason }) => field === name && reason === 'is not a known field'),
      )
    }
})
