import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { startTestService } from '../../support/service.ts'

const listed = 'https://app.example'
const app = await startTestService({ env: { CARILLON_ALLOWED_ORIGINS: listed } })
const closed = await startTestService()
after(() => Promise.all([app.stop(), closed.stop()]))

const preflightFields = {
  'access-control-request-method': 'PATCH',
  'access-control-request-headers': 'authorization, last-event-id',
}

test('an allowed origin may send requests with a cookie and read the responses (C4)', async () => {
  const preflight = await app.request('/api/notifications', {
    method: 'OPTIONS',
    headers: { origin: listed, ...preflightFields },
  })
  assert.equal(preflight.status, 204)
  assert.equal(preflight.headers.get('access-control-allow-origin'), listed)
  assert.equal(preflight.headers.get('access-control-allow-credentials'), 'true')
  assert.match(preflight.headers.get('access-control-allow-methods') ?? '', /\bPATCH\b/)
  assert.match(
    preflight.headers.get('access-control-allow-headers') ?? '',
    /\bauthorization\b.*\blast-event-id\b/,
  )
  const refused = await app.get('/api/notifications', { origin: listed })
  assert.equal(refused.status, 401)
  assert.equal(refused.headers.get('access-control-allow-origin'), listed, 'errors can be read too')
})

test('no other origin is allowed, and every response varies by Origin (C4)', async () => {
  for (const origin of [
    'https://evil.example',
    'https://app.example.evil.example',
    'http://app.example',
    'null',
  ]) {
    const preflight = await app.request('/api/notifications', {
      method: 'OPTIONS',
      headers: { origin, ...preflightFields },
    })
    assert.equal(preflight.status, 405, origin)
    for (const response of [preflight, await app.get('/livez', { origin })]) {
      assert.equal(response.headers.get('access-control-allow-origin'), null, origin)
      assert.match(response.headers.get('vary') ?? '', /\bOrigin\b/i)
    }
  }
})

test('the log names the origin of a refused page, and the setting that would allow it, once (L1)', async (t) => {
  const lines: Record<string, unknown>[] = []
  const write = (line: string) => lines.push(JSON.parse(line))
  const noting = await startTestService({ log: pino({ base: null }, { write }) })
  t.after(() => noting.stop())
  const headers = { origin: listed }
  for (let n = 0; n < 20; n++) {
    await noting.request('/api/notifications', {
      method: 'OPTIONS',
      headers: { ...headers, ...preflightFields },
    })
    await noting.get('/api/me', headers)
    await noting.post('/login', { username: 'ann', password: 'x' }, headers)
  }
  const about = lines.filter(({ event }) => event === 'origin-refused')
  assert.deepEqual(
    about.map(({ origins }) => origins),
    [{ [listed]: 1 }],
  )
  assert.match(String(about[0]?.msg), /CARILLON_ALLOWED_ORIGINS/)
})

test('without CARILLON_ALLOWED_ORIGINS no CORS header is sent (C4)', async () => {
  const response = await closed.get('/livez', { origin: listed })
  assert.equal(response.headers.get('access-control-allow-origin'), null)
  const preflight = await closed.request('/api/notifications', {
    method: 'OPTIONS',
    headers: { origin: listed, ...preflightFields },
  })
  assert.equal(preflight.status, 405)
})
