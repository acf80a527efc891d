import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, beforeEach, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { listAudit } from '../../../server/audit/audit.store.ts'
import type { AuditEntry } from '../../../server/store/events.ts'
import { startTestService } from '../../support/service.ts'

const written: string[] = []
const log = pino({ level: 'info', base: null }, { write: (line: string) => written.push(line) })
const app = await startTestService({ log, env: { CARILLON_TRUSTED_PROXIES: '127.0.0.1' } })
after(() => app.stop())
beforeEach(() => {
  written.length = 0
})

const from = (address: string) => ({ 'x-forwarded-for': address, 'user-agent': 'Firefox "quoted"' })
const entries = (query: { userId?: string } = {}) =>
  app.store.read(listAudit, { limit: 500, ...query })
const lines = () =>
  written.map((line) => JSON.parse(line)).filter(({ auditId }) => auditId !== undefined)

/** Refusals are stored beside the requests. */
async function until<Found>(find: () => Promise<Found | undefined | false>): Promise<Found> {
  for (let tries = 0; tries < 500; tries++) {
    const found = await find()
    if (found !== undefined && found !== false) return found
    await sleep(10)
  }
  throw new Error('It did not happen')
}

test('a sign-in and a sign-out are one row and one line each, with who, when, address, user agent and request (A16, L2)', async () => {
  const user = await app.user()
  written.length = 0
  const response = await app.post(
    '/login',
    { ...user, id: undefined, variant: 'stateless' },
    from('203.0.113.5'),
  )
  const requestId = response.headers.get('x-request-id')
  const proof = { authorization: `Bearer ${response.json().token}` }
  await app.post('/logout', undefined, { ...proof, ...from('203.0.113.6') })
  const [out, signIn, ...earlier] = await entries({ userId: user.id })
  assert.deepEqual(
    earlier.map(({ event }) => event),
    ['user-created'],
  )
  assert.deepEqual(
    [signIn, out].map((entry) => [
      entry?.event,
      entry?.actor,
      entry?.address,
      entry?.userAgent,
      entry?.at,
    ]),
    [
      ['sign-in', 'user', '203.0.113.5', 'Firefox "quoted"', app.now()],
      ['sign-out', 'user', '203.0.113.6', 'Firefox "quoted"', app.now()],
    ],
  )
  assert.ok(signIn?.signInId)
  assert.equal(out?.signInId, signIn.signInId)
  if (requestId !== null) assert.equal(signIn.requestId, requestId)
  const found = lines()
  assert.deepEqual(
    found.map(({ event, userId, signInId, address }) => ({ event, userId, signInId, address })),
    [signIn, out].map(({ event, userId, signInId, address }) => ({
      event,
      userId,
      signInId,
      address,
    })),
  )
  assert.deepEqual(
    found.map(({ auditId, username, userAgent }) => [auditId, username, userAgent]),
    [signIn, out].map(({ id, userAgent }) => [id, user.username, userAgent]),
  )
})

test('changes by an application name its key, and each is one row and one line (A16)', async () => {
  const { id: keyId, key } = await app.producerKey(['users'])
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    ...from('203.0.113.9'),
  }
  const send = async (method: string, path: string, body?: object) => {
    const response = await app.request(path, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    })
    assert.ok(response.status < 300, `${method} ${path}: ${response.text}`)
    return response
  }
  written.length = 0
  const created = await send('PUT', '/api/users/external/a1', { displayName: 'Ann' })
  const { id } = created.json().data
  await send('PUT', '/api/users/external/a1', { displayName: 'Ann' })
  await send('PUT', '/api/users/external/a1', { displayName: 'Anna' })
  await send('PATCH', `/api/users/${id}`, { email: 'ann@example.org' })
  await send('PATCH', `/api/users/${id}`, { disabled: true })
  await send('PATCH', `/api/users/${id}`, { disabled: false })
  await send('DELETE', `/api/users/${id}/tokens`)
  await send('PUT', '/api/users', { users: [{ externalId: 'a1' }, { externalId: 'a2' }] })
  const expected = [
    'user-created',
    'user-changed',
    'user-changed',
    'user-disabled',
    'user-enabled',
    'tokens-revoked',
  ]
  const own = await entries({ userId: id })
  assert.deepEqual(own.map(({ event }) => event).toSorted(), expected.toSorted())
  for (const { actor, address, requestId } of own)
    assert.deepEqual(
      [actor, address, typeof requestId],
      [`producer:${keyId}`, '203.0.113.9', 'string'],
    )
  const events = lines().map(({ event }) => event)
  assert.deepEqual(events, [...expected, 'user-created', 'users-imported'])
  const imported = (await entries()).find(({ event }) => event === 'users-imported')
  assert.deepEqual(imported?.detail, { created: 1, updated: 1 })
})

test('refusals that are counted when their user is erased are stored without the user (A16, U2)', async () => {
  const { key } = await app.producerKey(['users'])
  const user = await app.user()
  for (let n = 0; n < 25; n++)
    await app.post('/login', { username: user.username, password: 'wrong' }, from('203.0.113.21'))
  await until(async () => (await entries({ userId: user.id })).length > 10)
  const headers = { authorization: `Bearer ${key}` }
  assert.equal(
    (await app.request(`/api/users/${user.id}`, { method: 'DELETE', headers })).status,
    204,
  )
  await app.restart()
  const counted = (await entries()).find(
    ({ address, count }) => address === '203.0.113.21' && count === 15,
  )
  assert.equal(counted?.userId, null)
  assert.ok(!JSON.stringify(await entries()).includes(user.id))
})

test('a challenge that is unknown or was used is a refusal, in the name of nobody (A16)', async () => {
  const user = await app.user()
  const challenge = `${user.id}.${'A'.repeat(22)}.${'A'.repeat(43)}`
  const response = await app.post(
    '/login/second-factor',
    { challenge, code: '123456' },
    from('203.0.113.22'),
  )
  assert.equal(response.status, 401)
  const refused = await until(async () =>
    (await entries()).find(({ address }) => address === '203.0.113.22'),
  )
  assert.deepEqual(
    [refused.event, refused.userId, refused.detail?.code],
    ['sign-in-refused', null, 'UNAUTHORIZED'],
  )
  assert.ok(!written.join().includes('A'.repeat(43)))
})

test('refusals are rows: ten of one account and address in a minute, then one with the count (A16, L1)', async () => {
  const user = await app.user()
  const address = '203.0.113.20'
  const statuses: number[] = []
  for (let n = 0; n < 25; n++) {
    const { status } = await app.post(
      '/login',
      { username: user.username, password: 'wrong' },
      from(address),
    )
    statuses.push(status)
  }
  assert.ok(statuses.every((status) => status === 401 || status === 429))
  await app.restart()
  const own = (await entries({ userId: user.id })).filter(
    ({ event }) => event === 'sign-in-refused',
  )
  const counted = own.filter(({ count, requestId }) => count > 1 || requestId === null)
  assert.equal(own.length - counted.length, 10)
  assert.deepEqual(
    counted.map(({ count, address: of }) => [count, of]),
    [[15, address]],
  )
  const single = own.filter(({ requestId }) => requestId !== null)
  for (const { detail, userAgent } of single) {
    assert.equal(detail?.route, '/login')
    assert.equal(userAgent, 'Firefox "quoted"')
  }
  const refusedLines = lines().filter(
    ({ event, userId }) => event === 'sign-in-refused' && userId === user.id,
  )
  assert.equal(refusedLines.length, own.length)
})

test('a user sees the own entries in pages, and neither those of another user nor the key of an application (A16)', async () => {
  const ann = await app.user()
  const ben = await app.user()
  const { id: keyId, key } = await app.producerKey(['users'])
  const proof = await app.signIn(ann, 'stateful')
  await app.signIn(ben, 'stateful')
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ displayName: 'Ann' })
  await app.request(`/api/users/${ann.id}`, { method: 'PATCH', headers, body })
  const seen: Record<string, unknown>[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const response = await app.get(
      `/api/me/activity?limit=1${cursor === '' ? '' : `&after=${cursor}`}`,
      proof,
    )
    assert.equal(response.status, 200, response.text)
    const { items, next } = response.json().data
    assert.ok(items.length <= 1)
    seen.push(...items)
    cursor = next
  }
  assert.deepEqual(
    seen.map(({ event, actor, address }) => [event, actor, address]),
    [
      ['user-changed', 'application', null],
      ['sign-in', 'user', '127.0.0.1'],
      ['user-created', 'service', null],
    ],
  )
  assert.deepEqual(seen[0]?.detail, { fields: 'displayName' })
  assert.deepEqual(
    seen.map(({ device }) => device),
    [null, 'node', null],
  )
  const text = JSON.stringify(seen)
  for (const secret of [ben.id, keyId]) assert.ok(!text.includes(secret))
  assert.equal((await app.get('/api/me/activity')).status, 401)
  assert.equal((await app.get('/api/me/activity', await app.issueToken(ann))).status, 403)
  assert.equal((await app.get('/api/me/activity?limit=0', proof)).status, 400)
  const foreign = (await entries({ userId: ben.id })).at(0) as AuditEntry
  const response = await app.get(`/api/me/activity?after=${foreign.id}`, proof)
  assert.ok(!response.text.includes(ben.id))
})

test('the rule for fail2ban in docs/operations/audit.md finds the address in every line of a refusal, and in no other line', async () => {
  const page = readFileSync('docs/operations/audit.md', 'utf8')
  const rule = /^failregex = (.+)$/m.exec(page)?.[1] ?? assert.fail('there is no failregex')
  const pattern = new RegExp(rule.replace('<HOST>', '(?<host>[\\da-fA-F:.]+)'))
  const user = await app.user()
  const forged = '","event":"sign-in-refused","address":"192.0.2.66"'
  const hosts = ['203.0.113.41', '2001:db8::41']
  for (const host of hosts) {
    const headers = { ...from(host), 'user-agent': forged }
    await app.post('/login', { username: user.username, password: 'wrong' }, headers)
    await app.post('/login', { username: forged, password: 'wrong' }, headers)
  }
  await app.signIn(user, 'stateful')
  const proof = await app.signIn(user, 'stateless')
  await app.post('/logout', undefined, { ...proof, 'user-agent': forged })
  const found = written.map((line) => [JSON.parse(line).event, pattern.exec(line)?.groups?.host])
  assert.deepEqual(
    found.filter(([event]) => event === 'sign-in-refused').map(([, host]) => host),
    hosts.flatMap((host) => [host, host]),
  )
  const others = found.filter(([event]) => event !== 'sign-in-refused')
  assert.ok(others.length >= 3)
  for (const [event, host] of others) assert.equal(host, undefined, event)
})
