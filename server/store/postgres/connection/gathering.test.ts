import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import pg from 'pg'
import { newDatabase } from '../../../../tests/support/postgres.ts'
import { at, isUnavailable, type Person, World } from '../../../contract/world.ts'
import { readInbox } from '../../../inbox/inbox.store.ts'
import { markRead } from '../../../inbox/marks.store.ts'
import { openPostgresStore } from '../store.ts'
import { Gathering, type Together } from './gathering.ts'

const { url, drop } = await newDatabase()
const { store } = await openPostgresStore(url, { partitions: 3 })
after(async () => {
  await store.close()
  await drop()
})
const world = await World.on(store)

/** Echoes its calls after `release`. */
function heldEcho({
  weightOf = () => 1,
  keyOf = () => undefined,
}: Partial<Together<string, string>> = {}) {
  const batches: (readonly string[])[] = []
  const held = Promise.withResolvers<void>()
  const run = async (_: unknown, calls: readonly string[]) => {
    batches.push(calls)
    await held.promise
    return calls
  }
  const gathering = new Gathering<string, string>({ run, weightOf, keyOf }, async () => [])
  return { gathering, batches, release: held.resolve }
}

/** A batch waits for a lock until its test has seen it wait, however slow the machine. */
const waitForEver = 'alter function deliver_together(json) reset lock_timeout'
const waitBriefly = "alter function deliver_together(json) set lock_timeout = '250ms'"

/** After a pause of the machine, a timer fires before the immediate in which a batch is sent. */
const nextTurns = () => new Promise((resolve) => setTimeout(() => setImmediate(resolve), 5))

test('calls of one turn are one batch; those that come while two batches run wait for the next one', async () => {
  const { gathering, batches, release } = heldEcho()
  const results = [gathering.add('a'), gathering.add('b')]
  await nextTurns()
  results.push(gathering.add('c'))
  await nextTurns()
  results.push(gathering.add('d'), gathering.add('e'))
  await nextTurns()
  assert.deepEqual(batches, [['a', 'b'], ['c']])
  release()
  assert.deepEqual(await Promise.all(results), ['a', 'b', 'c', 'd', 'e'])
  assert.deepEqual(batches[2], ['d', 'e'])
})

test('a batch has at most a thousand recipients and each idempotency key once', async () => {
  const heavy = heldEcho({ weightOf: (call) => Number(call) })
  const added = ['600', '400', '1', '5000', '2'].map((call) => heavy.gathering.add(call))
  heavy.release()
  await Promise.all(added)
  assert.deepEqual(heavy.batches, [['600', '400'], ['1'], ['5000'], ['2']])
  const keyed = heldEcho({ keyOf: (call) => (call === 'none' ? undefined : call) })
  const repeated = ['k1', 'none', 'none', 'k2', 'k1', 'k2'].map((call) => keyed.gathering.add(call))
  keyed.release()
  await Promise.all(repeated)
  assert.deepEqual(keyed.batches, [
    ['k1', 'none', 'none', 'k2'],
    ['k1', 'k2'],
  ])
})

test('if the server hangs, waiting calls are refused after two seconds, and more than 5,000 at once; nothing of them is sent', async () => {
  const { gathering, batches, release } = heldEcho()
  const running = ['a', 'b'].map(async (call) => gathering.add(call))
  await nextTurns()
  const second = gathering.add('c')
  await nextTurns()
  const startedAt = performance.now()
  const waiting = Array.from({ length: 5_000 }, (_, n) => gathering.add(String(n)))
  assert.throws(() => gathering.add('one too many'), /Too many calls are waiting for the store/)
  for (const outcome of await Promise.allSettled(waiting)) {
    assert.equal(outcome.status, 'rejected')
    assert.match(
      String(outcome.status === 'rejected' && outcome.reason),
      /cannot be reached now; nothing was done/,
    )
  }
  assert.ok(performance.now() - startedAt > 1_900)
  release()
  assert.deepEqual(await Promise.all([...running, second]), ['a', 'b', 'c'])
  assert.equal(batches.length, 2)
  assert.equal(await gathering.add('later'), 'later')
})

test('if the server ends the connection of a batch, each of its calls fails, and says that the outcome is unknown', async () => {
  const ann = await world.addUser('ann')
  const client = new pg.Client(url)
  await client.connect()
  await client.query(waitForEver)
  await client.query('begin')
  await client.query('lock producer in access exclusive mode')
  let isOver = false
  const sent = Promise.allSettled(Array.from({ length: 9 }, () => world.send(ann)))
  void sent.then(() => {
    isOver = true
  })
  const waiting = `select pg_terminate_backend(pid) from pg_locks
    where not granted and relation = 'producer'::regclass
      and database = (select oid from pg_database where datname = current_database())`
  while (!isOver && (await client.query(waiting)).rows.length === 0) await nextTurns()
  await client.query('rollback')
  await client.query(waitBriefly)
  await client.end()
  for (const outcome of await sent) {
    assert.ok(outcome.status === 'rejected' && isUnavailable(outcome.reason))
    assert.match(outcome.reason.message, /outcome is unknown/)
  }
  assert.equal((await store.read(readInbox, ann.id)).total, 0)
  await world.send(ann)
})

test('a delivery to an inbox that another transaction holds waits alone; those sent at the same time do not wait for it', async () => {
  const people = await world.addUsers(10)
  const held = people[0] as Person
  await world.send(held, 'First')
  const client = new pg.Client(url)
  await client.connect()
  await client.query('begin')
  await client.query('select from inbox where user_id = $1 for update', [held.id])
  let isReleased = false
  const sent = people.map(async (person) => {
    await world.send(person, 'Second')
    return isReleased
  })
  assert.deepEqual(await Promise.all(sent.slice(1)), Array(9).fill(false))
  isReleased = true
  await client.query('rollback')
  await client.end()
  assert.equal(await sent[0], true)
  assert.deepEqual(await world.titles(held), ['Second', 'First'])
})

test('deliveries and marks that wait for locks one after the other do not hold up those that are sent after them', async () => {
  const people = await world.addUsers(6)
  const ids = await Promise.all(people.map((person) => world.send(person, 'First')))
  const client = new pg.Client(url)
  await client.connect()
  await client.query('begin')
  await client.query('select from inbox where user_id = any ($1) for update', [
    people.slice(0, 3).map(({ id }) => id),
  ])
  let isReleased = false
  const waiting = []
  for (const [n, { id: userId }] of people.slice(0, 3).entries()) {
    waiting.push(
      world.send(people[n] as Person, 'Second'),
      store.write(markRead, { userId, id: ids[n] as string, at: at(1) }),
    )
    await nextTurns()
  }
  const others = people
    .slice(3)
    .flatMap((person, n) => [
      world.send(person, 'Second').then(() => isReleased),
      store
        .write(markRead, { userId: person.id, id: ids[n + 3] as string, at: at(1) })
        .then(() => isReleased),
    ])
  assert.deepEqual(await Promise.all(others), Array(6).fill(false))
  isReleased = true
  await client.query('rollback')
  await client.end()
  await Promise.all(waiting)
  for (const { id } of people) assert.deepEqual((await store.read(readInbox, id)).unread, 1)
})

test('a batch locks the inboxes before the counts of their categories, in the order in which a delivery alone locks them', async () => {
  const people = await world.addUsers(3)
  for (const person of people) await world.deliver({ to: [person], category: 'ci' })
  const [held] = people
  const client = new pg.Client(url)
  await client.connect()
  await client.query(waitForEver)
  await client.query('begin')
  await client.query('select from inbox where user_id = $1 for update', [held?.id])
  const sent = people.map((person) => world.deliver({ to: [person], category: 'ci' }))
  const waiting = `select from pg_stat_activity
    where wait_event_type = 'Lock' and query like '%deliver_together%' and datname = current_database()`
  while ((await client.query(waiting)).rows.length === 0) {
    await nextTurns()
    // A transaction sees the activity of its first look.
    await client.query('select pg_stat_clear_snapshot()')
  }
  // The batch waits for this inbox, so it has locked no counts.
  await client.query('select from inbox_category where category = $1 for update nowait', ['ci'])
  await client.query('rollback')
  await Promise.all(sent)
  await client.query(waitBriefly)
  await client.end()
})
