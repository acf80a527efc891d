// What ended is refused at once, its streams included (Z6).
// tests/e2e/nodes/ended-sessions.soak.test.ts tests nodes.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { replaceOperation } from '../../../server/store/testing/operations.ts'
import { tokenRevocations } from '../../../server/tokens/tokens.store.ts'
import { EventReader } from '../../support/event-source/event-source.ts'
import { type Proof, startTestService, type TestUser, variants } from '../../support/service.ts'
import { isSoak } from '../../support/soak.ts'

const minute = 60_000
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0'

const app = await startTestService({
  env: { CARILLON_SESSIONS_PER_USER: '3', CARILLON_SESSION_IDLE: '30d' },
})
after(() => app.stop())

type Listed = {
  id: string
  current: boolean
  variant: string
  device: string | null
  address: string | null
  createdAt: string
  lastSeenAt: string
  expiresAt: string
}

const sessions = '/api/me/sessions'
const remove = (path: string, proof: Proof) =>
  app.request(path, { method: 'DELETE', headers: proof })
const disown = (id: string, proof: Proof) => app.post(`${sessions}/${id}/disown`, undefined, proof)
const isAccepted = async (proof: Proof) => (await app.get('/routeRestreinte', proof)).status === 200

async function listed(proof: Proof, query = ''): Promise<Listed[]> {
  const response = await app.get(sessions + query, proof)
  assert.equal(response.status, 200, response.text)
  return response.json().data.items
}

/** What is refused at once is not refused by the change signal. */
const delaySignal = () =>
  replaceOperation(app.store, tokenRevocations, async (_, run) => {
    await sleep(200)
    return run()
  })

const renewed = async (proof: Proof) => ({
  authorization: `Bearer ${(await app.post('/token/renew', undefined, proof)).json().token}`,
})

async function idOf(proof: Proof): Promise<string> {
  return (
    (await listed(proof)).find(({ current }) => current)?.id ?? assert.fail('no current session')
  )
}

async function signInAs(
  { username, password }: TestUser,
  userAgent: string,
  variant = 'stateful',
): Promise<Proof> {
  const response = await app.post(
    '/login',
    { username, password, variant },
    { 'user-agent': userAgent },
  )
  assert.equal(response.status, 200, response.text)
  if (variant === 'stateless') return { authorization: `Bearer ${response.json().token}` }
  return { cookie: response.headers.getSetCookie()[0]?.split(';')[0] ?? '' }
}

test('a user sees where they are signed in: device, address and times, in both variants', async () => {
  const user = await app.user()
  const first = app.now()
  const session = await signInAs(user, firefox)
  app.pass(2 * minute)
  const token = await signInAs(user, 'curl/8.5.0', 'stateless')
  app.pass(minute)
  await app.get('/routeRestreinte', session)
  await app.noted()
  const time = (ms: number) => new Date(ms).toISOString()
  const [stateful, stateless] = await listed(session)
  const address = '127.0.0.1'
  assert.deepEqual(stateful, {
    id: stateful?.id,
    current: true,
    variant: 'stateful',
    device: 'Firefox on Linux',
    address,
    createdAt: time(first),
    lastSeenAt: time(first + 3 * minute),
    expiresAt: time(first + 30 * 24 * 60 * minute),
  })
  assert.deepEqual(stateless, {
    id: stateless?.id,
    current: false,
    variant: 'stateless',
    device: 'curl',
    address,
    createdAt: time(first + 2 * minute),
    lastSeenAt: time(first + 2 * minute),
    expiresAt: time(first + 2 * minute + 12 * 60 * minute),
  })
  assert.deepEqual(
    (await listed(token)).map(({ id, current }) => [id, current]),
    [
      [stateless?.id, true],
      [stateful?.id, false],
    ],
  )
  const page = (await app.get(`${sessions}?limit=1`, session)).json().data
  assert.deepEqual(
    (await listed(session, `?limit=1&after=${page.next}`)).map(({ id }) => id),
    [stateless?.id],
  )
})

for (const [ender, variant] of [
  ['stateful', 'stateless'],
  ['stateless', 'stateful'],
] as const)
  test(`a ${ender} sign-in ends a ${variant} one: it is refused at once with its tokens and streams, and no other ends (S20, Z6)`, async () => {
    const user = await app.user()
    const own = await app.signIn(user, ender)
    const ended = await app.signIn(user, variant)
    const bystander = await app.signIn(user, variant)
    const proofs = [ended]
    const token = (await app.post('/api/me/token', undefined, ended)).json().data.token
    proofs.push({ authorization: `Bearer ${token}` })
    using stream = await EventReader.of(app.url, ended)
    using other = await EventReader.of(app.url, bystander)
    const id = await idOf(ended)
    const restore = delaySignal()
    assert.equal((await remove(`${sessions}/${id}`, own)).status, 204)
    for (const proof of proofs) assert.equal(await isAccepted(proof), false)
    restore()
    assert.deepEqual((await stream.next('session-ended', 30_000)).data, { reason: 'revoked' })
    await stream.ended(30_000)
    for (const proof of [own, bystander]) assert.equal(await isAccepted(proof), true)
    assert.equal(
      (await listed(own)).some((one) => one.id === id),
      false,
    )
    assert.equal((await remove(`${sessions}/${id}`, own)).status, 404)
    await app.deliver({ to: user, title: 'after' })
    await other.next('created', 30_000)
  })

for (const variant of variants)
  test(`a ${variant} sign-in ends all others with their tokens and streams, and keeps its own (S20)`, async () => {
    const user = await app.user()
    const stranger = await app.user()
    const own = await app.signIn(user, variant)
    const others = [
      await app.signIn(user, 'stateful'),
      await app.signIn(user, 'stateless'),
      await app.issueToken(user),
    ]
    const bens = await app.signIn(stranger, 'stateful')
    using stream = await EventReader.of(app.url, others[0] as Proof)
    using kept = await EventReader.of(app.url, own)
    const restore = delaySignal()
    assert.equal((await remove(sessions, own)).status, 204)
    assert.equal((await app.get('/api/me', others[2])).status, 401)
    restore()
    for (const ended of others) assert.equal(await isAccepted(ended), false)
    await stream.next('session-ended', 30_000)
    for (const alive of [own, bens]) assert.equal(await isAccepted(alive), true)
    assert.deepEqual(
      (await listed(own)).map(({ current }) => current),
      [true],
    )
    await app.deliver({ to: user, title: 'after' })
    await kept.next('created', 30_000)
    assert.equal((await app.post('/api/me/token', undefined, own)).status, 201)
    // Without another sign-in it is the same.
    assert.equal((await remove(sessions, own)).status, 204)
    assert.equal(await isAccepted(own), true)
  })

test('a user ends the sign-in of the request itself, and the browser its cookie', async () => {
  const own = await app.signIn(await app.user(), 'stateful')
  const response = await remove(`${sessions}/${await idOf(own)}`, own)
  assert.equal(response.status, 204)
  assert.match(response.headers.getSetCookie()[0] ?? '', /^carillon=; .*Max-Age=0/)
  assert.equal(await isAccepted(own), false)
})

test('an unknown, ended or foreign id is 404 with the same response, and changes nothing (Z1)', async () => {
  const ann = await app.user()
  const ben = await app.user()
  const own = await app.signIn(ann, 'stateful')
  const bens = await app.signIn(ben, 'stateful')
  const bensToken = await app.signIn(ben, 'stateless')
  const ended = await app.signIn(ann, 'stateless')
  const endedId = await idOf(ended)
  await app.post('/logout', undefined, ended)
  const ids = [
    endedId,
    await idOf(bens),
    await idOf(bensToken),
    '019b76da-a800-7000-8000-000000000000',
  ]
  const texts = new Set<string>()
  // The user can disown a sign-in that has ended: new-devices.test.ts.
  for (const id of ids)
    for (const response of [
      await remove(`${sessions}/${id}`, own),
      ...(id === endedId ? [] : [await disown(id, own)]),
    ]) {
      assert.equal(response.status, 404)
      texts.add(response.text.replace(/"requestId":"[^"]*"/, ''))
    }
  assert.equal(texts.size, 1)
  for (const alive of [own, bens, bensToken]) assert.equal(await isAccepted(alive), true)
  assert.equal((await app.get('/api/me', own)).json().data.passwordChangeRequired, false)
})

test('a user has at most the set number of sessions: the oldest ends', async () => {
  const user = await app.user()
  const proofs: Proof[] = []
  for (let n = 0; n < 3; n++) {
    proofs.push(await app.signIn(user, 'stateful'))
    app.pass(1_000)
  }
  proofs.push(await app.signIn(user, 'stateful'))
  assert.deepEqual(await Promise.all(proofs.map(isAccepted)), [false, true, true, true])
})

for (const variant of variants)
  test(`without a recent sign-in a user can only end newer ones: the thief out, and the owner not, ${variant} (S18)`, async () => {
    const user = await app.user()
    const owner = await app.signIn(user, variant)
    app.pass(1_000)
    const thief = await app.signIn(user, variant)
    app.pass(1_000)
    const newest = await app.signIn(user, variant)
    const ownersId = await idOf(owner)
    const thiefsId = await idOf(thief)
    const newestId = await idOf(newest)
    app.pass(11 * 60_000)
    const refused = [
      await remove(`${sessions}/${ownersId}`, thief),
      await remove(sessions, thief),
      await disown(ownersId, thief),
      await disown(newestId, thief),
      await disown(thiefsId, owner),
    ]
    for (const { status, json } of refused)
      assert.deepEqual([status, json().error.code], [403, 'FRESH_SIGN_IN_REQUIRED'])
    for (const proof of [owner, thief, newest]) assert.equal(await isAccepted(proof), true)
    assert.equal((await remove(`${sessions}/${newestId}`, thief)).status, 204)
    assert.equal((await remove(`${sessions}/${thiefsId}`, owner)).status, 204)
    for (const proof of [thief, newest]) assert.equal(await isAccepted(proof), false)
    const confirmed = await app.post('/api/me/confirm', { password: user.password }, owner)
    const fresh =
      variant === 'stateful' ? owner : { authorization: `Bearer ${confirmed.json().data.token}` }
    assert.equal((await disown(thiefsId, fresh)).status, 200)
    assert.equal((await remove(sessions, fresh)).status, 204)
  })

test('a stale stolen sign-in ends none of the new sign-ins of its owner; a new password still ends all (S19)', async () => {
  const user = await app.user()
  const thief = await app.signIn(user, 'stateless')
  app.pass(11 * minute)
  let stale = await renewed(thief)
  for (let n = 0; n < (isSoak ? 60 : 10); n++) {
    const owner = await app.signIn(user, n % 2 === 0 ? 'stateful' : 'stateless')
    const refused = await remove(`${sessions}/${await idOf(owner)}`, stale)
    assert.deepEqual([refused.status, refused.json().error.code], [403, 'FRESH_SIGN_IN_REQUIRED'])
    assert.equal(await isAccepted(owner), true)
    if (n % 2 === 0) assert.equal((await app.post('/logout', undefined, owner)).status, 204)
    app.pass(2_000)
  }
  stale = await renewed(stale)
  const young = await app.signIn(user, 'stateful')
  const own = await app.signIn(user, 'stateful')
  app.pass(10 * minute)
  const youngId = await idOf(young)
  assert.equal((await remove(`${sessions}/${youngId}`, stale)).status, 403, 'ten minutes old')
  const body = JSON.stringify({
    currentPassword: user.password,
    newPassword: 'grey heron over the weir',
  })
  const headers = { 'content-type': 'application/json', ...own }
  assert.equal(
    (await app.request('/api/me/password', { method: 'PUT', headers, body })).status,
    204,
  )
  for (const proof of [young, stale]) assert.equal(await isAccepted(proof), false)
})

test('a stale sign-in ends a newer one that began more than ten minutes ago, and itself (S19)', async () => {
  const user = await app.user()
  const stale = await app.signIn(user, 'stateful')
  app.pass(1_000)
  const later = await app.signIn(user, 'stateful')
  app.pass(10 * minute + 1)
  assert.equal((await remove(`${sessions}/${await idOf(later)}`, stale)).status, 204)
  assert.equal((await remove(`${sessions}/${await idOf(stale)}`, stale)).status, 204)
  for (const proof of [later, stale]) assert.equal(await isAccepted(proof), false)
})
