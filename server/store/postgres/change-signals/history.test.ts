// If a database loses changes that clients have already received, its positions belong to another history: a client that is ahead
// of the database gets a resync and does not miss anything silently.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { TcpProxy } from '../../../../tests/support/network/tcp-proxy.ts'
import { PostgresServer } from '../../../../tests/support/postgres.ts'
import { readDatabaseUrl } from '../../../config/database-url.ts'
import { ChangesSince } from '../../../inbox/live/changes.ts'
import { StreamLimits } from '../../../inbox/live/stream-limits.ts'
import { World } from '../../contract/world.ts'
import { openStore } from '../../open.ts'

test('after a restore of a file snapshot, a client ahead of it gets a resync, even once its version is reached again', async (t) => {
  const server = await PostgresServer.start()
  t.after(() => server.remove())
  const place = await newPlace(t, server)
  const restarted = async () => {
    const before = place.store.history
    await server.begin()
    await place.until(() => place.store.history !== before)
  }
  await place.send(2)
  await server.stop()
  server.snapshot()
  await restarted()
  await place.send(2)
  const ahead = await place.position()
  await server.stop('immediate')
  server.putBack()
  await restarted()
  await place.send(3)
  assert.equal(await place.changesAfter(ahead), 'reset')
  const here = await place.position()
  await place.send(1)
  assert.equal(await place.changesAfter(here), 1)
})

test('after a failover to a replica that lagged, a client ahead of it gets a resync, even once its version is reached again', async (t) => {
  const primary = await PostgresServer.start()
  t.after(() => primary.remove())
  const place = await newPlace(t, primary)
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

test('two processes on one database give the same positions', async (t) => {
  const server = await PostgresServer.start()
  t.after(() => server.remove())
  const place = await newPlace(t, server)
  const { store } = await openStore(readDatabaseUrl(place.url))
  t.after(() => store.close())
  assert.equal(store.history, place.store.history)
})

/** A store that reaches its server through a proxy, with one user. */
async function newPlace(t: TestContext, server: PostgresServer) {
  const url = await server.newDatabase()
  const proxy = await TcpProxy.to(server.port)
  const { store } = await openStore(readDatabaseUrl(proxy.urlFor(url)))
  t.after(async () => {
    await store.close()
    await proxy[Symbol.asyncDispose]()
  })
  const world = await World.on(store)
  const ann = await world.addUser('ann')
  const changes = new ChangesSince({ store, streamLimits: new StreamLimits({ perUser: 10, perProcess: 10 }, () => 0) })
  const query = { limit: 100, waitMs: 0, signal: new AbortController().signal }
  const read = async (since: string) => JSON.parse(await changes.read({ userId: ann.id }, { ...query, since }))
  /** Long, since the machine may be busy. */
  const until = async (isSo: () => boolean | Promise<boolean>) => {
    for (
      const giveUpAt = performance.now() + 60_000;
      !(await Promise.resolve(isSo()).catch(() => false));
      await sleep(20)
    )
      assert.ok(performance.now() < giveUpAt, 'it took more than a minute')
  }
  return {
    url,
    store,
    proxy,
    until,
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
