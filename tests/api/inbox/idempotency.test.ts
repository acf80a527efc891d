// A producer that does not know whether its request arrived sends it again: the same answer, one notification.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startTestService, type TestUser } from '../../support/service.ts'

const hour = 3_600_000

const app = await startTestService()
after(() => app.stop())
const { key } = await app.producerKey()

const body = (to: TestUser, title = 'Hi') => ({ recipients: [{ userId: to.id }], title })
const send = (idempotencyKey: string, sent: unknown, producerKey = key) =>
  app.post('/api/notifications', sent, { authorization: `Bearer ${producerKey}`, 'idempotency-key': idempotencyKey })
const told = async ({ id }: TestUser) =>
  (await app.database.rows(`select * from notification where user_id = '${id}'`)).length

test('P1: the same key and body is the same answer and one notification, however often', async () => {
  const ann = await app.user()
  const first = await send('order-1', body(ann))
  assert.equal(first.status, 201)
  const version = await app.database.version()
  for (let n = 0; n < 3; n++) {
    const again = await send('order-1', body(ann))
    assert.deepEqual([again.status, again.text], [201, first.text])
  }
  assert.equal(await app.database.version(), version)
  assert.equal(await told(ann), 1)
})

test('P1: without a key the same body twice is two notifications', async () => {
  const ann = await app.user()
  for (let n = 0; n < 2; n++) await app.deliver({ to: ann, title: 'Hi' })
  assert.equal(await told(ann), 2)
})

test('P1: blanks and escapes of the same body do not make it another', async () => {
  const ann = await app.user()
  const first = await send('spelling', body(ann))
  const headers = { authorization: `Bearer ${key}`, 'idempotency-key': 'spelling', 'content-type': 'application/json' }
  const spelled = JSON.stringify(body(ann), null, 2).replace('"Hi"', '"\\u0048i"')
  const again = await app.request('/api/notifications', { method: 'POST', headers, body: spelled })
  assert.deepEqual([again.status, again.text], [201, first.text])
})

test('P2: the same key with another body is 422 and changes nothing', async () => {
  const [ann, bob] = [await app.user(), await app.user()]
  const first = await send('order-2', body(ann))
  const version = await app.database.version()
  const others = [body(ann, 'Ho'), body(bob), { ...body(ann), body: 'more' }, { ...body(ann), url: '/' }]
  for (const other of others) {
    const response = await send('order-2', other)
    assert.deepEqual([response.status, response.json().error.code], [422, 'UNPROCESSABLE'])
    assert.match(response.json().error.message, /new key/)
  }
  assert.equal(await app.database.version(), version)
  assert.equal((await send('order-2', body(ann))).text, first.text)
  assert.deepEqual([await told(ann), await told(bob)], [1, 0])
})

test('P2: a body that was refused uses no key up', async () => {
  const ann = await app.user()
  assert.equal((await send('order-3', { ...body(ann), title: '' })).status, 400)
  assert.equal((await send('order-3', { ...body(ann), url: 'javascript:x' })).status, 400)
  assert.equal((await send('order-3', body(ann))).status, 201)
})

test('P3: while the first is still running, a second with its key is 409, and the first is not disturbed', async () => {
  const ann = await app.user()
  const { key: othersKey } = await app.producerKey()
  const release = await app.database.holdWrites()
  // Nothing can be written, so whichever of the two comes first runs until it can.
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
  assert.equal(await told(ann), 2)
})

test('P3: of ten at once one is delivered, and the others are 409 or its answer: 20 of 20 races', async () => {
  for (let round = 0; round < 20; round++) {
    const ann = await app.user()
    const responses = await Promise.all(Array.from({ length: 10 }, () => send(`race-${round}`, body(ann))))
    const delivered = responses.filter(({ status }) => status === 201)
    assert.equal(new Set(delivered.map(({ text }) => text)).size, 1)
    assert.ok(responses.every(({ status }) => status === 201 || status === 409))
    assert.equal(await told(ann), 1)
  }
})

test('P3: a key is free again where its delivery failed', async () => {
  const ann = await app.user()
  const undo = await app.database.failInserts('delivery', { message: 'full' })
  const failed = await send('failing', body(ann))
  await undo()
  assert.equal(failed.status, 500)
  assert.equal(await told(ann), 0)
  assert.equal((await send('failing', body(ann))).status, 201)
  assert.equal(await told(ann), 1)
})

test('P1: a key is one producer’s: the same key of another is another delivery', async () => {
  const ann = await app.user()
  const { key: othersKey } = await app.producerKey()
  const [one, other] = [await send('shared', body(ann)), await send('shared', body(ann, 'Ho'), othersKey)]
  assert.deepEqual([one.status, other.status], [201, 201])
  assert.equal(await told(ann), 2)
})

test('P1: the answer to a key outlives a restart, and what it was about', async () => {
  const [ann, bob] = [await app.user(), await app.user()]
  const sent = { recipients: [{ userId: ann.id }, { username: 'nobody' }, { userId: bob.id }], title: 'Hi', key: 'k' }
  const first = await send('order-4', sent)
  assert.deepEqual(
    first.json().data.results.map(({ status }: { status: string }) => status),
    ['delivered', 'unknown_recipient', 'delivered'],
  )
  await app.restart()
  // Whom it did not know then it knows by now; the answer is what was done.
  await app.user('nobody')
  assert.equal((await send('order-4', sent)).text, first.text)
  assert.equal((await send('order-4', body(ann))).status, 422)
  assert.equal(await told(ann), 1)
})

test('P1: a key is kept for a day', async () => {
  const ann = await app.user()
  const first = await send('order-5', body(ann))
  app.pass(24 * hour)
  await app.restart() // tidies up, as every hour does
  assert.equal((await send('order-5', body(ann))).text, first.text)
  app.pass(1)
  await app.restart()
  await app.producerKey()
  assert.equal((await send('order-5', body(ann))).status, 201)
  assert.equal(await told(ann), 2)
})

test('a key of 1 to 255 visible characters is taken', async () => {
  const ann = await app.user()
  const visible = String.fromCharCode(...Array.from({ length: 94 }, (_, n) => 0x21 + n))
  const taken = [
    '!',
    'x'.repeat(255),
    visible,
    '"8e03978e-40d5-43dd-bc93-6894a57f9324"',
    "' or 1=1 --".replaceAll(' ', ''),
  ]
  for (const idempotencyKey of taken) assert.equal((await send(idempotencyKey, body(ann))).status, 201, idempotencyKey)
  assert.equal(await told(ann), taken.length)
  // To the letter: of another case it is another key.
  assert.equal((await send('X'.repeat(255), body(ann, 'Ho'))).status, 201)
})

test('any other key is 400 and names the header', async () => {
  const ann = await app.user()
  for (const idempotencyKey of ['', 'x'.repeat(256), 'two words', 'tab\there', 'ümlaut', '\x80', '\xff']) {
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
  const twice = await app.exchange('/api/notifications', { method: 'POST', fields, body: JSON.stringify(body(ann)) })
  assert.equal(twice.status, 400)
  assert.deepEqual(twice.json().error.details, [{ field: 'Idempotency-Key', reason: 'must be sent once' }])
  assert.equal(await told(ann), 0)
})
