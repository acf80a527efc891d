import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Passwords } from '../../../server/passwords/passwords.ts'
import { EventReader } from '../../support/event-source/event-source.ts'
import { type Proof, startTestService, type TestUser, variants } from '../../support/service.ts'
import { carefulUser, signInWithCode } from '../../support/sign-in/authenticator.ts'

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
    const ownToken = {
      authorization: `Bearer ${(await app.post('/api/me/token', undefined, own)).json().data.token}`,
    }
    const others = [await app.issueToken(ann)]
    for (const each of variants) others.push(await app.signIn(ann, each))
    const bens = await app.signIn(ben, variant)
    const response = await change(own, { currentPassword: ann.password, newPassword })
    if (variant === 'stateful') assert.deepEqual([response.status, response.text], [204, ''])
    else
      assert.deepEqual(
        [response.status, Object.keys(response.json().data)],
        [200, ['token', 'expiresAt']],
      )
    for (const proof of [own, bens]) assert.ok(await isAlive(proof))
    for (const proof of [ownToken, ...others]) assert.ok(!(await isAlive(proof)))
    assert.ok(await canSignIn(ann, newPassword))
    assert.ok(!(await canSignIn(ann, ann.password)))
    if (variant === 'stateful') return
    const refused = await app.exchange('/token/renew', {
      method: 'POST',
      fields: Object.entries(own),
      body: '',
    })
    assert.equal(refused.status, 401, 'the token from before is not renewed')
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

test('the streams of other sign-ins end, and the stream of the caller goes on until the new cookie is in use (A13)', async () => {
  const ann = await app.user()
  const own = await app.signIn(ann, 'stateful')
  const others = [await app.issueToken(ann)]
  for (const variant of variants) others.push(await app.signIn(ann, variant))
  const open = (proof: Proof) => EventReader.of(app.url, proof)
  using stays = await open(own)
  const ending = await Promise.all(others.map(open))
  assert.equal((await change(own, { currentPassword: ann.password, newPassword })).status, 204)
  for (const reader of ending) {
    let type: string | undefined
    while (type !== 'session-ended') type = (await reader.next()).type
    await reader.ended()
  }
  await app.deliver({ to: ann, title: 'still here' })
  let text = ''
  while (!text.includes('still here')) text = (await stays.next()).text
  assert.ok(!stays.events.some(({ type }) => type === 'session-ended'))
})

test('the session is fresh after the change, and a token stays as it is', async () => {
  const deviceOf = (proof: Proof) => app.post('/api/me/factors/totp', { label: 'Phone' }, proof)
  const ann = await app.user()
  const session = await app.signIn(ann, 'stateful')
  const token = await app.signIn(ann, 'stateless')
  app.pass(11 * 60_000)
  const renewed = {
    authorization: `Bearer ${(await app.post('/token/renew', undefined, token)).json().token}`,
  }
  for (const proof of [session, renewed]) assert.equal((await deviceOf(proof)).status, 403)
  assert.equal((await change(renewed, { currentPassword: ann.password, newPassword })).status, 200)
  assert.equal((await deviceOf(renewed)).status, 403)
  const again = await app.signIn({ ...ann, password: newPassword }, 'stateful')
  app.pass(11 * 60_000)
  assert.equal(
    (await change(again, { currentPassword: newPassword, newPassword: ann.password })).status,
    204,
  )
  assert.equal((await deviceOf(again)).status, 201)
})

test('with a second factor, a new password does not make an old session fresh', async () => {
  const ann = await carefulUser(app)
  const own = await signInWithCode(app, ann, 'stateful')
  app.pass(11 * 60_000)
  assert.equal((await change(own, { currentPassword: ann.password, newPassword })).status, 204)
  assert.equal((await app.post('/api/me/factors/totp', { label: 'Phone' }, own)).status, 403)
})

test('a wrong current password changes nothing, and counts as a guess (A9, A13)', async () => {
  const ann = await app.user()
  const own = await app.signIn(ann, 'stateful')
  const other = await app.signIn(ann, 'stateless')
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
  const own = await app.signIn(ann, 'stateful')
  const other = await app.signIn(ann, 'stateful')
  const response = await change(own, { currentPassword: ann.password, newPassword: 'short' })
  const [fault] = response.json().error.details
  assert.deepEqual([response.status, fault.field, fault.code], [400, 'newPassword', 'too_short'])
  assert.ok(await isAlive(other))
  assert.ok(await canSignIn(ann, ann.password))
})

test('a new password that is not acceptable is refused before the current one is hashed (A12)', async (context) => {
  const ann = await app.user()
  const own = await app.signIn(ann, 'stateful')
  const { verify } = Passwords.prototype
  const hashed = context.mock.method(Passwords.prototype, 'verify', verify)
  for (const currentPassword of [ann.password, 'not the password'])
    for (const refused of ['short', 'password'.repeat(3), ann.username.repeat(2), 'x'.repeat(257)])
      assert.equal((await change(own, { currentPassword, newPassword: refused })).status, 400)
  assert.equal(hashed.mock.callCount(), 0)
})
