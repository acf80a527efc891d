import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { findCredentials, listUsers } from '../../../server/users/users.store.ts'
import { startTestService } from '../../support/service.ts'

const app = await startTestService()
after(() => app.stop())
const { key } = await app.producerKey(['users'])

async function put(users: unknown) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await app.request('/api/users', {
    method: 'PUT',
    headers,
    body: JSON.stringify({ users }),
  })
  const { data, error } = response.json()
  return { status: response.status, results: data?.results, error }
}

const passwordHash = '$2b$04$kar19022FZikZ1QluB359u1HH/a5S0sSuf3kGyuhU3GXIF6CjAe1O'
const password = 'plum orchard gate 41'
const countOf = async (search: string) =>
  (await app.store.read(listUsers, { after: '', limit: 1000, search })).length

test('1,000 users with the longest texts are created in one request, and a repetition updates them', async () => {
  const long = {
    displayName: '😀'.repeat(200),
    email: `${'a'.repeat(240)}@example.org`,
    locale: 'de-CH',
  }
  const users = Array.from({ length: 1000 }, (_, n) => ({
    externalId: `bulk-${n}-`.padEnd(255, 'ü'),
    ...long,
  }))
  const created = await put(users)
  assert.equal(created.status, 200)
  assert.deepEqual(
    created.results.map(({ externalId, status }: Record<string, string>) => [externalId, status]),
    users.map(({ externalId }) => [externalId, 'created']),
  )
  const { id: _id, createdAt: _at, ...first } = created.results[0].user
  assert.deepEqual(first, { ...users[0], username: null, emailVerified: false, disabled: false })
  const again = await put(users)
  assert.ok(again.results.every(({ status }: Record<string, string>) => status === 'updated'))
  assert.equal(await countOf('bulk-'), 1000)
  assert.match(
    (await put([...users, { externalId: 'one more' }])).error.details[0].reason,
    /at most 1000/,
  )
})

test('entries with a username and a hash create users who sign in; disabled ones cannot', async () => {
  const { status, results } = await put([
    { externalId: 'h1', username: 'Hanna', passwordHash },
    { externalId: 'h2', username: 'henry', passwordHash, disabled: true },
    { externalId: 'h3', displayName: 'No sign-in' },
  ])
  assert.equal(status, 200)
  assert.deepEqual(
    results.map(({ user }: { user: Record<string, unknown> }) => [user.username, user.disabled]),
    [
      ['hanna', false],
      ['henry', true],
      [null, false],
    ],
  )
  await app.signIn({ username: 'hanna', password }, 'stateful')
  assert.equal((await app.post('/login', { username: 'henry', password })).status, 401)
})

test('a repetition keeps a password that the user has since; a user without one gets the hash', async () => {
  const entry = { externalId: 'r1', username: 'rita', passwordHash }
  await put([{ externalId: 'r1' }])
  assert.equal((await put([entry])).results[0].status, 'updated')
  await app.signIn({ username: 'rita', password }, 'stateful')
  const replaced = (await app.store.read(findCredentials, 'rita'))?.passwordHash
  await put([entry])
  assert.equal((await app.store.read(findCredentials, 'rita'))?.passwordHash, replaced)
})

test('every fault of every entry is listed with its position, and nothing is stored (U5)', async () => {
  await app.user('occupied')
  const { status, error } = await put([
    { externalId: 'fault-ok' },
    { externalId: 'fault-1', locale: 'x_y', email: 'none' },
    { displayName: 'without an id' },
    { externalId: 'fault-3', colour: 'red', disabled: 'yes', displayName: 7 },
    'text',
    { externalId: 'fault-5', username: 'a b', passwordHash: '$1$x$y' },
    { externalId: 'fault-ok' },
    { externalId: 'fault-7', username: 'occupied' },
    { externalId: 'fault-8', passwordHash },
  ])
  assert.deepEqual([status, error.code], [400, 'INVALID_REQUEST'])
  assert.deepEqual(
    error.details.map(({ field }: Record<string, string>) => field),
    [
      'users.1.locale',
      'users.1.email',
      'users.2.externalId',
      'users.3.colour',
      'users.3.disabled',
      'users.3.displayName',
      'users.4',
      'users.5.username',
      'users.5.passwordHash',
      'users.6.externalId',
      'users.7.username',
      'users.8.username',
    ],
  )
  assert.match(error.details[9].reason, /the same as in users\.0/)
  assert.equal(await countOf('fault-'), 0)
})

test('a username of another user is 409 with the position, and nothing is stored (U5)', async () => {
  await app.user('occupant')
  const { status, error } = await put([
    { externalId: 'conflict-1' },
    { externalId: 'conflict-2', username: 'Occupant' },
  ])
  assert.deepEqual(
    [status, error.code, error.details],
    [409, 'CONFLICT', [{ field: 'users.1.username', reason: 'is taken' }]],
  )
  assert.equal(await countOf('conflict-'), 0)
})
