// The description is correct for the responses that no other test causes: every mistake on every route,
// a service without a store, and what happens rarely (I9). described-responses.ts checks the responses of
// all other tests.
import assert from 'node:assert/strict'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { after, test } from 'node:test'
import { newId } from '../../server/basics/ids.ts'
import { hashOf } from '../../server/basics/secrets.ts'
import { findKeyChange, inboxesOf } from '../../server/delivery/by-key.store.ts'
import { reserveGuess } from '../../server/guessing/guesses.store.ts'
import { ProducerKeys } from '../../server/producers/producer-key.ts'
import { replaceOperation } from '../../server/store/testing/operations.ts'
import { setRole } from '../../server/users/access/roles.store.ts'
import { rotateSignIn } from '../../server/users/access/rotation.store.ts'
import { putUsers } from '../../server/users/put-users.store.ts'
import { updateUser } from '../../server/users/users.store.ts'
import type { Described, Operation } from '../support/http/described-api.ts'
import { isAsDescribed, publishedApi, seenResponses } from '../support/http/described-responses.ts'
import { refusalIn } from '../support/http/envelope.ts'
import { openForge } from '../support/http/forge.ts'
import { HttpClient, type HttpRequest } from '../support/http/http-client.ts'
import { ProviderBrowser, providerSetting } from '../support/http/provider-browser.ts'
import { startSignInProvider } from '../support/network/sign-in-provider.ts'
import { addPasskey } from '../support/passkeys.ts'
import { untilSo } from '../support/processes/nodes.ts'
import { type HttpResponse, type Proof, startTestService } from '../support/service.ts'
import { Authenticator, carefulUser, signInWithCode } from '../support/sign-in/authenticator.ts'
import { addConfirmedApp } from '../support/sign-in/confirmed-app.ts'
import { noteRenewedProof, withNewestProof } from '../support/sign-in/renewed-cookies.ts'
import { SoftwareAuthenticator } from '../support/software-authenticator.ts'

const provider = await startSignInProvider()
const app = await startTestService({
  env: {
    ...providerSetting(provider, { staff: { createUsers: true } }),
    CARILLON_SMTP_URL: 'smtp://127.0.0.1:9',
    CARILLON_ACCENT: '#0a7d4f',
    CARILLON_LOGO: 'pages/look/favicon.svg',
    CARILLON_SECURITY_CONTACT: 'security@example.org',
  },
})
provider.addClient(app.url, 'staff')
const client = new HttpClient(app.url)
after(async () => {
  client.close()
  await Promise.all([app.stop(), provider.stop()])
})
const api = publishedApi()

const ann = await app.user('ann')
const eve = await app.user('eve')
const cookie = await app.signIn(ann, 'stateful')
const token = await app.signIn(ann, 'stateless')
const producer: Proof = {
  authorization: `Bearer ${(await app.producerKey(['send', 'users', 'webhooks'])).key}`,
}
const boss = await app.user('boss')
await app.store.write(setRole, { userId: boss.id, role: 'operator' })
const ofOperator = await app.signIn(boss, 'stateful')
const forge = await openForge(app)
const scoped: Proof = {
  authorization: `Bearer ${await forge.token(forge.header, forge.inboxClaims(await app.user('scoped')))}`,
}
const setting = await app.user('setting')
/** The proof of a sign-in that can only set up a second factor. */
const settingUp: Proof = {
  authorization: `Bearer ${await forge.token(forge.header, { ...forge.claims(setting), scope: 'setup' })}`,
}
const usersOnly: Proof = { authorization: `Bearer ${(await app.producerKey(['users'])).key}` }
const sendOnly: Proof = { authorization: `Bearer ${(await app.producerKey(['send'])).key}` }
const limitedKey = {
  name: 'limited',
  scopes: ['send', 'users', 'webhooks'] as const,
  expiresAt: null,
  rate: { quota: 1, seconds: 3_600 },
}
const { key: limitedSecret } = await new ProducerKeys({ store: app.store, now: app.now }).issue(
  limitedKey,
)
const limited: Proof = { authorization: `Bearer ${limitedSecret}` }
const full = { body: 'b', url: '/a', category: 'c', data: { a: [1] }, key: 'k' }
const [id = ''] = await app.deliver({ to: ann, title: 'Hi', ...full })
const [_another = ''] = await app.deliver({ to: ann, title: 'Ho' })
const [foreign = ''] = await app.deliver({ to: eve, title: 'Not hers' })
const staleCookie = await app.signIn(eve, 'stateful')
const staleSecret = (staleCookie.cookie ?? '').split('=')[1] ?? ''
const secretHash = hashOf(staleSecret)
const staleRotation = {
  userId: eve.id,
  signInId: '',
  at: app.now(),
  confirmedAt: app.now() - 3_600_000,
  session: {
    familyHash: hashOf(staleSecret.split('.')[1] ?? ''),
    secretHash,
    newHash: secretHash,
    lastSeenAt: app.now(),
  },
}
await app.store.write(rotateSignIn, { rotation: staleRotation })
const json: Proof = { 'content-type': 'application/json' }
const resident = await app.user('resident')
const externalPath = '/api/users/external/shop%2Fcustomer-42'
const customer = { newId: newId(app.now()), externalId: 'shop/customer-42' }
await app.store.write(putUsers, { issuer: '', at: app.now(), users: [customer] })

/** With the id of a notification or a user. */
function placeOf(template: string): string {
  return template
    .replace('/api/users/external/{externalId}', externalPath)
    .replace('{id}', template.startsWith('/api/users/') ? resident.id : id)
    .replace('{provider}', 'staff')
    .replace('{key}', 'k')
    .replace('{keyId}', '0123456789abcdef')
    .replace('{name}', 'carillon-client-00000000.js')
}

async function record(request: HttpRequest): Promise<HttpResponse> {
  const headers = withNewestProof((request.headers ?? {}) as Proof)
  const response = await client.request({ ...request, headers })
  noteRenewedProof(request.path ?? '', headers, response)
  const { method = 'GET', path = '/' } = request
  isAsDescribed(method, path, response)
  const isRefusal = response.status >= 400
  if (isRefusal) refusalIn(response)
  assert.ok(isRefusal || api.find(method, path), `${path} is not described: ${response.status}`)
  return response
}

/** `call`: such as `PATCH /api/me`. */
async function responds(
  status: number,
  call: string,
  { as = {}, body }: { as?: Proof | undefined; body?: object | undefined } = {},
): Promise<HttpResponse> {
  const [method = '', path = ''] = call.split(' ')
  const content = body && { body: JSON.stringify(body) }
  const response = await record({ method, path, headers: { ...(body && json), ...as }, ...content })
  assert.equal(response.status, status, `${call}: ${response.text}`)
  return response
}

const exampleOf = ({ requestBody }: Operation) => requestBody?.content['application/json']?.example

const proofFor = (
  { operation: { security, tags } }: Described,
  proofs = { session: cookie, token },
): Proof => {
  const schemes = security.flatMap((one) => Object.keys(one))
  if (schemes.includes('producer')) return producer
  if (tags.includes('operator')) return ofOperator
  return schemes.includes('token') && !schemes.includes('session') ? proofs.token : proofs.session
}

test('the description is correct for an operator page that is off, and for an operator without a second factor (I9)', async () => {
  const routes = api.operations.filter(({ operation }) => operation.tags.includes('operator'))
  const isOff = { CARILLON_OPERATOR_PAGE: 'off' }
  const isPublic = { CARILLON_PUBLIC_URL: 'https://bell.example.org' }
  for (const [env, code] of [
    [isOff, 'NOT_FOUND'],
    [isPublic, 'FRESH_SIGN_IN_REQUIRED'],
  ] as const) {
    const other = await startTestService({ env })
    try {
      const user = await other.user()
      await other.store.write(setRole, { userId: user.id, role: 'operator' })
      const headers = await other.signIn(user, 'stateful')
      other.pass(1)
      await addConfirmedApp(other, user.id)
      for (const described of routes) {
        const response = await other.request(placeOf(described.template), {
          method: described.method,
          headers,
        })
        assert.equal(refusalIn(response).code, code)
      }
    } finally {
      await other.stop()
    }
  }
})

test('the description is correct for many bulk acts at once (I9)', async () => {
  for (const act of ['read-all', 'archive-read', 'undo']) {
    const request = { method: 'POST', path: `/api/notifications/${act}`, headers: token }
    // Meanwhile no act ends, so those above the limit are refused.
    const release = await app.database.holdWrites()
    const responses = Array.from({ length: 10 }, () => record(request))
    assert.equal((await Promise.race(responses)).status, 429)
    await release()
    await Promise.all(responses)
  }
})

test('security.txt names the contact, and passkey-endpoints the account page', async () => {
  const contact = await record({ path: '/.well-known/security.txt' })
  assert.equal(contact.headers.get('content-type'), 'text/plain; charset=utf-8')
  const [, expires = ''] =
    /^Contact: mailto:security@example\.org\nExpires: (\S+)\n/.exec(contact.text) ?? []
  const days = (Date.parse(expires) - app.now()) / 86_400_000
  assert.ok(days > 179 && days < 182, expires)
  const page = `${app.url}/account`
  const endpoints = await record({ path: '/.well-known/passkey-endpoints' })
  assert.deepEqual(endpoints.json(), { enroll: page, manage: page })
})

test('the description is correct for the files and descriptions of the service (I9)', async () => {
  for (const path of ['/livez', '/readyz', '/docs/style.css']) await responds(200, `GET ${path}`)
  for (const path of ['/.well-known/jwks.json', '/openapi.json', '/docs', '/carillon-push.js'])
    await isKept(path)
  for (const entry of ['/carillon-inbox.js', '/carillon-client.js']) {
    const path = `/${(await responds(302, `GET ${entry}`)).headers.get('location')}`
    await isKept(path)
    await responds(302, `GET ${path.replace(/[\da-f]{8}\.js$/, '00000000.js')}`)
  }
})

async function isKept(path: string): Promise<void> {
  const { headers } = await responds(200, `GET ${path}`)
  const known = { 'if-none-match': headers.get('etag') ?? '' }
  await responds(304, `GET ${path}`, { as: known })
}

test('the description is correct for the pages, signed in or not (I9)', async () => {
  const as = { accept: 'text/html' }
  for (const path of [
    '/',
    '/reset',
    '/invite',
    '/demonstration',
    '/carillon-theme.css',
    '/carillon-logo',
  ])
    await responds(200, `GET ${path}`, { as })
  for (const path of ['/account', '/account/', '/inbox', '/inbox/']) {
    await responds(303, `GET ${path}`, { as })
    const signedIn = await app.signIn(ann, 'stateful')
    await responds(200, `GET ${path}`, { as: { ...as, ...signedIn } })
  }
})

const localhost = `localhost:${new URL(app.url).port}`
const local: Proof = { ...json, host: localhost }
const authenticator = new SoftwareAuthenticator({ origin: `http://${localhost}` })
const holder = await app.user('holder')
const passkey = await addPasskey(app, authenticator, holder)

async function signedByPasskey() {
  const options = await client.request({
    method: 'POST',
    path: '/login/passkey/options',
    body: '{}',
    headers: local,
  })
  return { response: authenticator.get(passkey, options.json()) }
}

/** An example cannot have a secret of this service. */
const freshBodies: Record<string, () => Promise<object>> = {
  requestPasskeyOptions: async () => ({ challenge: `${ann.id}.${'x'.repeat(43)}` }),
  signInWithPasskey: signedByPasskey,
  beginSignInWith: async () => ({ return_to: '/account' }),
}

test('the description is correct for refusals that no other test causes (I9)', async () => {
  const as = producer
  const events = ['user.erased']
  const webhook = { events, url: 'https://shop.example/' }
  const made = await responds(201, 'POST /api/webhooks', { as, body: webhook })
  const place = `/api/webhooks/${made.json().data.id}`
  const lastOperator = await app.signIn(boss, 'stateful')
  for (const [status, call, given] of [
    [404, 'POST /login/with/none/start', { as: { origin: app.url }, body: {} }],
    [404, 'POST /login/with/none', { body: { code: 'x' } }],
    [404, 'POST /api/me/providers/none/link', { as: lastOperator, body: {} }],
    [409, 'DELETE /api/me', { as: lastOperator }],
    [
      409,
      `POST /api/operator/users/${resident.id}/links`,
      { as: ofOperator, body: { purpose: 'invite' } },
    ],
    [404, 'PUT /api/categories/c%41', { as, body: { name: 'A' } }],
    [409, `GET ${place}/events`, { as }],
    [204, `DELETE ${place}`, { as }],
    [409, `PATCH ${externalPath}`, { as, body: { username: 'ann' } }],
    [200, `PATCH ${externalPath}`, { as, body: { disabled: true } }],
    [409, `POST ${externalPath}/tokens`, { as, body: { scope: 'inbox' } }],
    [200, `PATCH ${externalPath}`, { as, body: { disabled: false } }],
  ] as const)
    await responds(status, call, given)
})

test('the description is correct for the second step of a sign-in, a factor whose secret is lost, and the session before a new password (I9)', async () => {
  const careful = await carefulUser(app, 'careful')
  const as = await signInWithCode(app, careful, 'stateful')
  const { id: factorId } = (await responds(201, 'POST /api/me/factors/totp', { as })).json().data
  const { username, password } = careful
  await responds(401, 'POST /sign-in', { body: { username, password } })
  const guess = { username: 'guessed', password: 'wrong' }
  for (const status of [...Array(5).fill(401), 429])
    await responds(status, 'POST /sign-in', { body: guess })
  const lost = "update factor set sealed_secret = 'of a lost secret' where user_id ="
  await app.database.change(`${lost} '${careful.id}'`)
  for (const path of ['/api/me/confirm', '/api/me/factors/totp/confirm']) {
    const body = { code: '123456', ...(path.includes('totp') && { id: factorId }) }
    const refused = await responds(403, `POST ${path}`, { as, body })
    assert.equal(refusalIn(refused).code, 'FACTOR_UNREADABLE')
  }
  const reader = await app.user()
  const before = await app.signIn(reader, 'stateful')
  const passwords = { currentPassword: reader.password, newPassword: 'grey heron over the weir' }
  await responds(204, 'PUT /api/me/password', { as: before, body: passwords })
  const replaced = await client.request({ path: '/api/session', headers: before })
  assert.equal(replaced.status, 401)
  isAsDescribed('GET', '/api/session', replaced)
})

test('the description is correct for a user with too many open streams (I9)', async () => {
  const ended = new AbortController()
  const path = '/api/notifications/stream'
  // Kept in a variable: fetch ends a response that is garbage collected.
  const responses: Response[] = []
  do responses.push(await fetch(app.url + path, { headers: cookie, signal: ended.signal }))
  while (responses.at(-1)?.status === 200)
  for (const refused of [path, '/api/notifications/changes?since=0&wait=1'])
    await responds(429, `GET ${refused}`, { as: cookie })
  assert.ok(responses.length > 1)
  ended.abort()
})

test('the description is correct for changes by key (I9)', async () => {
  const as = producer
  await app.deliver({ to: [ann, eve], title: 'Hi', key: 'by key' })
  for (const [method, end, body] of [
    ['PATCH', '', { title: 'Ho' }],
    ['POST', '/resolve'],
    ['DELETE', ''],
  ] as const) {
    await responds(404, `${method} /api/notifications/by-key/none${end}`, { as, body })
    const many = { inboxes: 1_001, sentAt: '2026-01-01T00:00:00.000Z' }
    const restore = replaceOperation(app.store, inboxesOf, async () => many)
    const call = `${method} /api/notifications/by-key/by%20key${end}`
    await responds(202, call, { as, body })
    restore()
    await untilSo(async () => (await app.store.read(findKeyChange)) === undefined)
    if (method === 'DELETE') await app.deliver({ to: [ann, eve], title: 'Hi', key: 'by key' })
    await responds(200, call, { as, body })
  }
})

test('the description is correct for a service without a mail server, or a contact (I9)', async () => {
  const without = await startTestService()
  assert.equal((await without.post('/forgot', { account: 'ann' })).status, 404)
  assert.equal((await without.post('/password/forgot', { username: 'ann' })).status, 404)
  assert.equal((await without.get('/.well-known/security.txt')).status, 404)
  await without.stop()
})

test('the description is correct for a sign-in that can only set up a second factor (I9)', async () => {
  const as = { ...settingUp, host: localhost }
  const send = (status: number, path: string, body?: object) =>
    responds(status, `POST /api/me/factors${path}`, { as, body })
  const link = 'x'.repeat(43)
  const { id: factorId, secret } = (await send(201, '/totp', {})).json().data
  const code = new Authenticator(secret).code(app.now())
  await send(422, '/totp/confirm', { id: factorId, code, link })
  const { response } = authenticator.create((await send(200, '/passkeys/options')).json().data)
  await send(422, '/passkeys', { response, link })
  await send(409, '/link')
  const verified = { email: 'setting@example.org', emailVerifiedAt: app.now() }
  await app.store.write(updateUser, { userId: setting.id, ...verified })
  await send(202, '/link')
  const asPage = { ...settingUp, accept: 'text/html' }
  const headers = { ...asPage, 'content-type': 'application/x-www-form-urlencoded' }
  const form = { method: 'POST', path: '/api/me/factors/link', headers, body: '' }
  assert.equal((await record(form)).status, 303)
  const asData = { method: 'POST', path: form.path, headers: as }
  let refused = await record(asData)
  while (refused.status !== 429) refused = await record(asData)
  assert.match(refused.text, /Too many mails to this user: 3, then one an hour, and 10 a day/)
})

test('the description is correct for a user who changed the account too often (I9)', async () => {
  const busy = await app.user('busy')
  const as = { host: localhost, ...(await app.signIn(busy, 'stateful')) }
  const { id: factorId, secret } = (await responds(201, 'POST /api/me/factors/totp', { as })).json()
    .data
  const creation = await responds(200, 'POST /api/me/factors/passkeys/options', { as })
  const own = new SoftwareAuthenticator({ origin: `http://${localhost}` })
  const { response } = own.create(creation.json().data)
  for (const kind of ['changes', 'fresh', 'defences', 'ends']) {
    const rate = { key: `user ${busy.id} ${kind}`, intervalMs: 60_000, burst: 60 }
    for (let n = 0; n < 60; n++)
      await app.store.write(reserveGuess, { limits: [rate], at: app.now() })
  }
  const code = new Authenticator(secret).code(app.now())
  for (const [call, body] of [
    ['PATCH /api/me', { displayName: 'Busy' }],
    ['POST /api/me/factors/passkeys', { response }],
    ['POST /api/me/factors/totp/confirm', { id: factorId, code }],
    ['POST /api/me/factors/recovery-codes'],
    [`DELETE /api/me/factors/${newId(app.now())}`],
    ['DELETE /api/me/providers/staff'],
    ['DELETE /api/me/sessions'],
    [`DELETE /api/me/sessions/${newId(app.now())}`],
    [`POST /api/me/sessions/${newId(app.now())}/disown`],
  ] as [string, object?][])
    await responds(429, call, { as, body })
})

/** The tests before have ended their proofs by /logout. */
const newProofs = async () => ({
  session: await app.signIn(ann, 'stateful'),
  token: await app.signIn(ann, 'stateless'),
})

/** No route accepts so many bytes. */
const huge = `{"x":"${'a'.repeat(4 * 1024 * 1024)}"}`

function wrongRequests(described: Described): HttpRequest[] {
  const { method, template } = described
  const proof = proofFor(described)
  const path = placeOf(template)
  const crossSite = { ...cookie, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
  const invalid: Proof[] = [
    {},
    crossSite,
    { authorization: 'Bearer a.b.c' },
    { cookie: 'carillon=x' },
    producer,
    usersOnly,
    sendOnly,
    limited,
    scoped,
    settingUp,
    staleCookie,
  ]
  const strangers = [foreign, 'none', '00000000-0000-7000-8000-000000000000', '%00', '%ff']
  const queries = [
    'page=0',
    'limit=101',
    'page=1&before=2',
    'through=x',
    `through=${foreign}`,
    'x=1',
    'a=%zz',
    'status=none',
    'category=',
  ]
  const bodies = [
    '',
    '{',
    '{}',
    '[]',
    '{"a":1,"a":2}',
    '{"username":"ann","password":"wrong"}',
    huge,
  ]
  const types = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
  ]
  return [
    ...invalid.map((headers) => ({ method, path, headers })),
    ...strangers.map((wrong) => ({
      method,
      path: template.replace(/{\w+}/, wrong),
      headers: proof,
    })),
    ...queries.map((query) => ({ method, path: `${path}?${query}`, headers: proof })),
    ...bodies.map((body) => ({ method, path, body, headers: { ...json, ...proof } })),
    ...types.map((type) => ({
      method,
      path,
      body: 'a=b',
      headers: { ...proof, 'content-type': type },
    })),
    { method, path, headers: { host: 'another.example' } },
    { method, path, body: '{}', headers: { ...json, ...proof, 'content-encoding': 'gzip' } },
    ...['PUT', 'DELETE', 'OPTIONS', 'QUERY'].map((other) => ({
      method: other,
      path,
      headers: proof,
    })),
  ]
}

const isWith = (headers: Proof, own: Proof) =>
  Object.entries(own).every(([name, value]) => headers[name] === value)

test('the description is correct for every refusal, on every route (I9)', async () => {
  // Uses up the rate of the key.
  await app.get('/api/users', limited)
  const requests = [...api.operations.flatMap(wrongRequests), { path: '/nowhere' }]
  // Signing out succeeds with nearly any request, and would end the proof of the requests after it.
  const endsSignIn = ({ path = '' }: HttpRequest) =>
    path.startsWith('/logout') || path.startsWith('/sign-out')
  // It would erase ann. What it says to a stale sign-in is among the requests.
  const erases = ({ method, path = '', headers = {} }: HttpRequest) =>
    method === 'DELETE' &&
    /^\/api\/me(\?|$)/.test(path) &&
    [cookie, token].some((own) => isWith(headers, own))
  for (const request of requests.filter((one) => !endsSignIn(one) && !erases(one)))
    await record(request)
  for (const request of requests.filter(endsSignIn)) await record(request)
  assert.ok(requests.length > 400)
})

test('the description is correct for a sign-in that is too old for a change of accounts (I9)', async () => {
  const stale = await app.signIn(await app.user(), 'stateful')
  app.pass(10 * 60_000 + 1)
  const path = '/api/me/providers/staff'
  for (const refused of [
    await responds(403, `POST ${path}/link`, { as: stale, body: {} }),
    await responds(403, `DELETE ${path}`, { as: stale }),
  ])
    assert.equal(refusalIn(refused).code, 'FRESH_SIGN_IN_REQUIRED')
})

test('a route that the document calls open needs no proof, and every other route does (I9)', async () => {
  for (const described of api.operations) {
    const { method, template, operation } = described
    const { status } = await client.request({ method, path: placeOf(template) })
    const needsProof =
      operation.security.length > 0 &&
      operation.security.every((one) => Object.keys(one).length > 0)
    assert.equal(status === 401, needsProof, `${method} ${template} returned ${status}`)
  }
})

test('a refusal that any route can send has one of the codes that the document lists for all routes (I9)', async () => {
  const { session: headers } = await newProofs()
  await app.database.change('alter table notification rename to mislaid')
  assert.equal((await record({ path: `/api/notifications/${id}`, headers })).status, 500)
  await app.database.change('alter table mislaid rename to notification')
  const general = api.find('GET', '/livez')?.operation.responses.default ?? assert.fail()
  const large = `GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`
  for (const bytes of [large, 'GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n']) {
    const text = (await app.raw(bytes)).split('\r\n\r\n')[1] ?? ''
    const { status } = JSON.parse(text).error
    const type = new Headers({ 'content-type': 'application/json' })
    isAsDescribed('GET', '/livez', { status, headers: type, text })
  }
  for (const { operation } of api.operations) assert.deepEqual(operation.responses.default, general)
  const provoked = [...seenResponses].flatMap((one) => / default (\w+)$/.exec(one)?.[1] ?? [])
  assert.deepEqual(new Set(provoked), new Set(api.codesOf(general)))
})

test('the description is correct for scripts that are not built (I9)', async (t) => {
  const unbuilt = await startTestService()
  t.after(() => unbuilt.stop())
  t.mock.method(fs, 'readFileSync', () => {
    throw new Error('There is no such file')
  })
  syncBuiltinESMExports()
  for (const path of [
    '/carillon-inbox.js',
    '/carillon-client.js',
    '/carillon-push.js',
    '/carillon-scripts/carillon-client-00000000.js',
  ])
    assert.equal((await unbuilt.get(path)).status, 503)
  t.mock.restoreAll()
  syncBuiltinESMExports()
})

test('each route sends 503 without a store if the document lists it, and otherwise works (I9)', async () => {
  const browser = new ProviderBrowser({
    app,
    provider,
    send: (path, headers) => client.request({ path, headers }),
  })
  const { location } = await browser.start('staff')
  const issued = new URLSearchParams({
    code: 'x',
    iss: provider.url,
    state: new URL(location).searchParams.get('state') ?? '',
  })
  const wayBack = `/login/with/staff/callback?${issued}`
  await provider.stop()
  assert.equal((await record({ path: wayBack, headers: browser.proof })).status, 503)
  // The endpoints of a provider are read again after an hour.
  app.pass(3_600_000)
  const proofs = await newProofs()
  await app.store.close()
  for (const described of api.operations) {
    const { method, template, operation } = described
    // Without the cookie of a sign-in that has begun, it needs neither provider nor store.
    if (template.endsWith('/callback')) continue
    const ofPage = template.endsWith('/start') ? { ...json, origin: app.url } : local
    const headers = { ...ofPage, ...proofFor(described, proofs) }
    const example = (await freshBodies[operation.operationId]?.()) ?? exampleOf(operation)
    const body = operation.requestBody && JSON.stringify(example)
    const response = await record({
      method,
      path: placeOf(template),
      headers,
      ...(body && { body }),
    })
    const isWithoutStore = operation.tags.includes('scripts')
    assert.equal(
      response.status === 503,
      !isWithoutStore && '503' in operation.responses,
      `${method} ${template}: ${response.text}`,
    )
  }
})
