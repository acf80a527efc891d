// The test counts the queries that pg sends, below the store.
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { Server } from 'node:http'
import { after, test } from 'node:test'
import pg from 'pg'
import { newDatabase, queryAt } from '../../../tests/support/postgres.ts'
import { startTestService } from '../../../tests/support/service.ts'
import { iso } from '../../basics/clock.ts'
import { newId } from '../../basics/ids.ts'
import { readDatabaseUrl } from '../../config/database-url.ts'
import { deliver } from '../../delivery/delivery.store.ts'
import { addFactor } from '../../factors/factors.store.ts'
import { clearGuesses, reserveGuess } from '../../guessing/guesses.store.ts'
import { Inbox } from '../../inbox/inbox.ts'
import { archive, markRead, markUnread, remove, unarchive } from '../../inbox/marks.store.ts'
import { contentOf } from '../../inbox/notification-json.ts'
import { openStore } from '../../open-store.ts'
import { changePreferences, putCategory } from '../../preferences/preferences.store.ts'
import { addSession, endSessions, touchSession } from '../../sessions/sessions.store.ts'
import { Sessions } from '../../sessions/sessions.ts'
import { setPassword } from '../../users/access/user-changes.store.ts'
import { deleteUser } from '../../users/erasure/erasure.store.ts'
import { addUser } from '../../users/users.store.ts'

let queries: unknown[] = []
/** Also set where a service handles a request. */
const ofRequest = new AsyncLocalStorage<boolean>()
const { emit } = Server.prototype
Server.prototype.emit = function (name: string, ...values: unknown[]) {
  return ofRequest.run(name === 'request', () => emit.call(this, name, ...values))
}
type Client = { query(...args: unknown[]): unknown }
const client = pg.Client.prototype as unknown as Client
const send = client.query
client.query = function (...args) {
  const { name, text } = args[0] as { name?: string; text?: string }
  if (ofRequest.getStore()) queries.push(name)
  const flight = flights.get(this) ?? { pending: 0, count: 0 }
  flights.set(this, flight)
  if (text === 'begin') transactions.add(this)
  if (flight.pending++ === 0) flight.count++
  const sent = send.apply(this, args)
  const arrive = () => void flight.pending--
  if (sent instanceof Promise) sent.then(arrive, arrive)
  return sent
}
/** What each client sent while it waited for nothing. */
const flights = new Map<Client, { pending: number; count: number }>()
const transactions = new Set<Client>()

const { url, drop } = await newDatabase()
const { store } = await openStore(readDatabaseUrl(url))
after(async () => {
  await store.close()
  await drop()
})
const now = Date.now
const inbox = new Inbox({ store, now })
const policy = { limitedFrom: () => Number.POSITIVE_INFINITY }
const sessions = new Sessions({
  store,
  revocations: { note() {} },
  now,
  policy,
  idleMs: 3_600_000,
  lifetimeMs: 3_600_000,
})
const user = {
  id: newId(now()),
  username: 'ann',
  displayName: null,
  createdAt: now(),
  passwordHash: 'hash',
}
await store.write(addUser, user)
const signIn = { signInId: newId(now()), device: null, address: null }
const { secret } = await sessions.issue(
  { ...user, credentialGeneration: 0 },
  { ...signIn, replaces: [] },
)
const sealingSecret = 'a secret for this test alone, of more than enough characters'
const deliverOne = (category: string | null = null) =>
  store.write(deliver, {
    id: newId(now()),
    producerId: 'shop',
    idempotency: { key: newId(now()), bodyHash: 'hash' },
    content: contentOf({ title: 'Hi' }),
    category,
    createdAt: iso(now()),
    key: null,
    recipients: [{ to: { userId: user.id }, notificationId: newId(now()) }],
    at: now(),
  })
// Two batches to one inbox wait for each other: a call that gave up would be sent again.
for (const name of [
  'deliver_together(json)',
  'mark_together(text[], text[], text[], bigint[], text[], text[])',
])
  await queryAt(url, `alter function ${name} reset lock_timeout`)
await deliverOne()
await inbox.list({ userId: user.id }, { page: 1, limit: 20, status: 'all' })

/** Not of those that a service sends by itself meanwhile. */
async function statementsOf(request: () => Promise<unknown>): Promise<unknown[]> {
  queries = []
  await ofRequest.run(true, request)
  return queries.filter((name) => name !== undefined)
}

/** Statements that are sent together are one. */
async function roundTripsOf(write: () => Promise<unknown>): Promise<number> {
  flights.clear()
  transactions.clear()
  await write()
  return [...transactions].reduce((sum, one) => sum + (flights.get(one)?.count ?? 0), 0)
}

/** Begins with the first test that needs it, because it writes by itself. */
let started: ReturnType<typeof startTestService> | undefined
function serviceHere() {
  started ??= startTestService({
    env: { CARILLON_DATABASE_URL: url, CARILLON_SECRET: sealingSecret },
  })
  return started
}
after(async () => (await started)?.stop())

test('what is stored for signing in costs a few round trips, with the lock, the audit entries and the commit', async () => {
  const userId = newId(now())
  await store.write(addUser, { ...user, id: userId, username: 'eve' })
  const session = { userId, familyHash: 'round trips', secretHash: 'round trips' }
  const ends = { at: now() }
  const from = { label: 'Firefox', network: '192.0.2.1', isKnown: true, keep: 50 }
  const { at } = ends
  const add = {
    ...session,
    ...signIn,
    ...ends,
    checkedGeneration: 0,
    replaces: [],
    maxSessions: 50,
    from,
  }
  const entry = { id: newId(at), at, event: 'sign-in', actor: 'user', userId, count: 1 }
  const none = {
    address: null,
    userAgent: null,
    requestId: null,
    signInId: null,
    nameHash: null,
    detail: null,
  }
  const audit = [{ ...entry, ...none }]
  const limits = { limits: ['a', 'b'].map((key) => ({ key, delaysMs: [0], keptMs: 9 })), at }
  const factor = {
    id: 'factor',
    kind: 'totp',
    label: 'Phone',
    createdAt: at,
    confirmedAt: at,
  } as const
  const costs = {
    addSession: await roundTripsOf(() => store.write(addSession, { ...add, audit })),
    'addSession, on a known device': await roundTripsOf(() =>
      store.write(addSession, { ...add, familyHash: 'again' }),
    ),
    touchSession: await roundTripsOf(() => store.write(touchSession, { ...session, at })),
    reserveGuess: await roundTripsOf(() => store.write(reserveGuess, limits)),
    clearGuesses: await roundTripsOf(() =>
      store.write(clearGuesses, { limits: limits.limits.slice(0, 1) }),
    ),
    addFactor: await roundTripsOf(() =>
      store.write(addFactor, {
        userId,
        factor,
        maxFactors: 9,
        recoveryCodeHashes: ['c1', 'c2', 'c3'],
      }),
    ),
    endSessions: await roundTripsOf(() => store.write(endSessions, { keys: [session], ...ends })),
    setPassword: await roundTripsOf(() =>
      store.write(setPassword, { userId, passwordHash: 'new hash', ...ends }),
    ),
    deleteUser: await roundTripsOf(() => store.write(deleteUser, { userId, ...ends })),
  }
  assert.deepEqual(costs, {
    addSession: 5,
    'addSession, on a known device': 4,
    touchSession: 1,
    reserveGuess: 3,
    clearGuesses: 1,
    addFactor: 3,
    endSessions: 2,
    setPassword: 4,
    deleteUser: 6,
  })
})

test('a list of an unchanged inbox costs one round trip, with a cookie and with a token', async () => {
  const list = (subject: { userId: string } | null) =>
    inbox.list(subject ?? assert.fail(), { page: 1, limit: 20, status: 'all' })
  assert.deepEqual(await statementsOf(async () => list(await sessions.verify(secret))), ['session'])
  assert.deepEqual(await statementsOf(() => list({ userId: user.id })), ['inboxVersion'])
})

test('counts of an unchanged inbox cost what a list of it costs, and are read again after a change', async () => {
  const reader = { userId: user.id }
  const total = async (subject: { userId: string } | null) => {
    assert.ok(subject)
    return JSON.parse(String((await inbox.counts(subject)).json)).data.total
  }
  const before = await total(reader)
  const sent: unknown[] = [
    await statementsOf(async () =>
      assert.equal(await total(await sessions.verify(secret)), before),
    ),
    await statementsOf(async () => assert.equal(await total(reader), before)),
  ]
  assert.deepEqual(sent, [['session'], ['inboxVersion']])
  await deliverOne()
  assert.equal(await total(await sessions.verify(secret)), before + 1)
  assert.equal(await total(reader), before + 1)
})

test('each change of one notification, read-all and a delivery cost one round trip each, including the commit', async () => {
  const reader = { userId: user.id }
  const outcome = await deliverOne()
  assert.ok(typeof outcome === 'object' && 'results' in outcome)
  const id = outcome.results[0]?.id ?? assert.fail()
  for (const change of [markRead, markUnread, archive, unarchive, remove])
    assert.deepEqual(
      await statementsOf(() => inbox.change(change, reader, { id })),
      ['markTogether'],
      change.name,
    )
  const other = await deliverOne()
  assert.ok(typeof other === 'object' && 'results' in other)
  const snoozedId = other.results[0]?.id ?? assert.fail()
  assert.deepEqual(await statementsOf(() => inbox.snooze(reader, snoozedId, now() + 60_000)), [
    'markTogether',
  ])
  assert.deepEqual(await statementsOf(() => inbox.markAllRead(reader, { throughId: null })), [
    'markTogether',
  ])
  assert.deepEqual(await statementsOf(() => deliverOne()), ['deliverTogether'])
})

test('so does one to a user whose mutes do not match it, or of a category that nobody can mute', async () => {
  const choices = [{ category: 'news', mutedUntil: 'forever' }]
  assert.equal(
    await store.write(changePreferences, { userId: user.id, choices, now: iso(now()) }),
    'done',
  )
  assert.deepEqual(await statementsOf(() => deliverOne('orders')), ['deliverTogether'])
  await store.write(putCategory, {
    application: '',
    name: 'news',
    label: '{}',
    description: null,
    mandatory: 1,
  })
  assert.deepEqual(await statementsOf(() => deliverOne('news')), ['deliverTogether'])
})

test('64 deliveries at once share at most four round trips', async () => {
  const sent = await statementsOf(() => Promise.all(Array.from({ length: 64 }, () => deliverOne())))
  assert.ok(sent.length <= 4 && sent.every((name) => name === 'deliverTogether'), sent.join(' '))
})

test('64 notifications that are marked as read at once share at most four round trips', async () => {
  const read = () => store.write(markRead, { userId: user.id, id: newId(now()), at: now() })
  const sent = await statementsOf(() => Promise.all(Array.from({ length: 64 }, read)))
  assert.ok(sent.length <= 4 && sent.every((name) => name === 'markTogether'), sent.join(' '))
})

test('a delivery over HTTP costs one round trip: it checks the key of the producer with it', async () => {
  const service = await serviceHere()
  const reader = await service.user('kim')
  const title = 'Hi'
  await service.deliver({ to: reader, title })
  assert.deepEqual(await statementsOf(() => service.deliver({ to: reader, title })), [
    'deliverTogether',
  ])
})

test('a list of any page costs two round trips over HTTP with a cookie and one with a token, and a kept one the version alone', async () => {
  const service = await serviceHere()
  const reader = await service.user('filters')
  const cookie = await service.signIn(reader, 'stateful')
  const token = await service.signIn(reader, 'stateless')
  await service.deliver({ to: reader, title: 'Hi', category: 'build' })
  const firstPages = ['', '?status=unread', '?status=all', '?status=read', '?category=build']
  const others = ['?page=2&limit=1', '?before=3', '?category=build&category=a%20b&before=9']
  for (const query of [...firstPages, ...others]) {
    const sent = await statementsOf(() => service.list(cookie, query))
    assert.deepEqual([sent.length, sent[0]], [2, 'session'], query)
    const again = await statementsOf(() => service.list(token, query))
    assert.deepEqual(again, [firstPages.includes(query) ? 'inboxVersion' : sent[1]], query)
    await service.deliver({ to: reader, title: 'Hi', category: 'build' })
    assert.deepEqual(await statementsOf(() => service.list(token, query)), sent.slice(1), query)
  }
})

test('a request with an ended session or an invalid query reads no page', async () => {
  const service = await serviceHere()
  const reader = await service.user('zoe')
  const cookie = await service.signIn(reader, 'stateful')
  const statusOf = async (query: string) => {
    let status = 0
    const sent = await statementsOf(async () => {
      status = (await service.get(`/api/notifications${query}`, cookie)).status
    })
    return [status, sent]
  }
  for (const query of ['?limit=101', '?page=1&before=2', '?status=none', '?category=', '?other=1'])
    assert.deepEqual(await statusOf(query), [400, ['session']], query)
  await service.post('/logout', undefined, cookie)
  assert.equal((await statusOf(''))[0], 401)
})
