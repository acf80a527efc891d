// One envelope, without internals and without what the client sent (E1-E3).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusalIn } from '../../support/http/envelope.ts'
import { startEveryRoute } from '../../support/http/every-route.ts'
import type { HttpRequest } from '../../support/http/http-client.ts'
import type { Proof } from '../../support/service.ts'

const { client, session: proof, token, producer } = await startEveryRoute()
const typed = (type: string): Proof => ({ 'content-type': type })
const json = typed('application/json')

test('every refusal has its own request id, and the header fields of every response (C5, E1)', async () => {
  const ids = await Promise.all(
    Array.from({ length: 100 }, async (_, n) => {
      const path = ['/nowhere', '/api/me', '/api/notifications?page=0', '/%zz'][n % 4] as string
      return refusalIn(await client.request({ path, headers: n % 4 === 2 ? proof : {} })).requestId
    }),
  )
  assert.equal(new Set(ids).size, 100)
})

test('no refusal repeats what the client sent, except the names of its fields (E2)', async () => {
  const secret = 'hunter2-and-more'
  const requests: HttpRequest[] = [
    {
      method: 'POST',
      path: '/login',
      headers: json,
      body: `{"username":"${secret}","password":${secret}}`,
    },
    {
      method: 'POST',
      path: '/login',
      headers: json,
      body: `{"username":"ann","password":["${secret}"]}`,
    },
    {
      method: 'POST',
      path: '/login',
      headers: json,
      body: `{"username":"ann","password":"${secret}"}`,
    },
    {
      method: 'POST',
      path: '/login',
      headers: typed('application/x-www-form-urlencoded'),
      body: `password=${secret}%`,
    },
    { method: 'POST', path: '/login', headers: typed(`text/${secret}`), body: secret },
    { path: `/${secret}` },
    { path: `/api/notifications/${secret}`, headers: proof },
    { path: `/api/notifications?page=${secret}`, headers: proof },
    { path: '/api/me', headers: { authorization: `Bearer ${secret}` } },
    { path: '/api/me', headers: { cookie: `carillon=${secret}` } },
  ]
  for (const request of requests) {
    const response = await client.request(request)
    assert.ok(refusalIn(response).status >= 400)
    const all = response.text + JSON.stringify([...response.headers])
    assert.ok(!all.includes(secret), `${request.path}: ${all}`)
  }
})

test('a 401 has a challenge, with a reason only if the request presented a token (E3)', async () => {
  const challenged: [HttpRequest, string][] = [
    [{ path: '/api/me' }, 'Bearer'],
    [{ path: '/routeRestreinte' }, 'Bearer'],
    [{ path: '/api/me', headers: { cookie: `carillon=${'A'.repeat(43)}` } }, 'Bearer'],
    [
      { path: '/api/me', headers: { authorization: 'Bearer a.b.c' } },
      'Bearer error="invalid_token"',
    ],
    [{ path: '/routeRestreinte', headers: producer }, 'Bearer error="invalid_token"'],
    [{ path: '/api/me', headers: { authorization: 'Basic YTpi' } }, 'Bearer'],
    [{ method: 'POST', path: '/token/renew' }, 'Bearer'],
    [{ method: 'POST', path: '/api/notifications' }, 'Bearer'],
    [
      { method: 'POST', path: '/api/notifications', headers: token },
      'Bearer error="invalid_token"',
    ],
    [
      {
        method: 'POST',
        path: '/login',
        headers: json,
        body: '{"username":"ann","password":"wrong wrong wrong"}',
      },
      'Bearer',
    ],
  ]
  for (const [request, challenge] of challenged) {
    const response = await client.request(request)
    assert.equal(refusalIn(response).status, 401, `${request.path}`)
    assert.equal(response.headers.get('www-authenticate'), challenge, `${request.path}`)
  }
})
