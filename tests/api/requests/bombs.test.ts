// The tests count work and measure no time: how many fields are read, how many faults searched for.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { maxKeys } from '../../../server/basics/strict-json.ts'
import { sessionSecrets } from '../../../server/http/request/credentials.ts'
import { targetToRoute } from '../../../server/http/requests.ts'
import { refusalIn } from '../../support/http/envelope.ts'
import { HttpClient, type HttpRequest } from '../../support/http/http-client.ts'
import { startTestService } from '../../support/service.ts'

const app = await startTestService()
const client = new HttpClient(app.url)
after(async () => {
  client.close()
  await app.stop()
})
const ann = await app.user('ann')
const { key } = await app.producerKey(['send', 'users'])

const json = { 'content-type': 'application/json' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const producer = { ...json, authorization: `Bearer ${key}` }
const names = (count: number) => Array.from({ length: count }, (_, n) => `k${n.toString(36)}`)
async function refused(request: HttpRequest) {
  const response = await client.request({ method: 'POST', ...request })
  return { ...refusalIn(response), bytes: response.text.length }
}

test('a sign-in may have 4 KiB and 8 fields, as JSON and as a form, and more is refused before any field is checked (I2)', async () => {
  const { username, password } = ann
  const fields = { username, password, variant: 'stateful' }
  const post = (headers: HttpRequest['headers'], body: string) =>
    client.request({ method: 'POST', path: '/login', headers: headers ?? {}, body })
  const more = (count: number) => Object.fromEntries(names(count).map((name) => [name, '1']))
  assert.equal((await post(json, JSON.stringify(fields))).status, 200)
  assert.equal((await post(form, new URLSearchParams(fields).toString())).status, 200)
  for (const [headers, bodyOf] of [
    [json, (all: object) => JSON.stringify(all)],
    [form, (all: object) => new URLSearchParams(all as Record<string, string>).toString()],
  ] as const) {
    const eight = refusalIn(await post(headers, bodyOf({ ...fields, ...more(5) })))
    assert.equal(eight.details?.length, 5)
    assert.ok(eight.details?.every(({ reason }) => reason === 'is not a known field'))
    for (const count of [6, 200]) {
      const { details } = refusalIn(await post(headers, bodyOf({ ...fields, ...more(count) })))
      assert.deepEqual(details?.length, 1)
      assert.match(details?.[0]?.reason ?? '', /^contains more than 8 (keys|fields)$/)
    }
    const filled = (bytes: number) => {
      const without = bodyOf({ ...fields, password: '' }).length
      return bodyOf({ ...fields, password: 'p'.repeat(bytes - without) })
    }
    assert.equal((await post(headers, filled(4_096))).status, 400)
    assert.equal((await post(headers, filled(4_097))).status, 413)
  }
})

test('4 KiB of many fields, values, nested arrays or repeated names is refused in one pass, with one fault (I2)', async () => {
  const bombs: [Record<string, string>, string, RegExp][] = [
    [form, names(1_000).join('&'), /more than 8 fields/],
    [form, '&'.repeat(4_000), /more than 8 fields/],
    [form, 'a=1&'.repeat(1_000), /more than 8 fields/],
    [json, `{${names(400).map((name) => `"${name}":1`)}}`, /more than 8 keys/],
    [json, `{"username":[${'0,'.repeat(2_000)}0]}`, /more than 24 values/],
    [json, `{"username":[${'[],'.repeat(1_300)}0]}`, /more than 24 values/],
    [json, `${'['.repeat(2_000)}${']'.repeat(2_000)}`, /more than 24 values|nested deeper/],
    [json, `{${'"a":1,'.repeat(600)}"a":1}`, /more than 8 keys/],
  ]
  for (const [headers, body, reason] of bombs)
    for (const path of headers === json ? ['/login', '/logout', '/token/renew'] : ['/login']) {
      const sent =
        path === '/token/renew' ? { ...headers, ...(await app.signIn(ann, 'stateless')) } : headers
      const { details, status, bytes } = await refused({ path, headers: sent, body })
      assert.equal(status, 400)
      assert.equal(details?.length, 1, path)
      assert.match(details?.[0]?.reason ?? '', reason)
      assert.ok(bytes < 400)
    }
})

test('the response to a delivery with a thousand faults has the first fault of each field (I2)', async () => {
  const recipients = Array.from({ length: 1_000 }, () => ({ username: '', x: 1, y: 2 }))
  const { details } = await refused({
    path: '/api/notifications',
    headers: producer,
    body: JSON.stringify({ recipients, url: '', y: 1 }),
  })
  assert.deepEqual(details, [
    { field: 'title', reason: 'is missing' },
    { field: 'y', reason: 'is not a known field' },
    { field: 'recipients.0.x', reason: 'is not a known field' },
    { field: 'url', reason: 'must have at least 1 character' },
  ])
  const unknown = Object.fromEntries(names(9_000).map((name) => [`_${name}`, 1]))
  const many = await refused({
    path: '/api/notifications',
    headers: producer,
    body: JSON.stringify(unknown),
  })
  assert.equal(many.details?.length, 2 + 8)
  const nameless = await refused({ path: '/api/notifications', headers: producer, body: '{"":1}' })
  assert.deepEqual(nameless.details?.at(-1), { field: 'body', reason: 'is not a known field' })
})

test('a delivery may not have more values than the largest valid one needs (I2)', async () => {
  const largest = {
    recipients: Array.from({ length: 1_000 }, (_, n) => ({
      externalId: `user ${n}`,
      issuer: 'https://id.example',
    })),
    title: 'x',
    data: { a: Array.from({ length: 2_700 }, () => []) },
  }
  const sent = await client.request({
    method: 'POST',
    path: '/api/notifications',
    headers: producer,
    body: JSON.stringify(largest),
  })
  assert.equal(sent.status, 201, sent.text)
  for (const unit of ['0,', '[],', '{},', '"",', '{"a":1},']) {
    const body = `{"title":"x","recipients":[${unit.repeat(100_000)}${unit.slice(0, -1)}]}`
    const { details } = await refused({ path: '/api/notifications', headers: producer, body })
    assert.deepEqual(details?.length, 1)
    assert.match(details?.[0]?.reason ?? '', /^contains more than (10000 keys|30000 values)$/)
  }
  assert.equal(maxKeys, 10_000)
})

test('a query is refused above 32 fields, and ignored by a route without query fields (I2, I6)', async () => {
  const proof = await app.signIn(ann, 'stateful')
  for (const query of [
    names(3_000).join('&'),
    `${'a&'.repeat(7_000)}a`,
    'page=1&'.repeat(2_000),
    names(33).join('&'),
  ]) {
    assert.equal((await client.request({ path: `/livez?${query}` })).status, 200)
    const response = await client.request({ path: `/api/notifications?${query}`, headers: proof })
    assert.equal(refusalIn(response).details?.length, 1)
    assert.equal(response.status, 400)
  }
})

test("thousands of cookies with the session's name are compared once each (I2)", () => {
  const header = Array.from({ length: 3_000 }, (_, n) => `c=${n % 1_000}`).join(';')
  let comparisons = 0
  const { includes } = Array.prototype
  Array.prototype.includes = function (...args) {
    comparisons += this.length
    return includes.apply(this, args as [unknown])
  }
  try {
    assert.equal(sessionSecrets(header, 'c').length, 1_000)
  } finally {
    Array.prototype.includes = includes
  }
  assert.equal(comparisons, 0)
})

test('the router decodes no path of more than 1,024 characters (I2)', async () => {
  const proof = await app.signIn(ann, 'stateless')
  for (const path of [
    `/api/notifications/${'%25'.repeat(5_000)}`,
    `${'/%25'.repeat(3_000)}?a=%25`,
  ]) {
    for (const target of [path, `${app.url}${path}`])
      assert.equal(targetToRoute({ url: target }), '/-')
    for (const headers of [{}, proof])
      assert.equal((await client.request({ path, headers })).status, 404)
  }
  const id = 'a'.repeat(5_000)
  for (const path of [
    `/api/notifications/${id}`,
    `/docs?a=${'%25'.repeat(4_000)}`,
    '/api/notifications/%25',
  ])
    assert.equal(targetToRoute({ url: path }), path)
  assert.equal(
    (await client.request({ path: `/api/notifications/${id}`, headers: proof })).status,
    404,
  )
  assert.equal((await client.request({ path: `/api/notifications/${id}` })).status, 401)
})
