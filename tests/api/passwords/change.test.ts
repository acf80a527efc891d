// The signed-in user sets a new password with the current one. Every other session and token ends, the caller's sign-in stays.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type Proof, startTestService, type TestUser, variants } from '../../support/service.ts'

const app = await startTestService()
after(() => app.stop())
const newPassword = 'grey heron over the weir'

function change(proof: Proof, body: object) {
  const headers = { 'content-type': 'application/json', ...proof }
  return app.request('/api/me/password', { method: 'PUT', headers, body: JSON.stringify(body) })
}

async function canSignIn({ username }: TestUser, password: string): Promise<boolean> {
  return (await app.post('/login', { username, password })).status === 200
}

async function isAlive(proof: Proof): Promise<boolean> {
  return (await app.get('/api/me', proof)).status === 200
}

for (const variant of variants)
  test(`${variant}: a new password ends every other session and token of the user, and not the caller's sign-in (A13)`, async () => {
    const ann = await app.user()
    const ben = await app.user()
    const own = await app.signIn(ann, variant)
    const ownToken = { authorization: `Bearer ${(await app.post('/api/me/token', undefined, own)).json().data.token}` }
    const others = [await app.issueToken(ann)]
    for (const each of variants) others.push(await app.signIn(ann, each))
    const bens = await app.signIn(ben, variant)
    const response = await change(own, { currentPassword: ann.password, newPassword })
    assert.deepEqual([response.status, response.text], [204, ''])
    for (const proof of [own, ownToken, bens]) assert.ok(await isAlive(proof))
    for (const proof of others) assert.ok(!(await isAlive(proof)))
    assert.ok(await canSignIn(ann, newPassword))
    assert.ok(!(await canSignIn(ann, ann.password)))
    if (variant === 'stateful') return
    const renewed = await app.post('/token/renew', undefined, own)
    assert.equal(renewed.status, 200)
    assert.ok(await isAlive({ authorization: `Bearer ${renewed.json().token}` }))
  })

test('a sign-in that is hours old may change the password: the current one is proof enough', async () => {
  const ann = await app.user()
  const own = await app.signIn(ann, 'stateful')
  app.pass(5 * 3_600_000)
  assert.equal((await change(own, { currentPassword: ann.password, newPassword })).status, 204)
})

test('a wrong current password changes nothing, and counts as a guess (A9, A13)', async () => {
  const ann = await app.user()
  const [own, other] = [await app.signIn(ann, 'stateful'), await app.signIn(ann, 'stateless')]
  for (let n = 0; n < 5; n++) {
    const response = await change(own, { currentPassword: `wrong ${n}`, newPassword })
    assert.deepEqual([response.status, response.json().error.code], [401, 'INVALID_CREDENTIALS'])
  }
  const refused = await change(own, { currentPassword: ann.password, newPassword })
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '1'])
  app.pass(1_000)
  assert.ok((await isAlive(own)) && (await isAlive(other)))
  assert.equal((await change(own, { currentPassword: ann.password, newPassword })).status, 204)
})

test('a new password that is refused changes nothing, and the refusal has its code', async () => {
  const ann = await app.user()
  const [own, other] = [await app.signIn(ann, 'stateful'), await app.signIn(ann, 'stateful')]
  const response = await change(own, { currentPassword: ann.password, newPassword: 'short' })
  const [fault] = response.json().error.details
  assert.deepEqual([response.status, fault.field, fault.code], [400, 'newPassword', 'too_short'])
  assert.ok(await isAlive(other))
  assert.ok(await canSignIn(ann, ann.password))
})

test('without a sign-in, or with a token of scope inbox, nobody changes a password (T14)', async () => {
  const ann = await app.user()
  const body = { currentPassword: ann.password, newPassword }
  assert.equal((await change({}, body)).status, 401)
  assert.equal((await change(await app.issueToken(ann), body)).status, 403)
  assert.ok(await canSignIn(ann, ann.password))
})

test('a link that waits is void after the change, and a report of the password is cleared (A19)', async () => {
  const ann = await app.user()
  const headers = { authorization: `Bearer ${(await app.producerKey(['users'])).key}` }
  const { url } = (await app.post(`/api/users/${ann.id}/links`, { purpose: 'reset' }, headers)).json().data
  const own = await app.signIn(ann, 'stateful')
  assert.equal((await change(own, { currentPassword: ann.password, newPassword })).status, 204)
  assert.equal((await app.post('/password/reset', { token: url.split('#')[1], newPassword })).status, 422)
})
