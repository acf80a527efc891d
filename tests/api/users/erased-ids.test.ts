// Until the application creates the user again on purpose (U7).
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { findUserByExternalId } from '../../../server/users/users.store.ts'
import { startIssuer } from '../../support/network/issuer.ts'
import { type Proof, startTestService } from '../../support/service.ts'

const day = 24 * 3_600_000
const issuer = await startIssuer(() => app.now())
/** Its ids are not those of the application (`ids: 'issuer'`). */
const second = await startIssuer(() => app.now())
const usual = { audience: 'bell', algorithms: ['RS256', 'ES256', 'EdDSA'], createUsers: true }
const issuers = [
  { ...usual, issuer: issuer.url, ids: 'plain' },
  { ...usual, issuer: second.url, jwks: second.jwks },
]
const app = await startTestService({ env: { CARILLON_ISSUERS: JSON.stringify(issuers) } })
after(() => Promise.all([app.stop(), issuer.stop(), second.stop()]))
const { key } = await app.producerKey(['send', 'users'])
const producer: Proof = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }

const pathOf = (externalId: string) => `/api/users/external/${encodeURIComponent(externalId)}`
const put = (externalId: string) =>
  app.request(pathOf(externalId), { method: 'PUT', headers: producer, body: '{}' })
const find = (externalId: string) => app.store.read(findUserByExternalId, { externalId })
const send = (recipients: object[], more = {}) =>
  app.post('/api/notifications', { title: 'Hi', recipients, ...more }, producer)

async function erase(externalId: string): Promise<void> {
  await put(externalId)
  assert.equal(
    (await app.request(pathOf(externalId), { method: 'DELETE', headers: producer })).status,
    204,
  )
}

test('a delivery to an erased external id has an unknown recipient, and creates no user', async () => {
  await erase('gone')
  const alone = await send([{ externalId: 'gone' }])
  assert.equal(alone.status, 422)
  assert.match(
    alone.json().error.message,
    /^No recipient is a user\. A user who was erased is created again by PUT /,
  )
  const both = await send([{ externalId: 'gone' }, { externalId: 'here' }])
  const [gone, here] = both.json().data.results
  assert.deepEqual(gone, { userId: null, id: null, status: 'unknown_recipient' })
  assert.equal(here.status, 'delivered')
  assert.equal(await find('gone'), undefined)
})

test('a valid token of an erased user is refused, also with another one, until the application creates the user again', async () => {
  const proofOf = async (jti: string): Promise<Proof> => ({
    authorization: `Bearer ${await issuer.token({ sub: 'token', jti })}`,
  })
  await erase('token')
  const early = await proofOf('1')
  for (const proof of [early, early, await proofOf('2')])
    assert.equal((await app.get('/api/notifications', proof)).status, 401)
  assert.equal(await find('token'), undefined)
  assert.equal((await put('token')).status, 201)
  for (const proof of [early, await proofOf('3')])
    assert.equal((await app.get('/api/notifications', proof)).status, 200)
})

const again: Record<string, (externalId: string) => Promise<{ status: number; erased: unknown }>> =
  {
    async 'PUT of one'(externalId) {
      const response = await put(externalId)
      return { status: response.status, erased: response.json().data.erased }
    },
    async 'PUT of many'(externalId) {
      const users = [{ externalId }, { externalId: `not ${externalId}` }]
      const response = await app.request('/api/users', {
        method: 'PUT',
        headers: producer,
        body: JSON.stringify({ users }),
      })
      const [one, other] = response.json().data.results
      assert.deepEqual([one.status, other.status, other.erased], ['created', 'created', undefined])
      return { status: 201, erased: one.erased }
    },
    async 'PUT of many with a name'(externalId) {
      const users = [{ externalId, username: `import of ${externalId}`.replaceAll(' ', '-') }]
      const response = await app.request('/api/users', {
        method: 'PUT',
        headers: producer,
        body: JSON.stringify({ users }),
      })
      return { status: 201, erased: response.json().data.results[0].erased }
    },
    async POST(externalId) {
      const response = await app.post(
        '/api/users',
        { username: `post of ${externalId}`.replaceAll(' ', '-'), externalId },
        producer,
      )
      return { status: response.status, erased: response.json().data.erased }
    },
  }
for (const [name, create] of Object.entries(again))
  test(`${name} creates an erased user again, says so, and deliveries reach the user`, async () => {
    const externalId = `again by ${name}`
    await erase(externalId)
    assert.deepEqual(await create(externalId), { status: 201, erased: true })
    assert.equal((await put(externalId)).json().data.erased, undefined)
    assert.equal((await send([{ externalId }])).json().data.results[0].status, 'delivered')
  })

test('PUT of many lets an erased user of an issuer with ids of its own come back by a token or a delivery', async () => {
  const create = again['PUT of many'] ?? assert.fail()
  for (const comesBack of ['token', 'delivery']) {
    const sub = `comes back by ${comesBack}`
    let jti = 0
    const byToken = async () =>
      app.get('/api/me', {
        authorization: `Bearer ${await second.token({ sub, jti: String(jti++) })}`,
      })
    const byDelivery = () => send([{ externalId: sub, issuer: second.url }])
    const { id } = (await byToken()).json().data.user
    assert.equal(
      (await app.request(`/api/users/${id}`, { method: 'DELETE', headers: producer })).status,
      204,
    )
    assert.deepEqual([(await byToken()).status, (await byDelivery()).status], [401, 422])
    assert.equal((await create(sub)).erased, true)
    if (comesBack === 'token') assert.equal((await byToken()).status, 200)
    else assert.equal((await byDelivery()).status, 201)
    await app.request(pathOf(sub), { method: 'DELETE', headers: producer })
  }
})

test('PUT of an existing user lets the one of an issuer with the same id come back', async () => {
  await put('twice')
  const byToken = async (jti: string) =>
    app.get('/api/me', { authorization: `Bearer ${await second.token({ sub: 'twice', jti })}` })
  const { id } = (await byToken('1')).json().data.user
  await app.request(`/api/users/${id}`, { method: 'DELETE', headers: producer })
  const response = await put('twice')
  assert.deepEqual([response.status, response.json().data.erased], [200, true])
  assert.equal((await byToken('2')).status, 200)
})

test('the account that its own user erases is remembered, too', async () => {
  const password = 'plum orchard gate 41'
  await app.post('/api/users', { username: 'self', password, externalId: 'self' }, producer)
  const proof = await app.signIn({ username: 'self', password }, 'stateful')
  assert.equal((await app.request('/api/me', { method: 'DELETE', headers: proof })).status, 204)
  assert.equal((await send([{ externalId: 'self' }])).status, 422)
})

test('after 30 days the external id is forgotten', async () => {
  await erase('old')
  for (let n = 0; n < 5; n++) {
    assert.equal((await send([{ externalId: 'old' }])).status, 422)
    app.pass(6 * day)
  }
  assert.equal((await send([{ externalId: 'old' }])).json().data.results[0].status, 'delivered')
})

test('a clock that is ahead by more than a week forgets none, in a running process and after a start (R16)', async () => {
  await erase('kept')
  app.pass(60 * day)
  assert.equal((await send([{ externalId: 'kept' }])).status, 422)
  await app.restart()
  assert.equal((await send([{ externalId: 'kept' }])).status, 422)
  assert.equal(await find('kept'), undefined)
})
