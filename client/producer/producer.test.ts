// Each delivery happens once, whatever happens to its requests: a proxy drops responses.
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { after, before, test } from 'node:test'
import { TcpProxy } from '../../tests/support/network/tcp-proxy.ts'
import { startTestService, type TestService } from '../../tests/support/service.ts'
import { type Connection, createProducer, isCarillonError } from '../carillon-client.ts'
import { failureOf, signedIn } from '../testing/clients.ts'
import { Requests } from '../transport/requests.ts'
import { producerOf } from './producer.ts'

let service: TestService
let key: string
before(async () => {
  service = await startTestService()
  key = (await service.producerKey()).key
})
after(() => service.stop())

function quick(connection: Connection) {
  return producerOf(new Requests(connection, () => key), {
    retryMs: 5,
    maxRetryMs: 20,
    random: Math.random,
  })
}

/** The first attempts get the given responses, in turn; later ones reach the service. */
function scripted(...acts: ((url: string, init: RequestInit) => Response | Promise<Response>)[]) {
  const sent: { body: unknown; key: string | null }[] = []
  const send = async (url: string, init: RequestInit) => {
    sent.push({ body: init.body, key: new Headers(init.headers).get('idempotency-key') })
    return (acts.shift() ?? fetch)(url, init)
  }
  return { sent, fetch: send }
}

function refusal(status: number, code: string, headers: Record<string, string> = {}) {
  const error = { code, status, message: 'Because', requestId: 'r-1' }
  return () => new Response(JSON.stringify({ success: false, error }), { status, headers })
}

test('createProducer without a key throws a TypeError that names it', () => {
  for (const empty of ['', '  ', undefined as unknown as string])
    assert.throws(() => createProducer({ baseUrl: 'https://bell.example', key: empty }), {
      name: 'TypeError',
      message: /^key is empty: pass the producer key/,
    })
})

test('a declared category has its texts for the producer, and in the language of a user, who can mute it', async () => {
  const ann = await service.user()
  const { categories, send } = createProducer({ baseUrl: service.url, key })
  const name = { en: 'Orders & more', de: 'Bestellungen' }
  await categories.put('orders/1', { name, description: 'What you bought' })
  assert.deepEqual(await categories.get('orders/1'), {
    name,
    description: 'What you bought',
    mandatory: false,
    mail: null,
  })
  assert.ok(isCarillonError(await failureOf(categories.get('others')), 'NOT_FOUND'))
  for (const bad of ['', '.', '..'])
    assert.ok(isCarillonError(await failureOf(categories.get(bad)), 'INVALID_REQUEST'), bad)
  const { inbox } = await signedIn(service, ann, 'stateless')
  await inbox.setPreferences({ categories: { 'orders/1': { mutedUntil: 'forever' } } })
  const preferences = await inbox.preferences()
  const { label, mutedUntil } = preferences.categories['orders/1'] ?? assert.fail()
  assert.deepEqual([label, mutedUntil], ['Orders & more', 'forever'])
  const { results } = await send({
    recipients: [{ userId: ann.id }],
    title: 'Order 7',
    category: 'orders/1',
  })
  assert.deepEqual(
    [results[0]?.status, (await inbox.list({ status: 'archived' })).total],
    ['muted', 1],
  )
})

test('what was sent with a key is changed, resolved and withdrawn in all inboxes; a key that no inbox has is NOT_FOUND', async () => {
  const ann = await service.user()
  const ben = await service.user()
  const producer = createProducer({ baseUrl: service.url, key })
  const name = 'build/7 & more'
  await producer.send({
    recipients: [{ userId: ann.id }, { userId: ben.id }],
    title: 'Build 7 failed',
    key: name,
  })
  const { inbox } = await signedIn(service, ann, 'stateless')
  const stateOf = async () =>
    (await inbox.list({ status: 'all' })).items.map((one) => [one.title, one.archivedAt !== null])
  assert.deepEqual(await producer.updateByKey(name, { title: 'Again' }), { inboxes: 2 })
  assert.deepEqual(await stateOf(), [['Again', false]])
  assert.deepEqual(await producer.resolveByKey(name), { inboxes: 2 })
  assert.deepEqual(await stateOf(), [['Again', true]])
  assert.deepEqual(await producer.removeByKey(name), { inboxes: 2 })
  assert.deepEqual(await stateOf(), [])
  for (const call of [
    producer.updateByKey(name, { title: 'x' }),
    producer.resolveByKey(name),
    producer.removeByKey(name),
  ])
    assert.ok(isCarillonError(await failureOf(call), 'NOT_FOUND'))
  assert.ok(isCarillonError(await failureOf(producer.removeByKey('..')), 'INVALID_REQUEST'))
})

test('after a lost response, send repeats the request under the same idempotency key: one delivery', async () => {
  const ann = await service.user()
  await using proxy = await TcpProxy.to(Number(new URL(service.url).port))
  let disconnects = 0
  proxy.intercept = ({ direction }) => {
    if (direction === 'to server' || disconnects >= 3) return undefined
    disconnects++
    return { disconnects: true }
  }
  const { results } = await quick({ baseUrl: proxy.urlFor(service.url) }).send({
    recipients: [{ username: ann.username }],
    title: 'Once',
  })
  assert.equal(disconnects, 3)
  const { items, total } = await service.list(await service.signIn(ann, 'stateless'))
  assert.deepEqual([total, items[0]?.id], [1, results[0]?.id])
})

test('each call of send is a separate delivery, and its attempts have the same body and idempotency key', async () => {
  const ann = await service.user()
  const lost = () => Promise.reject(new TypeError('fetch failed'))
  const { sent, fetch } = scripted(lost, lost)
  const producer = quick({ baseUrl: service.url, fetch })
  const delivery = { recipients: [{ username: ann.username }], title: 'Again' }
  await producer.send(delivery)
  await producer.send(delivery)
  assert.equal(sent.length, 4)
  assert.equal(new Set(sent.slice(0, 3).map((one) => JSON.stringify(one))).size, 1)
  assert.notEqual(sent[3]?.key, sent[0]?.key)
  assert.match(sent[0]?.key ?? '', /^[0-9a-f-]{36}$/)
})

test('two calls with the same idempotencyKey are one delivery', async () => {
  const ann = await service.user()
  const producer = createProducer({ baseUrl: service.url, key })
  const delivery = { recipients: [{ username: ann.username }], title: 'Order 7' }
  const both = [1, 2].map(() => producer.send(delivery, { idempotencyKey: 'order-7' }))
  const [one, two] = await Promise.all(both)
  assert.deepEqual(one, two)
  const failure = await failureOf(
    producer.send({ ...delivery, title: 'Order 8' }, { idempotencyKey: 'order-7' }),
  )
  assert.ok(isCarillonError(failure, 'UNPROCESSABLE'))
})

test('send tries again after a refusal that may end, also by a proxy', async () => {
  const ann = await service.user()
  const page = (status: number) => () => new Response('<h1>Bad Gateway</h1>', { status })
  for (const refused of [
    refusal(408, 'TIMEOUT'),
    refusal(409, 'CONFLICT'),
    refusal(429, 'TOO_MANY_REQUESTS'),
    refusal(503, 'UNAVAILABLE'),
    page(502),
    page(504),
  ]) {
    const { sent, fetch } = scripted(refused)
    await quick({ baseUrl: service.url, fetch }).send({
      recipients: [{ username: ann.username }],
      title: 'Hello',
    })
    assert.equal(sent.length, 2)
  }
})

for (const [status, code] of [
  [400, 'INVALID_REQUEST'],
  [401, 'UNAUTHORIZED'],
  [403, 'FORBIDDEN'],
  [404, 'NOT_FOUND'],
  [413, 'PAYLOAD_TOO_LARGE'],
  [422, 'UNPROCESSABLE'],
  [500, 'INTERNAL'],
] as const)
  test(`send throws ${code} without a second attempt`, async () => {
    const { sent, fetch } = scripted(refusal(status, code))
    const failure = await failureOf(
      quick({ baseUrl: service.url, fetch }).send({ recipients: [], title: '' }),
    )
    assert.ok(isCarillonError(failure, code))
    assert.equal(sent.length, 1)
  })

test('after its last attempt, of at least one, send throws the last error', async () => {
  const unavailable = Array.from({ length: 9 }, () => refusal(503, 'UNAVAILABLE'))
  for (const attempts of [undefined, 2, 1, 0, -1, Number.NaN]) {
    const { sent, fetch } = scripted(...unavailable)
    const producer = quick({ baseUrl: service.url, fetch })
    const failure = await failureOf(
      producer.send({ recipients: [{ username: 'ann' }], title: 'Hi' }, { attempts }),
    )
    assert.ok(isCarillonError(failure, 'UNAVAILABLE'))
    assert.equal(sent.length, attempts === undefined ? 6 : Math.max(attempts || 1, 1))
  }
})

test('an attempt without a response counts as NETWORK, and send tries again', async () => {
  const hang = (_url: string, { signal }: RequestInit) =>
    new Promise<never>((_, reject) =>
      signal?.addEventListener('abort', () => reject(signal.reason)),
    )
  const backoff = { retryMs: 5, maxRetryMs: 20, random: Math.random }
  // On a busy machine, a real service might exceed the time limit too.
  const { sent, fetch } = scripted(
    hang,
    () => new Response('{"success":true,"data":{}}', { status: 201 }),
  )
  const producer = producerOf(
    new Requests({ baseUrl: service.url, fetch }, () => key),
    backoff,
    500,
  )
  await producer.send({ recipients: [{ username: 'ann' }], title: 'Hello' })
  assert.equal(sent.length, 2)
  const never = producerOf(
    new Requests({ baseUrl: service.url, fetch: hang }, () => key),
    backoff,
    20,
  )
  const failure = await failureOf(never.send({ recipients: [], title: 'Hi' }, { attempts: 2 }))
  assert.ok(isCarillonError(failure, 'NETWORK'))
})

test('a key that a header field cannot have throws an error at once, without the key in its message', async () => {
  const { sent, fetch } = scripted()
  const delivery = { recipients: [{ username: 'ann' }], title: 'Hi' }
  const failures = [
    await failureOf(
      quick({ baseUrl: service.url, fetch }).send(delivery, { idempotencyKey: 'secret 🔔' }),
    ),
    await failureOf(
      createProducer({ baseUrl: service.url, fetch, key: 'secret\n7' }).send(delivery),
    ),
  ]
  assert.ok(failures[0] instanceof TypeError && isCarillonError(failures[1], 'AUTH_FAILED'))
  for (const { message, cause } of failures as Error[])
    assert.doesNotMatch(`${message} ${cause}`, /secret/)
  assert.equal(sent.length, 0)
})

test('send rejects, and does not throw synchronously, if the delivery cannot become JSON', async () => {
  const data: Record<string, unknown> = {}
  data.itself = data
  const sending = quick({ baseUrl: service.url }).send({ recipients: [], title: 'Hi', data })
  assert.ok((await failureOf(sending)) instanceof TypeError)
})

test('an abort ends the wait between attempts, and no listener stays on the signal', async () => {
  const { sent, fetch } = scripted(refusal(503, 'UNAVAILABLE', { 'retry-after': '20' }))
  const controller = new AbortController()
  const { signal } = controller
  const failing = failureOf(
    quick({ baseUrl: service.url, fetch }).send(
      { recipients: [{ username: 'ann' }], title: 'Hi' },
      { signal },
    ),
  )
  setTimeout(() => controller.abort(), 50)
  assert.equal(((await failing) as Error).name, 'AbortError')
  assert.equal(sent.length, 1)
  assert.deepEqual(getEventListeners(signal, 'abort'), [])
})

test('events come in order, each at least once, and are acknowledged when the loop has gone through them', async () => {
  const ann = await service.user()
  const { key: withWebhooks } = await service.producerKey(['send', 'webhooks'], null)
  const proof = { authorization: `Bearer ${withWebhooks}` }
  const events = ['notification.created']
  const { id } = (await service.post('/api/webhooks', { events }, proof)).json().data
  const { sent, fetch } = scripted(refusal(503, 'UNAVAILABLE'))
  const producer = producerOf(new Requests({ baseUrl: service.url, fetch }, () => withWebhooks), {
    retryMs: 5,
    maxRetryMs: 20,
    random: Math.random,
  })
  const titles: string[] = []
  for (const title of ['One', 'Two']) {
    await producer.send({ recipients: [{ userId: ann.id }], title })
    for await (const { type, data } of producer.events(id)) {
      titles.push(`${type} ${data.items?.map((item) => item.title)}`)
      // A loop that ends before the next request acknowledges nothing.
      if (titles.at(-1)?.includes(title)) break
    }
  }
  const [created, ...others] = ['One', 'One', 'Two'].map((title) => `notification.created ${title}`)
  assert.deepEqual(titles, [created, ...others])
  assert.ok(sent.length >= 5)
  const controller = new AbortController()
  const ending = producer.events(id, { signal: controller.signal })
  controller.abort()
  assert.equal(((await failureOf(ending.next())) as Error).name, 'AbortError')
  assert.ok(isCarillonError(await failureOf(producer.events('none').next()), 'NOT_FOUND'))
})
