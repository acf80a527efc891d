// An application says that it has verified the e-mail address of its user; another address takes that back.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startTestService } from '../../support/service.ts'

const app = await startTestService()
after(() => app.stop())
const { key } = await app.producerKey(['users'])
const path = (externalId: string) => `/api/users/external/${externalId}`

async function send(method: string, target: string, body: object) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await app.request(target, { method, headers, body: JSON.stringify(body) })
  return { status: response.status, ...response.json() }
}

test('an address is verified if the application says so, and another one is not', async () => {
  const steps = [
    ['PUT', { email: 'kim@example.org', emailVerified: true }, true],
    ['PUT', { email: 'kim@example.org' }, true],
    ['PATCH', { displayName: 'Kim' }, true],
    ['PATCH', { email: 'park@example.org' }, false],
    ['PATCH', { emailVerified: true }, true],
    ['PUT', { email: 'kim@example.org' }, false],
    ['PATCH', { email: 'lee@example.org', emailVerified: true }, true],
    ['PATCH', { emailVerified: false }, false],
    ['PATCH', { emailVerified: true }, true],
    ['PATCH', { email: null }, false],
    ['PATCH', { emailVerified: true }, false],
  ] as const
  for (const [method, body, expected] of steps)
    assert.equal(
      (await send(method, path('kim'), body)).data.emailVerified,
      expected,
      JSON.stringify(body),
    )
})

test('it is a field of new users and of many at once, and the user sees it', async () => {
  const { username, password } = { username: 'verified', password: 'violet otter sleeps late' }
  const profile = { email: 'ann@example.org', emailVerified: true }
  const created = await send('POST', '/api/users', { username, password, ...profile })
  assert.deepEqual([created.status, created.data.emailVerified], [201, true])
  const without = await send('POST', '/api/users', { username: 'without', emailVerified: true })
  assert.deepEqual([without.data.emailVerified, without.data.email], [false, null])
  const users = [
    { externalId: 'b1', ...profile },
    { externalId: 'b2', email: 'ben@example.org' },
    { externalId: 'b3', username: 'named', ...profile },
  ]
  const { results } = (await send('PUT', '/api/users', { users })).data
  const found = results.map(({ user }: { user: { emailVerified: boolean } }) => user.emailVerified)
  assert.deepEqual(found, [true, false, true])
  const cookie =
    (await app.post('/login', { username, password })).headers.getSetCookie()[0]?.split(';')[0] ??
    ''
  for (const own of ['/api/me', '/api/session'])
    assert.equal((await app.get(own, { cookie })).json().data.emailVerified, true)
})

test('a removed address cannot be verified, and anything but true and false is refused', async () => {
  for (const body of [
    { email: null, emailVerified: true },
    { emailVerified: 'true' },
    { emailVerified: null },
  ]) {
    const { status, error } = await send('PUT', path('refused'), body)
    assert.deepEqual([status, error.details[0].field], [400, 'emailVerified'], JSON.stringify(body))
  }
  const { status, error } = await send('PUT', '/api/users', {
    users: [{ externalId: 'c', emailVerified: 1 }],
  })
  assert.deepEqual([status, error.details[0].field], [400, 'users.0.emailVerified'])
})
