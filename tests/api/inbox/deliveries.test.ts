// POST /api/notifications: each field, all recipients or none, one notification per `key`.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { type Notification, startTestService } from '../../support/service.ts'
import { isSoak } from '../../support/soak.ts'

const app = await startTestService()
after(() => app.stop())
const ann = await app.user('ann')
const bob = await app.user('bob')
const anns = await app.signIn(ann, 'stateless')
const { key } = await app.producerKey()
const authorization = `Bearer ${key}`

const send = (body: unknown, headers: Record<string, string> = {}) =>
  app.post('/api/notifications', body, { authorization, ...headers })
const plain = { recipients: [{ username: 'ann' }], title: 'Hi' }

async function sent(changes: object) {
  const response = await send({ ...plain, ...changes })
  assert.equal(response.status, 201, response.text)
  return response.json().data
}
const plainLook = { actor: null, icon: null, actions: null, format: 'text', priority: 'normal' }
const displayed = async (id: string) =>
  (await app.get(`/api/notifications/${id}`, anns)).json().data

test("returns 201 with the id of the delivery and a result for each recipient, and the recipient's list has what was sent", async () => {
  const content = {
    title: 'Your order is on its way',
    body: 'It left the house at 9.',
    url: '/orders/7',
    category: 'orders',
    data: { order: 7, nested: { deep: [1, 'two', null] } },
    key: 'order-7',
  }
  const response = await send({ ...content, recipients: [{ username: 'ann' }, { userId: bob.id }] })
  assert.equal(response.status, 201)
  const { success, data } = response.json()
  assert.equal(success, true)
  assert.match(data.deliveryId, /^[0-9a-f]{8}-[0-9a-f]{4}-7/)
  const [first, second] = data.results
  assert.deepEqual(first, { userId: ann.id, id: first.id, status: 'delivered' })
  assert.deepEqual(second, { userId: bob.id, id: second.id, status: 'delivered' })
  assert.deepEqual(await displayed(first.id), {
    id: first.id,
    ...content,
    ...plainLook,
    createdAt: new Date(app.now()).toISOString(),
    updatedAt: new Date(app.now()).toISOString(),
    expiresAt: null,
    seq: 1,
    count: 1,
    read: false,
    readAt: null,
    archivedAt: null,
    snoozedUntil: null,
  })
})

const x = (length: number) => 'x'.repeat(length)
/** 8 KiB as JSON, minus the JSON around the text. */
const data = (bytes: number, unit = 'x') => ({
  a: unit.repeat((bytes - '{"a":""}'.length) / Buffer.byteLength(unit)),
})
const many = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ username: `nobody${n}` }))

const accepted: [string, object][] = [
  ['a title of 200', { title: x(200) }],
  ['a title of 200 characters outside the basic plane', { title: '🔔'.repeat(200) }],
  ['a title in another script, right to left', { title: 'مرحبا \u202e' }],
  ['a body with line breaks', { body: 'one\r\ntwo\u2028three' }],
  ['a category of a prototype', { category: 'constructor' }],
  ['data of 8 KiB', { data: data(8192) }],
  ['data of 8 KiB in UTF-8', { data: data(8192, 'éé') }],
  ['1000 recipients', { recipients: [...many(999), { username: 'ann' }] }],
]
for (const [name, changes] of accepted)
  test(`accepts ${name}`, async () => {
    const { id } = (await sent(changes)).results[0]
    if (id === null) return
    const found = await displayed(id)
    for (const [field, value] of Object.entries(changes)) assert.deepEqual(found[field], value)
  })

const refused: [string, object, string, RegExp][] = [
  ['no recipients', { recipients: undefined }, 'recipients', /missing/],
  ['1001 recipients', { recipients: many(1001) }, 'recipients', /at most 1000 \w+/],
  [
    'a recipient with both username and userId',
    { recipients: [{ username: 'ann', userId: 'x' }] },
    'recipients.0',
    /exactly one of username, userId and externalId/,
  ],
  [
    'one wrong recipient among good ones',
    { recipients: [...many(2), { userId: 7 }] },
    'recipients.2.userId',
    /string/,
  ],
  [
    'a recipient whose only member is null',
    { recipients: [{ userId: null }] },
    'recipients.0',
    /exactly one of/,
  ],
  [
    'a title of 201 characters outside the basic plane',
    { title: '🔔'.repeat(201) },
    'title',
    /at most 200 \w+/,
  ],
  ['data that is a list', { data: [] }, 'data', /object/],
  ['data beyond 8 KiB', { data: data(8193) }, 'data', /at most 8192 bytes/],
  ['data beyond 8 KiB in UTF-8', { data: data(8196, 'éé') }, 'data', /at most 8192 bytes/],
  ['again without a key', { renotify: true }, 'renotify', /needs a key/],
  ['again with a key that is null', { renotify: true, key: null }, 'renotify', /needs a key/],
  ['a field that is not known', { urgency: 'high' }, 'urgency', /not a known field/],
  ['the id of a producer', { producerId: 'x' }, 'producerId', /not a known field/],
]
test('null in place of an optional field means that it is absent, as in the responses', async () => {
  const { id } = (
    await sent({ body: null, url: null, category: null, data: null, key: null, renotify: null })
  ).results[0]
  const shown = await displayed(id)
  for (const field of ['body', 'url', 'category', 'data', 'key'])
    assert.equal(shown[field], null, field)
})

for (const [name, changes, field, reason] of refused)
  test(`refuses ${name}: names ${field} with a reason, and sends nothing`, async () => {
    const version = await app.database.version()
    const response = await send({ ...plain, ...changes })
    assert.equal(response.status, 400)
    const { error } = response.json()
    assert.equal(error.code, 'INVALID_REQUEST')
    const reasons = error.details.filter((fault: { field: string }) => fault.field === field)
    assert.match(
      reasons.map((fault: { reason: string }) => fault.reason).join(),
      reason,
      JSON.stringify(error.details),
    )
    assert.equal(await app.database.version(), version)
  })

test('a later notification with the same key is an update, and `renotify` makes it unread and the newest', async () => {
  const first = (await sent({ title: 'Ben wrote', key: 'chat-1' })).results[0]
  await app.post('/api/notifications/read-all', undefined, anns)
  await sent({ title: 'Other' })
  const later = (await sent({ title: 'Ben wrote twice', key: 'chat-1', renotify: true })).results[0]
  assert.deepEqual(later, { userId: ann.id, id: first.id, status: 'updated' })
  const [{ title, read }] = (await app.list(anns, '?limit=1')).items as [Notification]
  assert.deepEqual([title, read], ['Ben wrote twice', false])
})

test('one response names all faults', async () => {
  const { details } = (await send({ title: '', body: 7, what: 1 })).json().error
  assert.deepEqual(details.map(({ field }: { field: string }) => field).sort(), [
    'body',
    'recipients',
    'title',
    'what',
  ])
})

test('a delivery may have 1 MiB, and one byte more is refused (I2)', async () => {
  const mebibyte = 1024 * 1024
  const padded = (length: number) => JSON.stringify(plain).padEnd(length, ' ')
  const headers = { authorization, 'content-type': 'application/json' }
  const fits = await app.request('/api/notifications', {
    method: 'POST',
    headers,
    body: padded(mebibyte),
  })
  assert.equal(fits.status, 201)
  const fields: [string, string][] = Object.entries(headers)
  const beyond = await app.exchange('/api/notifications', {
    method: 'POST',
    fields,
    body: padded(mebibyte + 1),
  })
  assert.deepEqual([beyond.status, beyond.json().error.code], [413, 'PAYLOAD_TOO_LARGE'])
})

const goodLinks = [
  'https://example.org',
  'http://example.org/a?b=c#d',
  'HTTPS://EXAMPLE.ORG/',
  'https://example.org:8443/x',
  'https://[::1]/x',
  'https://bücher.example/ä',
  '/',
  '/orders/7?x=1#y',
  '/a//b',
  '/javascript:alert(1)',
  '/%5c%5cevil.example',
]
for (const url of goodLinks)
  test(`accepts the link ${url} (C8)`, async () => {
    assert.equal((await displayed((await sent({ url })).results[0].id)).url, url)
  })

const badLinks = [
  'orders/7',
  './orders',
  '../orders',
  '?page=2',
  '#here',
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  'javascript://example.org/%0aalert(1)',
  ' javascript:alert(1)',
  'java\tscript:alert(1)',
  'java\nscript:alert(1)',
  '\x01javascript:alert(1)',
  'javascript\u200b:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:x',
  'file:///etc/passwd',
  'blob:https://example.org/x',
  'about:blank',
  'ftp://example.org/x',
  'ws://example.org',
  'mailto:a@example.org',
  'tel:+1',
  'view-source:https://example.org',
  'intent://x#Intent;end',
  '//evil.example',
  '///evil.example',
  '////evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  '/orders\\7',
  '\\/evil.example',
  '/\t/evil.example',
  '/\n/evil.example',
  '\t//evil.example',
  '/ /evil.example',
  'https:\\\\evil.example',
  'https:evil.example',
  'https:/evil.example',
  'https:///evil.example',
  'http:orders',
  'https://',
  'https://user:password@example.org',
  'https://user@example.org',
  'https://example.org@evil.example',
  'https://exa mple.org',
  'https://example.org/\u0000',
  'https://[::1',
  'https://example.org:99999',
  'https://example.org/\u202egro',
]
for (const url of badLinks)
  test(`refuses the link ${JSON.stringify(url)} with a reason (C8)`, async () => {
    const version = await app.database.version()
    const response = await send({ ...plain, url })
    assert.equal(response.status, 400)
    const [fault] = response.json().error.details
    if (!url.includes('\0'))
      assert.deepEqual([fault.field, /http/.test(fault.reason)], ['url', true])
    assert.equal(await app.database.version(), version)
  })

test("every accepted link leads a browser to http, https or the page's own host (C8)", async () => {
  const part = fc.constantFrom(
    ...'/\\:@?#.%5c',
    'javascript',
    'data',
    'http',
    'https',
    'evil.example',
    '\t',
    '\n',
    ' ',
    'x',
  )
  const link = fc.array(part, { minLength: 1, maxLength: 8 }).map((parts) => parts.join(''))
  await fc.assert(
    fc.asyncProperty(link, async (url) => {
      const response = await send({ ...plain, url })
      if (response.status === 400) return
      assert.equal(response.status, 201)
      // Parsed as browsers do, on two pages with different schemes.
      for (const page of ['https://inbox.example/a/b', 'http://inbox.example/']) {
        const { protocol, host, username } = new URL(url, page)
        assert.ok(['http:', 'https:'].includes(protocol), url)
        assert.equal(username, '')
        if (!/^https?:\/\//i.test(url)) assert.equal(host, 'inbox.example', url)
      }
    }),
    { numRuns: isSoak ? 400 : 100 },
  )
})
