// A generated password works for seven days, and is then refused like a wrong one.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Passwords } from '../../../server/passwords/passwords.ts'
import { makePassphrase, setPassword } from '../../../server/users/access/access.ts'
import { addUser } from '../../../server/users/users.ts'
import { startTestService } from '../../support/service.ts'

const app = await startTestService({
  env: { CARILLON_SESSION_LIFETIME: '30d', CARILLON_SESSION_IDLE: '30d' },
})
after(() => app.stop())
const day = 86_400_000
const own = 'quiet lantern above the harbour'
const passwords = new Passwords({ threads: 1, cost: { memoryCost: 8, timeCost: 1 } })
const users = () => ({
  store: app.store,
  passwords,
  erased: async () => undefined,
  passwordMinLength: 15,
  now: app.now,
})

async function generated(username: string) {
  const password = makePassphrase()
  const { id } = await addUser(users(), { username, password, isGenerated: true })
  return { id, username, password }
}

test('a generated password works for seven days, GET /api/me says when it ends, and then it is 401 (A26)', async () => {
  const user = await generated('ann')
  const { username, password } = user
  const session = await app.signIn(user, 'stateful')
  const endsAt = new Date(app.now() + 7 * day).toISOString()
  assert.equal((await app.get('/api/me', session)).json().data.passwordEndsAt, endsAt)
  app.pass(7 * day - 1)
  await app.signIn(user, 'stateless')
  app.pass(1)
  for (const variant of ['stateful', 'stateless']) {
    const refused = await app.post('/login', { username, password, variant })
    assert.deepEqual([refused.status, refused.json().error.code], [401, 'INVALID_CREDENTIALS'])
    assert.match(
      refused.json().error.message,
      /was generated, and has ended after 7 days\. .*carillon user password/,
    )
  }
  const wrong = await app.post('/login', { username, password: 'wrong' })
  assert.match(
    wrong.json().error.message,
    /username or the password is wrong/,
    'only the right password learns it',
  )
  assert.equal((await app.post('/api/me/confirm', { password }, session)).status, 401)
  const change = { currentPassword: password, newPassword: own }
  const changed = await app.request('/api/me/password', {
    method: 'PUT',
    headers: { ...session, 'content-type': 'application/json' },
    body: JSON.stringify(change),
  })
  assert.equal(changed.status, 401)
  await setPassword(users(), { username, password: own })
  await app.signIn({ ...user, password: own }, 'stateful')
})

test('a password of the user’s own has no end, set by the user or by carillon user password --password-stdin (A26)', async () => {
  const user = await generated('ben')
  const session = await app.signIn(user, 'stateful')
  const change = { currentPassword: user.password, newPassword: own }
  const changed = await app.request('/api/me/password', {
    method: 'PUT',
    headers: { ...session, 'content-type': 'application/json' },
    body: JSON.stringify(change),
  })
  assert.equal(changed.status, 204)
  app.pass(8 * day)
  const again = await app.signIn({ ...user, password: own }, 'stateful')
  assert.equal((await app.get('/api/me', again)).json().data.passwordEndsAt, null)
  await setPassword(users(), { username: 'ben', password: makePassphrase(), isGenerated: true })
  await setPassword(users(), { username: 'ben', password: own })
  app.pass(8 * day)
  await app.signIn({ ...user, password: own }, 'stateful')
})

test('the sign-in page says that a generated password has ended, and the inbox page asks for an own one before (A26)', async () => {
  const user = await generated('cho')
  const session = await app.signIn(user, 'stateful')
  assert.match((await app.get('/inbox', session)).text, /account#password/)
  app.pass(7 * day)
  const { username, password } = user
  const body = new URLSearchParams({ username, password }).toString()
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' }
  const page = await app.request('/sign-in', { method: 'POST', headers, body })
  assert.equal(page.status, 401)
  assert.match(page.text, /was generated for you and no longer works/)
})
