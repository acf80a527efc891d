// The document is valid (I9), has exactly the routes that are served, and is correct for every
// response of a test that makes every mistake.
import assert from 'node:assert/strict'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { after, test } from 'node:test'
import { newId } from '../../server/basics/ids.ts'
import { hashOf, Sealing } from '../../server/basics/secrets.ts'
import { findKeyChange, inboxesOf } from '../../server/delivery/by-key.store.ts'
import { addFactor, factorsOf } from '../../server/factors/factors.store.ts'
import { forgetGuesses, reserveGuess } from '../../server/guessing/guesses.store.ts'
import { recordsOf } from '../../server/own-data/export.store.ts'
import { ProducerKeys } from '../../server/producers/producer-key.ts'
import { linkProviderAccount } from '../../server/providers/provider-accounts.store.ts'
import { addTestMail } from '../../server/reach/outbox.store.ts'
import { unsubscribeToken } from '../../server/reach/unread/unsubscribe.ts'
import { routesWith } from '../../server/routes.ts'
import { replaceOperation } from '../../server/store/testing/operations.ts'
import { putUsers } from '../../server/users/put-users.store.ts'
import { setRole } from '../../server/users/roles.store.ts'
import { rotateSignIn } from '../../server/users/rotation.store.ts'
import { disableUser } from '../../server/users/user-changes.store.ts'
import { enableUser, findUserByExternalId, updateUser } from '../../server/users/users.store.ts'
import { maxWebhooks } from '../../server/webhooks/webhooks.store.ts'
import {
  type Described,
  DescribedApi,
  type Document,
  type Operation,
} from '../support/http/described-api.ts'
import { refusalIn } from '../support/http/envelope.ts'
import { openForge } from '../support/http/forge.ts'
import { HttpClient, type HttpRequest } from '../support/http/http-client.ts'
import { ProviderBrowser, providerSetting } from '../support/http/provider-browser.ts'
import { startSignInProvider } from '../support/network/sign-in-provider.ts'
import { addPasskey } from '../support/passkeys.ts'
import { untilSo } from '../support/processes/nodes.ts'
import { type HttpResponse, type Proof, startTestService, variants } from '../support/service.ts'
import { Authenticator, carefulUser, signInWithCode } from '../support/sign-in/authenticator.ts'
import { noteRenewedProof, withNewestProof } from '../support/sign-in/renewed-cookies.ts'
import { type Forgery, SoftwareAuthenticator } from '../support/software-authenticator.ts'

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
const published = await app.get('/openapi.json')
const document = published.json() as Document
const api = new DescribedApi(document)

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
/** Of a sign-in that can only set up a second factor. */
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
const [another = ''] = await app.deliver({ to: ann, title: 'Ho' })
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

test('the document is valid: its schemas compile, its references resolve, and its names are unique (I9)', () => {
  assert.match(document.openapi, /^3\.1\.\d+$/)
  assert.match(document.info.version, /^\d+\.\d+\.\d+/)
  assert.ok(api.operations.length > 10)
  for (const { method, template, operation } of api.operations) {
    const { summary, security, requestBody, responses, parameters = [] } = operation
    const place = `${method} ${template}`
    assert.match(place, /^(GET|POST|PUT|PATCH|DELETE) \/[\w./{}-]*$/)
    assert.ok(summary.length > 10, place)
    const contents = [
      requestBody?.content,
      ...Object.values(responses).map(({ content }) => content),
    ]
    const bodies = contents.flatMap((content) => Object.values(content ?? {}))
    for (const { schema } of [...bodies, ...parameters]) api.compile(schema)
    for (const status of Object.keys(responses))
      assert.match(status, /^([2-5]\d\d|default)$/, place)
    assert.ok(
      Object.values(responses).every(({ description }) => description.length > 3),
      place,
    )
    for (const scheme of security.flatMap((one) => Object.keys(one)))
      assert.ok(scheme in document.components.securitySchemes, `${place} names ${scheme}`)
  }
})

test('each operation has an operationId of its own, a verb and a noun in camel case, and one described tag (I9)', () => {
  const ids = api.operations.map(({ operation }) => operation.operationId)
  for (const one of ids) assert.match(one, /^[a-z]+([A-Z][a-z]+)+$/)
  const doubled = ids.filter((one, index) => ids.indexOf(one) !== index)
  assert.deepEqual(doubled, [], 'generated code would have two functions of one name')
  const tags = document.tags.map(({ name }) => name)
  for (const { operation } of api.operations)
    assert.equal(tags.filter((tag) => operation.tags.includes(tag)).length, 1)
})

test('every named schema compiles and is used (I9)', () => {
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    api.compile(schema)
    assert.ok(published.text.includes(`"#/components/schemas/${name}"`), `${name} is not used`)
  }
})

test('a required query field is described as such (I9)', () => {
  const needed = api.operations.flatMap(({ template, operation: { parameters = [] } }) =>
    parameters
      .filter((one) => one.in === 'query' && one.required)
      .map(({ name }) => `${template} ${name}`),
  )
  assert.deepEqual(needed, ['/api/notifications/changes since'])
})

test('the HTML page has every operation by its operationId, what a route requires, and the data of events (I9)', async () => {
  const { text } = await client.request({ path: '/docs' })
  for (const { operation } of api.operations)
    assert.ok(text.includes(`<section id="${operation.operationId}">`))
  for (const { name } of document.tags) assert.ok(text.includes(`<h2>${name}</h2>`))
  assert.ok(text.includes('/api/notifications/changes?since=…'))
  assert.ok(text.includes('events: <a href="#StreamEvent">StreamEvent</a>'))
})

test('the HTML page displays names in a description as code, without backticks', async () => {
  const { text } = await client.request({ path: '/docs' })
  assert.ok(text.includes('<td><code>next</code> of an earlier page, instead of <code>page</code>'))
  assert.ok(!text.includes('`'))
})

test('every parameter of a path is described, and no other (I9)', () => {
  for (const { method, template, operation } of api.operations) {
    const inTemplate = [...template.matchAll(/{(\w+)}/g)].map(([, name]) => name)
    const described = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path')
    assert.deepEqual(
      described.map(({ name }) => name),
      inTemplate,
      `${method} ${template}`,
    )
    assert.ok(described.every(({ required }) => required === true))
  }
})

test('the 401 of each route has the codes that this route can send, and no other (I9)', () => {
  const codes = Object.fromEntries(
    api.operations.flatMap(({ template, operation: { responses } }) =>
      responses['401'] === undefined ? [] : [[template, api.codesOf(responses['401'])]],
    ),
  )
  const others = Object.entries(codes).filter(([, sent]) => sent.join() !== 'UNAUTHORIZED')
  assert.deepEqual(Object.fromEntries(others), {
    '/routeRestreinte': ['Unauthorized'],
    '/login': ['INVALID_CREDENTIALS', 'SECOND_FACTOR_REQUIRED'],
    '/login/passkey': ['INVALID_CREDENTIALS'],
    '/sign-in': ['INVALID_CREDENTIALS', 'SECOND_FACTOR_REQUIRED', 'UNAUTHORIZED'],
    '/login/with/{provider}': ['INVALID_CREDENTIALS', 'SECOND_FACTOR_REQUIRED'],
    '/password/reset': ['SECOND_FACTOR_REQUIRED'],
    '/login/second-factor': ['INVALID_CREDENTIALS', 'UNAUTHORIZED'],
    '/api/me/password': ['UNAUTHORIZED', 'INVALID_CREDENTIALS'],
    '/api/me/confirm': ['UNAUTHORIZED', 'INVALID_CREDENTIALS', 'SECOND_FACTOR_REQUIRED'],
    '/api/me/factors/totp/confirm': ['UNAUTHORIZED', 'INVALID_CREDENTIALS'],
  })
})

test('the document has every route of the table, and no other route (I9)', () => {
  const table = routesWith('').map(
    ({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`,
  )
  assert.ok(table.length > 10)
  assert.deepEqual(
    api.operations.map(({ method, template }) => `${method} ${template}`).sort(),
    table.sort(),
  )
})

/** As the document lists them, and of refusals the code: `404 NOT_FOUND`. */
const seen = new Map<Described, Set<string>>()

async function record(request: HttpRequest): Promise<HttpResponse> {
  const headers = withNewestProof((request.headers ?? {}) as Proof)
  const response = await client.request({ ...request, headers })
  noteRenewedProof(request.path ?? '', headers, response)
  const described = api.find(request.method ?? 'GET', request.path ?? '/')
  const code = response.status >= 400 ? ` ${refusalIn(response).code}` : ''
  if (described === undefined) {
    assert.ok(
      response.status >= 400,
      `${request.path} is not described and returned ${response.status}`,
    )
    return response
  }
  note(described, `${api.promises(described, response)}${code}`)
  return response
}

function note(described: Described, listed: string): void {
  seen.set(described, (seen.get(described) ?? new Set()).add(listed))
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

test('the description is correct for every successful use of every route (I9)', async () => {
  const { username, password } = ann
  for (const variant of ['stateful', 'stateless', undefined])
    await responds(200, 'POST /login', { body: { username, password, variant } })
  for (const as of [cookie, token]) {
    for (const path of [
      '/routeRestreinte',
      '/api/me',
      '/api/notifications',
      '/api/notifications?page=2&limit=1',
      '/api/notifications?status=unread',
      '/api/notifications?before=2',
      '/api/notifications?page=99',
      '/api/notifications/counts',
      '/api/notifications/changes?since=0',
      '/api/notifications/changes?since=99',
      '/api/notifications/stream',
      `/api/notifications/${id}`,
      `/api/notifications/${another}`,
    ])
      await responds(200, `GET ${path}`, { as })
    await isKept('/api/notifications', as)
    await responds(204, `PATCH /api/notifications/${id}/read`, { as })
    const { data } = (await responds(200, `GET /api/notifications/${id}`, { as })).json()
    assert.equal(data.read, true)
    await responds(204, `POST /api/notifications/read-all?through=${another}`, { as })
  }
  await responds(200, 'GET /verify', { as: token })
  await responds(302, 'GET /verify', { as: { accept: 'text/html' } })
  for (const path of ['/livez', '/readyz', '/docs/style.css']) await responds(200, `GET ${path}`)
  for (const path of ['/.well-known/jwks.json', '/openapi.json', '/docs', '/carillon-push.js'])
    await isKept(path)
  for (const entry of ['/carillon-inbox.js', '/carillon-client.js']) {
    const path = `/${(await responds(302, `GET ${entry}`)).headers.get('location')}`
    await isKept(path)
    await responds(302, `GET ${path.replace(/[\da-f]{8}\.js$/, '00000000.js')}`)
  }
  await responds(200, 'POST /token/renew', { as: token })
  const sent = (status: number, recipients: object[]) => {
    const body = { recipients, title: 'Hi', key: 'k' }
    return responds(status, 'POST /api/notifications', { as: producer, body })
  }
  for (const other of [
    { userId: eve.id },
    { username: 'nobody' },
    { externalId: 'none', issuer: 'https://id.example' },
  ])
    await sent(201, [{ username: 'ann' }, other])
  await sent(422, [{ userId: 'none' }])
  for (const variant of variants) {
    const as = await app.signIn(eve, variant)
    await responds(409, 'POST /api/notifications/undo', { as })
    await responds(204, 'POST /logout', { as })
  }
})

async function isKept(path: string, as: Proof = {}): Promise<void> {
  const { headers } = await responds(200, `GET ${path}`, { as })
  const known = { ...as, 'if-none-match': headers.get('etag') ?? '' }
  await responds(304, `GET ${path}`, { as: known })
}

test('the description is correct for what an operator does (I9)', async () => {
  const user = await app.user()
  const as = ofOperator
  const [sent = ''] = await app.deliver({ to: user, title: 'Hi', key: 'for-operator' })
  for (const path of [
    'now',
    'numbers?range=month',
    'attacks',
    'users?search=a',
    `users/${user.id}`,
    'audit',
    'audit/counts',
    'audit/export',
    'outbox',
    'keys',
    'heard',
    `explain/${sent}`,
    'by-key/for-operator',
  ])
    await responds(200, `GET /api/operator/${path}`, { as })
  await responds(200, 'DELETE /api/operator/by-key/for-operator', { as })
  const shop = { name: 'shop', scopes: ['send'] }
  const made = await responds(201, 'POST /api/operator/keys', { as, body: shop })
  const key = `/api/operator/keys/${made.json().data.id}`
  await responds(201, `POST ${key}/rotate`, { as, body: { overlapHours: 1 } })
  await responds(204, `DELETE ${key}`, { as })
  await responds(200, 'POST /api/operator/outbox/retry', { as, body: {} })
  const row = { id: newId(app.now()), target: 'ann@example.org', at: app.now() + 60_000 }
  await app.store.write(addTestMail, row)
  for (const status of [204, 404])
    await responds(status, `DELETE /api/operator/outbox/${row.id}`, { as })
  const place = `/api/operator/users/${user.id}`
  await responds(201, `POST ${place}/links`, { as, body: { purpose: 'reset' } })
  await responds(409, `POST ${place}/links`, { as, body: { purpose: 'invite' } })
  for (const path of ['/sessions', '/factors'])
    await responds(204, `DELETE ${place}${path}`, { as })
  for (const path of ['/disable', '/enable']) await responds(204, `POST ${place}${path}`, { as })
  await responds(204, `DELETE ${place}`, { as })
  const own = `/api/operator/users/${boss.id}`
  await responds(409, `POST ${own}/disable`, { as })
  await responds(409, `DELETE ${own}`, { as })
  await responds(303, 'GET /operator')
  await responds(200, 'GET /operator', { as })
  await responds(404, 'GET /operator', { as: cookie })
})

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
      const at = other.now()
      const factor = {
        id: newId(at),
        kind: 'totp',
        label: 'app',
        createdAt: at,
        confirmedAt: at,
      } as const
      await other.store.write(addFactor, {
        userId: user.id,
        factor,
        maxFactors: 1,
        recoveryCodeHashes: [],
      })
      for (const described of routes) {
        const response = await other.request(placeOf(described.template), {
          method: described.method,
          headers,
        })
        note(described, `${api.promises(described, response)} ${refusalIn(response).code}`)
        assert.equal(refusalIn(response).code, code)
      }
    } finally {
      await other.stop()
    }
  }
})

test('the description is correct for a security notice, which has to stay (I9)', async () => {
  const user = await app.user()
  const password = 'grey heron over the weir'
  const body = { currentPassword: user.password, newPassword: password }
  await responds(204, 'PUT /api/me/password', { as: await app.signIn(user, 'stateful'), body })
  const as = await app.signIn({ ...user, password }, 'stateful')
  const { items } = await app.list(as, '?category=security')
  const path = `/api/notifications/${items.at(-1)?.id}`
  await responds(409, `DELETE ${path}`, { as })
  await responds(409, `PATCH ${path}/archive`, { as })
  await responds(409, `PATCH ${path}/snooze`, { as, body: { until } })
})

const until = '2026-06-01T00:00:00.000Z'

test('the description is correct for what a user does with notifications (I9)', async () => {
  for (const as of [cookie, token]) {
    const [mistake] = await app.deliver({ to: ann, title: 'A mistake' })
    for (const [call, body] of [
      [`PATCH /api/notifications/${id}/unread`],
      ['POST /api/notifications/undo'],
      [`PATCH /api/notifications/${id}/archive`],
      [`PATCH /api/notifications/${id}/snooze`, { until }],
      [`PATCH /api/notifications/${id}/unarchive`],
      ['POST /api/notifications/archive-read'],
      ['POST /api/notifications/seen', { throughSeq: 2 }],
      ['POST /api/notifications/undo'],
      [`DELETE /api/notifications/${mistake}`],
      [`DELETE /api/notifications/${mistake}`],
    ] as [string, object?][])
      await responds(204, call, { as, body })
    await responds(404, `PATCH /api/notifications/${foreign}/snooze`, { as, body: { until } })
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

test('the description is correct for the sign-in page, its form, and the page for a forgotten password (I9)', async () => {
  const careful = await carefulUser(app)
  const form = (
    path: string,
    fields: Record<string, string>,
    headers: Proof = { accept: 'text/html' },
  ) => {
    const body = new URLSearchParams(fields).toString()
    return record({
      method: 'POST',
      path,
      body,
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    })
  }
  const signIn = async (fields: Record<string, string>, headers?: Proof) =>
    (await form('/sign-in', fields, headers)).status
  const { username, password } = careful
  const asData = { accept: 'application/json' }
  assert.equal((await record({ path: '/sign-in' })).status, 200)
  const signedIn = await app.signIn(ann, 'stateful')
  assert.equal((await record({ path: '/sign-in?after=provider', headers: signedIn })).status, 303)
  assert.equal(await signIn({ username: ann.username, password: ann.password }), 303)
  assert.equal(await signIn({ username, password }), 200)
  assert.equal(await signIn({ username, password }, asData), 401)
  assert.equal(await signIn({ challenge: 'none', code: '123456' }, asData), 401)
  for (let n = 0; n < 5; n++)
    assert.equal(await signIn({ username: 'guessed-too', password: 'wrong' }, asData), 401)
  assert.equal(await signIn({ username: 'guessed-too', password: 'wrong' }, asData), 429)
  assert.equal((await record({ path: '/forgot' })).status, 200)
  assert.equal((await form('/forgot', { account: 'nobody@example.org' })).status, 303)
  const sealing = new Sealing({ current: app.sealingSecret })
  const what = { userId: ann.id, categories: ['ads'], at: app.now() }
  const link = `/unsubscribe?token=${await unsubscribeToken(sealing, what)}`
  const click = { 'List-Unsubscribe': 'One-Click' }
  assert.equal((await record({ path: link })).status, 200)
  assert.equal((await form(link, click)).status, 200)
  assert.equal((await record({ path: '/unsubscribe', headers: asData })).status, 404)
  assert.equal((await form('/unsubscribe?token=x', click, asData)).status, 404)
})

test('the description is correct for a sign-in after too many failures (I9)', async () => {
  const body = { username: 'guessed', password: 'not the password' }
  for (const status of [...Array(5).fill(401), 429]) await responds(status, 'POST /login', { body })
})

test('the description is correct for a user with a second factor (I9)', async () => {
  const careful = await carefulUser(app, 'careful')
  const { username, password, recoveryCodes } = careful
  const challengeOf = async () =>
    (await responds(401, 'POST /login', { body: { username, password } })).json().error.challenge
  const challenge = await challengeOf()
  const complete = (status: number, factor: object) =>
    responds(status, 'POST /login/second-factor', { body: { challenge, ...factor } })
  await complete(401, { code: careful.app.wrongCode(app.now()) })
  await complete(200, { code: careful.app.code(app.now()) })
  await complete(401, { code: careful.app.code(app.now(), 1) })
  const session = await signInWithCode(app, careful, 'stateful')
  const stateless = await signInWithCode(app, careful, 'stateless')
  for (const as of [session, stateless]) {
    await responds(200, 'GET /api/me/factors', { as })
    const added = await responds(201, 'POST /api/me/factors/totp', { as, body: {} })
    const { id: factorId, secret } = added.json().data
    const second = new Authenticator(secret)
    for (const [status, code] of [
      [401, second.wrongCode(app.now())],
      [200, second.code(app.now())],
      [409, '1'],
    ] as const)
      await responds(status, 'POST /api/me/factors/totp/confirm', {
        as,
        body: { id: factorId, code },
      })
    const unknown = { id: newId(app.now()), code: '1' }
    await responds(404, 'POST /api/me/factors/totp/confirm', { as, body: unknown })
    const replaced = await responds(201, 'POST /api/me/factors/recovery-codes', { as })
    const [recoveryCode] = replaced.json().data.recoveryCodes
    const isSession = as === session
    await responds(isSession ? 204 : 201, 'POST /api/me/confirm', { as, body: { recoveryCode } })
    for (const body of [{ recoveryCode: recoveryCodes[0] }, { password }])
      await responds(401, 'POST /api/me/confirm', { as, body })
    await responds(isSession ? 204 : 200, `DELETE /api/me/factors/${factorId}`, { as })
  }
  const plain = await app.signIn(await app.user('plain'), 'stateful')
  await responds(409, 'POST /api/me/factors/recovery-codes', { as: plain })
  for (let n = 0; n < 10; n++) {
    const { id: factorId, secret } = (
      await responds(201, 'POST /api/me/factors/totp', { as: plain })
    ).json().data
    const body = { id: factorId, code: new Authenticator(secret).code(app.now()) }
    await responds(200, 'POST /api/me/factors/totp/confirm', { as: plain, body })
  }
  await responds(409, 'POST /api/me/factors/totp', { as: plain, body: {} })
  const waiting = { challenge: await challengeOf() }
  const third = await responds(201, 'POST /api/me/factors/totp', { as: session, body: {} })
  const sealed = await app.store.read(factorsOf, careful.id)
  await app.database.change(
    `update factor set sealed_secret = 'of a lost secret' where user_id = '${careful.id}'`,
  )
  const code = '123456'
  for (const [call, body, as] of [
    ['POST /login/second-factor', { ...waiting, code }],
    ['POST /api/me/confirm', { code }, session],
    ['POST /api/me/factors/totp/confirm', { id: third.json().data.id, code }, session],
  ] as const)
    assert.equal(refusalIn(await responds(403, call, { as, body })).code, 'FACTOR_UNREADABLE')
  for (const { id: factorId, sealedSecret } of sealed.factors)
    await app.database.change(
      `update factor set sealed_secret = '${sealedSecret}' where id = '${factorId}'`,
    )
  const wrong = { code: careful.app.wrongCode(app.now()) }
  for (const [path, body, as] of [
    ['/login/second-factor', { ...waiting, ...wrong }, {}],
    // A signed-in user has a count of its own.
    ['/api/me/confirm', wrong, session],
  ] as const) {
    for (let n = 0; n < 5; n++) await app.post(path, body, as)
    await responds(429, `POST ${path}`, { as, body })
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

test('the description is correct for passkeys (I9)', async () => {
  const post = (status: number, path: string, given?: object, as: Proof = local) =>
    responds(status, `POST ${path}`, { as, body: given })
  await post(200, '/login/passkey/options', {})
  await post(401, '/login/passkey/options', { challenge: 'none' })
  for (const variant of variants)
    await post(200, '/login/passkey', { ...(await signedByPasskey()), variant })
  const used = await signedByPasskey()
  for (const status of [200, 422]) await post(status, '/login/passkey', used)
  const { username, password } = holder
  const { challenge } = (await post(401, '/login', { username, password })).json().error
  const complete = (status: number, signed: object) =>
    post(status, '/login/second-factor', { challenge, passkey: signed })
  await complete(422, used.response)
  await complete(200, (await signedByPasskey()).response)
  const bare = { host: localhost, ...(await sessionOf(await signedByPasskey())) }
  const proof = { ...local, ...bare }
  await post(422, '/api/me/confirm', { passkey: used.response }, proof)
  await post(204, '/api/me/confirm', { passkey: (await signedByPasskey()).response }, proof)
  const created = async (forgery?: Forgery) => {
    const options = await post(200, '/api/me/factors/passkeys/options', undefined, bare)
    return authenticator.create(options.json().data, forgery)
  }
  const { passkey: second, response } = await created()
  for (const status of [201, 422])
    await post(status, '/api/me/factors/passkeys', { response }, proof)
  const again = { response: (await created({ id: second.id })).response }
  await post(409, '/api/me/factors/passkeys', again, proof)
  assert.equal((await record({ method: 'DELETE', ...(await lastPasskey()) })).status, 409)
  const unknown = { response: { ...(await signedByPasskey()).response, id: 'AAAA', rawId: 'AAAA' } }
  const body = JSON.stringify(unknown)
  const statuses: number[] = []
  while (statuses.at(-1) !== 429) {
    const sent = { method: 'POST', path: '/login/passkey', headers: local, body }
    statuses.push((await record(sent)).status)
  }
  assert.deepEqual(new Set(statuses), new Set([401, 429]))
})

/** The user has no other way to sign in. */
async function lastPasskey() {
  const user = await app.user()
  const headers = await app.signIn(user, 'stateful')
  await addPasskey(app, new SoftwareAuthenticator({ origin: `http://${localhost}` }), user)
  await app.database.change(`update "user" set password_hash = null where id = '${user.id}'`)
  const [factor] = (await app.store.read(factorsOf, user.id)).factors
  return { path: `/api/me/factors/${factor?.id}`, headers }
}

async function sessionOf(body: object): Promise<Proof> {
  const path = '/login/passkey'
  const { headers } = await client.request({
    method: 'POST',
    path,
    headers: local,
    body: JSON.stringify(body),
  })
  return { cookie: headers.getSetCookie()[0]?.split(';')[0] ?? '' }
}

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

test('the description is correct for the refusals of a delivery (I9)', async () => {
  const sound = { recipients: [{ username: 'ann' }], title: 'Hi' }
  const send = (more: object, key?: string) => {
    const headers = { ...json, ...producer, ...(key !== undefined && { 'idempotency-key': key }) }
    const body = JSON.stringify({ ...sound, ...more })
    return record({ method: 'POST', path: '/api/notifications', headers, body })
  }
  for (const [more, key, status] of [
    [{}, 'once', 201],
    [{}, 'once', 201],
    [{ title: 'Ho' }, 'once', 422],
    [{}, 'two words', 400],
    [{ url: 'javascript:alert(1)' }, undefined, 400],
    [{ data: { a: 'x'.repeat(9_000) } }, undefined, 400],
    [{ recipients: [] }, undefined, 400],
    [{ title: '' }, undefined, 400],
  ] as const)
    assert.equal((await send(more, key)).status, status)
  // The test blocks all writes, so the delivery that starts first runs until they are allowed again.
  const release = await app.database.holdWrites()
  const both = [send({}, 'racing'), send({}, 'racing')]
  assert.equal((await Promise.race(both)).status, 409)
  await release()
  assert.deepEqual((await Promise.all(both)).map(({ status }) => status).sort(), [201, 409])
})

test('the description is correct for the tokens of users and of sessions (I9)', async () => {
  const as = producer
  const body = { scope: 'inbox' }
  const users = [`/api/users/${resident.id}`, externalPath]
  for (const user of users) {
    await responds(201, `POST ${user}/tokens`, { as, body })
    await responds(204, `DELETE ${user}/tokens`, { as })
    await responds(204, `DELETE ${user}/sessions`, { as })
  }
  for (const unknown of ['/api/users/none', '/api/users/external/none'])
    await responds(404, `POST ${unknown}/tokens`, { as, body })
  for (const proof of [cookie, token]) await responds(201, 'POST /api/me/token', { as: proof })
  const named = { issuer: '', externalId: 'shop/customer-42' }
  const external = await app.store.read(findUserByExternalId, named)
  const ids = [resident.id, external?.id ?? '']
  for (const userId of ids) await app.store.write(disableUser, { userId, at: app.now() })
  for (const user of users) await responds(409, `POST ${user}/tokens`, { as, body })
  for (const userId of ids) await app.store.write(enableUser, { userId })
})

test('the description is correct for the sessions of a user (I9)', async () => {
  const lea = await app.user()
  const as = await app.signIn(lea, 'stateless')
  const ended = await app.signIn(lea, 'stateful')
  const disowned = await app.signIn(lea, 'stateful')
  const idOf = async (proof: Proof) =>
    (await app.get('/api/me/sessions?limit=1', proof)).json().data.items[0].id
  await responds(200, 'GET /api/me/sessions?limit=1', { as })
  await responds(204, `DELETE /api/me/sessions/${await idOf(ended)}`, { as })
  await responds(200, `POST /api/me/sessions/${await idOf(disowned)}/disown`, { as })
  await responds(204, 'DELETE /api/me/sessions', { as })
})

test('the description is correct for what an application does with its users (I9)', async () => {
  const as = producer
  await responds(201, 'PUT /api/users/external/new', { as, body: { locale: 'en' } })
  await responds(200, `PUT ${externalPath}`, { as, body: {} })
  await responds(404, `PUT ${externalPath}%41`, { as, body: {} })
  for (const path of [externalPath, `/api/users/${resident.id}`]) {
    await responds(200, `GET ${path}`, { as })
    const profile = { displayName: null, email: 'a@example.org' }
    await responds(200, `PATCH ${path}`, { as, body: profile })
    await responds(409, `PATCH ${path}`, { as, body: { username: 'ann' } })
  }
  for (const path of ['/api/users/external/nobody', '/api/users/nobody'])
    await responds(404, `PATCH ${path}`, { as, body: {} })
  for (const status of [201, 409])
    await responds(status, 'POST /api/users', { as, body: { username: 'lee' } })
  const bo = { externalId: 'b', username: 'bo' }
  for (const [status, users] of [
    [200, [{ externalId: 'a' }, bo]],
    [409, [{ ...bo, externalId: 'c' }]],
    [400, [{}]],
  ] as const)
    await responds(status, 'PUT /api/users', { as, body: { users } })
  for (const query of ['', '?limit=1', '?search=lee', '?externalId=a'])
    await responds(200, `GET /api/users${query}`, { as })
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

test('the description is correct for categories and what users mute (I9)', async () => {
  const as = producer
  const body = {
    name: { en: 'Security', de: 'Sicherheit' },
    description: 'Sign-ins',
    mandatory: true,
  }
  await responds(204, 'PUT /api/categories/c0', { as, body })
  await responds(404, 'PUT /api/categories/c%41', { as, body })
  await responds(200, 'GET /api/categories/c0', { as })
  await responds(404, 'GET /api/categories/none', { as })
  for (let n = 1; n < 200; n++)
    await responds(204, `PUT /api/categories/c${n}`, { as, body: { name: 'A' } })
  await responds(409, 'PUT /api/categories/c200', { as, body: { name: 'A' } })
  const mutes = (mutedUntil: string | null) => ({ mutedUntil, categories: { c1: { mutedUntil } } })
  for (const proof of [cookie, token]) {
    const put = (status: number, choices: object) =>
      responds(status, 'PUT /api/me/preferences', { as: proof, body: choices })
    await put(204, mutes('forever'))
    await responds(200, 'GET /api/me/preferences', { as: proof })
    await put(204, mutes(null))
    await put(409, { categories: { c0: { mutedUntil: 'forever' } } })
  }
})

test('the description is correct for push subscriptions (I9)', async () => {
  const path = '/api/me/push-subscriptions'
  const keys = {
    p256dh:
      'BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM',
    auth: 'tBHItJI5svbpez7KI4CCXg',
  }
  const add = (status: number, endpoint: string, as: Proof = cookie, more = {}) =>
    responds(status, `POST ${path}`, { as, body: { endpoint, keys, ...more } })
  await add(404, 'https://web.push.apple.com/0', cookie, { replaces: 'none' })
  for (let n = 0; n < 20; n++) await add(204, `https://web.push.apple.com/${n}`)
  await add(409, 'https://web.push.apple.com/20')
  await add(400, 'https://evil.example')
  await add(401, 'https://web.push.apple.com/0', {})
  await responds(200, `GET ${path}`, { as: cookie })
  const one = `DELETE ${path}/${hashOf('https://web.push.apple.com/0')}`
  for (const status of [204, 404]) await responds(status, one, { as: cookie })
})

test('the description is correct for webhooks (I9)', async () => {
  const as = producer
  const events = ['user.erased']
  const add = async (status: number, more = {}) =>
    (await responds(status, 'POST /api/webhooks', { as, body: { events, ...more } })).json().data
  const { id: listed } = await add(201)
  const { id: sent } = await add(201, { url: 'https://shop.example/' })
  const place = `/api/webhooks/${listed}`
  await responds(200, 'GET /api/webhooks', { as })
  await responds(200, `GET ${place}/events`, { as })
  await responds(409, `GET /api/webhooks/${sent}/events`, { as })
  const ended = new AbortController()
  const held = Array.from({ length: 60 }, () =>
    fetch(`${app.url}${place}/events?wait=25`, {
      headers: producer,
      signal: ended.signal,
    }).catch(() => {}),
  )
  await Promise.race(held)
  await responds(429, `GET ${place}/events?wait=25`, { as })
  ended.abort()
  await responds(200, `PATCH ${place}`, { as, body: { events } })
  for (const url of ['ftp://shop.example/', 'https://10.0.0.1/', 'http://shop.example/'])
    await add(400, { url })
  for (let webhooks = 2; webhooks < maxWebhooks; webhooks++) await add(201)
  await add(409)
  await responds(204, `DELETE ${place}`, { as })
  await responds(404, `PATCH ${place}`, { as, body: { events } })
  await responds(404, `DELETE ${place}`, { as })
  await responds(404, `GET ${place}/events`, { as })
})

test('the description is correct for one-time links (I9)', async () => {
  const as = producer
  const nameless = { newId: newId(app.now()), externalId: 'nameless' }
  const lee = await app.user('lee-of-links')
  await app.store.write(putUsers, { issuer: '', at: app.now(), users: [nameless] })
  const linkOf = async (status: number, user: string, purpose = 'reset') => {
    const body = { purpose }
    return (await responds(status, `POST /api/users/${user}/links`, { as, body })).json().data?.url
  }
  const newPassword = 'grey heron over the weir'
  const reset = (status: number, url: string, more = {}) => {
    const body = { token: url.split('#')[1], newPassword, ...more }
    return responds(status, 'POST /password/reset', { body })
  }
  for (const user of ['external/nameless', nameless.newId]) await linkOf(409, user)
  for (const user of ['external/nobody', 'nobody']) await linkOf(404, user)
  await app.store.write(updateUser, { userId: nameless.newId, username: 'kim-of-links' })
  await linkOf(201, 'external/nameless')
  // An invitation of a user who has got a way to sign in since.
  const invitation = await linkOf(201, 'external/nameless', 'invite')
  const account = { issuer: 'https://id.example.org', subject: 'kim', email: null, at: app.now() }
  const kim = { userId: nameless.newId }
  assert.equal(await app.store.write(linkProviderAccount, { ...account, ...kim }), 'done')
  await reset(409, invitation)
  const link = await linkOf(201, lee.id)
  const ofLink = { token: link.split('#')[1] }
  await responds(200, 'POST /password/link', { body: ofLink })
  for (const status of [204, 422]) await reset(status, link)
  for (const [user, status] of [
    [await app.user(), 200],
    [await carefulUser(app), 401],
  ] as const)
    await reset(status, await linkOf(201, user.id), { variant: 'stateful' })
  await responds(422, 'POST /password/link', { body: ofLink })
  await responds(202, 'POST /password/forgot', { body: { username: 'nobody' } })
  for (let n = 0; n < 100; n++) await app.post('/password/reset', { ...ofLink, newPassword })
  await reset(429, link)
  await responds(429, 'POST /password/link', { body: ofLink })
  await app.store.write(forgetGuesses, { prefix: 'address ' })
})

/** The response may be one of another service. */
function noteResponse(method: string, path: string, response: HttpResponse): void {
  const described = api.find(method, path) as Described
  const code = response.status >= 400 ? ` ${refusalIn(response).code}` : ''
  note(described, `${api.promises(described, response)}${code}`)
}

test('the description is correct for a service without a mail server, or a contact (I9)', async () => {
  const without = await startTestService()
  for (const [path, body] of [
    ['/password/forgot', { username: 'ann' }],
    ['/forgot', { account: 'ann' }],
  ] as const)
    noteResponse('POST', path, await without.post(path, body))
  const contact = '/.well-known/security.txt'
  noteResponse('GET', contact, await without.get(contact))
  await without.stop()
})

test('the description is correct for the test notification of the only user (I9)', async () => {
  const single = await startTestService()
  const proof = await single.signIn(await single.user(), 'stateful')
  const path = '/api/me/test-notification'
  for (let n = 0; n < 11; n++) noteResponse('POST', path, await single.post(path, undefined, proof))
  await single.stop()
})

test('the description is correct for a new password of a signed-in user (I9)', async () => {
  const reader = await app.user('careless')
  const proof = await app.signIn(reader, 'stateful')
  const set = (status: number, currentPassword: string, as: Proof = proof) => {
    const body = { currentPassword, newPassword: 'grey heron over the weir' }
    return responds(status, 'PUT /api/me/password', { as, body })
  }
  await set(204, reader.password)
  const replaced = await client.request({ path: '/api/session', headers: proof })
  noteResponse('GET', '/api/session', replaced)
  const other = await app.user('careless-too')
  await set(200, other.password, await app.signIn(other, 'stateless'))
  for (const status of [...Array(5).fill(401), 429]) await set(status, 'wrong')
})

test('the description is correct for a user who is erased (I9)', async () => {
  const gone = await app.user('gone')
  await app.store.write(putUsers, {
    issuer: '',
    at: app.now(),
    users: [{ newId: newId(app.now()), externalId: 'gone' }],
  })
  for (const path of [`/api/users/${gone.id}`, '/api/users/external/gone'])
    for (const status of [204, 404]) await responds(status, `DELETE ${path}`, { as: producer })
  const leaving = await app.signIn(await app.user(), 'stateful')
  const isRead = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const restore = replaceOperation(app.store, recordsOf, async (_, run) => {
    isRead.resolve()
    await released.promise
    return run()
  })
  const first = app.get('/api/me/export', leaving)
  await isRead.promise
  await responds(429, 'GET /api/me/export', { as: leaving })
  released.resolve()
  assert.equal((await first).status, 200)
  restore?.()
  await responds(200, 'GET /api/me/export', { as: leaving })
  await responds(204, 'DELETE /api/me', { as: leaving })
  await responds(409, 'DELETE /api/me', { as: await app.signIn(boss, 'stateful') })
})

test('the description is correct for a sign-in with a provider (I9)', async () => {
  const browser = recordingBrowser()
  await responds(200, 'GET /login/providers')
  assert.equal((await browser.signIn('staff', 'kim')).status, 303)
  const often = recordingBrowser()
  const statuses: number[] = []
  while (statuses.at(-1) !== 429) statuses.push((await often.signIn('staff', 'often')).status)
  // The first one creates the user, and is not counted.
  assert.deepEqual([statuses.length, statuses.at(-2)], [62, 303])
  const code = await browser.code('staff', 'kim')
  for (const status of [200, 401])
    await responds(status, 'POST /login/with/staff', { as: browser.proof, body: { code } })
  const careful = recordingBrowser()
  await careful.signIn('staff', 'careful')
  const { id: userId } = (await app.get('/api/me', careful.proof)).json().data.user
  const ofPhone = {
    id: newId(app.now()),
    kind: 'totp',
    label: 'Phone',
    sealedSecret: 'sealed',
  } as const
  const factor = { ...ofPhone, createdAt: app.now(), confirmedAt: app.now() }
  await app.store.write(addFactor, { userId, factor, maxFactors: 1, recoveryCodeHashes: ['hash'] })
  const body = { code: await careful.code('staff', 'careful') }
  const waiting = await responds(401, 'POST /login/with/staff', { as: careful.proof, body })
  assert.equal(refusalIn(waiting).code, 'SECOND_FACTOR_REQUIRED')
  const ownPage = { origin: app.url }
  await responds(303, 'POST /login/with/staff/start', { as: ownPage, body: {} })
  await responds(404, 'POST /login/with/none/start', { as: ownPage, body: {} })
  await responds(403, 'POST /login/with/staff/start', { body: {} })
  await responds(404, 'POST /login/with/none', { body: { code } })
  const { location } = await browser.start('staff')
  const cancelled = await browser.send(await provider.cancel(location, `${app.url}/login/with/`))
  assert.equal(cancelled.status, 403)
})

function recordingBrowser(): ProviderBrowser {
  return new ProviderBrowser({
    app,
    provider,
    send: (path, headers) => record({ path, headers }),
  })
}

test('the description is correct for accounts at providers, and for the own profile (I9)', async () => {
  const taken = recordingBrowser()
  await taken.signIn('staff', 'lee')
  const linked = '/api/me/providers/staff'
  await responds(409, `DELETE ${linked}`, { as: taken.proof })
  const user = await app.user()
  for (const [subject, status] of [['lee', 409] as const, ['mia', 303] as const]) {
    const browser = recordingBrowser()
    const as = await app.signIn(user, 'stateful')
    browser.jar.set('carillon', as.cookie?.split('=')[1] ?? '')
    const begun = await responds(201, `POST ${linked}/link`, { as, body: {} })
    browser.keep(begun)
    assert.equal((await browser.comeBack(begun.json().data.url, subject)).status, status)
    await responds(200, 'GET /api/me/providers', { as: browser.proof })
  }
  const proof = await app.signIn(user, 'stateful')
  for (const status of [204, 404]) await responds(status, `DELETE ${linked}`, { as: proof })
  const at = app.now()
  const link = { issuer: provider.url, subject: 'mia', userId: user.id, email: null, at }
  assert.equal(await app.store.write(linkProviderAccount, link), 'done')
  await responds(200, `DELETE ${linked}`, { as: await app.signIn(user, 'stateless') })
  const as = await app.signIn(user, 'stateful')
  await responds(404, 'POST /api/me/providers/none/link', { as, body: {} })
  await responds(200, 'PATCH /api/me', { as, body: { locale: 'en' } })
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
  const livez = api.find('GET', '/livez') as Described
  const large = `GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`
  for (const bytes of [large, 'GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n']) {
    const text = (await app.raw(bytes)).split('\r\n\r\n')[1] ?? ''
    const { code, status } = JSON.parse(text).error
    const type = new Headers({ 'content-type': 'application/json' })
    note(livez, `${api.promises(livez, { status, headers: type, text })} ${code}`)
  }
  const general = livez.operation.responses.default
  assert.ok(general)
  for (const { operation } of api.operations) assert.deepEqual(operation.responses.default, general)
  const provoked = [...seen.values()].flatMap((listed) =>
    [...listed].filter((one) => one.startsWith('default ')),
  )
  assert.deepEqual(
    new Set(provoked),
    new Set(api.codesOf(general).map((code) => `default ${code}`)),
  )
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
    noteResponse('GET', path, await unbuilt.get(path))
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

test('every status and every error code that the document lists for a route was seen on it (I9)', () => {
  const unseen = api.operations.flatMap((described) => {
    const { method, template, operation } = described
    const listed = Object.entries(operation.responses).flatMap(([status, response]) => {
      if (status === 'default') return []
      return Number(status) < 400
        ? [status]
        : api.codesOf(response).map((code) => `${status} ${code}`)
    })
    return listed
      .filter((one) => !seen.get(described)?.has(one))
      .map((one) => `${method} ${template}: ${one}`)
  })
  assert.deepEqual(unseen, [])
})
