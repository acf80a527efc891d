// The key of an application reaches its own users, and no others (U6).
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startIssuer } from '../../support/network/issuer.ts'
import { startTestService, type TestService } from '../../support/service.ts'

const issuer = await startIssuer(() => app.now())
const app: TestService = await startTestService({
  env: {
    CARILLON_ISSUERS: JSON.stringify([
      {
        issuer: issuer.url,
        audience: 'bell',
        algorithms: ['RS256'],
        createUsers: true,
        application: 'shop',
      },
    ]),
  },
})
after(() => Promise.all([app.stop(), issuer.stop()]))
const [shop, club, all] = (await Promise.all(
  ['shop', 'club', ''].map(
    async (application) => (await app.producerKey(['send', 'users'], null, application)).key,
  ),
)) as [string, string, string]

type User = { id: string; externalId: string | null; username: string | null; application?: string }

async function send(key: string, method: string, path: string, body?: unknown) {
  const headers = {
    authorization: `Bearer ${key}`,
    ...(body !== undefined && { 'content-type': 'application/json' }),
  }
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
  const response = await app.request(path, init)
  const json = response.text === '' ? {} : response.json()
  return { status: response.status, data: json.data, error: json.error }
}
const put = async (key: string, externalId: string) =>
  (await send(key, 'PUT', `/api/users/external/${externalId}`, {})).data as User
const deliver = (key: string, to: object[], more: object = {}) =>
  send(key, 'POST', '/api/notifications', { recipients: to, title: 'Hi', ...more })
async function inboxOf({ id }: User) {
  const { data } = await send(all, 'POST', `/api/users/${id}/tokens`, { scope: 'inbox' })
  return app.list({ authorization: `Bearer ${data.token}` })
}

test('two keys, same external id: two users and two inboxes; a key of no application has a third (U6)', async () => {
  const users = await Promise.all([shop, club, all].map((key) => put(key, 'same')))
  assert.equal(new Set(users.map(({ id }) => id)).size, 3)
  assert.deepEqual(
    users.map(({ application }) => application),
    ['shop', 'club', undefined],
  )
  for (const [n, key] of [shop, club, all].entries()) {
    assert.deepEqual((await send(key, 'GET', '/api/users/external/same')).data, users[n])
    const { data } = await deliver(key, [{ externalId: 'same' }], { title: `from ${n}` })
    assert.equal(data.results[0].userId, users[n]?.id)
  }
  for (const [n, user] of users.entries())
    assert.deepEqual(
      (await inboxOf(user)).items.map(({ title }) => title),
      [`from ${n}`],
    )
})

test('two applications may give one user the same key of a notification', async () => {
  const user = await put(shop, 'keyed')
  for (const key of [shop, all]) await deliver(key, [{ userId: user.id }], { key: 'order' })
  assert.equal((await inboxOf(user)).items.length, 2)
})

test('20 cross tries of the key of another application: 0 succeed, and nothing changes (U6)', async () => {
  const username = 'vera'
  const wanted = {
    username,
    externalId: 'theirs',
    password: 'plum orchard gate 41',
    displayName: 'Vera',
  }
  const theirs: User = (await send(shop, 'POST', '/api/users', wanted)).data
  assert.equal(theirs.application, 'shop')
  const before = (await send(shop, 'GET', `/api/users/${theirs.id}`)).data
  const paths = [`/api/users/${theirs.id}`, '/api/users/external/theirs']
  const tries = await Promise.all([
    ...paths.flatMap((path) => [
      send(club, 'GET', path),
      send(club, 'PATCH', path, { displayName: 'Mine' }),
      send(club, 'PATCH', path, { disabled: true }),
      send(club, 'DELETE', path),
      send(club, 'POST', `${path}/tokens`, { scope: 'inbox' }),
      send(club, 'DELETE', `${path}/tokens`),
      send(club, 'POST', `${path}/links`, { purpose: 'reset' }),
    ]),
    deliver(club, [{ username }]),
    deliver(club, [{ userId: theirs.id }]),
    deliver(club, [{ externalId: 'theirs', issuer: issuer.url }]),
    deliver(club, [{ userId: theirs.id }], { key: 'order-1' }),
    send(club, 'POST', '/api/users', wanted),
    send(club, 'PUT', '/api/users', { users: [{ externalId: 'mine', username }] }),
  ])
  const statuses = tries.map(({ status }) => status)
  assert.deepEqual(statuses, [...Array(14).fill(404), ...Array(4).fill(422), 409, 409])
  assert.deepEqual((await send(shop, 'GET', `/api/users/${theirs.id}`)).data, before)
  assert.equal((await inboxOf(theirs)).total, 0)
  for (const query of ['', '&search=theirs', '&externalId=theirs']) {
    const { data } = await send(club, 'GET', `/api/users?limit=100${query}`)
    assert.deepEqual(
      data.items.filter(({ application }: User) => application !== 'club'),
      [],
    )
  }
  const mixed = await deliver(club, [{ externalId: 'same' }, { userId: theirs.id }, { username }])
  assert.deepEqual(
    mixed.data.results.map(({ status }: { status: string }) => status),
    ['delivered', 'unknown_recipient', 'unknown_recipient'],
  )
  // Its own key, and one of no application, reach the user in each of these ways.
  for (const key of [shop, all])
    assert.equal(
      (await deliver(key, [{ username }, { userId: theirs.id }], { unknownRecipients: 'refuse' }))
        .status,
      201,
    )
})

test('an issuer of an application creates and finds its users; another application does not reach them (U6)', async () => {
  const token = await issuer.token({ sub: 'foreign' })
  const me = await app.get('/api/me', { authorization: `Bearer ${token}` })
  assert.equal(me.status, 200, me.text)
  const { id } = me.json().data.user
  assert.equal((await send(shop, 'GET', '/api/users/external/foreign')).data.id, id)
  for (const key of [club, all])
    assert.equal((await send(key, 'GET', '/api/users/external/foreign')).status, 404)
  assert.equal((await send(club, 'GET', `/api/users/${id}`)).status, 404)
  assert.equal(
    (await deliver(shop, [{ externalId: 'foreign', issuer: issuer.url }])).data.results[0].userId,
    id,
  )
  // For another application it is no issuer, and an external id of it creates no user.
  const refused = await deliver(all, [{ externalId: 'foreign', issuer: issuer.url }])
  assert.deepEqual([refused.status, refused.error.details[0].field], [422, 'recipients.0'])
})

test('a client cannot write the name of an application into an issuer', async () => {
  const { status, error } = await deliver(all, [{ externalId: 'same', issuer: 'shop\u0001' }])
  assert.deepEqual(
    [status, error.details],
    [400, [{ field: 'recipients.0.issuer', reason: 'must have no control characters' }]],
  )
})
