// A node catches up within five seconds with what it missed while its listening connection was lost (N9).
import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { EventReader } from '../../support/event-source/event-source.ts'
import { TcpProxy } from '../../support/network/tcp-proxy.ts'
import { PostgresServer } from '../../support/postgres.ts'
import { Follower } from '../../support/processes/follower.ts'
import { Ledger } from '../../support/processes/ledger.ts'
import { hearingThrough, Nodes, untilSo } from '../../support/processes/nodes.ts'
import { idIn } from '../../support/processes/user-of-service.ts'
import { variants } from '../../support/service.ts'

/** Five seconds on an idle machine; a busy one takes longer. */
const withinMs = 60_000
const rounds = process.env.SOAK === undefined ? 2 : 50

// A separate server: the tests end connections of all its clients.
const server = await PostgresServer.start()
after(() => server.remove())

const endChangeSignals = (url: string) =>
  server.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where application_name like 'carillon change signals%' and datname = '${new URL(url).pathname.slice(1)}'`,
  )

const busy = (url: string) =>
  `select pid from pg_stat_activity
   where state <> 'idle' and pid <> pg_backend_pid() and datname = '${new URL(url).pathname.slice(1)}'`

suite('a lost listening connection', { concurrency: true }, () => {
  test(`an operator ends the listening connection ${rounds} times during deliveries: the stream sends all of them within 5 s (N9)`, async (t) => {
    const url = await server.newDatabase()
    await using nodes = new Nodes(url)
    const listening = await nodes.add()
    const writing = await nodes.add()
    const user = writing.user(nodes.firstSignIn)
    const followers: Follower[] = []
    for (const variant of variants)
      followers.push(
        new Follower(listening.url, await user.signIn(variant), { pauseMs: 10, since: '1' }),
      )
    for (const follower of followers) await follower.until(() => follower.connections === 1)
    const ledger = new Ledger()
    for (let round = 0; round < rounds; round++) {
      const stop = ledger.begin([user], { writersEach: 4 })
      await sleep(100)
      await endChangeSignals(url)
      await sleep(100)
      await endChangeSignals(url)
      await stop()
      const from = performance.now()
      for (const follower of followers)
        await follower.until(() => follower.ids.length === ledger.delivered.size, withinMs)
      t.diagnostic(
        `${ledger.delivered.size} sent after ${(performance.now() - from).toFixed(0)} ms`,
      )
    }
    const ids = (await user.inbox(await user.signIn())).map(({ id }) => id).toReversed()
    for (const follower of followers) {
      await follower.stop()
      assert.deepEqual(follower.ids, ids.slice(1))
      assert.equal(follower.connections, 1, 'the stream itself was disconnected')
    }
  })

  test('a node whose notices are dropped sends deliveries of other nodes within 5 s, once, and ends revoked streams (N9)', async (t) => {
    const url = await server.newDatabase()
    await using proxy = await TcpProxy.to(server.port)
    const hearing = hearingThrough(proxy)
    await using nodes = new Nodes(url)
    const deaf = await nodes.add({ databaseUrl: proxy.urlFor(url) })
    const writing = await nodes.add()
    const user = writing.user(nodes.firstSignIn)
    const stays = await user.signIn('stateful')
    const ends = await user.signIn('stateful')
    using reader = await EventReader.of(deaf.url, stays)
    using ending = await EventReader.of(deaf.url, ends)
    hearing.isDeaf = true
    const deafAt = performance.now()
    const ids: string[] = []
    for (let n = 0; n < 20; n++) ids.push(idIn(await user.deliver(`No. ${n}`)))
    await user.request({ method: 'POST', path: '/logout', headers: ends })
    const from = performance.now()
    // It notices the loss after two seconds at the earliest.
    if (from - deafAt < 1_500)
      assert.deepEqual(
        [reader.isUpToDate, ending.isOver],
        [true, false],
        'it received the change signals',
      )
    for (const id of ids)
      assert.equal((await reader.next('created', withinMs)).data.notification.id, id)
    t.diagnostic(`sent after ${(performance.now() - from).toFixed(0)} ms`)
    await ending.until(() => ending.isOver, withinMs)
    assert.equal(ending.events.at(-1)?.type, 'session-ended')
    assert.ok(reader.isUpToDate && performance.now() - from < withinMs)
  })

  test('if a node is killed between a commit and its change signal, the others send the change with the next one, in order (N9)', async () => {
    const url = await server.newDatabase()
    await using nodes = new Nodes(url)
    const listening = await nodes.add()
    const dying = await nodes.add()
    const user = listening.user(nodes.firstSignIn)
    const other = dying.user(nodes.firstSignIn)
    await using follower = new Follower(listening.url, await user.signIn('stateless'), {
      pauseMs: 10,
      since: '1',
    })
    await follower.until(() => follower.connections === 1)
    for (let n = 0; n < rounds; n++) {
      const ledger = new Ledger()
      const stop = ledger.begin([other], { writersEach: 8 })
      await sleep(150)
      await dying.process.end('SIGKILL')
      await stop()
      // The server still commits its last statements, and no change signal follows.
      await sleep(500)
      await untilSo(async () => (await server.query(busy(url))).rows.length === 0)
      await user.deliver('after')
      await follower.until(() => follower.ids.length > 0, withinMs)
      const ids = (await user.inbox(await user.signIn())).map(({ id }) => id).toReversed()
      await follower.until(() => follower.ids.length === ids.length - 1, withinMs)
      assert.deepEqual(follower.ids, ids.slice(1))
      await dying.again()
    }
    assert.equal(follower.connections, 1)
  })
})
