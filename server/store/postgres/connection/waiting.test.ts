// PostgreSQL would end a deadlock after a second, and one of the two calls would fail.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import pg from 'pg'
import { newDatabase } from '../../../../tests/support/postgres.ts'
import { at, newId, runs, World } from '../../../contract/world.ts'
import { deliver } from '../../../delivery/delivery.store.ts'
import { readCounts } from '../../../inbox/inbox.store.ts'
import { markRead } from '../../../inbox/marks.store.ts'
import { revokeTokens, tokenRevocations } from '../../../tokens/tokens.store.ts'
import { putUsers } from '../../../users/put-users.store.ts'
import { openPostgresStore } from '../store.ts'

const { url, drop } = await newDatabase()
const { store } = await openPostgresStore(url, { partitions: 3 })
after(async () => {
  await store.close()
  await drop()
})
const world = await World.on(store)

test('deliveries with and without a key do not deadlock, even if some recipients have no inbox yet', async () => {
  for (let round = 0; round < runs(30); round++) {
    const users = await Promise.all(
      ['ann', 'ben', 'cid', 'dan'].map((name) => world.addUser(`${name} ${round}`)),
    )
    // In the order in which inboxes are locked, every second user has one already.
    const inOrder = users.toSorted((a, b) => (a.id < b.id ? -1 : 1))
    await Promise.all(inOrder.filter((_, n) => n % 2 === 0).map((user) => world.send(user)))
    const letters = Array.from({ length: 8 }, (_, n) => ({
      to: n % 3 === 0 ? users.toReversed() : users,
      key: n % 2 === 0 ? 'build' : null,
      category: 'ci',
    }))
    await Promise.all(letters.map((letter) => world.deliver(letter)))
  }
})

test('batches of two nodes do not deadlock, whatever the order of their recipients and idempotency keys', async (t) => {
  const other = await openPostgresStore(url, { partitions: 3 })
  t.after(() => other.store.close())
  for (let round = 0; round < runs(10); round++) {
    const users = await Promise.all(
      Array.from({ length: 6 }, (_, n) => world.addUser(`node ${round} ${n}`)),
    )
    const letter = (n: number) =>
      world.letter({
        to: n % 2 === 0 ? users.slice(n % 6) : users.toReversed(),
        idempotency:
          n % 5 === 0 ? null : { key: `${round} ${n % 4 === 0 ? n : 40 - n}`, bodyHash: 'b' },
        key: n % 7 === 0 ? 'build' : null,
        category: 'ci',
      })
    const numbers = Array.from({ length: 40 }, (_, n) => n)
    const sent = [
      ...numbers.map((n) => store.write(deliver, letter(n))),
      ...numbers.toReversed().map((n) => other.store.write(deliver, letter(n))),
    ]
    for (const outcome of await Promise.allSettled(sent))
      assert.equal(outcome.status, 'fulfilled', JSON.stringify(outcome))
  }
})

test('marks and deliveries of two nodes do not deadlock, and the counters stay right', async (t) => {
  const other = await openPostgresStore(url, { partitions: 3 })
  t.after(() => other.store.close())
  for (let round = 0; round < runs(5); round++) {
    const users = await Promise.all(
      Array.from({ length: 8 }, (_, n) => world.addUser(`marks ${round} ${n}`)),
    )
    const outcomes = await Promise.all(
      Array.from({ length: 5 }, () => world.deliver({ to: users, category: 'ci' })),
    )
    const marks = outcomes.flatMap(
      ({ results }) => results as readonly { userId: string; id: string }[],
    )
    await Promise.all([
      ...marks.map(({ userId, id }) => store.write(markRead, { userId, id, at: at(1) })),
      ...marks
        .toReversed()
        .map(({ userId, id }) => other.store.write(markRead, { userId, id, at: at(1) })),
      ...users.map(() =>
        other.store.write(deliver, world.letter({ to: users.toReversed(), category: 'ci' })),
      ),
    ])
    for (const { id } of users) {
      const { inbox, categories } = await store.read(readCounts, id)
      assert.deepEqual([inbox.total, inbox.unread, inbox.version], [13, 8, 18])
      assert.deepEqual({ ...categories }, { ci: { total: 13, unread: 8 } })
    }
  }
})

test('deliveries and calls that put users create them in one order, also where the server sorts "a" before "B"', async (t) => {
  const other = new pg.Client(url)
  await other.connect()
  t.after(() => other.end())
  const add = (externalId: string) =>
    other.query(
      `insert into "user" (id, external_id, issuer, created_at) values ('${newId()}', '${externalId}', '', 1)`,
    )
  const isWaiting = `select from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'carillon'
    and datname = current_database()`
  const externalIds = ['a', 'B']
  const users = () => externalIds.map((externalId) => ({ newId: newId(), externalId }))
  const to = externalIds.map((externalId) => ({ externalId }))
  for (const create of [
    () => world.store.write(putUsers, { application: '', at: at(1), users: users() }),
    () => world.deliver({ to, createsUsers: true }),
  ]) {
    await other.query('begin; set local lock_timeout = 1')
    await add('B')
    const created = create()
    while ((await other.query(isWaiting)).rows.length === 0) {
      await nextTurn()
      // A transaction sees the activity of its first look.
      await other.query('select pg_stat_clear_snapshot()')
    }
    // It waits for B, so it has not created a.
    await add('a')
    await other.query('rollback')
    await created
    await other.query(`delete from "user" where external_id in ('a', 'B')`)
  }
})

test('sign-outs do not deadlock while expired revocations are removed', async () => {
  const ann = await world.addUser('ann')
  const day = 24 * 3_600
  const revoke = (seconds: number) =>
    store.write(revokeTokens, {
      userId: ann.id,
      signInId: newId(),
      at: at(seconds),
      expiresAt: at(seconds) + 1,
    })
  for (let round = 0; round < runs(5); round++) {
    await Promise.all(Array.from({ length: 50 }, () => revoke(round * 2 * day)))
    await Promise.all(Array.from({ length: 50 }, () => revoke((round * 2 + 1) * day + 5)))
  }
  assert.ok(
    (await store.read(tokenRevocations, 0)).length <= 100,
    'expired revocations were not removed',
  )
})
