// docs/sign-in/session-or-token.md
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { replaceOperation } from '../../../server/store/testing/operations.ts'
import { findCredentials, findUsersByEmail } from '../../../server/users/users.store.ts'
import { startTestService } from '../../support/service.ts'

const app = await startTestService()
after(() => app.stop())
const { key } = await app.producerKey(['users'])
const { key: shop } = await app.producerKey(['users'], null, 'shop')

const password = 'plum orchard gate 41'
const signIn = (username: string, given = password) =>
  app.post('/login', { username, password: given })
const post = (body: object, by = key) =>
  app
    .post('/api/users', body, { authorization: `Bearer ${by}` })
    .then(({ status, json }) => ({ status, ...json() }))
async function add(
  username: string,
  email: string,
  { by = key, emailVerified = true } = {},
): Promise<string> {
  const { status, data, error } = await post({ username, password, email, emailVerified }, by)
  assert.equal(status, 201, JSON.stringify(error))
  return data.id
}

test('signs in by the verified address, in either case, by /login and by the form', async () => {
  const id = await add('ann', 'Ann.Lee@example.org')
  for (const name of [
    'Ann.Lee@example.org',
    'ann.lee@EXAMPLE.org',
    ' ann.lee@example.org ',
    'ann',
  ]) {
    const response = await signIn(name)
    assert.deepEqual([response.status, response.json().User?.id], [200, id], name)
  }
  assert.equal(
    (await signIn('ann.lee@example.org', 'wrong')).json().error.code,
    'INVALID_CREDENTIALS',
  )
  const form = await app.request('/sign-in', {
    method: 'POST',
    redirect: 'manual',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      origin: app.url,
      'sec-fetch-site': 'same-origin',
    },
    body: new URLSearchParams({ username: 'ann.lee@example.org', password }).toString(),
  })
  assert.equal(form.status, 303, form.text)
})

test('refuses like a wrong password: an unknown, an unverified, a shared address, and that of a user of an application', async () => {
  await add('unverified', 'unverified@example.org', { emailVerified: false })
  await add('one', 'shared@example.org')
  await add('two', 'Shared@example.org')
  await add('customer', 'customer@example.org', { by: shop })
  const wrong = await signIn('one', 'not the password of one')
  for (const name of ['unknown', 'unverified', 'shared', 'customer']) {
    const refused = await signIn(`${name}@example.org`)
    assert.equal(refused.status, wrong.status)
    const { requestId: _, ...error } = refused.json().error
    const { requestId: __, ...expected } = wrong.json().error
    assert.deepEqual(error, expected, name)
  }
  for (const name of ['unverified', 'one', 'two', 'customer'])
    assert.equal((await signIn(name)).status, 200, name)
})

test('a name that is the username of one user and the verified address of another signs the owner of the address in', async () => {
  const other = 'nectar silver mill 87'
  const made = await post({
    username: 'kim@example.org',
    password: other,
    email: 'other@example.org',
  })
  const before = await signIn('kim@example.org', other)
  assert.equal(before.json().User.id, made.data.id)
  const owner = await add('holder', 'kim@example.org')
  assert.equal((await signIn('kim@example.org')).json().User?.id, owner)
  assert.equal((await signIn('kim@example.org', other)).status, 401)
  const device =
    before.headers
      .getSetCookie()
      .find((cookie) => cookie.includes('device'))
      ?.split(';')[0] ?? ''
  const known = await app.post(
    '/login',
    { username: 'kim@example.org', password: other },
    { cookie: device },
  )
  assert.equal(known.json().User?.id, made.data.id)
})

test('a new username that is the verified address of another user is 409', async () => {
  await add('lee', 'lee@example.org')
  await add('pat@example.org', 'pat@example.net', { by: shop })
  // An application learns neither whose it is, nor whether it is a name or an address.
  for (const username of ['lee@example.org', 'pat@example.org']) {
    const { status, error } = await post({ username, password })
    assert.deepEqual([status, error.details], [409, [{ field: 'username', reason: 'is taken' }]])
    assert.equal(error.message, `The username ${username} is taken`)
  }
  const id = await add('renamed', 'renamed@example.org')
  const rename = (username: string) =>
    app.request(`/api/users/${id}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ username }),
    })
  assert.equal((await rename('lee@example.org')).status, 409)
  assert.equal(
    (await rename('renamed@example.org')).status,
    200,
    'the own address is no one else’s',
  )
})

test('both names of a user share one count of guesses (A9)', async () => {
  await add('guessed', 'guessed@example.org')
  for (let n = 0; n < 5; n++)
    assert.equal((await signIn(n % 2 ? 'guessed' : 'guessed@example.org', 'no')).status, 401)
  for (const name of ['guessed', 'guessed@example.org'])
    assert.equal((await signIn(name, 'no')).status, 429, name)
})

test('an unknown address costs the same reads and the same hash as one of a user', async () => {
  await add('timed', 'timed@example.org')
  const counts: Record<string, number>[] = []
  for (const name of ['timed@example.org', 'unknown@example.org']) {
    const count = { findCredentials: 0, findUsersByEmail: 0 }
    const counting = (operation: typeof findCredentials | typeof findUsersByEmail) =>
      replaceOperation<never, unknown>(app.store, operation, (_, run) => {
        count[operation.name as keyof typeof count]++
        return run()
      })
    const restores = [findCredentials, findUsersByEmail].map(counting)
    assert.equal((await signIn(name, 'no')).status, 401)
    for (const restore of restores.toReversed()) restore()
    counts.push(count)
  }
  assert.deepEqual(counts[0], counts[1])
  assert.deepEqual(counts[0], { findCredentials: 2, findUsersByEmail: 1 })
})

test('a username that an application gives does not take the sign-ins by the verified address of another user (U6)', async () => {
  assert.equal(
    (await post({ username: 'yan@example.org', password: 'grey heron over the weir' }, shop))
      .status,
    201,
  )
  const id = await add('yan', 'yan@example.org')
  const response = await signIn('yan@example.org')
  assert.deepEqual([response.status, response.json().User?.id], [200, id])
  assert.equal((await signIn('yan@example.org', 'grey heron over the weir')).status, 401)
})
