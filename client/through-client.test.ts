// TEST_CLIENT=1 runs the HTTP suite through the client: a difference between it and the real
// response fails.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { throughClient } from '../tests/support/http/through-client.ts'
import { startTestService, type TestService } from '../tests/support/service.ts'

let service: TestService
before(async () => {
  service = await startTestService()
})
after(() => service.stop())

const json = { 'content-type': 'application/json' }

function snooze(headers: Record<string, string>): RequestInit {
  const until = new Date(service.now() + 60_000).toISOString()
  return { method: 'PATCH', headers: { ...headers, ...json }, body: JSON.stringify({ until }) }
}

test('every request of a user goes through the client, with a session and with a token, and has the same status', async () => {
  const ann = await service.user()
  const [id] = await service.deliver({ to: ann, title: 'Hello' })
  const login = JSON.stringify({
    username: ann.username,
    password: ann.password,
    variant: 'stateless',
  })
  for (const headers of [
    await service.signIn(ann, 'stateful'),
    await service.signIn(ann, 'stateless'),
  ]) {
    const requests: [path: string, status: number, init?: RequestInit][] = [
      ['/routeRestreinte', 200],
      ['/api/notifications', 200],
      ['/api/notifications?limit=1&page=2', 200],
      ['/api/notifications?status=unread&before=1', 200],
      ['/api/notifications?status=read&category=a&category=b%20c', 200],
      ['/api/notifications?page=0', 400],
      ['/api/notifications', 304, { headers: { ...headers, 'if-none-match': '*' } }],
      ['/api/notifications/counts', 200],
      ['/api/notifications/changes?since=0&limit=5', 200],
      [`/api/notifications/${id}`, 200],
      [`/api/notifications/${crypto.randomUUID()}`, 404],
      [`/api/notifications/${id}/read`, 204, { method: 'PATCH', headers }],
      [`/api/notifications/${id}/archive`, 204, { method: 'PATCH', headers }],
      ['/api/notifications?status=archived', 200],
      [`/api/notifications/${id}/unarchive`, 204, { method: 'PATCH', headers }],
      [`/api/notifications/${id}/snooze`, 204, snooze(headers)],
      ['/api/notifications?status=snoozed', 200],
      [`/api/notifications/${id}/unread`, 204, { method: 'PATCH', headers }],
      [`/api/notifications/read-all?through=${id}`, 204, { method: 'POST', headers }],
      ['/api/notifications/archive-read', 204, { method: 'POST', headers }],
      ['/api/notifications/undo', 204, { method: 'POST', headers }],
      [
        '/api/notifications/seen',
        204,
        { method: 'POST', headers: { ...headers, ...json }, body: '{"throughSeq":1}' },
      ],
      [`/api/notifications/${crypto.randomUUID()}`, 404, { method: 'DELETE', headers }],
      ['/login', 200, { method: 'POST', headers: json, body: login }],
      ['/logout', 204, { method: 'POST', headers }],
    ]
    for (const [path, status, init = { headers }] of requests)
      assert.equal((await throughClient(service.url, path, init))?.status, status, path)
  }
  const elsewhere = { ...(await service.signIn(ann, 'stateful')), 'sec-fetch-site': 'cross-site' }
  const crossing = { method: 'POST', headers: elsewhere }
  assert.equal(
    (await throughClient(service.url, '/api/notifications/read-all', crossing))?.status,
    403,
  )
  const renewing = { method: 'POST', headers: await service.signIn(ann, 'stateless') }
  assert.equal((await throughClient(service.url, '/token/renew', renewing))?.status, 200)
  assert.equal((await throughClient(service.url, '/routeRestreinte', {}))?.status, 401)
  for (const headers of [{}, await service.signIn(ann, 'stateful')])
    assert.equal((await throughClient(service.url, '/api/session', { headers }))?.status, 200)
})

test('a delivery goes through the client, with and without an idempotency key', async () => {
  const ann = await service.user()
  const authorization = `Bearer ${(await service.producerKey()).key}`
  const sent = (title: string, headers = {}) => ({
    method: 'POST',
    headers: { ...json, authorization, ...headers },
    body: JSON.stringify({ recipients: [{ username: ann.username }], title }),
  })
  const send = (init: RequestInit) => throughClient(service.url, '/api/notifications', init)
  const one = await send(sent('Hi', { 'idempotency-key': 'k' }))
  const two = await send(sent('Hi', { 'idempotency-key': 'k' }))
  assert.deepEqual([one?.status, two?.text], [201, one?.text])
  assert.equal((await send(sent('Ho', { 'idempotency-key': 'k' })))?.status, 422)
  assert.notEqual((await send(sent('Hi')))?.text, one?.text)
  assert.equal((await send(sent('')))?.status, 400)
})

test('a difference between the client and the real response rejects', async () => {
  const server = createServer((_request, response) => response.end('{"success":true}')).listen(
    0,
    '127.0.0.1',
  )
  await once(server, 'listening')
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  // The client throws, because it expects 204; the response has status 200, which is no error.
  await assert.rejects(throughClient(address, '/logout', { method: 'POST' }))
  server.closeAllConnections()
  server.close()
})
