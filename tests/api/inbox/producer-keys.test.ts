// Which routes does a key open, and when does it stop working?
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { ProducerKeys } from '../../../server/producers/producer-key.ts'
import { listProducers } from '../../../server/producers/producers.store.ts'
import { startTestService, variants } from '../../support/service.ts'

const app = await startTestService()
after(() => app.stop())
const ann = await app.user('ann')
const keys = new ProducerKeys({ store: app.store, now: app.now })
const body = { recipients: [{ username: 'ann' }], title: 'Hi' }

const sendWith = (authorization: string) => app.post('/api/notifications', body, { authorization })
const send = (key: string) => sendWith(`Bearer ${key}`)
const statusWith = async (key: string) => (await send(key)).status
const deliveries = async () => (await app.database.rows('select * from notification')).length

test('a key is displayed once, and only the hash of its secret is stored (D4)', async () => {
  const { id, key } = await app.producerKey()
  const [, shownId, secret = ''] = /^crl_([0-9a-f]{16})_([\w-]{43})$/.exec(key) ?? []
  assert.equal(shownId, id)
  const [row] = await app.database.rows(`select * from producer where id = '${id}'`)
  assert.equal(row?.secret_hash, createHash('sha256').update(secret).digest('base64url'))
  assert.ok(!JSON.stringify(await app.database.tables()).includes(secret))
  assert.ok(!JSON.stringify(await app.store.read(listProducers)).includes(secret))
})

test('a key can send, and the time of its last use is stored (D4)', async () => {
  const { id, key } = await app.producerKey()
  const lastUsedAt = async () => {
    await app.noted()
    return (await app.database.rows(`select last_used_at from producer where id = '${id}'`))[0]
      ?.last_used_at
  }
  assert.equal(await statusWith(key), 201)
  assert.equal(await lastUsedAt(), app.now())
  app.pass(10 * 60_000)
  assert.equal(await statusWith(key), 201)
  assert.equal(await lastUsedAt(), app.now())
})

test('text that is not exactly a key is 401 with error="invalid_token", and sends nothing (D4)', async () => {
  const { id, key } = await app.producerKey()
  const other = await app.producerKey()
  const secret = key.slice(-43)
  const wrong = [
    `crl_${id}_${randomBytes(32).toString('base64url')}`,
    `crl_${other.id}_${secret}`,
    `crl_${randomBytes(8).toString('hex')}_${secret}`,
    key.slice(0, -1),
    `${key}A`,
    `${key}=`,
    key.toUpperCase(),
    key.replace('crl_', 'CRL_'),
    key.replace('crl_', ''),
    `crl_${id}_`,
    `crl__${secret}`,
    secret,
    id,
    `crl_../../${id}_${secret}`,
  ]
  const before = await deliveries()
  for (const made of wrong) {
    const response = await send(made)
    assert.equal(response.status, 401, made)
    assert.equal(response.headers.get('www-authenticate'), 'Bearer error="invalid_token"')
    assert.equal(response.json().error.code, 'UNAUTHORIZED')
  }
  for (const authorization of [key, `Basic ${key}`, `Token ${key}`, '']) {
    const response = await sendWith(authorization)
    assert.deepEqual(
      [response.status, response.headers.get('www-authenticate')],
      [401, 'Bearer'],
      authorization,
    )
  }
  assert.equal((await app.post('/api/notifications', body)).status, 401)
  assert.equal((await app.post(`/api/notifications?key=${key}`, body)).status, 401)
  assert.equal((await app.post('/api/notifications', body, { 'x-api-key': key })).status, 401)
  assert.equal(await deliveries(), before)
})

test('two Authorization headers send nothing (D4)', async () => {
  const { key } = await app.producerKey()
  const field: [string, string] = ['Authorization', `Bearer ${key}`]
  const json: [string, string] = ['Content-Type', 'application/json']
  const sent = (fields: [string, string][]) =>
    app.exchange('/api/notifications', { method: 'POST', fields, body: JSON.stringify(body) })
  assert.equal((await sent([json, field])).status, 201)
  assert.equal((await sent([json, field, field])).status, 401)
})

test('a key stops working at its expiry, to the millisecond (Z4, D4)', async () => {
  const { key } = await app.producerKey(['send'], app.now() + 60_000)
  app.pass(59_999)
  assert.equal(await statusWith(key), 201)
  app.pass(1)
  assert.equal(await statusWith(key), 401)
})

test('a revoked key stops working at once and for ever, and no other key does (Z4, D4)', async () => {
  const revoked = await app.producerKey()
  const other = await app.producerKey()
  assert.equal(await statusWith(revoked.key), 201)
  await keys.revoke(revoked.id)
  assert.deepEqual([await statusWith(revoked.key), await statusWith(other.key)], [401, 201])
  await app.restart()
  assert.deepEqual([await statusWith(revoked.key), await statusWith(other.key)], [401, 201])
})

test('a key without the scope is FORBIDDEN, and the response says how to make one with it (Z4)', async () => {
  const before = await deliveries()
  for (const scopes of [['users'], []] as ('users' | 'send')[][]) {
    const { key } = await app.producerKey(scopes)
    const response = await send(key)
    assert.equal(response.status, 403)
    const { error } = response.json()
    assert.equal(error.code, 'FORBIDDEN')
    assert.ok(
      error.message.endsWith(`carillon key add NAME --scope ${['send', ...scopes]}`),
      error.message,
    )
    assert.equal(
      response.headers.get('www-authenticate'),
      'Bearer error="insufficient_scope", scope="send"',
    )
  }
  assert.equal(await deliveries(), before)
  assert.equal(await statusWith((await app.producerKey(['users', 'send'])).key), 201)
})

test('a key opens no route of a user (D4)', async () => {
  const { key } = await app.producerKey(['send', 'users'])
  const [id] = await app.deliver({ to: ann, title: 'Mine' })
  const requests: [string, string][] = [
    ['GET', '/routeRestreinte'],
    ['GET', '/api/me'],
    ['GET', '/api/notifications'],
    ['GET', '/api/notifications/counts'],
    ['GET', `/api/notifications/${id}`],
    ['PATCH', `/api/notifications/${id}/read`],
    ['POST', '/api/notifications/read-all'],
    ['POST', '/token/renew'],
  ]
  const inboxes = (await app.database.tables()).inbox
  for (const [method, path] of requests)
    for (const proof of [{ authorization: `Bearer ${key}` }, { cookie: `carillon=${key}` }])
      assert.equal(
        (await app.request(path, { method, headers: proof })).status,
        401,
        `${method} ${path}`,
      )
  assert.deepEqual((await app.database.tables()).inbox, inboxes)
})

test('no proof of a user can send a notification, not even to that user (D4)', async () => {
  const before = await deliveries()
  for (const variant of variants) {
    const proof = await app.signIn(ann, variant)
    const response = await app.post('/api/notifications', body, proof)
    assert.deepEqual([response.status, response.json().error.code], [401, 'UNAUTHORIZED'])
  }
  assert.equal(await deliveries(), before)
})

test('a cookie beside a key is ignored (D4)', async () => {
  const cookie = await app.signIn(ann, 'stateful')
  const { key } = await app.producerKey()
  assert.equal(
    (await app.post('/api/notifications', body, { ...cookie, authorization: `Bearer ${key}` }))
      .status,
    201,
  )
  assert.equal(
    (await app.get('/api/me', { ...cookie, authorization: `Bearer ${key}` })).status,
    401,
  )
})

test('a rotated key has a new secret at once, and the one before until the overlap ends', async () => {
  // The service was restarted since.
  const ofStore = new ProducerKeys({ store: app.store, now: app.now })
  const { id, key: first } = await app.producerKey()
  const hour = 3_600_000
  const { key: second, previousUntil } = await ofStore.rotate(id, hour)
  assert.equal(previousUntil, app.now() + hour)
  assert.match(second, new RegExp(`^crl_${id}_[\\w-]{43}$`))
  assert.deepEqual([await statusWith(first), await statusWith(second)], [201, 201])
  app.pass(hour - 1)
  assert.deepEqual([await statusWith(first), await statusWith(second)], [201, 201])
  app.pass(1)
  assert.deepEqual([await statusWith(first), await statusWith(second)], [401, 201])
  const { key: third } = await ofStore.rotate(id, hour)
  const { key: fourth } = await ofStore.rotate(id, hour)
  const now = await Promise.all([second, third, fourth].map(statusWith))
  assert.deepEqual(now, [401, 201, 201], 'the secret before the one before is refused')
  await ofStore.rotate(id, 0)
  assert.equal(await statusWith(fourth), 401, 'an overlap of 0')
  await ofStore.revoke(id)
  await assert.rejects(ofStore.rotate(id, hour), { code: 'NOT_FOUND' })
  assert.ok(!JSON.stringify(await app.database.tables()).includes(second.slice(-43)))
})
