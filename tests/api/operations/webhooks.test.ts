// Webhooks from outside: what an application receives, or reads, about its notifications, verified by the package of Standard Webhooks.
import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { listAudit } from '../../../server/audit/audit.store.ts'
import { newOrderedId } from '../../../server/basics/ids.ts'
import { listOutbox, retryOutbox } from '../../../server/reach/outbox.store.ts'
import { setRole } from '../../../server/users/access/roles.store.ts'
import { addTestEvent } from '../../../server/webhooks/looks.store.ts'
import { refusalIn } from '../../support/http/envelope.ts'
import { type Received, WebhookReceiver } from '../../support/network/webhook-receiver.ts'
import { untilSo } from '../../support/processes/nodes.ts'
import { type Proof, startTestService } from '../../support/service.ts'

const app = await startTestService({ env: { CARILLON_OUTBOUND_PRIVATE: 'on' } })
after(() => app.stop())
let names = 0

/** Throws if the signature is wrong. The package refuses a timestamp that is five minutes from its clock, which is that of the service here. */
function verify(
  t: TestContext,
  secret: string,
  { headers, body }: Pick<Received, 'headers' | 'body'>,
): void {
  const { mock } = t.mock.method(Date, 'now', app.now)
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>)
  } finally {
    mock.restore()
  }
}

/** An application with a key and a user. */
async function application() {
  const name = `shop-${++names}`
  const { key } = await app.producerKey(['send', 'users', 'webhooks'], null, name)
  const proof: Proof = { authorization: `Bearer ${key}` }
  const externalId = `customer-${names}`
  const send = async (title: string, more = {}) => {
    const sent = await app.post(
      '/api/notifications',
      { recipients: [{ externalId }], title, ...more },
      proof,
    )
    assert.equal(sent.status, 201, sent.text)
    return sent.json().data.results[0] as { id: string; userId: string }
  }
  const add = async (body: object) => {
    const added = await app.post('/api/webhooks', body, proof)
    assert.equal(added.status, 201, added.text)
    return added.json().data as { id: string; secret: string }
  }
  const reader = async () => {
    const issued = await app.post(
      `/api/users/external/${externalId}/tokens`,
      { scope: 'inbox' },
      proof,
    )
    return { authorization: `Bearer ${issued.json().data.token}` }
  }
  return { proof, externalId, send, add, reader }
}

async function receiver(t: { after: (stop: () => void) => void }): Promise<WebhookReceiver> {
  const started = await WebhookReceiver.start()
  t.after(() => started.stop())
  return started
}

async function rowsFor(webhook: string) {
  const rows = await app.store.read(listOutbox, { limit: 1_000 })
  return rows.filter(({ target }) => target === webhook)
}

test('what is unread after the time of the application is sent once, signed, in the language of its reader', async (t) => {
  const to = await receiver(t)
  const { add, send, proof, externalId } = await application()
  const german = {
    method: 'PUT',
    headers: { ...proof, 'content-type': 'application/json' },
    body: '{"locale":"de"}',
  }
  assert.equal((await app.request(`/api/users/external/${externalId}`, german)).status, 201)
  const { secret } = await add({ url: to.url, events: ['notification.unread'], unreadAfter: 10 })
  const title = { en: 'Order 7', de: 'Bestellung 7' }
  const { id, userId } = await send('', {
    title,
    body: 'secret text',
    url: '/orders/7',
    key: 'order-7',
    category: 'orders',
  })
  app.pass(10 * 60_000)
  const { headers, body, event } = await to.next()
  verify(t, secret, { headers, body })
  assert.deepEqual(event.data.user, { id: userId, username: null, externalId })
  const { createdAt, ...item } = event.data.items[0]
  const times = { updatedAt: null, readAt: null, archivedAt: null }
  const content = {
    title: 'Bestellung 7',
    url: '/orders/7',
    key: 'order-7',
    category: 'orders',
    priority: 'normal',
  }
  assert.deepEqual(item, { id, ...content, ...times })
  assert.match(createdAt, /Z$/)
  assert.deepEqual(
    [event.type, event.id, headers['content-type']],
    ['notification.unread', headers['webhook-id'], 'application/json'],
  )
  assert.doesNotMatch(body, /secret text/)
})

test('what is read before the first request is not in it, and a request that is repeated has the same body', async (t) => {
  const to = await receiver(t)
  const { add, send, reader } = await application()
  const { id: webhook, secret } = await add({
    url: to.url,
    events: ['notification.unread'],
    unreadAfter: 5,
  })
  const untilTried = (tries: number) =>
    untilSo(async () => (await rowsFor(webhook)).some((row) => row.tries === tries))
  const idsIn = ({ event }: Received) => event.data.items.map((item: { id: string }) => item.id)
  const { id: one } = await send('One')
  const { id: two } = await send('Two')
  const proof = await reader()
  const read = async (id: string) =>
    assert.equal((await app.patch(`/api/notifications/${id}/read`, proof)).status, 204)
  to.answer = (_, response) => response.writeHead(500).end()
  app.pass(5 * 60_000)
  const first = await to.next()
  assert.deepEqual(idsIn(first), [two, one])
  await untilTried(1)
  await read(two)
  app.pass(5 * 60_000)
  const again = await to.next()
  verify(t, secret, again)
  assert.equal(again.body, first.body)
  assert.equal(again.headers['webhook-id'], first.headers['webhook-id'])
  assert.notEqual(again.headers['webhook-timestamp'], first.headers['webhook-timestamp'])
  await untilTried(2)
  const { id: three } = await send('Three')
  const { id: four } = await send('Four')
  for (const gone of [one, three]) await read(gone)
  to.answer = (_, response) => response.writeHead(204).end()
  app.pass(3_600_000)
  // Nothing of the first event is unread any more, so it is not sent a third time.
  assert.deepEqual(idsIn(await to.next()), [four])
})

test('during a rotation of the secret, a request is signed with both', async (t) => {
  const to = await receiver(t)
  const { add, send, proof } = await application()
  const { id, secret } = await add({ url: to.url, events: ['notification.created'] })
  const rotated = await app.patch(`/api/webhooks/${id}`, proof, { rotateSecret: true })
  const { secret: fresh } = rotated.json().data
  await send('Hi')
  const { headers, body } = await to.next()
  for (const one of [secret, fresh]) verify(t, one, { headers, body })
  assert.throws(() => verify(t, fresh, { headers, body: `${body} ` }))
  app.pass(25 * 3_600_000)
  await send('Ho')
  const later = await to.next()
  assert.equal(`${later.headers['webhook-signature']}`.split(' ').length, 1)
})

test('a host that hangs has four requests, and holds up no other', async (t) => {
  const hanging = await receiver(t)
  const other = await receiver(t)
  hanging.answer = () => {}
  const slow = await application()
  const quick = await application()
  await slow.add({ url: hanging.url, events: ['notification.created', 'notification.read'] })
  await quick.add({ url: other.url, events: ['notification.created'] })
  for (let n = 0; n < 8; n++) {
    const { proof } = slow
    const recipients = [{ externalId: `other-${n}` }]
    await app.post('/api/notifications', { recipients, title: 'Hi' }, proof)
  }
  for (let n = 0; n < 4; n++) await hanging.next()
  await quick.send('Hi')
  await other.next()
  assert.equal(hanging.most, 4)
})

test('the slow hosts of one application have at most 16 requests, and leave places to others', async (t) => {
  const slow = await application()
  const hosts = await Promise.all(Array.from({ length: 6 }, () => receiver(t)))
  let open = 0
  let mostOpen = 0
  for (const hanging of hosts) {
    hanging.answer = (_, response) => {
      mostOpen = Math.max(mostOpen, ++open)
      response.on('close', () => open--)
    }
    await slow.add({ url: hanging.url, events: ['notification.created'] })
  }
  const other = await receiver(t)
  const quick = await application()
  await quick.add({ url: other.url, events: ['notification.created'] })
  const recipients = Array.from({ length: 4 }, (_, n) => ({ externalId: `many-${n}` }))
  await slow.send('Hi', { recipients })
  await untilSo(async () => mostOpen >= 8)
  await quick.send('Hi')
  await other.next()
  assert.ok(mostOpen <= 16, `${mostOpen} requests at the same time`)
})

test('a backend reads events in place of getting them sent, in order, until it acknowledges them', async () => {
  const { add, send, reader, proof } = await application()
  const { id } = await add({ events: ['notification.created', 'notification.read', 'user.erased'] })
  const read = async (query: string) =>
    (await app.get(`/api/webhooks/${id}/events?${query}`, proof)).json().data
  const { id: sent, userId } = await send('Hi')
  const first = await read('wait=25')
  assert.deepEqual(
    [first.events[0].type, first.events[0].data.items[0].title, first.missed],
    ['notification.created', 'Hi', false],
  )
  assert.deepEqual((await read('wait=0')).events, first.events)
  await app.patch(`/api/notifications/${sent}/read`, await reader())
  const { cursor } = await read('')
  const second = await read(`after=${cursor}&wait=25`)
  assert.deepEqual([second.events.length, second.events[0].type], [1, 'notification.read'])
  assert.equal((await app.delete(`/api/users/${userId}`, proof)).status, 204)
  const third = await read(`after=${second.cursor}&wait=25`)
  assert.deepEqual([third.events[0].type, third.events[0].data.user.id], ['user.erased', userId])
  assert.deepEqual(await read(`after=${third.cursor}`), { events: [], cursor: null, missed: false })
})

test('events that nobody reads for three days are gone, and the next response says so', async () => {
  const { add, send, proof } = await application()
  const { id } = await add({ events: ['notification.created'] })
  await send('Hi')
  const read = async (query: string) =>
    (await app.get(`/api/webhooks/${id}/events?${query}`, proof)).json().data
  assert.equal((await read('wait=25')).events.length, 1)
  app.pass(3 * 24 * 3_600_000)
  let last = await read('')
  while (!last.missed) last = await read('')
  while (last.events.length > 0) last = await read('')
  assert.equal((await read('')).missed, false)
})

test('without success for three days a webhook is disabled, operators have a notice, and a change enables it', async (t) => {
  const to = await receiver(t)
  const boss = await app.user('boss')
  await app.store.write(setRole, { userId: boss.id, role: 'operator' })
  const { add, send, proof } = await application()
  const { id } = await add({ url: to.url, events: ['notification.created'] })
  to.answer = (_, response) => response.writeHead(500).end()
  const listed = async () => (await app.get('/api/webhooks', proof)).json().data.items[0]
  await send('One')
  await to.next()
  await untilSo(async () => (await listed()).failingSince !== null)
  app.pass(3 * 24 * 3_600_000 + 1)
  await send('Two')
  await to.next()
  await untilSo(async () => (await listed()).disabledAt !== null)
  assert.equal((await listed()).attempts[0].outcome, 'status-500')
  const { webhooks } = (
    await app.get('/api/operator/outbox', await app.signIn(boss, 'stateful'))
  ).json().data
  const listedThere = webhooks.find((webhook: { id: string }) => webhook.id === id)
  assert.equal(listedThere.outcome, 'status-500')
  assert.equal(listedThere.url, new URL(to.url).origin)
  assert.ok(listedThere.disabledAt)
  const reader = await app.issueToken(boss)
  await untilSo(async () => {
    const { items } = await app.everything(reader, '&category=operator')
    return JSON.stringify(items).includes(id)
  })
  to.answer = (_, response) => response.writeHead(200).end()
  await app.patch(`/api/webhooks/${id}`, proof, {})
  app.pass(2 * 3_600_000)
  await send('Three')
  // The one that was being sent when the webhook was disabled comes again.
  await untilSo(async () => (await to.next()).event.data.items[0].title === 'Three')
})

test('while a webhook fails, what waits for it is not touched until a change or a retry, and a test is sent', async (t) => {
  const to = await receiver(t)
  to.answer = (_, response) => response.writeHead(500).end()
  const { add, send, proof } = await application()
  const { id } = await add({ url: to.url, events: ['user.erased'] })
  const erase = async (externalId: string) => {
    const { userId } = await send('Hi', { recipients: [{ externalId }] })
    assert.equal((await app.delete(`/api/users/${userId}`, proof)).status, 204)
  }
  await erase('first')
  await to.next()
  await untilSo(async () => (await rowsFor(id)).some(({ tries }) => tries === 1))
  // A text of the application makes no event a test.
  await erase('webhook.test')
  const trial = { id: newOrderedId(app.now()), webhook: { id, isRead: 0 }, at: app.now() }
  await app.store.write(addTestEvent, trial)
  await to.next()
  assert.deepEqual(
    to.received.map(({ event }) => event.type),
    ['user.erased', 'webhook.test'],
  )
  assert.ok((await rowsFor(id)).some(({ tries, holder }) => tries === 0 && holder === null))
  to.answer = (_, response) => response.writeHead(204).end()
  await app.patch(`/api/webhooks/${id}`, proof, {})
  // The test that failed waits on.
  await untilSo(async () => (await rowsFor(id)).every(({ queue }) => queue !== id))
  to.answer = (_, response) => response.writeHead(500).end()
  await erase('second')
  await untilSo(async () =>
    (await rowsFor(id)).some(({ queue, tries }) => queue === id && tries === 1),
  )
  to.answer = (_, response) => response.writeHead(204).end()
  await app.store.write(retryOutbox, { ids: null, at: app.now() })
  await untilSo(async () => (await rowsFor(id)).length === 0)
})

test('an application sees and changes its own webhooks, with the scope webhooks', async () => {
  const one = await application()
  const other = await application()
  const { id } = await one.add({ events: ['user.erased'] })
  assert.deepEqual((await app.get('/api/webhooks', other.proof)).json().data.items, [])
  const foreign = [
    app.patch(`/api/webhooks/${id}`, other.proof, { events: ['user.erased'] }),
    app.delete(`/api/webhooks/${id}`, other.proof),
    app.get(`/api/webhooks/${id}/events`, other.proof),
  ]
  for (const { status } of await Promise.all(foreign)) assert.equal(status, 404)
  const { key } = await app.producerKey(['send', 'users'])
  assert.equal((await app.get('/api/webhooks', { authorization: `Bearer ${key}` })).status, 403)
  assert.doesNotMatch((await app.get('/api/webhooks', one.proof)).text, /whsec_|sealed/)
  for (let n = 1; n < 20; n++) await one.add({ events: ['user.erased'] })
  const refused = await app.post('/api/webhooks', { events: ['user.erased'] }, one.proof)
  assert.equal(refusalIn(refused).code, 'CONFLICT')
})

test('an event that is given up after a day is no entry of the audit log', async (t) => {
  const to = await receiver(t)
  to.answer = (_, response) => response.writeHead(500).end()
  const { add, send, proof } = await application()
  const { id } = await add({ url: to.url, events: ['notification.created'] })
  await send('Hi')
  await to.next()
  await untilSo(async () => (await rowsFor(id)).some(({ tries }) => tries === 1))
  app.pass(24 * 3_600_000)
  await untilSo(async () => (await rowsFor(id)).length === 0)
  const entries = await app.store.read(listAudit, { limit: 100 })
  assert.ok(!entries.some(({ event }) => event === 'send-given-up'))
  const [listed] = (await app.get('/api/webhooks', proof)).json().data.items
  assert.equal(listed.attempts[0].outcome, 'status-500')
})
