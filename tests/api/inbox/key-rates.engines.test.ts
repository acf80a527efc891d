// `carillon key add --rate`: what responses say, what counts, and that nodes share it.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { KeyRates, readRate } from '../../../server/producers/key-rates.ts'
import { ProducerKeys } from '../../../server/producers/producer-key.ts'
import { findProducer } from '../../../server/producers/producers.store.ts'
import { startTestService } from '../../support/service.ts'

const app = await startTestService()
after(() => app.stop())
const ann = await app.user()
const keys = new ProducerKeys({ store: app.store, now: app.now })

async function keyWith(rate: string, scopes: ('send' | 'users')[] = ['send', 'users']) {
  const { id, key } = await keys.issue({
    name: 'limited',
    scopes,
    expiresAt: null,
    rate: readRate(rate),
  })
  return { id, proof: { authorization: `Bearer ${key}` } }
}
const body = { recipients: [{ userId: ann.id }], title: 'Hi' }
const fieldsOf = ({ headers }: { headers: Headers }) =>
  ['ratelimit-policy', 'ratelimit', 'retry-after'].map((name) => headers.get(name))
/** A window then begins now. */
const beginWindow = (seconds: number) => app.pass(seconds * 1_000 - (app.now() % (seconds * 1_000)))

test('a key sends as many requests as its rate allows, and then gets 429 until the next window (L9)', async () => {
  const { proof } = await keyWith('3/m')
  beginWindow(60)
  const policy = '"key";q=3;w=60'
  for (const left of [2, 1, 0]) {
    const sent = await app.post('/api/notifications', body, proof)
    assert.deepEqual([sent.status, ...fieldsOf(sent)], [201, policy, `"key";r=${left};t=60`, null])
  }
  app.pass(20_500)
  const refused = await app.post('/api/notifications', body, proof)
  assert.deepEqual([refused.status, ...fieldsOf(refused)], [429, policy, '"key";r=0;t=40', '40'])
  assert.equal(refused.json().error.code, 'TOO_MANY_REQUESTS')
  assert.match(refused.json().error.message, /as its rate allows\. Try again in 40 s\./)
  app.pass(39_500)
  assert.equal((await app.post('/api/notifications', body, proof)).status, 201)
})

test('every authenticated request counts, on any route, repeated with its idempotency key or refused; nothing else does (L9)', async () => {
  const { proof } = await keyWith('6/h', ['send'])
  beginWindow(3_600)
  const idempotent = { ...proof, 'idempotency-key': 'once' }
  const left: (string | undefined)[] = []
  const note = async (response: Promise<{ headers: Headers }>) =>
    left.push(/r=(\d+)/.exec((await response).headers.get('ratelimit') ?? '')?.[1])
  await note(app.post('/api/notifications', body, idempotent))
  await note(app.post('/api/notifications', body, idempotent))
  await note(app.post('/api/notifications', { title: '' }, proof))
  await note(app.get('/api/users', proof))
  await note(app.post('/api/notifications', body, { authorization: `${proof.authorization}x` }))
  await note(app.get('/api/me', proof))
  await note(app.get('/api/categories/orders', proof))
  assert.deepEqual(left, ['5', '4', '3', '2', undefined, undefined, '1'])
  const other = await app.producerKey()
  const unlimited = await app.post('/api/notifications', body, {
    authorization: `Bearer ${other.key}`,
  })
  assert.deepEqual([unlimited.status, ...fieldsOf(unlimited)], [201, null, null, null])
})

test('two nodes share a rate after a second, and a node that starts learns what was used (L9)', async () => {
  const { id } = await keyWith('10/h')
  const { rate } = (await app.store.read(findProducer, id)) ?? assert.fail()
  assert.ok(rate)
  const nodes = [0, 1].map(() => new KeyRates({ store: app.store, now: app.now }))
  let accepted = 0
  const use = (node: KeyRates | undefined) => {
    if (node?.count(id, rate).retryAfter === undefined) accepted++
  }
  for (let n = 0; n < 8; n++) for (const node of nodes) use(node)
  assert.equal(accepted, 16, 'at most the quota on each node in the first second')
  const stored = async () =>
    (await app.database.rows(`select rate_used from producer where id = '${id}'`))[0]?.rate_used
  while (Number(await stored()) < 16) await sleep(20)
  for (const node of nodes) while (node.count(id, rate).retryAfter === undefined) await sleep(20)
  const third = new KeyRates({ store: app.store, now: app.now })
  third.count(id, rate)
  while (third.count(id, rate).retryAfter === undefined) await sleep(50)
})

test('a rate that is not one is refused with what would be right', () => {
  for (const text of [
    '',
    '600',
    '0/m',
    '600/d',
    '1000001/s',
    '-1/m',
    '1.5/s',
    '600/M',
    '600 /m',
    '6e2/m',
    '600/min',
  ])
    assert.throws(
      () => readRate(text),
      /write 1 to 1000000 requests a second, minute or hour, such as 20\/s, 600\/m/,
    )
  assert.deepEqual(readRate('1000000/h'), { quota: 1_000_000, seconds: 3_600 })
})
