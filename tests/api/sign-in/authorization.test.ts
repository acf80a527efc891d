// Another user's notification looks like one that does not exist, and no spelling of a path
// bypasses the check.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { newId } from '../../../server/basics/ids.ts'
import { type HttpResponse, type Proof, startTestService } from '../../support/service.ts'

const app = await startTestService()
after(() => app.stop())
const ann = await app.user('ann')
const bob = await app.user('bob')
const [annsId = ''] = await app.deliver({ to: ann, title: 'For ann', category: 'private' })
const [bobsId = ''] = await app.deliver({ to: bob, title: 'For bob', category: 'private' })

/** Without the two fields that differ in every response. */
function seen({ status, headers, text }: HttpResponse) {
  const { requestId } = JSON.parse(text).error
  const {
    date: _,
    'content-length': length,
    ...fields
  } = Object.fromEntries(headers) as Record<string, string>
  return {
    status,
    fields,
    body: text.replace(requestId, ''),
    length: Number(length) - requestId.length,
  }
}

const inboxOf = async (of: Proof) => ({
  page: await app.list(of),
  counts: (await app.get('/api/notifications/counts', of)).json().data,
})

const proof = await app.signIn(ann, 'stateful')
const bobsProof = await app.signIn(bob, 'stateful')

const byId: Record<string, (id: string) => Promise<HttpResponse>> = {
  'GET one': (id) => app.get(`/api/notifications/${id}`, proof),
  'PATCH read': (id) => app.patch(`/api/notifications/${id}/read`, proof),
  'PATCH unread': (id) => app.patch(`/api/notifications/${id}/unread`, proof),
  'POST read-all through': (id) =>
    app.post(`/api/notifications/read-all?through=${id}`, undefined, proof),
}
for (const [route, request] of Object.entries(byId))
  test(`Z1: ${route}: another user’s notification gets the same response as an unknown id, byte for byte`, async () => {
    // Another test's sign-in may add to the audit log, and counts its guess until it has
    // succeeded.
    const stored = async () => ({ ...(await app.database.tables()), audit: [], guess_count: [] })
    const tables = await stored()
    const unknown = seen(await request(newId(app.now())))
    assert.equal(unknown.status, 404)
    assert.match(unknown.body, /"code":"NOT_FOUND"/)
    assert.deepEqual(seen(await request(bobsId)), unknown)
    assert.deepEqual(await stored(), tables)
    assert.ok([200, 204].includes((await request(annsId)).status), 'the user’s own id is found')
  })

test('Z1: a user lists, counts and gets only their own notifications', async () => {
  const page = await app.list(proof)
  assert.deepEqual([page.items.map(({ id }) => id), page.total], [[annsId], 1])
  const { data } = (await app.get('/api/notifications/counts', proof)).json()
  assert.deepEqual([data.total, data.categories.private.total], [1, 1])
  assert.equal((await app.get('/api/me', proof)).json().data.user.id, ann.id)
})

test('Z2: one user’s read-all marks no notification of another user', async () => {
  const eve = await app.user()
  const dan = await app.user()
  for (const title of ['one', 'two'])
    await app.deliver({ to: [eve, dan], title, category: 'shared' })
  const eves = await app.signIn(eve, 'stateful')
  const dans = await app.signIn(dan, 'stateless')
  const inboxes = () => Promise.all([dans, bobsProof].map(inboxOf))
  const before = await inboxes()
  assert.equal((await app.post('/api/notifications/read-all', undefined, eves)).status, 204)
  assert.equal((await app.list(eves)).unread, 0)
  assert.deepEqual(await inboxes(), before)
  assert.deepEqual([before[0]?.page.unread, before[0]?.counts.categories.shared.unread], [2, 2])
})

test('Z3: no query, body or other header changes who the user is', async () => {
  const claims: Record<string, string>[] = [
    { 'x-user-id': bob.id },
    { 'x-user': 'bob', 'remote-user': 'bob', 'x-remote-user': 'bob', 'x-forwarded-user': 'bob' },
    { 'x-forwarded-for': '127.0.0.1', 'x-real-ip': '127.0.0.1', forwarded: 'for=127.0.0.1' },
    { 'x-original-url': '/livez', 'x-rewrite-url': '/livez', 'x-http-method-override': 'GET' },
    { from: 'bob', userid: bob.id, user: 'bob' },
  ]
  for (const claimed of claims) {
    assert.equal((await app.get('/routeRestreinte', claimed)).status, 401, JSON.stringify(claimed))
    const { data } = (await app.get('/routeRestreinte', { ...claimed, ...proof })).json()
    assert.equal(data.userId, ann.id, JSON.stringify(claimed))
  }
  for (const query of [`userId=${bob.id}`, 'username=bob', 'user=bob', `sub=${bob.id}`]) {
    assert.equal((await app.get(`/routeRestreinte?${query}`)).status, 401)
    assert.equal((await app.get(`/routeRestreinte?${query}`, proof)).json().data.userId, ann.id)
    assert.equal((await app.get(`/api/notifications?${query}`, proof)).status, 400)
    assert.equal(
      (await app.post(`/api/notifications/read-all?${query}`, undefined, proof)).status,
      400,
    )
  }
  const before = await app.list(bobsProof)
  await app.post('/api/notifications/read-all', { userId: bob.id, username: 'bob' }, proof)
  await app.request(`/api/notifications/${bobsId}/read`, {
    method: 'PATCH',
    headers: { ...proof, 'content-type': 'application/json' },
    body: JSON.stringify({ userId: bob.id }),
  })
  assert.deepEqual(await app.list(bobsProof), before)
})

test('Z3: a request without a proof is refused, also after authenticated requests on the same connection', async () => {
  const [name, value] = Object.entries(proof)[0] ?? ['', '']
  const head = 'GET /routeRestreinte HTTP/1.1\r\nHost: localhost\r\n'
  const responses = await app.raw(
    `${head}${name}: ${value}\r\n\r\n${head}Connection: close\r\n\r\n`,
  )
  assert.deepEqual(responses.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 401'])
})

test('Z8: HEAD needs the same proof as GET', async () => {
  for (const path of [
    '/routeRestreinte',
    '/api/me',
    '/api/notifications',
    '/api/notifications/counts',
  ]) {
    assert.equal((await app.request(path, { method: 'HEAD' })).status, 401)
    const response = await app.request(path, { method: 'HEAD', headers: proof })
    assert.deepEqual([response.status, response.text], [200, ''])
  }
})
