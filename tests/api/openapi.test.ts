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
import { unsubscribeToken } from '../../server/reach/unsubscribe.ts'
import { routesWith } from '../../server/routes.ts'
import { replaceOperation } from '../../server/store/testing/operations.ts'
import { putUsers } from '../../server/users/put-users.store.ts'
import { setRole } from '../../server/users/roles.store.ts'
import { rotateSignIn } from '../../server/users/rotation.store.ts'
import { disableUser } from '../../server/users/user-changes.store.ts'
import { enableUser, findUserByExternalId, updateUser } from '../../server/users/users.store.ts'
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
import { type HttpResponse, type Proof, startTestService } from '../support/service.ts'
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
  const credentials = { username: ann.username, password: ann.password }
  const post = (path: string, body: unknown, headers: Proof = {}) =>
    record({ method: 'POST', path, body: JSON.stringify(body), headers: { ...json, ...headers } })
  for (const variant of ['stateful', 'stateless', undefined])
    assert.equal((await post('/login', { ...credentials, variant })).status, 200)
  for (const headers of [cookie, token]) {
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
      assert.equal((await record({ path, headers })).status, 200, path)
    const { headers: fields } = await record({ path: '/api/notifications', headers })
    const known = { ...headers, 'if-none-match': fields.get('etag') ?? '' }
    assert.equal((await record({ path: '/api/notifications', headers: known })).status, 304)
    assert.equal(
      (await record({ method: 'PATCH', path: `/api/notifications/${id}/read`, headers })).status,
      204,
    )
    assert.equal(
      (await record({ path: `/api/notifications/${id}`, headers })).json().data.read,
      true,
    )
    const through = {
      method: 'POST',
      path: `/api/notifications/read-all?through=${another}`,
      headers,
    }
    assert.equal((await record(through)).status, 204)
  }
  assert.equal((await record({ path: '/verify', headers: token })).status, 200)
  assert.equal((await record({ path: '/verify', headers: { accept: 'text/html' } })).status, 302)
  for (const path of [
    '/.well-known/jwks.json',
    '/livez',
    '/readyz',
    '/openapi.json',
    '/docs',
    '/docs/style.css',
  ])
    assert.equal((await record({ path })).status, 200, path)
  for (const path of ['/.well-known/jwks.json', '/openapi.json', '/docs']) {
    const { headers: first } = await record({ path })
    assert.equal(
      (await record({ path, headers: { 'if-none-match': first.get('etag') ?? '' } })).status,
      304,
    )
  }
  const worker = (await record({ path: '/carillon-push.js' })).headers.get('etag') ?? ''
  assert.equal(
    (await record({ path: '/carillon-push.js', headers: { 'if-none-match': worker } })).status,
    304,
  )
  for (const entry of ['/carillon-inbox.js', '/carillon-client.js']) {
    const path = `/${(await record({ path: entry })).headers.get('location')}`
    const { headers } = await record({ path })
    const known = { 'if-none-match': headers.get('etag') ?? '' }
    assert.equal((await record({ path, headers: known })).status, 304)
    assert.equal(
      (await record({ path: path.replace(/[\da-f]{8}\.js$/, '00000000.js') })).status,
      302,
    )
  }
  assert.equal((await record({ method: 'POST', path: '/token/renew', headers: token })).status, 200)
  const sent = (recipients: object[]) =>
    post('/api/notifications', { recipients, title: 'Hi', key: 'k' }, producer)
  for (const other of [
    { userId: eve.id },
    { username: 'nobody' },
    { externalId: 'none', issuer: 'https://id.example' },
  ])
    assert.equal((await sent([{ username: 'ann' }, other])).status, 201)
  assert.equal((await sent([{ userId: 'none' }])).status, 422)
  for (const variant of ['stateful', 'stateless'] as const) {
    const headers = await app.signIn(eve, variant)
    assert.equal(
      (await record({ method: 'POST', path: '/api/notifications/undo', headers })).status,
      409,
    )
    assert.equal((await record({ method: 'POST', path: '/logout', headers })).status, 204)
  }
})

test('the description is correct for what an operator does (I9)', async () => {
  const user = await app.user()
  const place = `/api/operator/users/${user.id}`
  const send = async (method: string, path: string, body?: object) => {
    const headers = { ...ofOperator, ...(body && json) }
    return record({ method, path, headers, ...(body && { body: JSON.stringify(body) }) })
  }
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
    assert.equal((await send('GET', `/api/operator/${path}`)).status, 200, path)
  assert.equal((await send('DELETE', '/api/operator/by-key/for-operator')).status, 200)
  const made = await send('POST', '/api/operator/keys', { name: 'shop', scopes: ['send'] })
  const key = `/api/operator/keys/${made.json().data.id}`
  assert.equal((await send('POST', `${key}/rotate`, { overlapHours: 1 })).status, 201)
  assert.equal((await send('DELETE', key)).status, 204)
  assert.equal((await send('POST', '/api/operator/outbox/retry', {})).status, 200)
  const row = { id: newId(app.now()), target: 'ann@example.org', at: app.now() }
  await app.store.write(addTestMail, row)
  for (const status of [204, 404])
    assert.equal((await send('DELETE', `/api/operator/outbox/${row.id}`)).status, status)
  assert.equal((await send('POST', `${place}/links`, { purpose: 'reset' })).status, 201)
  assert.equal((await send('POST', `${place}/links`, { purpose: 'invite' })).status, 409)
  for (const path of ['/sessions', '/factors'])
    assert.equal((await send('DELETE', place + path)).status, 204)
  for (const path of ['/disable', '/enable'])
    assert.equal((await send('POST', place + path)).status, 204)
  assert.equal((await send('DELETE', place)).status, 204)
  const own = `/api/operator/users/${boss.id}`
  assert.equal((await send('POST', `${own}/disable`)).status, 409)
  assert.equal((await send('DELETE', own)).status, 409)
  assert.equal((await record({ path: '/operator' })).status, 303)
  assert.equal((await record({ path: '/operator', headers: ofOperator })).status, 200)
  assert.equal((await record({ path: '/operator', headers: cookie })).status, 404)
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
  const body = JSON.stringify({
    currentPassword: user.password,
    newPassword: 'grey heron over the weir',
  })
  const headers = { ...json, ...(await app.signIn(user, 'stateful')) }
  assert.equal(
    (await record({ method: 'PUT', path: '/api/me/password', headers, body })).status,
    204,
  )
  const proof = await app.signIn({ ...user, password: 'grey heron over the weir' }, 'stateful')
  const { items } = await app.list(proof, '?category=security')
  const path = `/api/notifications/${items.at(-1)?.id}`
  const until = JSON.stringify({ until: '2026-06-01T00:00:00.000Z' })
  for (const [method, act, sent] of [
    ['DELETE', ''],
    ['PATCH', '/archive'],
    ['PATCH', '/snooze', until],
  ] as const) {
    const request =
      sent === undefined ? { headers: proof } : { headers: { ...json, ...proof }, body: sent }
    assert.equal((await record({ method, path: `${path}${act}`, ...request })).status, 409, act)
  }
})

test('the description is correct for what a user does with notifications (I9)', async () => {
  const until = JSON.stringify({ until: '2026-06-01T00:00:00.000Z' })
  const snooze = { method: 'PATCH', path: `/api/notifications/${id}/snooze`, body: until }
  for (const headers of [cookie, token]) {
    const [mistake] = await app.deliver({ to: ann, title: 'A mistake' })
    for (const [method, path, body] of [
      ['PATCH', `/api/notifications/${id}/unread`],
      ['POST', '/api/notifications/undo'],
      ['PATCH', `/api/notifications/${id}/archive`],
      ['PATCH', snooze.path, snooze.body],
      ['PATCH', `/api/notifications/${id}/unarchive`],
      ['POST', '/api/notifications/archive-read'],
      ['POST', '/api/notifications/seen', '{ "throughSeq": 2 }'],
      ['POST', '/api/notifications/undo'],
      ['DELETE', `/api/notifications/${mistake}`],
      ['DELETE', `/api/notifications/${mistake}`],
    ] as const) {
      const sent = body === undefined ? { headers } : { headers: { ...headers, ...json }, body }
      assert.equal((await record({ method, path, ...sent })).status, 204, path)
    }
    const foreignSnooze = { ...snooze, path: `/api/notifications/${foreign}/snooze` }
    assert.equal((await record({ ...foreignSnooze, headers: { ...headers, ...json } })).status, 404)
  }
})

test('the description is correct for many bulk acts at once (I9)', async () => {
  for (const path of ['read-all', 'archive-read', 'undo']) {
    const request = { method: 'POST', path: `/api/notifications/${path}`, headers: token }
    const responses = await Promise.all(Array.from({ length: 10 }, () => record(request)))
    assert.ok(responses.some(({ status }) => status === 429))
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
  const accept = { accept: 'text/html' }
  for (const path of [
    '/',
    '/reset',
    '/invite',
    '/demonstration',
    '/carillon-theme.css',
    '/carillon-logo',
  ])
    assert.equal((await record({ path, headers: accept })).status, 200)
  for (const path of ['/account', '/account/', '/inbox', '/inbox/']) {
    assert.equal((await record({ path, headers: accept })).status, 303)
    assert.equal(
      (await record({ path, headers: { ...accept, ...(await app.signIn(ann, 'stateful')) } }))
        .status,
      200,
    )
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
  const body = JSON.stringify({ username: 'guessed', password: 'not the password' })
  const sent = { method: 'POST', path: '/login', body, headers: json }
  for (let n = 0; n < 5; n++) assert.equal((await record(sent)).status, 401)
  assert.equal((await record(sent)).status, 429)
})

test('the description is correct for a user with a second factor (I9)', async () => {
  const careful = await carefulUser(app, 'careful')
  const { username, password, recoveryCodes } = careful
  const send = (path: string, body?: unknown, headers: Proof = {}) => {
    const text = body === undefined ? {} : { body: JSON.stringify(body) }
    return record({
      method: 'POST',
      path,
      headers: { ...(body !== undefined && json), ...headers },
      ...text,
    })
  }
  const login = () => send('/login', { username, password })
  const challenge = (await login()).json().error.challenge
  const complete = (factor: object) => send('/login/second-factor', { challenge, ...factor })
  assert.equal((await complete({ code: careful.app.wrongCode(app.now()) })).status, 401)
  assert.equal((await complete({ code: careful.app.code(app.now()) })).status, 200)
  assert.equal((await complete({ code: careful.app.code(app.now(), 1) })).status, 401)
  const session = await signInWithCode(app, careful, 'stateful')
  const stateless = await signInWithCode(app, careful, 'stateless')
  for (const proof of [session, stateless]) {
    assert.equal((await record({ path: '/api/me/factors', headers: proof })).status, 200)
    const { id: factorId, secret } = (await send('/api/me/factors/totp', {}, proof)).json().data
    const confirm = async (code: string) =>
      (await send('/api/me/factors/totp/confirm', { id: factorId, code }, proof)).status
    const app2 = new Authenticator(secret)
    assert.deepEqual(
      [
        await confirm(app2.wrongCode(app.now())),
        await confirm(app2.code(app.now())),
        await confirm('1'),
      ],
      [401, 200, 409],
    )
    const unknown = { id: newId(app.now()), code: '1' }
    assert.equal((await send('/api/me/factors/totp/confirm', unknown, proof)).status, 404)
    const { recoveryCodes: codes } = (
      await send('/api/me/factors/recovery-codes', undefined, proof)
    ).json().data
    const expected = proof === session ? 204 : 201
    assert.equal(
      (await send('/api/me/confirm', { recoveryCode: codes[0] }, proof)).status,
      expected,
    )
    assert.equal(
      (await send('/api/me/confirm', { recoveryCode: recoveryCodes[0] }, proof)).status,
      401,
    )
    assert.equal((await send('/api/me/confirm', { password }, proof)).status, 401)
    const path = `/api/me/factors/${factorId}`
    assert.equal(
      (await record({ method: 'DELETE', path, headers: proof })).status,
      proof === session ? 204 : 200,
    )
  }
  const plain = await app.signIn(await app.user('plain'), 'stateful')
  assert.equal((await send('/api/me/factors/recovery-codes', undefined, plain)).status, 409)
  for (let n = 0; n < 10; n++) {
    const { id: factorId, secret } = (await send('/api/me/factors/totp', undefined, plain)).json()
      .data
    const code = new Authenticator(secret).code(app.now())
    assert.equal(
      (await send('/api/me/factors/totp/confirm', { id: factorId, code }, plain)).status,
      200,
    )
  }
  assert.equal((await send('/api/me/factors/totp', {}, plain)).status, 409)
  const waiting = (await login()).json().error.challenge
  const third = (await send('/api/me/factors/totp', {}, session)).json().data
  const sealed = await app.store.read(factorsOf, careful.id)
  await app.database.change(
    `update factor set sealed_secret = 'of a lost secret' where user_id = '${careful.id}'`,
  )
  for (const [path, body, proof] of [
    ['/login/second-factor', { challenge: waiting, code: '123456' }, {}],
    ['/api/me/confirm', { code: '123456' }, session],
    ['/api/me/factors/totp/confirm', { id: third.id, code: '123456' }, session],
  ] as const)
    assert.equal(refusalIn(await send(path, body, proof)).code, 'FACTOR_UNREADABLE')
  for (const { id: factorId, sealedSecret } of sealed.factors)
    await app.database.change(
      `update factor set sealed_secret = '${sealedSecret}' where id = '${factorId}'`,
    )
  const wrong = { code: careful.app.wrongCode(app.now()) }
  for (let n = 0; n < 5; n++) await send('/login/second-factor', { challenge: waiting, ...wrong })
  assert.equal((await send('/login/second-factor', { challenge: waiting, ...wrong })).status, 429)
  // A signed-in user has a count of its own.
  for (let n = 0; n < 5; n++) await send('/api/me/confirm', wrong, session)
  assert.equal((await send('/api/me/confirm', wrong, session)).status, 429)
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
  const post = (path: string, body: object | undefined, headers = local) =>
    record({ method: 'POST', path, headers, ...(body && { body: JSON.stringify(body) }) })
  const sent = async (...request: Parameters<typeof post>) => (await post(...request)).status
  assert.equal(await sent('/login/passkey/options', {}), 200)
  assert.equal(await sent('/login/passkey/options', { challenge: 'none' }), 401)
  for (const variant of ['stateful', 'stateless'])
    assert.equal(await sent('/login/passkey', { ...(await signedByPasskey()), variant }), 200)
  const used = await signedByPasskey()
  for (const status of [200, 422]) assert.equal(await sent('/login/passkey', used), status)
  const { username, password } = holder
  const { challenge } = (await post('/login', { username, password })).json().error
  for (const [{ response }, status] of [
    [used, 422],
    [await signedByPasskey(), 200],
  ] as const)
    assert.equal(await sent('/login/second-factor', { challenge, passkey: response }), status)
  const proof = { ...local, ...(await sessionOf(await signedByPasskey())) }
  for (const [{ response }, status] of [
    [used, 422],
    [await signedByPasskey(), 204],
  ] as const)
    assert.equal(await sent('/api/me/confirm', { passkey: response }, proof), status)
  const creation = '/api/me/factors/passkeys/options'
  const bare = { host: localhost, cookie: proof.cookie ?? '' }
  const created = async (forgery?: Forgery) =>
    authenticator.create((await post(creation, undefined, bare)).json().data, forgery)
  const { passkey: second, response } = await created()
  for (const status of [201, 422])
    assert.equal(await sent('/api/me/factors/passkeys', { response }, proof), status)
  const again = { response: (await created({ id: second.id })).response }
  assert.equal(await sent('/api/me/factors/passkeys', again, proof), 409)
  assert.equal((await record({ method: 'DELETE', ...(await lastPasskey()) })).status, 409)
  const unknown = { response: { ...(await signedByPasskey()).response, id: 'AAAA', rawId: 'AAAA' } }
  const statuses: number[] = []
  while (statuses.at(-1) !== 429) statuses.push(await sent('/login/passkey', unknown))
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
    assert.equal((await record({ path: refused, headers: cookie })).status, 429)
  assert.ok(responses.length > 1)
  ended.abort()
})

test('the description is correct for the refusals of a delivery (I9)', async () => {
  const sound = { recipients: [{ username: 'ann' }], title: 'Hi' }
  const send = (body: unknown, headers: Proof = {}) =>
    record({
      method: 'POST',
      path: '/api/notifications',
      body: JSON.stringify(body),
      headers: { ...json, ...producer, ...headers },
    })
  const key = { 'idempotency-key': 'once' }
  assert.equal((await send(sound, key)).status, 201)
  assert.equal((await send(sound, key)).status, 201)
  assert.equal((await send({ ...sound, title: 'Ho' }, key)).status, 422)
  assert.equal((await send(sound, { 'idempotency-key': 'two words' })).status, 400)
  // The test blocks all writes, so the delivery that starts first runs until they are allowed again.
  const release = await app.database.holdWrites()
  const both = [
    send(sound, { 'idempotency-key': 'racing' }),
    send(sound, { 'idempotency-key': 'racing' }),
  ]
  assert.equal((await Promise.race(both)).status, 409)
  await release()
  assert.deepEqual((await Promise.all(both)).map(({ status }) => status).sort(), [201, 409])
  for (const invalid of [
    { url: 'javascript:alert(1)' },
    { data: { a: 'x'.repeat(9_000) } },
    { recipients: [] },
    { title: '' },
  ])
    assert.equal((await send({ ...sound, ...invalid })).status, 400)
})

test('the description is correct for the tokens of users and of sessions (I9)', async () => {
  const send = (method: string, to: string, headers: Proof, body?: object) =>
    record({
      method,
      path: to,
      headers: { ...json, ...headers },
      ...(body && { body: JSON.stringify(body) }),
    })
  const path = `/api/users/${resident.id}/tokens`
  for (const tokens of [path, `${externalPath}/tokens`]) {
    assert.equal((await send('POST', tokens, producer, { scope: 'inbox' })).status, 201)
    assert.equal((await send('DELETE', tokens, producer)).status, 204)
    const sessions = tokens.replace(/tokens$/, 'sessions')
    assert.equal((await send('DELETE', sessions, producer)).status, 204)
  }
  for (const unknown of ['/api/users/none/tokens', '/api/users/external/none/tokens'])
    assert.equal((await send('POST', unknown, producer, { scope: 'inbox' })).status, 404)
  for (const proof of [cookie, token])
    assert.equal((await send('POST', '/api/me/token', proof)).status, 201)
  const end = { at: app.now() }
  const external = await app.store.read(findUserByExternalId, {
    issuer: '',
    externalId: 'shop/customer-42',
  })
  for (const userId of [resident.id, external?.id ?? ''])
    await app.store.write(disableUser, { userId, ...end })
  for (const tokens of [path, `${externalPath}/tokens`])
    assert.equal((await send('POST', tokens, producer, { scope: 'inbox' })).status, 409)
  for (const userId of [resident.id, external?.id ?? ''])
    await app.store.write(enableUser, { userId })
})

test('the description is correct for the sessions of a user (I9)', async () => {
  const lea = await app.user()
  const own = await app.signIn(lea, 'stateless')
  const ended = await app.signIn(lea, 'stateful')
  const disowned = await app.signIn(lea, 'stateful')
  const idOf = async (proof: Proof) =>
    (await app.get('/api/me/sessions?limit=1', proof)).json().data.items[0].id
  const send = (method: string, path: string) =>
    record({ method, path: `/api/me/sessions${path}`, headers: own })
  assert.equal((await send('GET', '?limit=1')).status, 200)
  assert.equal((await send('DELETE', `/${await idOf(ended)}`)).status, 204)
  assert.equal((await send('POST', `/${await idOf(disowned)}/disown`)).status, 200)
  assert.equal((await send('DELETE', '')).status, 204)
})

test('the description is correct for what an application does with its users (I9)', async () => {
  const send = async (method: string, path: string, body?: unknown) => {
    const text = body === undefined ? {} : { body: JSON.stringify(body) }
    return (await record({ method, path, headers: { ...json, ...producer }, ...text })).status
  }
  const external = externalPath
  assert.equal(await send('PUT', '/api/users/external/new', { locale: 'en' }), 201)
  assert.equal(await send('PUT', external, {}), 200)
  assert.equal(await send('PUT', `${external}%41`, {}), 404)
  for (const path of [external, `/api/users/${resident.id}`]) {
    assert.equal(await send('GET', path), 200)
    assert.equal(await send('PATCH', path, { displayName: null, email: 'a@example.org' }), 200)
    assert.equal(await send('PATCH', path, { username: 'ann' }), 409)
  }
  for (const path of ['/api/users/external/nobody', '/api/users/nobody'])
    assert.equal(await send('PATCH', path, {}), 404)
  assert.equal(await send('POST', '/api/users', { username: 'lee' }), 201)
  assert.equal(await send('POST', '/api/users', { username: 'lee' }), 409)
  assert.equal(
    await send('PUT', '/api/users', {
      users: [{ externalId: 'a' }, { externalId: 'b', username: 'bo' }],
    }),
    200,
  )
  assert.equal(
    await send('PUT', '/api/users', { users: [{ externalId: 'c', username: 'bo' }] }),
    409,
  )
  assert.equal(await send('PUT', '/api/users', { users: [{}] }), 400)
  for (const query of ['', '?limit=1', '?search=lee', '?externalId=a'])
    assert.equal(await send('GET', `/api/users${query}`), 200)
})

test('the description is correct for changes by key (I9)', async () => {
  const send = async (method: string, path: string, given?: object) => {
    const headers = { ...producer, ...(given && json) }
    return (await record({ method, path, headers, ...(given && { body: JSON.stringify(given) }) }))
      .status
  }
  const calls = [
    ['PATCH', '', { title: 'Ho' }],
    ['POST', '/resolve'],
    ['DELETE', ''],
  ] as const
  await app.deliver({ to: [ann, eve], title: 'Hi', key: 'by key' })
  for (const [method, end, given] of calls) {
    assert.equal(await send(method, `/api/notifications/by-key/none${end}`, given), 404)
    const restore = replaceOperation(app.store, inboxesOf, async () => ({
      inboxes: 1_001,
      sentAt: '2026-01-01T00:00:00.000Z',
    }))
    assert.equal(await send(method, `/api/notifications/by-key/by%20key${end}`, given), 202)
    restore()
    await untilSo(async () => (await app.store.read(findKeyChange)) === undefined)
    if (method === 'DELETE') await app.deliver({ to: [ann, eve], title: 'Hi', key: 'by key' })
    assert.equal(await send(method, `/api/notifications/by-key/by%20key${end}`, given), 200)
  }
})

test('the description is correct for categories and what users mute (I9)', async () => {
  const send = async (method: string, path: string, headers: Proof, given?: object) => {
    const text = given === undefined ? {} : { body: JSON.stringify(given) }
    return (await record({ method, path, headers: { ...json, ...headers }, ...text })).status
  }
  const security = {
    name: { en: 'Security', de: 'Sicherheit' },
    description: 'Sign-ins',
    mandatory: true,
  }
  assert.equal(await send('PUT', '/api/categories/c0', producer, security), 204)
  assert.equal(await send('PUT', '/api/categories/c%41', producer, security), 404)
  assert.equal(await send('GET', '/api/categories/c0', producer), 200)
  assert.equal(await send('GET', '/api/categories/none', producer), 404)
  const others = Array.from({ length: 200 }, (_, n) =>
    send('PUT', `/api/categories/c${n + 1}`, producer, { name: 'A' }),
  )
  assert.equal((await Promise.all(others)).filter((status) => status === 409).length, 1)
  const mutes = (mutedUntil: string | null) => ({ mutedUntil, categories: { c1: { mutedUntil } } })
  for (const proof of [cookie, token]) {
    assert.equal(await send('PUT', '/api/me/preferences', proof, mutes('forever')), 204)
    assert.equal(await send('GET', '/api/me/preferences', proof), 200)
    assert.equal(await send('PUT', '/api/me/preferences', proof, mutes(null)), 204)
    assert.equal(
      await send('PUT', '/api/me/preferences', proof, {
        categories: { c0: { mutedUntil: 'forever' } },
      }),
      409,
    )
  }
})

test('the description is correct for push subscriptions (I9)', async () => {
  const path = '/api/me/push-subscriptions'
  const send = async (
    method: 'GET' | 'POST' | 'DELETE',
    { to = path, headers = cookie, body = {} } = {},
  ) => {
    const text = method === 'POST' ? { body: JSON.stringify(body) } : {}
    return (await record({ method, path: to, headers: { ...json, ...headers }, ...text })).status
  }
  const keys = {
    p256dh:
      'BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM',
    auth: 'tBHItJI5svbpez7KI4CCXg',
  }
  const bodyOf = (n: number) => ({ endpoint: `https://web.push.apple.com/${n}`, keys })
  for (let n = 0; n < 20; n++) assert.equal(await send('POST', { body: bodyOf(n) }), 204)
  assert.equal(await send('POST', { body: bodyOf(20) }), 409)
  assert.equal(
    await send('POST', { body: { ...bodyOf(0), endpoint: 'https://evil.example' } }),
    400,
  )
  assert.equal(await send('POST', { headers: {}, body: bodyOf(0) }), 401)
  assert.equal(await send('GET'), 200)
  const one = `${path}/${hashOf('https://web.push.apple.com/0')}`
  assert.deepEqual(
    [await send('DELETE', { to: one }), await send('DELETE', { to: one })],
    [204, 404],
  )
})

test('the description is correct for webhooks (I9)', async () => {
  const send = async (method: string, path: string, given?: object) => {
    const text = given === undefined ? {} : { body: JSON.stringify(given) }
    const headers = { ...producer, ...(given && json) }
    return record({ method, path: `/api/webhooks${path}`, headers, ...text })
  }
  const events = ['user.erased']
  const added = await send('POST', '', { events })
  assert.equal(added.status, 201)
  const sent = (await send('POST', '', { events, url: 'https://shop.example/' })).json().data.id
  const place = `/${added.json().data.id}`
  assert.equal((await send('GET', '')).status, 200)
  assert.equal((await send('GET', `${place}/events`)).status, 200)
  assert.equal((await send('GET', `/${sent}/events`)).status, 409)
  const ended = new AbortController()
  const held = Array.from({ length: 60 }, () =>
    fetch(`${app.url}/api/webhooks${place}/events?wait=25`, {
      headers: producer,
      signal: ended.signal,
    }).catch(() => {}),
  )
  await Promise.race(held)
  assert.equal((await send('GET', `${place}/events?wait=25`)).status, 429)
  ended.abort()
  assert.equal((await send('PATCH', place, { events })).status, 200)
  for (const url of ['ftp://shop.example/', 'https://10.0.0.1/', 'http://shop.example/'])
    assert.equal((await send('POST', '', { events, url })).status, 400)
  const statuses: number[] = []
  while (statuses.at(-1) !== 409) statuses.push((await send('POST', '', { events })).status)
  assert.equal((await send('DELETE', place)).status, 204)
  for (const [method, path] of [
    ['PATCH', place],
    ['DELETE', place],
    ['GET', `${place}/events`],
  ] as const)
    assert.equal(
      (await send(method, path, method === 'PATCH' ? { events } : undefined)).status,
      404,
    )
})

test('the description is correct for one-time links (I9)', async () => {
  const send = async (path: string, data: object, headers: object = {}) =>
    record({ method: 'POST', path, headers: { ...json, ...headers }, body: JSON.stringify(data) })
  const nameless = { newId: newId(app.now()), externalId: 'nameless' }
  const lee = await app.user('lee-of-links')
  await app.store.write(putUsers, { issuer: '', at: app.now(), users: [nameless] })
  const purpose = 'reset'
  for (const path of ['/api/users/external/nameless/links', `/api/users/${nameless.newId}/links`])
    assert.equal((await send(path, { purpose }, producer)).status, 409)
  for (const path of ['/api/users/external/nobody/links', '/api/users/nobody/links'])
    assert.equal((await send(path, { purpose }, producer)).status, 404)
  await app.store.write(updateUser, { userId: nameless.newId, username: 'kim-of-links' })
  assert.equal(
    (await send('/api/users/external/nameless/links', { purpose }, producer)).status,
    201,
  )
  // An invitation of a user who has got a way to sign in since.
  const invitation = await send(
    '/api/users/external/nameless/links',
    { purpose: 'invite' },
    producer,
  )
  const account = { issuer: 'https://id.example.org', subject: 'kim', email: null, at: app.now() }
  const kim = { userId: nameless.newId }
  assert.equal(await app.store.write(linkProviderAccount, { ...account, ...kim }), 'done')
  const invited = {
    token: JSON.parse(invitation.text).data.url.split('#')[1],
    newPassword: 'grey heron over the weir',
  }
  assert.equal((await send('/password/reset', invited)).status, 409)
  const made = await send(`/api/users/${lee.id}/links`, { purpose }, producer)
  const use = {
    token: JSON.parse(made.text).data.url.split('#')[1],
    newPassword: 'grey heron over the weir',
  }
  const { token: ofLink } = use
  assert.equal((await send('/password/link', { token: ofLink })).status, 200)
  for (const status of [204, 422]) assert.equal((await send('/password/reset', use)).status, status)
  const signingIn = [
    [await app.user(), 200],
    [await carefulUser(app), 401],
  ] as const
  for (const [{ id: userId }, status] of signingIn) {
    const link = JSON.parse((await send(`/api/users/${userId}/links`, { purpose }, producer)).text)
      .data.url
    const reset = { ...use, token: link.split('#')[1], variant: 'stateful' }
    assert.equal((await send('/password/reset', reset)).status, status)
  }
  assert.equal((await send('/password/link', { token: ofLink })).status, 422)
  assert.equal((await send('/password/forgot', { username: 'nobody' })).status, 202)
  for (let n = 0; n < 100; n++) await app.post('/password/reset', use)
  assert.equal((await send('/password/reset', use)).status, 429)
  assert.equal((await send('/password/link', { token: ofLink })).status, 429)
  await app.store.write(forgetGuesses, { prefix: 'address ' })
})

test('the description is correct for a service without a mail server, or a contact (I9)', async () => {
  const without = await startTestService()
  for (const [path, body] of [
    ['/password/forgot', { username: 'ann' }],
    ['/forgot', { account: 'ann' }],
  ] as const) {
    const response = await without.post(path, body)
    const described = api.find('POST', path) as Described
    note(described, `${api.promises(described, response)} ${refusalIn(response).code}`)
  }
  const contact = await without.get('/.well-known/security.txt')
  const described = api.find('GET', '/.well-known/security.txt') as Described
  note(described, `${api.promises(described, contact)} ${refusalIn(contact).code}`)
  await without.stop()
})

test('the description is correct for the test notification of the only user (I9)', async () => {
  const single = await startTestService()
  const proof = await single.signIn(await single.user(), 'stateful')
  const described = api.find('POST', '/api/me/test-notification') as Described
  for (let n = 0; n < 11; n++) {
    const response = await single.post('/api/me/test-notification', undefined, proof)
    const code = response.status === 204 ? '' : ` ${refusalIn(response).code}`
    note(described, `${api.promises(described, response)}${code}`)
  }
  await single.stop()
})

test('the description is correct for a new password of a signed-in user (I9)', async () => {
  const reader = await app.user('careless')
  const proof = await app.signIn(reader, 'stateful')
  const set = async (currentPassword: string, by: Proof = proof) => {
    const sent = JSON.stringify({ currentPassword, newPassword: 'grey heron over the weir' })
    return (
      await record({
        method: 'PUT',
        path: '/api/me/password',
        headers: { ...json, ...by },
        body: sent,
      })
    ).status
  }
  assert.equal(await set(reader.password), 204)
  const replaced = await client.request({ path: '/api/session', headers: proof })
  const described = api.find('GET', '/api/session') as Described
  note(described, `${api.promises(described, replaced)} ${refusalIn(replaced).code}`)
  const other = await app.user('careless-too')
  assert.equal(await set(other.password, await app.signIn(other, 'stateless')), 200)
  for (let n = 0; n < 5; n++) assert.equal(await set('wrong'), 401)
  assert.equal(await set('wrong'), 429)
})

test('the description is correct for a user who is erased (I9)', async () => {
  const gone = await app.user('gone')
  await app.store.write(putUsers, {
    issuer: '',
    at: app.now(),
    users: [{ newId: newId(app.now()), externalId: 'gone' }],
  })
  for (const path of [`/api/users/${gone.id}`, '/api/users/external/gone'])
    for (const status of [204, 404])
      assert.equal((await record({ method: 'DELETE', path, headers: producer })).status, status)
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
  assert.equal((await record({ path: '/api/me/export', headers: leaving })).status, 429)
  released.resolve()
  assert.equal((await first).status, 200)
  restore?.()
  assert.equal((await record({ path: '/api/me/export', headers: leaving })).status, 200)
  assert.equal((await record({ method: 'DELETE', path: '/api/me', headers: leaving })).status, 204)
  const staying = await app.signIn(boss, 'stateful')
  assert.equal((await record({ method: 'DELETE', path: '/api/me', headers: staying })).status, 409)
})

test('the description is correct for a sign-in with a provider (I9)', async () => {
  const browser = new ProviderBrowser({
    app,
    provider,
    send: (path, headers) => record({ path, headers }),
  })
  assert.equal((await record({ path: '/login/providers' })).status, 200)
  assert.equal((await browser.signIn('staff', 'kim')).status, 303)
  const post = (body: object, headers: Proof = {}) =>
    record({
      method: 'POST',
      path: '/login/with/staff',
      body: JSON.stringify(body),
      headers: { ...json, ...headers },
    })
  const often = new ProviderBrowser({
    app,
    provider,
    send: (path, headers) => record({ path, headers }),
  })
  const statuses: number[] = []
  while (statuses.at(-1) !== 429) statuses.push((await often.signIn('staff', 'often')).status)
  // The first one creates the user, and is not counted.
  assert.deepEqual([statuses.length, statuses.at(-2)], [62, 303])
  const code = await browser.code('staff', 'kim')
  assert.equal((await post({ code }, browser.proof)).status, 200)
  assert.equal((await post({ code }, browser.proof)).status, 401)
  const careful = new ProviderBrowser({
    app,
    provider,
    send: (path, headers) => record({ path, headers }),
  })
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
  const waiting = await post({ code: await careful.code('staff', 'careful') }, careful.proof)
  assert.equal(refusalIn(waiting).code, 'SECOND_FACTOR_REQUIRED')
  const begin = async (name: string, headers: Proof) =>
    (
      await record({
        method: 'POST',
        path: `/login/with/${name}/start`,
        body: '{}',
        headers: { ...json, ...headers },
      })
    ).status
  assert.equal(await begin('staff', { origin: app.url }), 303)
  assert.equal(await begin('none', { origin: app.url }), 404)
  assert.equal(await begin('staff', {}), 403)
  const stranger = {
    method: 'POST',
    path: '/login/with/none',
    body: JSON.stringify({ code }),
    headers: json,
  }
  assert.equal((await record(stranger)).status, 404)
  const { location } = await browser.start('staff')
  const cancelled = await browser.send(await provider.cancel(location, `${app.url}/login/with/`))
  assert.equal(cancelled.status, 403)
})

test('the description is correct for accounts at providers, and for the own profile (I9)', async () => {
  const send = (path: string, headers: Proof) => record({ path, headers })
  const taken = new ProviderBrowser({ app, provider, send })
  await taken.signIn('staff', 'lee')
  const linked = '/api/me/providers/staff'
  const remove = (headers: Proof) => record({ method: 'DELETE', path: linked, headers })
  assert.equal((await remove(taken.proof)).status, 409)
  const user = await app.user()
  for (const [subject, status] of [['lee', 409] as const, ['mia', 303] as const]) {
    const browser = new ProviderBrowser({ app, provider, send })
    const proof = await app.signIn(user, 'stateful')
    browser.jar.set('carillon', proof.cookie?.split('=')[1] ?? '')
    const begun = await record({
      method: 'POST',
      path: `${linked}/link`,
      headers: { ...json, ...proof },
      body: '{}',
    })
    assert.equal(begun.status, 201)
    browser.keep(begun)
    assert.equal((await browser.comeBack(begun.json().data.url, subject)).status, status)
    assert.equal((await record({ path: '/api/me/providers', headers: browser.proof })).status, 200)
  }
  const proof = await app.signIn(user, 'stateful')
  for (const status of [204, 404]) assert.equal((await remove(proof)).status, status)
  const at = app.now()
  const link = { issuer: provider.url, subject: 'mia', userId: user.id, email: null, at }
  assert.equal(await app.store.write(linkProviderAccount, link), 'done')
  assert.equal((await remove(await app.signIn(user, 'stateless'))).status, 200)
  const begin = { method: 'POST', body: '{}' }
  const recent = { ...json, ...(await app.signIn(user, 'stateful')) }
  assert.equal(
    (await record({ ...begin, headers: recent, path: '/api/me/providers/none/link' })).status,
    404,
  )
  const profile = { path: '/api/me', body: JSON.stringify({ locale: 'en' }), headers: recent }
  assert.equal((await record({ ...profile, method: 'PATCH' })).status, 200)
})

test('the description is correct for a sign-in that can only set up a second factor (I9)', async () => {
  const proof = { ...local, ...settingUp }
  const send = async (
    path: string,
    body?: object,
    headers: Proof = body === undefined ? { ...settingUp, host: localhost } : proof,
  ) =>
    record({
      method: 'POST',
      path: `/api/me/factors${path}`,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    })
  const link = 'x'.repeat(43)
  const { id: factorId, secret } = (await send('/totp', {})).json().data
  const code = new Authenticator(secret).code(app.now())
  assert.equal((await send('/totp/confirm', { id: factorId, code, link })).status, 422)
  const { response } = authenticator.create((await send('/passkeys/options')).json().data)
  assert.equal((await send('/passkeys', { response, link })).status, 422)
  assert.equal((await send('/link')).status, 409)
  const verified = { email: 'setting@example.org', emailVerifiedAt: app.now() }
  await app.store.write(updateUser, { userId: setting.id, ...verified })
  assert.equal((await send('/link')).status, 202)
  const asPage = { ...settingUp, accept: 'text/html' }
  const form = { ...asPage, 'content-type': 'application/x-www-form-urlencoded' }
  assert.equal(
    (await record({ method: 'POST', path: '/api/me/factors/link', headers: form, body: '' }))
      .status,
    303,
  )
  const statuses: number[] = []
  while (statuses.at(-1) !== 429) statuses.push((await send('/link')).status)
})

test('the description is correct for a user who changed the account too often (I9)', async () => {
  const busy = await app.user('busy')
  const proof = { ...local, ...(await app.signIn(busy, 'stateful')) }
  const send = async (method: string, path: string, body?: object) => {
    const { 'content-type': _, ...bare } = proof as Proof
    const sent = { method, path: `/api/me${path}`, headers: body === undefined ? bare : proof }
    return record({ ...sent, ...(body && { body: JSON.stringify(body) }) })
  }
  const { id: factorId, secret } = (await send('POST', '/factors/totp')).json().data
  const creation = (await send('POST', '/factors/passkeys/options')).json().data
  const { response } = new SoftwareAuthenticator({ origin: `http://${localhost}` }).create(creation)
  for (const kind of ['changes', 'fresh', 'defences', 'ends']) {
    const rate = { key: `user ${busy.id} ${kind}`, intervalMs: 60_000, burst: 60 }
    for (let n = 0; n < 60; n++)
      await app.store.write(reserveGuess, { limits: [rate], at: app.now() })
  }
  const changes: Parameters<typeof send>[] = [
    ['PATCH', '', { displayName: 'Busy' }],
    ['POST', '/factors/passkeys', { response }],
    [
      'POST',
      '/factors/totp/confirm',
      { id: factorId, code: new Authenticator(secret).code(app.now()) },
    ],
    ['POST', '/factors/recovery-codes'],
    ['DELETE', `/factors/${newId(app.now())}`],
    ['DELETE', '/providers/staff'],
    ['DELETE', '/sessions'],
    ['DELETE', `/sessions/${newId(app.now())}`],
    ['POST', `/sessions/${newId(app.now())}/disown`],
  ]
  for (const change of changes) assert.equal((await send(...change)).status, 429, change.join(' '))
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
  const link = { method: 'POST', path: `${path}/link`, headers: { ...json, ...stale }, body: '{}' }
  for (const request of [link, { method: 'DELETE', path, headers: stale }])
    assert.equal(refusalIn(await record(request)).code, 'FRESH_SIGN_IN_REQUIRED')
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
  ]) {
    const response = await unbuilt.get(path)
    const described = api.find('GET', path) as Described
    note(described, `${api.promises(described, response)} ${refusalIn(response).code}`)
  }
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
