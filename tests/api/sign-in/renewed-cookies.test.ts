// A copy of a session cookie gains nothing from what its owner proves: the cookie is replaced, and an old one that is presented later ends the
// sign-in (S17).
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { addPasskey } from '../../support/passkeys.ts'
import { type HttpResponse, type Proof, startTestService, type TestUser } from '../../support/service.ts'
import { Authenticator } from '../../support/sign-in/authenticator.ts'
import { SoftwareAuthenticator } from '../../support/software-authenticator.ts'

const origin = 'https://carillon.example'
const app = await startTestService({ env: { CARILLON_PUBLIC_URL: origin } })
after(() => app.stop())

const newPassword = 'grey heron over the weir'
const json = { 'content-type': 'application/json' }
type Act = (proof: Proof, user: TestUser) => Promise<HttpResponse>

const send = (method: string, path: string, body: unknown, proof: Proof) =>
  app.request(path, { method, headers: { ...json, ...proof }, body: JSON.stringify(body) })

/** Sends the cookie as it is given, whatever has replaced it since. */
const statusOf = async ({ cookie = '' }: Proof, path = '/routeRestreinte') =>
  (await app.exchange(path, { fields: [['cookie', cookie]] })).status

const cookieOf = (response: HttpResponse): Proof => {
  const cookies = response.headers.getSetCookie().map((text) => text.split(';')[0] ?? '')
  return { cookie: cookies.find((text) => /^__Host-carillon=./.test(text)) ?? '' }
}

const confirm: Act = (proof, { password }) => app.post('/api/me/confirm', { password }, proof)

async function startApp(proof: Proof) {
  const { id, secret } = (await app.post('/api/me/factors/totp', {}, proof)).json().data
  return { id, code: new Authenticator(secret).code(app.now()) }
}

const addApp: Act = async (proof) => app.post('/api/me/factors/totp/confirm', await startApp(proof), proof)

const acts: Readonly<Record<string, Act>> = {
  'a confirmation': confirm,
  'a new password': (proof, { password: currentPassword }) =>
    send('PUT', '/api/me/password', { currentPassword, newPassword }, proof),
  'a new authenticator app': addApp,
  'a new passkey': async (proof) => {
    const options = (await app.post('/api/me/factors/passkeys/options', undefined, proof)).json().data
    const { response } = new SoftwareAuthenticator({ origin }).create(options)
    return app.post('/api/me/factors/passkeys', { response }, proof)
  },
  'new recovery codes': async (proof, user) => {
    const added = cookieOf(await addApp(proof, user))
    return app.post('/api/me/factors/recovery-codes', undefined, added)
  },
  'the removal of a factor': async (proof) => {
    const { id } = (await app.post('/api/me/factors/totp', {}, proof)).json().data
    return app.request(`/api/me/factors/${id}`, { method: 'DELETE', headers: proof })
  },
}

for (const [name, act] of Object.entries(acts))
  test(`${name} replaces the cookie: the old one is refused at once, the new one has the rest of the lifetime (S17)`, async () => {
    const user = await app.user()
    const old = await app.signIn(user, 'stateful')
    app.pass(60_000)
    const response = await act(old, user)
    assert.ok(response.status < 300, response.text)
    const renewed = cookieOf(response)
    assert.deepEqual([await statusOf(old), await statusOf(renewed)], [401, 200])
    assert.equal(await statusOf(old, '/api/notifications'), 401)
    const me = (await app.exchange('/api/me', { fields: [['cookie', renewed.cookie ?? '']] })).json().data
    const maxAge = Number(/Max-Age=(\d+)/.exec(response.headers.getSetCookie()[0] ?? '')?.[1])
    assert.equal(app.now() + maxAge * 1_000, Date.parse(me.expiresAt))
  })

test('a copied cookie can change no factor after its owner has confirmed (S17)', async () => {
  const user = await app.user()
  const copy = await app.signIn(user, 'stateful')
  app.pass(11 * 60_000)
  assert.equal((await confirm(copy, user)).status, 204)
  const fields: [string, string][] = [
    ['cookie', copy.cookie ?? ''],
    ['content-type', 'application/json'],
  ]
  const added = await app.exchange('/api/me/factors/totp', { method: 'POST', fields, body: '{}' })
  assert.equal(added.status, 401)
})

test('a caller with a token gets a new token, and no cookie', async () => {
  const user = await app.user()
  const confirmed = await confirm(await app.signIn(user, 'stateless'), user)
  assert.deepEqual([confirmed.status, confirmed.headers.getSetCookie()], [201, []])
})

async function renewedSession() {
  const user = await app.user()
  const old = await app.signIn(user, 'stateful')
  const token = { authorization: `Bearer ${(await app.post('/api/me/token', undefined, old)).json().data.token}` }
  app.pass(60_000)
  const renewed = cookieOf(await confirm(old, user))
  return { user, old, renewed, token }
}

async function used(proof: Proof): Promise<void> {
  assert.equal(await statusOf(proof), 200)
  await app.noted()
}

test('an old cookie within ten seconds of the first use of the new one is refused, and nothing else (S17)', async () => {
  const { old, renewed } = await renewedSession()
  await used(renewed)
  app.pass(10_000)
  assert.deepEqual([await statusOf(old), await statusOf(renewed)], [401, 200])
})

test('while the new cookie was never used, its response may be lost: the old one is refused, and nothing else (S17)', async () => {
  const { old, renewed } = await renewedSession()
  app.pass(15 * 60_000)
  assert.deepEqual([await statusOf(old), await statusOf(renewed)], [401, 200])
})

for (const path of ['/routeRestreinte', '/api/notifications', '/api/session', '/logout'])
  test(`an old cookie more than ten seconds after the first use of the new one ends the sign-in with its tokens: ${path} (S17)`, async () => {
    const { user, old, renewed, token } = await renewedSession()
    await used(renewed)
    app.pass(10_001)
    const sent = path === '/logout' ? { method: 'POST', body: '' } : {}
    await app.exchange(path, { ...sent, fields: [['cookie', old.cookie ?? '']] })
    assert.equal(await statusOf(renewed), 401)
    assert.equal((await app.get('/routeRestreinte', token)).status, 401)
    const own = await app.signIn(user, 'stateful')
    const [notice] = (await app.list(own, '?category=security')).items
    assert.equal(notice?.title, 'Someone used an old copy of your sign-in')
    const { items } = (await app.get('/api/me/activity', own)).json().data
    const [entry, ...others] = items.filter(({ event }: { event: string }) => event === 'old-session-presented')
    assert.deepEqual([entry.actor, others], ['service', []])
  })

test('an old cookie that comes with a new sign-in ends the one that it was copied from (S17)', async () => {
  const { user, old, renewed } = await renewedSession()
  await used(renewed)
  app.pass(10_001)
  const { username, password } = user
  const fields: [string, string][] = [
    ['cookie', old.cookie ?? ''],
    ['content-type', 'application/json'],
  ]
  const signedIn = await app.exchange('/login', {
    method: 'POST',
    fields,
    body: JSON.stringify({ username, password }),
  })
  assert.deepEqual([signedIn.status, await statusOf(renewed)], [200, 401])
})

test('each of the last three cookies is known as an old one (S17)', async () => {
  const { user, old, renewed } = await renewedSession()
  let newest = renewed
  for (let n = 0; n < 2; n++) newest = cookieOf(await confirm(newest, user))
  await used(newest)
  app.pass(10_001)
  assert.equal(await statusOf(old), 401)
  assert.equal(await statusOf(newest), 401)
})

test('a stream stays open when its cookie is replaced, however often, and ends with the sign-in (S17)', async () => {
  const user = await app.user()
  const own = await app.signIn(user, 'stateful')
  const other = await app.signIn(user, 'stateful')
  const response = await fetch(`${app.url}/api/notifications/stream`, { headers: own })
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const decoder = new TextDecoder()
  let text = ''
  const until = async (wanted: string) => {
    while (!text.includes(wanted)) text += decoder.decode((await reader.read()).value ?? assert.fail(`no ${wanted}`))
  }
  for (let n = 0; n < 5; n++) assert.equal((await confirm(own, user)).status, 204)
  // Another sign-in ends, so that the proofs of all streams of the user are checked.
  await app.post('/logout', undefined, other)
  await app.deliver({ to: user, title: 'still open' })
  await until('still open')
  await app.post('/logout', undefined, own)
  await until('session-ended')
  await reader.cancel()
})

test('two passkeys of one user: the second is added with the cookie that the first one gave', async () => {
  const user = await app.user()
  const software = new SoftwareAuthenticator({ origin })
  for (let n = 0; n < 2; n++) await addPasskey(app, software, user, 'carillon.example')
})
