// How often is PostgreSQL asked for one request? As often as pg sends a query, counted beneath the store.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import pg from 'pg'
import { newId } from '../../ids.ts'
import { Inbox } from '../../inbox/inbox.ts'
import { Sessions } from '../../sign-in/session.ts'
import { newDatabase } from '../../testing/postgres.ts'
import { openStore } from '../open.ts'

let queries: unknown[] = []
type Client = { query(...args: unknown[]): unknown }
const client = pg.Client.prototype as unknown as Client
const send = client.query
client.query = function (...args) {
  queries.push((args[0] as { name?: string }).name)
  return send.apply(this, args)
}

const { url, drop } = await newDatabase()
const { store } = await openStore(url)
after(async () => {
  await store.close()
  await drop()
})
const now = Date.now
const inbox = new Inbox({ store, now })
const sessions = new Sessions({ store, now, idleMs: 3_600_000, lifetimeMs: 3_600_000 })
const user = { id: newId(now()), username: 'ann', displayName: null, createdAt: now(), passwordHash: 'hash' }
await store.addUser(user)
const { secret } = await sessions.issue({ ...user, disabledAt: null }, null)
const deliver = () =>
  store.deliver({
    id: newId(now()),
    producerId: 'shop',
    idempotency: { key: newId(now()), bodyHash: 'hash' },
    content: '"title":"Hi"',
    category: null,
    key: null,
    recipients: [{ to: { userId: user.id }, notificationId: newId(now()) }],
    at: now(),
  })
await deliver()
await inbox.list({ userId: user.id }, { page: 1, limit: 20 })

/** The names of the statements that are sent for it. The heartbeat of the rings has none. */
async function statementsOf(request: () => Promise<unknown>): Promise<unknown[]> {
  queries = []
  await request()
  return queries.filter((name) => name !== undefined)
}

test('a list of an unchanged inbox costs one round trip, with a cookie', async () => {
  const sent = await statementsOf(async () => {
    const subject = await sessions.verify(secret)
    assert.ok(subject)
    await inbox.list(subject, { page: 1, limit: 20 })
  })
  assert.deepEqual(sent, ['session'])
})

test('a list of an unchanged inbox costs one round trip, with a token', async () => {
  assert.deepEqual(await statementsOf(() => inbox.list({ userId: user.id }, { page: 1, limit: 20 })), ['inbox'])
})

test('read, read-all and a delivery cost one round trip each, with the commit', async () => {
  const [reader, id] = [{ userId: user.id }, newId(now())]
  assert.deepEqual(await statementsOf(() => inbox.read(reader, id).catch(() => {})), ['markRead'])
  assert.deepEqual(await statementsOf(() => inbox.readAll(reader, null)), ['markAllRead'])
  assert.deepEqual(await statementsOf(deliver), ['deliver'])
})
