// The three exchanges of the spec in both lanes of the demonstration, what is stored, and what the controls do.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { countedRows, Visitor } from '../../support/demonstration/visitor.ts'
import { startTestService } from '../../support/service.ts'

const app = await startTestService()
after(() => app.stop())

test('both lanes have the three exchanges of the spec, and only the session is a row', async () => {
  const visitor = await Visitor.of(app)
  assert.equal((await visitor.session('routeRestreinte')).status, 401)
  assert.equal((await visitor.token('routeRestreinte', undefined)).status, 401)
  const { rows } = await visitor.exchange(
    await visitor.session('login', { method: 'POST', body: { ...visitor.user, variant: 'stateful' } }),
  )
  assert.deepEqual([countedRows(rows.before).session, countedRows(rows.after).session], [undefined, 1])
  const login = await visitor.token('login', undefined, {
    method: 'POST',
    body: { ...visitor.user, variant: 'stateless' },
  })
  const ofToken = await visitor.exchange(login)
  assert.deepEqual(countedRows(ofToken.rows.after), countedRows(ofToken.rows.before))
  assert.equal((await visitor.session('routeRestreinte')).json().data.proof, 'session')
  assert.equal((await visitor.token('routeRestreinte', login.json().token)).json().data.proof, 'access-token')
})

test('the trace names the look-up of a session, and none for a token', async () => {
  const visitor = await Visitor.of(app)
  const token = await visitor.signIn()
  const namesOf = async (response: Parameters<Visitor['exchange']>[0]) =>
    (await visitor.exchange(response)).trace.map(({ name }: { name: string }) => name)
  const ofSession = await namesOf(await visitor.session('routeRestreinte'))
  assert.ok(ofSession.includes('store.findSession'), ofSession.join())
  const ofToken = await namesOf(await visitor.token('routeRestreinte', token))
  assert.ok(ofToken.includes('accessTokens.verify'), ofToken.join())
  assert.ok(!ofToken.some((name: string) => name.startsWith('store.')), ofToken.join())
})

test('after a restart the session is still a row, and the signature of the token is checked again', async () => {
  const visitor = await Visitor.of(app)
  const token = await visitor.signIn()
  const verified = async () => {
    const { trace } = await visitor.exchange(await visitor.token('routeRestreinte', token))
    return trace.find(({ name }: { name: string }) => name === 'accessTokens.verify').detail
  }
  assert.equal(await verified(), 'found, remembered')
  assert.equal((await visitor.control('restart')).status, 200)
  assert.equal(await verified(), 'found, signature')
  assert.equal((await visitor.session('routeRestreinte')).status, 200)
})

test('during an outage of the database the session lane gets 503 and the token lane 200; afterwards both work', async () => {
  const visitor = await Visitor.of(app)
  const token = await visitor.signIn()
  assert.equal((await visitor.control('outage', { seconds: 1 })).status, 200)
  assert.equal((await visitor.session('routeRestreinte')).status, 503)
  assert.equal((await visitor.token('routeRestreinte', token)).status, 200)
  const from = performance.now()
  while ((await visitor.session('routeRestreinte')).status === 503) assert.ok(performance.now() - from < 30_000)
  assert.equal((await visitor.session('routeRestreinte')).status, 200)
})

test('the clock of the world alone goes forward: the token expires after 16 minutes, the session after 31 days', async () => {
  const visitor = await Visitor.of(app)
  const token = await visitor.signIn()
  const statuses = async () => [
    (await visitor.session('routeRestreinte')).status,
    (await visitor.token('routeRestreinte', token)).status,
  ]
  await visitor.control('advance', { seconds: 16 * 60 })
  assert.deepEqual(await statuses(), [200, 401])
  const { data } = (await visitor.control('advance', { seconds: 31 * 24 * 3_600 })).json()
  assert.equal(Date.parse(data.now), app.now() + data.offsetMs)
  assert.deepEqual(await statuses(), [401, 401])
  const signedIn = await visitor.session('login', { method: 'POST', body: visitor.user })
  assert.equal(signedIn.status, 200, 'the visitor can sign in again with the new time')
})

test('a session cookie with one other character, and a revocation of all sign-ins, end the access', async () => {
  const visitor = await Visitor.of(app)
  const token = await visitor.signIn()
  const before = visitor.cookies.get(visitor.cookieName) as string
  const { data } = (await visitor.control('change-cookie')).json()
  const changed = visitor.cookies.get(visitor.cookieName) as string
  assert.equal(changed, before.slice(0, data.position) + data.to + before.slice(data.position + 1))
  assert.equal((await visitor.session('routeRestreinte')).status, 401)
  visitor.cookies.set(visitor.cookieName, before)
  assert.equal((await visitor.session('routeRestreinte')).status, 200)
  assert.equal((await visitor.control('revoke')).status, 200)
  assert.equal((await visitor.session('routeRestreinte')).status, 401)
  assert.equal((await visitor.token('routeRestreinte', token)).status, 401)
  const { rows } = await visitor.state()
  assert.equal(countedRows(rows).session, undefined)
  assert.equal(countedRows(rows).token_cutoff, 1)
})

test('a copy of the session cookie opens nothing after the sign-out, and is that of the cookie which was presented', async () => {
  const visitor = await Visitor.of(app)
  await visitor.signIn()
  const before = visitor.cookies.get(visitor.cookieName)
  assert.equal((await visitor.control('put-cookie')).status, 409)
  assert.equal((await visitor.control('copy-cookie')).status, 200)
  visitor.cookies.delete(visitor.cookieName)
  assert.equal((await visitor.session('routeRestreinte')).status, 401)
  assert.equal((await visitor.control('put-cookie')).status, 200)
  assert.equal(visitor.cookies.get(visitor.cookieName), before)
  assert.equal((await visitor.session('routeRestreinte')).status, 200)
  assert.equal((await visitor.session('logout', { method: 'POST' })).status, 204)
  await visitor.control('put-cookie')
  assert.equal((await visitor.session('routeRestreinte')).status, 401)
})

test('a control with a wrong value says what would be right, and one without a session cookie that a sign-in is needed', async () => {
  const visitor = await Visitor.of(app)
  for (const [action, more, reason] of [
    ['outage', { seconds: 11 }, 'from 1 to 10'],
    ['advance', { seconds: 0 }, 'at least 1'],
    ['advance', {}, 'from 1 to 3024000'],
    ['deliver', {}, 'is missing'],
    ['explode', {}, 'must be one of'],
  ] as const) {
    const response = await visitor.control(action, more)
    assert.equal(response.status, 400, action)
    assert.match(response.text, new RegExp(reason))
  }
  for (const action of ['change-cookie', 'copy-cookie']) assert.equal((await visitor.control(action)).status, 409)
})

test('a delivery arrives in both lanes, and can be marked as read', async () => {
  const visitor = await Visitor.of(app)
  const token = await visitor.signIn()
  const { id } = (await visitor.control('deliver', { title: 'Hello' })).json().data
  for (const list of [await visitor.session('api/notifications'), await visitor.token('api/notifications', token)])
    assert.equal(list.json().data.items[0].id, id)
  assert.equal((await visitor.session(`api/notifications/${id}/read`, { method: 'PATCH' })).status, 204)
  assert.equal((await visitor.token('api/notifications/read-all', token, { method: 'POST' })).status, 204)
  const { rows } = await visitor.state()
  assert.equal(rows.find(({ table }: { table: string }) => table === 'inbox').columns.unread, 0)
})
