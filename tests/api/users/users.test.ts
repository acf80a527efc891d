// An application keeps its users by its own ids, with a producer key of scope `users`.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startTestService } from '../../support/service.ts'

const app = await startTestService()
after(() => app.stop())
const { key } = await app.producerKey(['users'])

type Body = Record<string, unknown>

async function send(method: string, path: string, body?: unknown) {
  const headers = {
    authorization: `Bearer ${key}`,
    ...(body !== undefined && { 'content-type': 'application/json' }),
  }
  const response = await app.request(path, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const json = response.text === '' ? {} : response.json()
  return { status: response.status, data: json.data, error: json.error }
}

const externalPath = (id: string) => `/api/users/external/${encodeURIComponent(id)}`
const none = {
  username: null,
  displayName: null,
  locale: null,
  email: null,
  emailVerified: false,
  disabled: false,
}
let ids = 0
const newId = () => `id-${++ids}`

test('PUT creates a user with 201 and changes it with 200; an absent field keeps its value, and null clears it', async () => {
  const externalId = newId()
  const profile = { displayName: 'Kim', locale: 'de-ch', email: 'kim@example.org' }
  const created = await send('PUT', externalPath(externalId), profile)
  assert.equal(created.status, 201)
  const { id, createdAt } = created.data
  const user = { id, externalId, ...none, ...profile, locale: 'de-CH', createdAt }
  assert.deepEqual(created.data, user)
  const changed = await send('PUT', externalPath(externalId), {
    displayName: 'Kim Park',
    email: null,
  })
  assert.deepEqual(
    [changed.status, changed.data],
    [200, { ...user, displayName: 'Kim Park', email: null }],
  )
  for (const path of [
    externalPath(externalId),
    `/api/users/${id}`,
    `/api/users/${id.toUpperCase()}`,
  ])
    assert.deepEqual((await send('GET', path)).data, changed.data)
})

test('an external id is not a username, and not the id of another user (U1)', async () => {
  const text = newId()
  const byName = (await send('POST', '/api/users', { username: text })).data
  const external = (await send('PUT', externalPath(text), {})).data
  const other = (await send('PUT', externalPath(byName.id), {})).data
  assert.equal(new Set([byName.id, external.id, other.id]).size, 3)
  assert.equal((await send('GET', `/api/users/${byName.id}`)).data.username, text)
  assert.equal((await send('GET', externalPath(byName.id))).data.id, other.id)
  assert.equal((await send('GET', `/api/users/${text}`)).status, 404)
  assert.equal((await send('DELETE', externalPath(text))).status, 204)
  for (const user of [byName, other])
    assert.equal((await send('GET', `/api/users/${user.id}`)).status, 200)
})

test('an external id that cannot be one is refused with the reason, and creates no user', async () => {
  const wrong: [string, RegExp][] = [
    ['a'.repeat(256), /at most 255/],
    ['a\u0001', /control/],
    ['a\u007f', /control/],
  ]
  for (const [id, reason] of wrong) {
    const { status, error } = await send('PUT', externalPath(id), {})
    assert.deepEqual(
      [status, error.code, error.details[0].field],
      [400, 'INVALID_REQUEST', 'externalId'],
    )
    assert.match(error.details[0].reason, reason)
  }
})

test('POST creates a user who signs in with the password, or with the password of the imported hash', async () => {
  const password = 'plum orchard gate 41'
  const passwordHash = '$2b$04$kar19022FZikZ1QluB359u1HH/a5S0sSuf3kGyuhU3GXIF6CjAe1O'
  for (const [username, credential] of [
    ['Pia', { password }],
    ['Bo', { passwordHash }],
  ] as const) {
    const { status, data } = await send('POST', '/api/users', {
      username,
      ...credential,
      externalId: null,
    })
    assert.deepEqual([status, data.username, data.externalId], [201, username.toLowerCase(), null])
    await app.signIn({ username, password }, 'stateful')
  }
})

test('POST refuses a username or an external id that is taken with 409, and names the field', async () => {
  const externalId = newId()
  await send('POST', '/api/users', { username: 'taken', externalId })
  const cases: [Body, string][] = [
    [{ username: 'TAKEN' }, 'username'],
    [{ username: 'another', externalId }, 'externalId'],
  ]
  for (const [body, field] of cases) {
    const { status, error } = await send('POST', '/api/users', body)
    assert.deepEqual([status, error.code, error.details[0].field], [409, 'CONFLICT', field])
  }
})

test('POST lists every fault, and creates no user', async () => {
  const body = {
    username: 'a b',
    password: 'short',
    externalId: '..',
    locale: 'x_y',
    email: 'x',
    displayName: 'a\u0001',
  }
  const { status, error } = await send('POST', '/api/users', body)
  const fields = error.details.map(({ field }: Body) => field).sort()
  assert.deepEqual(
    [status, fields],
    [400, ['displayName', 'email', 'externalId', 'locale', 'password', 'username']],
  )
  const both = { username: 'both', password: 'plum orchard gate 41', passwordHash: 'x' }
  assert.match((await send('POST', '/api/users', both)).error.message, /one of the two/)
  assert.equal((await send('GET', '/api/users?search=both')).data.items.length, 0)
})

test('PATCH changes username, profile and state; it is refused if the username is taken or unknown to be removed', async () => {
  const externalId = newId()
  const { data: user } = await send('PUT', externalPath(externalId), {})
  await send('POST', '/api/users', { username: 'owner' })
  const renamed = await send('PATCH', externalPath(externalId), {
    username: 'Renamed',
    displayName: 'R',
  })
  assert.deepEqual(renamed.data, { ...user, username: 'renamed', displayName: 'R' })
  const conflict = await send('PATCH', `/api/users/${user.id}`, {
    username: 'owner',
    displayName: 'S',
  })
  assert.deepEqual([conflict.status, conflict.error.details[0].field], [409, 'username'])
  const removed = await send('PATCH', `/api/users/${user.id}`, { username: null })
  assert.deepEqual([removed.status, removed.error.details[0].field], [400, 'username'])
  assert.deepEqual((await send('GET', `/api/users/${user.id}`)).data, renamed.data)
})

test('what a response contains is accepted in a PATCH, nulls included', async () => {
  const externalId = newId()
  const { data } = await send('PUT', externalPath(externalId), {})
  const { displayName, locale, email, username, disabled } = data
  const patched = await send('PATCH', externalPath(externalId), {
    displayName,
    locale,
    email,
    username,
    disabled,
  })
  assert.deepEqual([patched.status, patched.data], [200, data])
})

test('a list has every user in the order of creation, in pages; search and externalId find', async () => {
  const prefix = `list-${newId()}`
  const made: string[] = []
  for (let n = 0; n < 5; n++) {
    app.pass(1)
    made.push(
      (await send('PUT', externalPath(`${prefix}-${n}`), { displayName: `Listed ${n}` })).data.id,
    )
  }
  const found: string[] = []
  for (let next: string | null = ''; next !== null; ) {
    const { data }: Body = await send(
      'GET',
      `/api/users?search=${prefix.toUpperCase()}&limit=2&after=${next}`,
    )
    const page = data as { items: { id: string }[]; next: string | null }
    assert.ok(page.items.length <= 2)
    found.push(...page.items.map(({ id }) => id))
    next = page.next
  }
  assert.deepEqual(found, made)
  assert.deepEqual(
    (await send('GET', `/api/users?externalId=${prefix}-3`)).data.items.map(({ id }: Body) => id),
    [made[3]],
  )
  assert.deepEqual((await send('GET', `/api/users?externalId=${prefix}`)).data, {
    items: [],
    next: null,
  })
  assert.equal((await send('GET', '/api/users?limit=101')).status, 400)
})
