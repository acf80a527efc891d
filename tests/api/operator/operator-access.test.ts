// Not an operator, from a page of another origin, or with a stale sign-in (O1).
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { listAudit } from '../../../server/audit/audit.store.ts'
import { listProducers } from '../../../server/producers/producers.store.ts'
import { routesWith } from '../../../server/routes.ts'
import { setRole } from '../../../server/users/access/roles.store.ts'
import { listUsers } from '../../../server/users/users.store.ts'
import {
  type HttpResponse,
  type Proof,
  startTestService,
  type TestService,
  type TestUser,
} from '../../support/service.ts'
import { addConfirmedApp } from '../../support/sign-in/confirmed-app.ts'

const allowed = 'https://app.example'
const app = await startTestService({ env: { CARILLON_ALLOWED_ORIGINS: allowed } })
after(() => app.stop())
const boss = await app.user('boss')
await app.store.write(setRole, { userId: boss.id, role: 'operator' })
const ann = await app.user('ann')
await app.deliver({
  to: ann,
  title: 'confidential title',
  body: 'confidential body',
  key: 'k',
  data: { secret: 1 },
})
const { id: keyId, key } = await app.producerKey(['send', 'users'])

type Try = { method: string; path: string; body?: unknown }
const bodies: Record<string, unknown> = {
  linkUser: { purpose: 'reset' },
  createKey: { name: 'mallory', scopes: ['send'] },
  rotateKey: { overlapHours: 0 },
  retryOutbox: {},
}
/** The route would take the body. */
const tries: readonly Try[] = routesWith('')
  .filter(({ guard }) => guard.name === 'operator')
  .map(({ id, method, path }) => {
    const place = path.replace(':keyId', keyId).replace(':key', 'k').replace(':id', ann.id)
    return { method, path: place, ...(bodies[id] !== undefined && { body: bodies[id] }) }
  })

function sent(
  service: TestService,
  { method, path, body }: Try,
  proof: Proof,
): Promise<HttpResponse> {
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  const init = {
    method,
    headers: { ...type, ...proof },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }
  return service.request(path, init)
}

/** A change by any of the routes would show here. */
async function state(service: TestService): Promise<unknown> {
  const users = await service.store.read(listUsers, { after: '', limit: 100 })
  const keys = await service.store.read(listProducers)
  const acts = await service.store.read(listAudit, { limit: 1_000 })
  return {
    users,
    keys: keys.map(({ lastUsedAt: _, ...rest }) => rest),
    acts: acts.filter(({ actor }) => actor.startsWith('operator:')).length,
  }
}

async function refusesAll(
  service: TestService,
  proof: Proof,
  status: number,
  what: string,
): Promise<void> {
  const before = await state(service)
  for (const one of tries) {
    const response = await sent(service, one, proof)
    assert.equal(response.status, status, `${what}: ${one.method} ${one.path}: ${response.text}`)
    assert.equal(response.json().success, false)
    assert.equal(response.headers.get('access-control-allow-origin'), null, what)
  }
  assert.deepEqual(await state(service), before, what)
}

test('who has no session of an operator sees nothing and changes nothing: no proof, a user, tokens, keys (O1)', async () => {
  assert.ok(tries.length >= 19)
  const { key: send } = await app.producerKey(['send'])
  const operatorToken = await app.signIn(boss, 'stateless')
  const cookie = await app.signIn(boss, 'stateful')
  const ofSession = await app.post('/api/me/token', undefined, cookie)
  const proofs: [string, Proof, number][] = [
    ['no proof', {}, 401],
    ['a session of a user', await app.signIn(ann, 'stateful'), 403],
    ['a token of a user', await app.signIn(ann, 'stateless'), 401],
    ['a token of an operator', operatorToken, 401],
    [
      'a token of the session of an operator',
      { authorization: `Bearer ${ofSession.json().data.token}` },
      401,
    ],
    ['a token for the inbox of an operator', await app.issueToken(boss), 401],
    ['a key', { authorization: `Bearer ${key}` }, 401],
    ['a key that sends', { authorization: `Bearer ${send}` }, 401],
    ['the cookie of an operator beside a key', { ...cookie, authorization: `Bearer ${key}` }, 401],
    ['the cookie of an operator beside a token', { ...cookie, ...operatorToken }, 401],
    ['two cookies', { cookie: `${cookie.cookie}; carillon=another` }, 401],
    ['an invented cookie', { cookie: `carillon=${'x'.repeat(120)}` }, 401],
  ]
  for (const [what, proof, status] of proofs) await refusesAll(app, proof, status, what)
})

test('a page of another origin gets no view, no change and no CORS, also one that the settings allow (O1)', async () => {
  const cookie = await app.signIn(boss, 'stateful')
  const others: Proof[] = [
    { origin: allowed },
    { origin: allowed, 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'null' },
    { origin: 'https://evil.example' },
  ]
  for (const from of others)
    await refusesAll(app, { ...cookie, ...from }, 403, JSON.stringify(from))
  for (const { method, path } of [...tries, { method: 'GET', path: '/api/operator/no-route' }]) {
    const asked = { origin: allowed, 'access-control-request-method': method }
    const { headers } = await app.request(path, { method: 'OPTIONS', headers: asked })
    assert.equal(headers.get('access-control-allow-origin'), null, path)
  }
  const elsewhere = await app.get('/api/notifications', { ...cookie, origin: allowed })
  assert.equal(elsewhere.headers.get('access-control-allow-origin'), allowed)
})

test('a former operator and a disabled one are refused at the next request of an open page (O1)', async () => {
  const carl = await app.user('carl')
  await app.store.write(setRole, { userId: carl.id, role: 'operator' })
  const cookie = await app.signIn(carl, 'stateful')
  assert.equal((await app.get('/api/operator/users', cookie)).status, 200)
  await app.store.write(setRole, { userId: carl.id, role: null })
  await refusesAll(app, cookie, 403, 'a former operator')
})

test('a stale sign-in looks, and changes nothing and gets no secret (O1)', async () => {
  const cookie = await app.signIn(boss, 'stateful')
  app.pass(10 * 60_000 + 1)
  assert.equal((await app.get('/api/operator/users', cookie)).status, 200)
  const before = await state(app)
  for (const one of tries.filter(({ method }) => method !== 'GET')) {
    const response = await sent(app, one, cookie)
    assert.equal(response.json().error.code, 'FRESH_SIGN_IN_REQUIRED', `${one.method} ${one.path}`)
  }
  assert.deepEqual(await state(app), before)
})

test('no response has title, body, url or data of a notification (O1)', async () => {
  const cookie = await app.signIn(boss, 'stateful')
  for (const { path } of tries.filter(({ method }) => method === 'GET'))
    assert.doesNotMatch(
      (await app.get(path, cookie)).text,
      /confidential|"title"|"body"|"data":\{"secret/,
      path,
    )
})

test('the page and its routes are not there below a path, and if the setting turns them off (O1)', async () => {
  for (const env of [
    { CARILLON_PUBLIC_URL: 'http://localhost/bell' },
    { CARILLON_OPERATOR_PAGE: 'off' },
  ]) {
    const other = await startTestService({ env })
    try {
      const user = await other.user('boss')
      await other.store.write(setRole, { userId: user.id, role: 'operator' })
      const cookie = await other.signIn(user, 'stateful')
      for (const one of tries) assert.equal((await sent(other, one, cookie)).status, 404, one.path)
      assert.equal((await other.get('/operator', cookie)).status, 404)
    } finally {
      await other.stop()
    }
  }
})

test('beyond this machine an operator needs a second factor, and a sign-in from before it has to prove it (O1)', async () => {
  const other = await startTestService({ env: { CARILLON_PUBLIC_URL: 'https://bell.example.org' } })
  try {
    const user: TestUser = await other.user('boss')
    await other.store.write(setRole, { userId: user.id, role: 'operator' })
    const { cookie = '' } = await other.signIn(user, 'stateful')
    const get = async (from = {}) =>
      (await other.get('/api/operator/users', { cookie, ...from })).json()
    // Others on the network can write a page of this name without TLS.
    assert.match((await get({ origin: other.url })).error.message, /comes from another origin/)
    assert.equal((await get()).error.code, 'FORBIDDEN')
    other.pass(1_000)
    await addConfirmedApp(other, user.id)
    assert.equal((await get()).error.code, 'FRESH_SIGN_IN_REQUIRED')
    const page = await other.get('/operator', { cookie })
    assert.equal(page.status, 200)
  } finally {
    await other.stop()
  }
})

test('an operator needs a second factor also if the service has another name beyond this machine (O1)', async () => {
  const other = await startTestService({ env: { CARILLON_ALLOWED_HOSTS: 'bell.example.org' } })
  try {
    const user = await other.user('boss')
    await other.store.write(setRole, { userId: user.id, role: 'operator' })
    const { status } = await other.get('/api/operator/users', await other.signIn(user, 'stateful'))
    assert.equal(status, 403)
  } finally {
    await other.stop()
  }
})

test('a link that a key made before does not open the account of an operator (O1)', async () => {
  const dora = await app.user('dora')
  const made = await app.post(
    `/api/users/${dora.id}/links`,
    { purpose: 'reset' },
    { authorization: `Bearer ${key}` },
  )
  const token = made.json().data.url.split('#')[1]
  await app.store.write(setRole, { userId: dora.id, role: 'operator' })
  const used = await app.post('/password/reset', { token, newPassword: 'grey heron over the weir' })
  assert.equal(used.json().error.code, 'LINK_INVALID')
})
