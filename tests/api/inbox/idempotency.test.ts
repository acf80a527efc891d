// A producer that does not know whether its request arrived sends it again.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ProducerKeys } from '../../../server/producers/producer-key.ts'
import { untilSo } from '../../support/processes/nodes.ts'
import { startTestService, type TestUser } from '../../support/service.ts'

const hour = 3_600_000

const app = await startTestService()
after(() => app.stop())
const { key } = await app.producerKey()

const body = (to: TestUser, title = 'Hi') => ({ recipients: [{ userId: to.id }], title })
const send = (idempotencyKey: string, sent: unknown, producerKey = key) =>
  app.post('/api/notifications', sent, {
    authorization: `Bearer ${producerKey}`,
    'idempotency-key': idempotencyKey,
  })
const countOf = async ({ id }: TestUser) =>
  (await app.database.rows(`select * from notification where ${app.database.isOf(id)}`)).length

test('the same key and body give the same response and one notification, however often they are sent (D1)', async () => {
  const ann = await app.user()
  const first = await send('order-1', body(ann))
  assert.equal(first.status, 201)
  const version = await app.database.version()
  for (let n = 0; n < 3; n++) {
    const again = await send('order-1', body(ann))
    assert.deepEqual([again.status, again.text], [201, first.text])
  }
  assert.equal(await app.database.version(), version)
  assert.equal(await countOf(ann), 1)
})

test('other whitespace and escapes in the JSON do not make another body (D1)', async () => {
  const ann = await app.user()
  const first = await send('spelling', body(ann))
  const headers = {
    authorization: `Bearer ${key}`,
    'idempotency-key': 'spelling',
    'content-type': 'application/json',
  }
  const spelled = JSON.stringify(body(ann), null, 2).replace('"Hi"', '"\\u0048i"')
  const again = await app.request('/api/notifications', { method: 'POST', headers, body: spelled })
  assert.deepEqual([again.status, again.text], [201, first.text])
})

test('a field that is null and a field that is absent are the same body (D1)', async () => {
  const ann = await app.user()
  const first = await send('nulls', body(ann))
  const again = await send('nulls', {
    ...body(ann),
    body: null,
    url: null,
    category: null,
    data: null,
    key: null,
  })
  assert.deepEqual([again.status, again.text], [201, first.text])
})

test('the same key with another body is 422 and changes nothing (D2)', async () => {
  const ann = await app.user()
  const bob = await app.user()
  const first = await send('order-2', body(ann))
  const version = await app.database.version()
  const others = [
    body(ann, 'Ho'),
    body(bob),
    { ...body(ann), body: 'more' },
    { ...body(ann), url: '/' },
  ]
  for (const other of others) {
    const response = await send('order-2', other)
    assert.deepEqual([response.status, response.json().error.code], [422, 'UNPROCESSABLE'])
    assert.match(response.json().error.message, /new key/)
  }
  assert.equal(await app.database.version(), version)
  assert.equal((await send('order-2', body(ann))).text, first.text)
  assert.deepEqual([await countOf(ann), await countOf(bob)], [1, 0])
})

test('a refused body does not use its key (D2)', async () => {
  const ann = await app.user()
  assert.equal((await send('order-3', { ...body(ann), title: '' })).status, 400)
  assert.equal((await send('order-3', { ...body(ann), url: 'javascript:x' })).status, 400)
  assert.equal((await send('order-3', body(ann))).status, 201)
})

test('while a delivery is running, a second one with its key is 409, and the first one succeeds (D3)', async () => {
  const ann = await app.user()
  const { key: othersKey } = await app.producerKey()
  const release = await app.database.holdWrites()
  // The test blocks all writes, so the delivery that starts first runs until they are allowed again.
  const both = [send('slow', body(ann)), send('slow', body(ann))]
  const refused = await Promise.race(both)
  assert.deepEqual([refused.status, refused.json().error.code], [409, 'CONFLICT'])
  const another = await send('slow', body(ann, 'Ho'))
  assert.equal(another.status, 409)
  const sameKeyOfAnother = send('slow', body(ann, 'From another'), othersKey)
  await release()
  const responses = await Promise.all(both)
  assert.deepEqual(responses.map(({ status }) => status).sort(), [201, 409])
  assert.equal((await sameKeyOfAnother).status, 201)
  const delivered = responses.find(({ status }) => status === 201)
  assert.equal((await send('slow', body(ann))).text, delivered?.text)
  assert.equal(await countOf(ann), 2)
})

test('the response to a key stays the same after a restart, and after the data that it describes has changed (D1)', async () => {
  const ann = await app.user()
  const bob = await app.user()
  const sent = {
    recipients: [{ userId: ann.id }, { username: 'nobody' }, { userId: bob.id }],
    title: 'Hi',
    key: 'k',
  }
  const first = await send('order-4', sent)
  assert.deepEqual(
    first.json().data.results.map(({ status }: { status: string }) => status),
    ['delivered', 'unknown_recipient', 'delivered'],
  )
  await app.restart()
  // The recipient that was unknown exists by now; the response still says what was done.
  await app.user('nobody')
  assert.equal((await send('order-4', sent)).text, first.text)
  assert.equal((await send('order-4', body(ann))).status, 422)
  assert.equal(await countOf(ann), 1)
})

test('a key is kept for a day (D1)', async () => {
  const ann = await app.user()
  const first = await send('order-5', body(ann))
  app.pass(24 * hour)
  await app.restart() // tidies up, as every hour does
  assert.equal((await send('order-5', body(ann))).text, first.text)
  app.pass(1)
  await app.restart()
  // The start does not wait for the removal of old keys.
  await untilSo(
    async () =>
      (await app.database.rows("select 1 from delivery where idempotency_key = 'order-5'"))
        .length === 0,
  )
  assert.equal((await send('order-5', body(ann))).status, 201)
  assert.equal(await countOf(ann), 2)
})

test('a key of 1 to 255 visible characters is accepted', async () => {
  const ann = await app.user()
  const visible = String.fromCharCode(...Array.from({ length: 94 }, (_, n) => 0x21 + n))
  const taken = [
    '!',
    'x'.repeat(255),
    visible,
    '"8e03978e-40d5-43dd-bc93-6894a57f9324"',
    "' or 1=1 --".replaceAll(' ', ''),
  ]
  for (const idempotencyKey of taken)
    assert.equal((await send(idempotencyKey, body(ann))).status, 201, idempotencyKey)
  assert.equal(await countOf(ann), taken.length)
  // Keys are compared exactly: a key in other letter case is another key.
  assert.equal((await send('X'.repeat(255), body(ann, 'Ho'))).status, 201)
})

test('a delivery that is repeated after its expiresAt gets its first response, and a new one is 400 (D1, R18)', async () => {
  const ann = await app.user()
  const expiring = { ...body(ann), expiresAt: new Date(app.now() + hour).toISOString() }
  const first = await send('expiring', expiring)
  assert.equal(first.status, 201)
  app.pass(2 * hour)
  const again = await send('expiring', expiring)
  assert.deepEqual([again.status, again.text], [201, first.text])
  assert.ok((await countOf(ann)) <= 1)
  const other = await app.producerKey()
  for (const refused of [
    await send('not-used', expiring),
    await send('expiring', { ...expiring, title: 'Ho' }),
    await send('expiring', expiring, other.key),
    await app.post('/api/notifications', expiring, { authorization: `Bearer ${key}` }),
  ]) {
    assert.equal(refused.status, 400)
    assert.deepEqual(refused.json().error.details, [
      { field: 'expiresAt', reason: 'must be in the future, and before the year 10000' },
    ])
  }
})

test('a key that was revoked or rotated a moment ago reads no outcome of a delivery that has expired (Z4)', async () => {
  const ann = await app.user()
  const keys = new ProducerKeys({ store: app.store, now: app.now })
  const ends = [(id: string) => keys.revoke(id), (id: string) => keys.rotate(id, 0)]
  for (const end of ends) {
    const { id, key: ended } = await app.producerKey()
    const expiring = { ...body(ann), expiresAt: new Date(app.now() + 300).toISOString() }
    assert.equal((await send('ended', expiring, ended)).status, 201)
    app.pass(500)
    // The key is remembered for a second.
    assert.equal((await send('another', body(ann), ended)).status, 201)
    await end(id)
    assert.equal((await send('ended', expiring, ended)).status, 401)
  }
})

test('any other key is 400 and names the header', async () => {
  const ann = await app.user()
  for (const idempotencyKey of [
    '',
    'x'.repeat(256),
    'two words',
    'tab\there',
    'ümlaut',
    '\x80',
    '\xff',
  ]) {
    const response = await send(idempotencyKey, body(ann))
    assert.equal(response.status, 400, JSON.stringify(idempotencyKey))
    const { details } = response.json().error
    assert.equal(details[0].field, 'Idempotency-Key')
    assert.match(details[0].reason, /1 to 255 visible/)
  }
  const fields: [string, string][] = [
    ['authorization', `Bearer ${key}`],
    ['content-type', 'application/json'],
    ['idempotency-key', 'once'],
    ['Idempotency-Key', 'once'],
  ]
  const twice = await app.exchange('/api/notifications', {
    method: 'POST',
    fields,
    body: JSON.stringify(body(ann)),
  })
  assert.equal(twice.status, 400)
  assert.deepEqual(twice.json().error.details, [
    { field: 'Idempotency-Key', reason: 'must be sent once' },
  ])
  assert.equal(await countOf(ann), 0)
})
