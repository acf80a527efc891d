// How everybody is told to go: one envelope, with nothing of the inside and nothing of what was sent in it (E1-E3).
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { refusalIn } from '../../support/http/envelope.ts'
import { HttpClient, type HttpRequest } from '../../support/http/http-client.ts'
import { type Proof, startTestService } from '../../support/service.ts'

const app = await startTestService()
const client = new HttpClient(app.url)
after(async () => {
  client.close()
  await app.stop()
})

const ann = await app.user('ann')
const proof = await app.signIn(ann, 'stateful')
const token = await app.signIn(ann, 'stateless')
const producer = { authorization: `Bearer ${(await app.producerKey()).key}` }
const typed = (type: string): Proof => ({ 'content-type': type })
const json = typed('application/json')

test('E1: every refusal has a request id of its own', async () => {
  const ids = await Promise.all(
    Array.from({ length: 500 }, async (_, n) => {
      const path = ['/nowhere', '/api/me', '/api/notifications?page=0', '/%zz'][n % 4] as string
      return refusalIn(await client.request({ path, headers: n % 4 === 2 ? proof : {} })).requestId
    }),
  )
  assert.equal(new Set(ids).size, 500)
})

test('E2: what the caller sent comes back in no refusal, but for the names of its fields', async () => {
  const secret = 'hunter2-and-more'
  const asks: HttpRequest[] = [
    { method: 'POST', path: '/login', headers: json, body: `{"username":"${secret}","password":${secret}}` },
    { method: 'POST', path: '/login', headers: json, body: `{"username":"ann","password":["${secret}"]}` },
    { method: 'POST', path: '/login', headers: json, body: `{"username":"ann","password":"${secret}"}` },
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
  for (const request of asks) {
    const response = await client.request(request)
    assert.ok(refusalIn(response).status >= 400)
    const all = response.text + JSON.stringify([...response.headers])
    assert.ok(!all.includes(secret), `${request.path}: ${all}`)
  }
})

test('E3: a 401 carries its challenge, which names the reason only where a token was presented', async () => {
  const challenged: [HttpRequest, string][] = [
    [{ path: '/api/me' }, 'Bearer'],
    [{ path: '/routeRestreinte' }, 'Bearer'],
    [{ path: '/api/me', headers: { cookie: `carillon=${'A'.repeat(43)}` } }, 'Bearer'],
    [{ path: '/api/me', headers: { authorization: 'Bearer a.b.c' } }, 'Bearer error="invalid_token"'],
    [{ path: '/routeRestreinte', headers: producer }, 'Bearer error="invalid_token"'],
    [{ path: '/api/me', headers: { authorization: 'Basic YTpi' } }, 'Bearer'],
    [{ method: 'POST', path: '/token/renew' }, 'Bearer'],
    [{ method: 'POST', path: '/api/notifications' }, 'Bearer'],
    [{ method: 'POST', path: '/api/notifications', headers: token }, 'Bearer error="invalid_token"'],
    [
      { method: 'POST', path: '/login', headers: json, body: '{"username":"ann","password":"wrong wrong wrong"}' },
      'Bearer',
    ],
  ]
  for (const [request, challenge] of challenged) {
    const response = await client.request(request)
    assert.equal(refusalIn(response).status, 401, `${request.path}`)
    assert.equal(response.headers.get('www-authenticate'), challenge, `${request.path}`)
  }
})

test('E3: where too many passwords wait to be checked, the answer is 503 with Retry-After, and soon', async () => {
  const body = JSON.stringify({ username: 'nobody', password: 'plum orchard gate 41' })
  const many = new HttpClient(app.url, { connections: 200 })
  const statuses: number[] = []
  await Promise.all(
    Array.from({ length: 150 }, async () => {
      statuses.push(refusalIn(await many.request({ method: 'POST', path: '/login', body, headers: json })).status)
    }),
  )
  many.close()
  assert.deepEqual([...new Set(statuses)].sort(), [401, 503])
  // Whoever is refused does not wait for those who are checked.
  const [checked, before] = [statuses.filter((status) => status === 401).length, statuses.indexOf(503)]
  assert.ok(before < checked * 0.75, `the first refusal came behind ${before} of ${checked} that were checked`)
})
