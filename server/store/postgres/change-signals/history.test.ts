// A client that is ahead of a database that was set back gets a resync and misses nothing silently.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { TcpProxy } from '../../../../tests/support/network/tcp-proxy.ts'
import {
  guarded,
  newDatabase,
  PostgresServer,
  queryAt,
} from '../../../../tests/support/postgres.ts'
import { untilSo } from '../../../../tests/support/processes/nodes.ts'
import { soakTest } from '../../../../tests/support/soak.ts'
import { readDatabaseUrl } from '../../../config/database-url.ts'
import { World } from '../../../contract/world.ts'
import { ChangesSince } from '../../../live/changes.ts'
import { StreamLimits } from '../../../live/stream-limits.ts'
import { openStore } from '../../../open-store.ts'

test('a planned restart and a crash of PostgreSQL change no position (R15)', async (t) => {
  const server = await PostgresServer.start()
  t.after(() => server.remove())
  const place = await newPlace(t, await server.newDatabase())
  const { history } = place.store
  for (const mode of ['fast', 'immediate'] as const) {
    await place.send(2)
    const here = await place.position()
    await server.stop(mode)
    await place.reconnectedBy(() => server.begin())
    assert.equal(place.store.history, history)
    await place.send(1)
    assert.equal(await place.changesAfter(here), 1)
  }
})

soakTest(
  'after a restore of a file snapshot, a client ahead of it gets a resync, even once its version is reached again (R15)',
  async (t) => {
    const server = await PostgresServer.start()
    t.after(() => server.remove())
    const place = await newPlace(t, await server.newDatabase())
    const other = await openStore(readDatabaseUrl(place.url))
    t.after(() => other.store.close())
    await place.send(2)
    await server.stop()
    server.snapshot()
    await place.reconnectedBy(() => server.begin())
    const numbers = await place.numbers()
    await place.send(2)
    await place.until(async () => (await place.numbers()) > numbers)
    const ahead = await place.position()
    const before = place.store.history
    await server.stop('immediate')
    server.putBack()
    await server.begin()
    await place.until(() => place.store.history !== before)
    await place.send(3)
    assert.equal(await place.changesAfter(ahead), 'reset')
    const here = await place.position()
    await place.send(1)
    assert.equal(await place.changesAfter(here), 1)
    await place.until(() => other.store.history === place.store.history)
  },
)

test('after pg_restore, which creates the tables again, a client ahead of it gets a resync (R15)', async (t) => {
  const place = await newPlace(t)
  await place.send(2)
  await place.until(async () => (await place.numbers()) > 0)
  const tables = ['inbox', 'notification', 'history']
  await place.query(tables.map((name) => `create table saved_${name} as table ${name}`).join(';'))
  await place.send(4)
  const ahead = await place.position()
  const before = place.store.history
  await place.query(`
    drop table history;
    create table history (like saved_history);
    alter table history add primary key (node);
    delete from inbox;
    delete from notification;
    ${tables.map((name) => `insert into ${name} table saved_${name}`).join(';')}`)
  await place.until(() => place.store.history !== before)
  await place.send(5)
  assert.equal(await place.changesAfter(ahead), 'reset')
})

test('the statement of the page about backups begins a new history, which every running process finds (R15)', async (t) => {
  const place = await newPlace(t)
  await place.send(1)
  const here = await place.position()
  const page = readFileSync(
    new URL('../../../../docs/operations/backup.md', import.meta.url),
    'utf8',
  )
  const [, statement = ''] = /```sql\n(update history [^;]+);/.exec(page) ?? []
  const before = place.store.history
  await place.query(statement)
  await place.until(() => place.store.history !== before)
  assert.equal(await place.changesAfter(here), 'reset')
})

test('a database role that may not call the control functions has a history, too (R15)', async (t) => {
  const { url, drop } = await newDatabase()
  t.after(drop)
  await queryAt(
    url,
    `revoke execute on function pg_control_system from public;
    grant select, insert, update, delete on all tables in schema public to ${guarded.role}`,
  )
  const place = await newPlace(
    t,
    Object.assign(new URL(url), { username: guarded.role, password: guarded.password }).href,
  )
  await place.send(1)
  const here = await place.position()
  assert.equal(await place.changesAfter(here), 0)
  await queryAt(url, "update history set number = number + 1 where node = ''")
  await place.until(async () => (await place.changesAfter(here)) === 'reset')
})

test('200 deliveries raise the number of their process at most once a second (R15)', async (t) => {
  const { url, drop } = await newDatabase()
  t.after(drop)
  const { store } = await openStore(readDatabaseUrl(url))
  const world = await World.on(store)
  const ann = await world.addUser('ann')
  const begun = performance.now()
  await Promise.all(Array.from({ length: 200 }, () => world.send(ann)))
  await store.close()
  const seconds = (performance.now() - begun) / 1_000
  const { rows } = await queryAt(
    url,
    "select coalesce(sum(number), 0)::int as raised from history where node <> ''",
  )
  assert.ok(
    rows[0].raised >= 1 && rows[0].raised <= seconds + 1,
    `${rows[0].raised} times in ${seconds} s`,
  )
})

test('after a failover to a replica that lagged, a client ahead of it gets a resync, even once its version is reached again', async (t) => {
  const primary = await PostgresServer.start()
  t.after(() => primary.remove())
  const place = await newPlace(t, await primary.newDatabase())
  const replica = await primary.withReplica()
  t.after(() => replica.remove())
  await place.until(() => place.store.check().then(() => true))
  await place.send(2)
  await primary.query("alter system set synchronous_standby_names = ''")
  await primary.query('select pg_reload_conf()')
  await replica.stop()
  await place.send(2)
  const ahead = await place.position()
  const before = place.store.history
  await primary.stop('immediate')
  await replica.begin()
  await replica.query('select pg_promote()')
  place.proxy.target = replica.port
  await place.until(() => place.store.history !== before)
  await place.send(3)
  assert.equal(await place.changesAfter(ahead), 'reset')
})

/** Through a proxy, with one user. */
async function newPlace(t: TestContext, at?: string) {
  const made = at === undefined ? await newDatabase() : undefined
  const url = made?.url ?? at ?? ''
  const proxy = await TcpProxy.to(Number(new URL(url).port))
  const { store } = await openStore(readDatabaseUrl(proxy.urlFor(url)))
  t.after(async () => {
    await store.close()
    await made?.drop()
    await proxy[Symbol.asyncDispose]()
  })
  const world = await World.on(store)
  const ann = await world.addUser('ann')
  const streamLimits = new StreamLimits({ perUser: 10, perProcess: 10 }, () => 0)
  const changes = new ChangesSince({ store, streamLimits, now: Date.now })
  const caller = { userId: ann.id, validUntil: async () => Number.POSITIVE_INFINITY }
  const whole = { limit: 100, waitMs: 0, signal: new AbortController().signal }
  const read = async (since: string) => JSON.parse(await changes.read(caller, { ...whole, since }))
  const until = (isSo: () => boolean | Promise<boolean>) =>
    untilSo(async () => Promise.resolve(isSo()).catch(() => false))
  const query = async (sql: string) => (await queryAt(url, sql)).rows ?? []
  return {
    url,
    store,
    proxy,
    until,
    query,
    numbers: async () =>
      (await query("select coalesce(sum(number), 0)::int as sum from history where node <> ''"))[0]
        .sum,
    async reconnectedBy(act: () => Promise<void>): Promise<void> {
      const { promise: isBack, resolve } = Promise.withResolvers<void>()
      const off = store.onChange(({ about }) => about === 'anything' && resolve())
      await act()
      await isBack
      off()
    },
    async send(times: number): Promise<void> {
      await until(() => store.check().then(() => true))
      for (let n = 0; n < times; n++) await world.send(ann)
    },
    position: async (): Promise<string> => (await read('0')).position,
    async changesAfter(position: string): Promise<number | 'reset'> {
      const found = await read(position)
      return found.reset === true ? 'reset' : found.created.length
    },
  }
}
