// Another user's notification looks like one that does not exist, and no spelling of a path
// bypasses the check.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { newId } from '../../../server/basics/ids.ts'
import { type HttpResponse, type Proof, startTestService, variants } from '../../support/service.ts'

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

const inboxOf = async (proof: Proof) => ({
  page: await app.list(proof),
  counts: (await app.get('/api/notifications/counts', proof)).json().data,
})

for (const variant of variants) {
  const proof = await app.signIn(ann, variant)
  const bobsProof = await app.signIn(bob, variant)

  const byId: Record<string, (id: string) => Promise<HttpResponse>> = {
    'GET one': (id) => app.get(`/api/notifications/${id}`, proof),
    'PATCH read': (id) => app.patch(`/api/notifications/${id}/read`, proof),
    'PATCH unread': (id) => app.patch(`/api/notifications/${id}/unread`, proof),
    'POST read-all through': (id) =>
      app.post(`/api/notifications/read-all?through=${id}`, undefined, proof),
  }
  for (const [route, request] of Object.entries(byId))
    test(`Z1: ${route}: another user’s notification gets the same response as an unknown id, byte for byte (${variant})`, async () => {
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

  test(`Z1: a user lists, counts and gets only their own notifications (${variant})`, async () => {
    const page = await app.list(proof)
    assert.deepEqual([page.items.map(({ id }) => id), page.total], [[annsId], 1])
    const { data } = (await app.get('/api/notifications/counts', proof)).json()
    assert.deepEqual([data.total, data.categories.private.total], [1, 1])
    assert.equal((await app.get('/api/me', proof)).json().data.user.id, ann.id)
  })

  test(`Z2: one user’s read-all marks no notification of another user (${variant})`, async () => {
    const eve = await app.user()
    const dan = await app.user()
    for (const title of ['one', 'two'])
      await app.deliver({ to: [eve, dan], title, category: 'shared' })
    const eves = await app.signIn(eve, variant)
    const dans = await app.signIn(dan, variant)
    const inboxes = () => Promise.all([dans, bobsProof].map(inboxOf))
    const before = await inboxes()
    assert.equal((await app.post('/api/notifications/read-all', undefined, eves)).status, 204)
    assert.equal((await app.list(eves)).unread, 0)
    assert.deepEqual(await inboxes(), before)
    assert.deepEqual([before[0]?.page.unread, before[0]?.counts.categories.shared.unread], [2, 2])
  })

  test(`Z3: no query, body or other header changes who the user is (${variant})`, async () => {
    const claims: Record<string, string>[] = [
      { 'x-user-id': bob.id },
      { 'x-user': 'bob', 'remote-user': 'bob', 'x-remote-user': 'bob', 'x-forwarded-user': 'bob' },
      { 'x-forwarded-for': '127.0.0.1', 'x-real-ip': '127.0.0.1', forwarded: 'for=127.0.0.1' },
      { 'x-original-url': '/livez', 'x-rewrite-url': '/livez', 'x-http-method-override': 'GET' },
      { from: 'bob', userid: bob.id, user: 'bob' },
    ]
    for (const claimed of claims) {
      assert.equal(
        (await app.get('/routeRestreinte', claimed)).status,
        401,
        JSON.stringify(claimed),
      )
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

  test(`Z3: a request without a proof is refused, also after authenticated requests on the same connection (${variant})`, async () => {
    const [name, value] = Object.entries(proof)[0] ?? ['', '']
    const head = 'GET /routeRestreinte HTTP/1.1\r\nHost: localhost\r\n'
    const responses = await app.raw(
      `${head}${name}: ${value}\r\n\r\n${head}Connection: close\r\n\r\n`,
    )
    assert.deepEqual(responses.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 401'])
  })
}

const spellings = [
  '/routeRestreinte/',
  '//routeRestreinte',
  '/routerestreinte',
  '/ROUTERESTREINTE',
  '/./routeRestreinte',
  '/livez/../routeRestreinte',
  '/livez/..%2frouteRestreinte',
  '/%72outeRestreinte',
  '/%2frouteRestreinte',
  '/routeRestreinte%00',
  '/routeRestreinte%20',
  '/routeRestreinte%2f',
  '/routeRestreinte;x=1',
  '/routeRestreinte.json',
  '/routeRestreinte?',
  '/routeRestreinte#livez',
  '\\routeRestreinte',
  '/%2e/routeRestreinte',
  `http://localhost/routeRestreinte`,
  '/api/notifications/',
  '/api//notifications',
  '/API/notifications',
  '/api/Notifications',
  '/api/%6eotifications',
  '/api/notifications%2f',
  '/api%2fnotifications',
  '/api/notifications;jsessionid=1',
  '/api/notifications/counts/',
  '/api/notifications/%63ounts',
  '/api/./notifications',
  '/livez/../api/notifications',
  '/docs/..;/api/notifications',
  '/api/notifications?page=1#',
  '/api/me/',
  '/api/%6de',
]

test('Z8: no other spelling of a protected path gives access to it', async () => {
  for (const path of spellings)
    for (const method of ['GET', 'HEAD']) {
      const response = await app.raw(
        `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
      )
      assert.match(response, /^HTTP\/1\.1 40[014] /, `${method} ${path}`)
    }
  // The plain paths are routes: with a proof they give access.
  const [name, value] = Object.entries(await app.signIn(ann, 'stateless'))[0] ?? ['', '']
  for (const path of [
    '/routeRestreinte',
    '/api/notifications',
    '/api/notifications/counts',
    '/api/me',
  ])
    assert.equal((await app.exchange(path, { fields: [[name, value]] })).status, 200)
})

test('Z8: HEAD needs the same proof as GET', async () => {
  const proof = await app.signIn(ann, 'stateful')
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

test('Z10: no header, field or query changes the method of a request', async () => {
  const proof = await app.signIn(bob, 'stateful')
  const before = await app.list(proof)
  for (const name of ['x-http-method-override', 'x-http-method', 'x-method-override']) {
    const response = await app.get(`/api/notifications/${bobsId}?_method=PATCH`, {
      ...proof,
      [name]: 'PATCH',
    })
    assert.equal(response.status, 200)
    assert.equal(
      (await app.get('/api/notifications/read-all?_method=POST', { ...proof, [name]: 'POST' }))
        .status,
      404,
    )
  }
  assert.deepEqual(await app.list(proof), before)
})
