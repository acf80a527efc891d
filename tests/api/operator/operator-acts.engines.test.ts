// Each act has its effect, an entry in the audit log, and a notice to the user (O1).
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { listAudit, recordLogged } from '../../../server/audit/audit.store.ts'
import { auditEntry, serviceSource } from '../../../server/audit/entry.ts'
import { iso } from '../../../server/basics/clock.ts'
import { newId } from '../../../server/basics/ids.ts'
import { changePreferences } from '../../../server/preferences/preferences.store.ts'
import { addTestMail } from '../../../server/reach/outbox.store.ts'
import { setRole } from '../../../server/users/access/roles.store.ts'
import { putUsers } from '../../../server/users/put-users.store.ts'
import { findUser, updateUser } from '../../../server/users/users.store.ts'
import { untilSo } from '../../support/processes/nodes.ts'
import { startTestService, type TestUser } from '../../support/service.ts'
import { addConfirmedApp } from '../../support/sign-in/confirmed-app.ts'

const app = await startTestService()
after(() => app.stop())
const boss = await app.user('boss')
await app.store.write(setRole, { userId: boss.id, role: 'operator' })
const proof = await app.signIn(boss, 'stateful')
const people = '/api/operator/users'

const get = async (path: string) => (await app.get(path, proof)).json().data
const lastEntry = async (userId: string) =>
  (await app.store.read(listAudit, { userId, limit: 1 }))[0]
const namesOf = async (search: string) =>
  (await get(`${people}?search=${encodeURIComponent(search)}`)).items.map(
    ({ username, externalId }: { username: string | null; externalId: string | null }) =>
      username ?? externalId,
  )

test('a search finds users by the beginning of name, address or external id, or by id, and takes every text as it is (O1)', async () => {
  const ann = await app.user('ann-search')
  await app.store.write(updateUser, {
    userId: ann.id,
    displayName: '100% Ann_Lee',
    email: 'A.lee@Example.org',
  })
  await app.store.write(putUsers, {
    issuer: '',
    at: app.now(),
    users: ['shop/42', 'Shop/43'].map((externalId) => ({ newId: newId(app.now()), externalId })),
  })
  for (const text of ['ANN-S', 'ann-search', 'a.LEE@example', '100%', '100% ann_l', ann.id])
    assert.deepEqual(await namesOf(text), ['ann-search'], text)
  assert.deepEqual(await namesOf('shop/4'), ['shop/42'])
  const others = [
    'search',
    '%',
    '%%',
    '_',
    '__',
    'ann%',
    '\u0001',
    '\u202e',
    "' or 1=1 --",
    '\u{10ffff}',
  ]
  for (const text of others) assert.deepEqual(await namesOf(text), [], text)
  for (const text of ['a'.repeat(256), 'a'.repeat(10_000), '%00', '%ff', '%ed%a0%80'])
    assert.equal((await app.get(`${people}?search=${text}`, proof)).status, 400, text)
  const first = await get(`${people}?limit=1`)
  const rest = await get(`${people}?after=${first.next}`)
  assert.ok(!rest.items.some(({ id }: { id: string }) => id === first.items[0].id))
})

test('a search returns the first 50 of many users, and an exact name among them (O1)', async () => {
  const at = app.now()
  const users = Array.from({ length: 120 }, (_, n) => ({
    newId: newId(at + n),
    externalId: `many/${1 + n}`,
  }))
  await app.store.write(putUsers, { issuer: '', at, users })
  const found = await namesOf('many/1')
  assert.deepEqual([found.length, found[0]], [32, 'many/1'])
  assert.equal((await namesOf('many/')).length, 50)
  assert.deepEqual(await namesOf('many/120'), ['many/120'])
})

test('names and devices of users are escaped, so that they turn no text and control nothing (O1)', async () => {
  const user = await app.user('turned')
  await app.store.write(updateUser, { userId: user.id, displayName: 'Ann\u202eeel\u0007' })
  const { items } = await get(`${people}?search=turned`)
  assert.equal(items[0].displayName, 'Ann\\u202eeel\\u0007')
})

test('a view of a user has sign-ins, devices, factors, counts and mutes, and is in the audit log (O1)', async () => {
  const user = await app.user()
  await app.signIn(user, 'stateful')
  await app.signIn(user, 'stateless')
  await app.deliver({ to: user, title: 'Hi', category: 'news' })
  const now = iso(app.now())
  const mutedUntil = iso(app.now() + 3_600_000)
  const mutes = [{ category: 'news', mutedUntil }]
  const mails = [{ category: 'ads', mail: 'off' as const }]
  await app.store.write(changePreferences, { userId: user.id, choices: [...mutes, ...mails], now })
  const whole = await get(`${people}/${user.id}`)
  assert.deepEqual(whole.mutes, mutes)
  assert.deepEqual(whole.signIns.map(({ variant }: { variant: string }) => variant).sort(), [
    'stateful',
    'stateless',
  ])
  assert.deepEqual(whole.inbox, { total: 1, unread: 1, unseen: 1, archived: 0, snoozed: 0 })
  const entry = await lastEntry(user.id)
  assert.deepEqual([entry?.event, entry?.actor], ['user-viewed', `operator:${boss.id}`])
  assert.equal((await app.get(`${people}/${newId(app.now())}`, proof)).status, 404)
})

test('each act on a user takes effect, and is an entry and a notice (O1)', async () => {
  const user = await app.user()
  const place = `${people}/${user.id}`
  const acts: [method: string, path: string, event: string][] = [
    ['DELETE', `${place}/sessions`, 'user-signed-out'],
    ['DELETE', `${place}/factors`, 'factors-reset'],
    ['POST', `${place}/links`, 'link-created'],
    ['POST', `${place}/disable`, 'user-disabled'],
    ['POST', `${place}/enable`, 'user-enabled'],
  ]
  const session = await app.signIn(user, 'stateful')
  await addConfirmedApp(app, user.id)
  for (const [method, path, event] of acts) {
    const body = path.endsWith('links') && { purpose: 'reset' }
    const init = {
      method,
      headers: { ...proof, ...(body && { 'content-type': 'application/json' }) },
    }
    const response = await app.request(path, {
      ...init,
      ...(body && { body: JSON.stringify(body) }),
    })
    assert.equal(response.status, body ? 201 : 204, `${path}: ${response.text}`)
    if (body) assert.match(response.json().data.url, /\/reset#[\w-]{43}$/)
    const entry = await lastEntry(user.id)
    assert.deepEqual([entry?.event, entry?.actor], [event, `operator:${boss.id}`])
  }
  assert.equal((await app.get('/api/me', session)).status, 401)
  const token = await app.issueToken(user)
  const { items } = await app.everything(token, '&category=security')
  assert.equal(items.length, acts.length, items.map(({ title }) => title).join())
  assert.equal((await app.delete(place, proof)).status, 204)
  assert.equal(await app.store.read(findUser, user.id), undefined)
  for (const [method, path] of [
    ['POST', '/disable'],
    ['DELETE', ''],
  ] as const)
    assert.equal(
      (await app.request(`${people}/${boss.id}${path}`, { method, headers: proof })).status,
      409,
    )
})

test('what waits to be sent is listed, due at once, and dropped, with an entry for each act (O1)', async () => {
  const at = app.now()
  const first = newId(at)
  const second = newId(at)
  for (const id of [first, second])
    await app.store.write(addTestMail, { id, target: 'ann@example.org', at: at + 3_600_000 })
  const waiting = async () => (await get('/api/operator/outbox')).waiting
  assert.deepEqual(
    (await waiting()).map(({ id, kind, dueAt }: Record<string, string>) => [id, kind, dueAt]),
    [first, second].sort().map((id) => [id, 'test', iso(at + 3_600_000)]),
  )
  const retry = (body: object) => app.post('/api/operator/outbox/retry', body, proof)
  assert.deepEqual((await retry({ id: first })).json().data, { retried: 1 })
  assert.equal((await waiting())[0].dueAt, iso(at))
  assert.deepEqual((await retry({})).json().data, { retried: 2 })
  const last = async () => (await app.store.read(listAudit, { limit: 1 }))[0]
  assert.deepEqual(
    [(await last())?.event, (await last())?.actor],
    ['outbox-retried', `operator:${boss.id}`],
  )
  for (const status of [204, 404])
    assert.equal((await app.delete(`/api/operator/outbox/${first}`, proof)).status, status)
  assert.deepEqual((await retry({ id: first })).json().data, { retried: 0 })
  assert.equal((await app.delete(`/api/operator/outbox/${second}`, proof)).status, 204)
  assert.equal((await last())?.event, 'outbox-dropped')
  assert.deepEqual(await waiting(), [])
})

test('each operator has a notice of a webhook that was disabled and of a mail server that refuses, others have none (O1)', async () => {
  const user = await app.user()
  const of = (event: 'webhook-disabled' | 'mails-refused' | 'tidying-failed', detail = {}) =>
    auditEntry(serviceSource, { event, at: app.now(), detail })
  const webhook = of('webhook-disabled', { webhookId: 'w1', reason: 'status-500' })
  await app.store.write(recordLogged, [webhook, of('mails-refused'), of('tidying-failed')])
  const noticesOf = async (reader: TestUser) =>
    (await app.everything(await app.signIn(reader, 'stateful'), '&category=operator')).items
  await untilSo(async () => (await noticesOf(boss)).length > 1)
  const notices = await noticesOf(boss)
  assert.deepEqual(notices.map(({ title }) => title).sort(), [
    'A webhook was disabled',
    'The mail server refuses many addresses',
  ])
  assert.match(JSON.stringify(notices), /w1 .*status-500/)
  assert.deepEqual(await noticesOf(user), [])
})

test('the audit log is filtered by user, event, actor and time, in pages, and exported as JSON lines (O1)', async () => {
  const user = await app.user()
  for (let n = 0; n < 3; n++) await app.signIn(user, 'stateful')
  app.pass(1_000)
  const filter = `user=${user.id}&event=sign-in`
  const first = await get(`/api/operator/audit?${filter}&limit=2`)
  const second = await get(`/api/operator/audit?${filter}&limit=2&after=${first.next}`)
  assert.deepEqual([first.items.length, second.items.length, second.next], [2, 1, null])
  assert.equal(first.items[0].name, user.username)
  const since = new Date(app.now() + 1).toISOString()
  assert.deepEqual((await get(`/api/operator/audit?user=${user.id}&since=${since}`)).items, [])
  const { counts, events, examined } = await get(
    `/api/operator/audit/counts?user=${user.id}&event=sign-in`,
  )
  assert.deepEqual([counts.length, counts.at(-1), events.includes('sign-in')], [60, 3, true])
  assert.equal(
    counts.reduce((sum: number, one: number) => sum + one),
    3,
  )
  assert.ok(examined >= 3)
  const before = async (ms: number) =>
    (await get(`/api/operator/audit?${filter}&until=${iso(app.now() - ms)}`)).items.length
  assert.deepEqual([await before(1_000), await before(0)], [0, 3])
  for (const span of ['since=yesterday', 'until=2016-12-31T23:59:60Z', 'event=none'])
    for (const path of ['audit', 'audit/counts', 'audit/export'])
      assert.equal((await app.get(`/api/operator/${path}?${span}`, proof)).status, 400, span)
  const ofOperators = (await get('/api/operator/audit?actor=operator:&limit=100')).items
  assert.ok(
    ofOperators.length > 1 &&
      ofOperators.every(({ actor }: { actor: string }) => actor === `operator:${boss.id}`),
  )
  const { text, headers } = await app.get(`/api/operator/audit/export?${filter}`, proof)
  assert.match(headers.get('content-disposition') ?? '', /attachment/)
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    lines.map(({ event }) => event),
    ['sign-in', 'sign-in', 'sign-in'],
  )
  assert.equal((await app.store.read(listAudit, { limit: 1 }))[0]?.event, 'audit-exported')
})

test('a key is created, rotated and revoked, and its secret is in the one response that makes it (O1)', async () => {
  const made = await app.post(
    '/api/operator/keys',
    { name: 'shop', scopes: ['send'], days: 6, rate: '600/m' },
    proof,
  )
  const { id, key } = made.json().data
  const sends = async (secret: string) => {
    const headers = { authorization: `Bearer ${secret}` }
    return (
      await app.post(
        '/api/notifications',
        { recipients: [{ username: 'boss' }], title: 'Hi' },
        headers,
      )
    ).status
  }
  assert.equal(await sends(key), 201)
  const { keysExpiring } = await get('/api/operator/now')
  assert.deepEqual(
    keysExpiring.map((one: { name: string }) => one.name),
    ['shop'],
  )
  const rotated = await app.post(`/api/operator/keys/${id}/rotate`, { overlapHours: 0 }, proof)
  assert.equal(await sends(key), 401)
  assert.equal(await sends(rotated.json().data.key), 201)
  assert.equal((await app.delete(`/api/operator/keys/${id}`, proof)).status, 204)
  assert.equal(await sends(rotated.json().data.key), 401)
  const { text } = await app.get('/api/operator/keys', proof)
  assert.ok(text.includes(id) && text.includes('"600/m"') && !text.includes('crl_'))
  for (const wrong of [
    { application: 'no good' },
    { rate: 'fast' },
    { rate: '0/m' },
    { days: 0 },
  ]) {
    const body = { name: 'x', scopes: ['send'], ...wrong }
    assert.equal((await app.post('/api/operator/keys', body, proof)).status, 400)
  }
  assert.equal((await app.delete('/api/operator/keys/0000000000000000', proof)).status, 404)
})

test('the state of the service has the findings of doctor, with remedies (O1)', async () => {
  const { version, isReady, nodes, findings } = await get('/api/operator/now')
  assert.match(version, /^\d/)
  assert.deepEqual([isReady, nodes], [true, 1])
  assert.ok(
    findings.some(
      ({ check, state }: { check: string; state: string }) => check === 'schema' && state === 'ok',
    ),
  )
  const wrong = findings.filter(({ state }: { state: string }) => state !== 'ok')
  assert.ok(wrong.every(({ change }: { change?: string }) => change))
})

test('a delivery is found by key and by id, explained, withdrawn by key, and counted as heard (O1)', async () => {
  const users = [await app.user(), await app.user()]
  const [id = ''] = await app.deliver({
    to: users,
    title: 'Hi',
    key: 'order/1',
    category: 'orders',
  })
  const reader = await app.signIn(users[0] as (typeof users)[0], 'stateful')
  await app.patch(`/api/notifications/${id}/read`, reader)
  const path = '/api/operator/by-key/order%2F1'
  const found = await get(path)
  assert.deepEqual([found.inboxes, found.counts.read, found.counts.muted], [2, 1, 0])
  const told = await get(`/api/operator/explain/${id}`)
  assert.deepEqual([told.userId, told.senderName, told.isMuted], [users[0]?.id, 'test', false])
  assert.ok(told.readAt)
  app.pass(2_000)
  const { items, ages } = await get('/api/operator/heard')
  const [aged, ...older] = ages.filter(
    ({ category }: { category: string }) => category === 'orders',
  )
  assert.deepEqual([aged.age, aged.delivered, aged.read, older.length], [5, 2, 1, 0])
  const { delivered, read } = items.find(
    ({ category }: { category: string }) => category === 'orders',
  )
  assert.deepEqual([delivered, read], [2, 1])
  const withdrawn = await app.delete(path, proof)
  assert.deepEqual(withdrawn.json().data, { inboxes: 2, isDone: true })
  assert.equal((await app.get(path, proof)).status, 404)
  assert.equal((await app.get(`/api/operator/explain/${id}`, proof)).status, 404)
  assert.equal((await get(`/api/operator/explain/${id}?user=${users[0]?.id}`)).reason, 'withdrawn')
  assert.equal((await app.store.read(listAudit, { limit: 1 }))[0]?.event, 'notifications-withdrawn')
})
