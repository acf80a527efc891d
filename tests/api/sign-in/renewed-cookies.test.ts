// An old cookie that is presented after its replacement ends the sign-in (S17).
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { EventReader } from '../../support/event-source/event-source.ts'
import { addPasskey } from '../../support/passkeys.ts'
import { untilSo } from '../../support/processes/nodes.ts'
import {
  type HttpResponse,
  type Proof,
  startTestService,
  type TestUser,
  variants,
} from '../../support/service.ts'
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

/** Whatever has replaced it since. */
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

const addApp: Act = async (proof) =>
  app.post('/api/me/factors/totp/confirm', await startApp(proof), proof)

const acts: Readonly<Record<string, Act>> = {
  'a confirmation': confirm,
  'a new password': (proof, { password: currentPassword }) =>
    send('PUT', '/api/me/password', { currentPassword, newPassword }, proof),
  'a new authenticator app': addApp,
  'a new passkey': async (proof) => {
    const options = (await app.post('/api/me/factors/passkeys/options', undefined, proof)).json()
      .data
    const { response } = new SoftwareAuthenticator({ origin }).create(options)
    return app.post('/api/me/factors/passkeys', { response }, proof)
  },
  'new recovery codes': async (proof, user) => {
    await addApp(proof, user)
    return app.post('/api/me/factors/recovery-codes', undefined, proof)
  },
  'the removal of a factor': async (proof, user) => {
    const { id } = (await addApp(proof, user)).json().data
    return app.delete(`/api/me/factors/${id}`, proof)
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
    const me = (
      await app.exchange('/api/me', { fields: [['cookie', renewed.cookie ?? '']] })
    ).json().data
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

const exactly = (
  proof: Proof,
  path = '/routeRestreinte',
  sent: { method?: string; body?: string } = {},
) => {
  const type: [string, string][] =
    sent.body === undefined ? [] : [['content-type', 'application/json']]
  return app.exchange(path, { ...sent, fields: [...Object.entries(proof), ...type] })
}

for (const [name, act] of Object.entries(acts))
  test(`${name} by a token replaces it: copies are refused and not renewed, and never end the sign-in (S17)`, async () => {
    const user = await app.user()
    const old = await app.signIn(user, 'stateless')
    const other = await app.signIn(user, 'stateful')
    const response = await act(old, user)
    const { token, expiresAt } = response.json().data
    assert.deepEqual(
      [response.headers.getSetCookie(), typeof expiresAt],
      [[], 'string'],
      response.text,
    )
    const renewed = { authorization: `Bearer ${token}` }
    for (let n = 0; n < 2; n++) {
      assert.equal((await exactly(old)).status, 401)
      assert.equal((await exactly(old, '/token/renew', { method: 'POST', body: '' })).status, 401)
      assert.equal((await exactly(old, '/logout', { method: 'POST', body: '' })).status, 204)
    }
    assert.equal((await exactly(renewed)).status, 200)
    assert.equal((await exactly(other)).status, name === 'a new password' ? 401 : 200)
    const next = (await exactly(renewed, '/token/renew', { method: 'POST', body: '' })).json().token
    assert.equal((await exactly({ authorization: `Bearer ${next}` })).status, 200)
    let noted: { event: string; actor: string }[] = []
    // No request waits for the entry.
    await untilSo(async () => {
      const { items } = (await app.get('/api/me/activity', renewed)).json().data
      noted = items.filter(({ event }: { event: string }) => event === 'old-token-presented')
      return noted.length > 0
    })
    assert.deepEqual(
      noted.map(({ actor }) => actor),
      ['service'],
    )
  })

for (const variant of variants)
  test(`of two changes by one proof at the same time one succeeds, and the other one uses nothing up: ${variant} (S17)`, async () => {
    const user = await app.user()
    const proof = await app.signIn(user, variant)
    const added = await addApp(proof, user)
    const { recoveryCodes, token } = added.json().data
    const own = variant === 'stateful' ? cookieOf(added) : { authorization: `Bearer ${token}` }
    const raced = await Promise.all(
      recoveryCodes.slice(0, 2).map((recoveryCode: string) =>
        exactly(own, '/api/me/confirm', {
          method: 'POST',
          body: JSON.stringify({ recoveryCode }),
        }),
      ),
    )
    assert.deepEqual(raced.map(({ status }) => status).toSorted(), [
      variant === 'stateful' ? 204 : 201,
      401,
    ])
    const won = raced.find(({ status }) => status !== 401) as HttpResponse
    const next =
      variant === 'stateful' ? cookieOf(won) : { authorization: `Bearer ${won.json().data.token}` }
    assert.equal((await exactly(next, '/api/me/factors')).json().data.recoveryCodesLeft, 9)
  })

test('an unconfirmed app, added or removed, and a token of the session replace nothing (S17)', async () => {
  for (const variant of variants) {
    const proof = await app.signIn(await app.user(), variant)
    const { id } = (await app.post('/api/me/factors/totp', {}, proof)).json().data
    const removed = await app.delete(`/api/me/factors/${id}`, proof)
    assert.deepEqual([removed.status, removed.headers.getSetCookie()], [204, []])
    const given = await app.post('/api/me/token', undefined, proof)
    assert.deepEqual([given.status, given.headers.getSetCookie()], [201, []])
    if (variant === 'stateless')
      assert.equal((await app.post('/token/renew', undefined, proof)).status, 200)
    assert.equal((await exactly(proof)).status, 200)
  }
})

test('a rotation of the cookie revokes the tokens of its sign-in, and the cookie gets new ones (S17)', async () => {
  const { renewed, token } = await renewedSession()
  assert.equal((await exactly(token)).status, 401)
  const { token: fresh } = (
    await exactly(renewed, '/api/me/token', { method: 'POST', body: '' })
  ).json().data
  assert.equal((await exactly({ authorization: `Bearer ${fresh}` })).status, 200)
  assert.equal((await exactly(renewed)).status, 200)
})

test('GET /api/session is 401 for a cookie that was just replaced, so that its tab sends the new one (S17)', async () => {
  const { old, renewed } = await renewedSession()
  assert.equal((await exactly(old, '/api/session')).status, 401)
  await used(renewed)
  app.pass(10_001)
  const ended = await exactly(old, '/api/session')
  assert.deepEqual([ended.status, ended.json().data], [200, null])
})

test('GET /api/session is null a minute after a rotation whose response was lost (S17)', async () => {
  const { old } = await renewedSession()
  app.pass(59_999)
  assert.equal((await exactly(old, '/api/session')).status, 401)
  app.pass(1)
  const lost = await exactly(old, '/api/session')
  assert.deepEqual([lost.status, lost.json().data], [200, null])
})

async function renewedSession() {
  const user = await app.user()
  const old = await app.signIn(user, 'stateful')
  const token = {
    authorization: `Bearer ${(await app.post('/api/me/token', undefined, old)).json().data.token}`,
  }
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
    const [entry, ...others] = items.filter(
      ({ event }: { event: string }) => event === 'old-session-presented',
    )
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

test('every older cookie is known, whatever its age: the first of seven ends the sign-in (S17)', async () => {
  const { user, old, renewed } = await renewedSession()
  let newest = renewed
  for (let n = 0; n < 5; n++) newest = cookieOf(await confirm(newest, user))
  await used(newest)
  app.pass(10_001)
  assert.equal(await statusOf(old), 401)
  assert.equal(await statusOf(newest), 401)
})

test('who knows the constant half of a cookie can end the sign-in, and nothing else (S17)', async () => {
  const { renewed } = await renewedSession()
  const [userId, family] = (renewed.cookie ?? '').split('.')
  const made = { cookie: `${userId}.${family}.${'A'.repeat(43)}` }
  assert.deepEqual([await statusOf(made), await statusOf(renewed)], [401, 200])
  await used(renewed)
  app.pass(10_001)
  assert.deepEqual([await statusOf(made), await statusOf(renewed)], [401, 401])
})

test('the constant half is in no token, list, activity or log of the user (S17)', async () => {
  const { renewed } = await renewedSession()
  const [, family = ''] = (renewed.cookie ?? '').split('.')
  assert.equal(Buffer.from(family, 'base64url').length, 16)
  const { token } = (await app.post('/api/me/token', undefined, renewed)).json().data
  const texts = [Buffer.from(token.split('.')[1], 'base64url').toString()]
  for (const path of ['/api/me', '/api/me/sessions', '/api/me/activity', '/api/me/export'])
    texts.push((await exactly(renewed, path)).text)
  for (const text of texts) assert.ok(!text.includes(family))
})

for (const ended of ['ten seconds of use', 'a minute without use'])
  test(`an open stream and a held poll of an older cookie end after ${ended} of the new one, and the newest goes on (S17)`, async () => {
    const { user, renewed, streams } = await openStreams('stateful')
    const newest = await EventReader.of(app.url, renewed)
    using _ = newest
    const isUsed = ended === 'ten seconds of use'
    if (isUsed) await used(renewed)
    app.pass(isUsed ? 9_000 : 59_000)
    // A delivery ends the held poll, which the other case checks.
    if (isUsed) {
      await app.deliver({ to: user, title: 'still open' })
      await streams.reader.next('created')
    }
    app.pass(1_001)
    await streams.reader.next('session-ended')
    await streams.reader.ended()
    if (!isUsed) assert.equal((await streams.held).status, 401)
    await app.deliver({ to: user, title: 'goes on' })
    await newest.next('created')
    assert.equal(await statusOf(renewed), 200)
  })

test('an open stream and a held poll of an older token end at once (S17)', async () => {
  const { renewed, streams } = await openStreams('stateless')
  await streams.reader.next('session-ended')
  await streams.reader.ended()
  assert.equal((await streams.held).status, 401)
  assert.equal((await exactly(renewed)).status, 200)
})

/** A confirmation has replaced their proof. */
async function openStreams(variant: 'stateful' | 'stateless') {
  const user = await app.user()
  const old = await app.signIn(user, variant)
  const reader = await EventReader.of(app.url, old)
  const { version } = await app.list(old)
  const held = exactly(old, `/api/notifications/changes?since=${version}&wait=25`)
  const confirmed = await confirm(old, user)
  const renewed =
    variant === 'stateful'
      ? cookieOf(confirmed)
      : { authorization: `Bearer ${confirmed.json().data.token}` }
  return { user, renewed, streams: { reader, held } }
}

test('two passkeys of one user: the second is added with the cookie that the first one gave', async () => {
  const user = await app.user()
  const software = new SoftwareAuthenticator({ origin })
  for (let n = 0; n < 2; n++) await addPasskey(app, software, user, 'carillon.example')
})
