// PostgreSQL becomes unreachable in several ways: no response is wrong, the process keeps running,
// and it works again within five seconds of the server's return (R7, Z7).
import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Break, breakOnce, TcpProxy } from '../../support/network/tcp-proxy.ts'
import { PostgresServer } from '../../support/postgres.ts'
import { carillon } from '../../support/processes/carillon-process.ts'
import { isUnavailable, Ledger } from '../../support/processes/ledger.ts'
import { hearingThrough, type Node, Nodes, untilSo } from '../../support/processes/nodes.ts'
import { idIn, type UserOfService } from '../../support/processes/user-of-service.ts'
import type { Proof } from '../../support/service.ts'

/** Five seconds on an idle machine; a busy one takes longer. */
const backWithinMs = 60_000
const rounds = process.env.SOAK === undefined ? 3 : 60

const server = await PostgresServer.start()
after(() => server.remove())

type Place = { nodes: Nodes; node: Node; user: UserOfService; session: Proof; token: Proof }

/** `proxy` is between the first node and the database. */
async function newPlace(proxy?: TcpProxy): Promise<Place & AsyncDisposable> {
  const url = await server.newDatabase()
  const nodes = new Nodes(url)
  const node = await nodes.add({ databaseUrl: proxy?.urlFor(url) ?? url })
  const user = node.user(nodes.firstSignIn)
  const session = await user.signIn('stateful')
  const token = await user.signIn('stateless')
  return {
    nodes,
    node,
    user,
    session,
    token,
    [Symbol.asyncDispose]: () => nodes[Symbol.asyncDispose](),
  }
}

/** Checks that every route that needs the store responds 503, and that the others work. */
async function isAway({ user, node, session, token }: Place): Promise<void> {
  const path = '/api/notifications'
  const id = '01900000-0000-7000-8000-000000000000'
  const refused = await Promise.all([
    user.request({ path: '/readyz' }),
    user.request({ path: '/routeRestreinte', headers: session }),
    ...[session, token].flatMap((headers) => [
      user.request({ path, headers }),
      user.request({ path: `${path}/counts`, headers }),
      user.request({ method: 'PATCH', path: `${path}/${id}/read`, headers }),
      user.post(`${path}/read-all`, {}, headers),
    ]),
    user.post('/login', { username: 'operator', password: 'not the right one' }),
    user.deliver('Not delivered'),
  ])
  for (const response of refused) isUnavailable(response)
  assert.equal((await user.request({ path: '/livez' })).status, 200)
  assert.equal((await user.request({ path: '/routeRestreinte', headers: token })).status, 200)
  assert.equal(node.process.child.exitCode, null)
}

async function isUnderLoad({ delivered }: Ledger): Promise<void> {
  const before = delivered.size
  await untilSo(async () => delivered.size >= before + 100)
}

async function isReady(user: UserOfService): Promise<boolean> {
  return (await user.request({ path: '/readyz' })).status === 200
}

/** Waits until the node is ready, reads and writes again; fails after the limit. */
async function isBack({ user, session, token }: Place): Promise<number> {
  const afterMs = await untilSo(() => isReady(user), backWithinMs)
  for (const headers of [session, token])
    assert.equal((await user.request({ path: '/api/notifications', headers })).status, 200)
  return afterMs
}

test('PostgreSQL crashes or is stopped under load: 503 with Retry-After and not ready, until it is started again (R7, Z7)', async (t) => {
  await using place = await newPlace()
  const ledger = new Ledger()
  for (let n = 0; n < rounds; n++) {
    const stop = ledger.begin([place.user], { writersEach: 16 })
    await isUnderLoad(ledger)
    await server.stop(n % 2 === 0 ? 'immediate' : 'fast')
    await isAway(place)
    await server.begin()
    t.diagnostic(`back after ${(await isBack(place)).toFixed(0)} ms`)
    await stop()
    const { retried } = await ledger.settle(place.user, place.session)
    assert.ok(retried > 0 && ledger.delivered.size > retried, 'the load was too low')
  }
  assert.deepEqual([...ledger.statuses.keys()].sort(), [201, 503])
})

test('an operator ends connections repeatedly under load: nothing acknowledged is lost (R7)', async () => {
  await using place = await newPlace()
  const { nodes, node, user, session } = place
  const others = await nodes.add()
  const ledger = new Ledger()
  const stop = ledger.begin([user, others.user(nodes.firstSignIn)], { writersEach: 8 })
  const giveUpAt = performance.now() + 30_000
  for (
    let n = 0;
    n < rounds * 5 || (!ledger.statuses.has(503) && performance.now() < giveUpAt);
    n++
  ) {
    await sleep(50)
    await server.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'carillon%'",
    )
  }
  await stop()
  assert.ok(ledger.statuses.has(503), 'no connection was ended during a delivery')
  await isBack(place)
  await ledger.settle(user, session)
  for (const { process } of [node, others]) assert.equal(process.child.exitCode, null)
})

test('a replica takes over: the service is not ready before, and everything acknowledged is there after (R7)', async (t) => {
  const primary = await PostgresServer.start()
  t.after(() => primary.remove())
  const url = await primary.newDatabase()
  const replica = await primary.withReplica()
  t.after(() => replica.remove())
  await using proxy = await TcpProxy.to(primary.port)
  await using nodes = new Nodes(url)
  const node = await nodes.add({ databaseUrl: proxy.urlFor(url) })
  const user = node.user(nodes.firstSignIn)
  const place = {
    nodes,
    node,
    user,
    session: await user.signIn('stateful'),
    token: await user.signIn('stateless'),
  }
  const ledger = new Ledger()
  const stop = ledger.begin([user], { writersEach: 16 })
  await isUnderLoad(ledger)
  await primary.stop('immediate')
  proxy.target = replica.port
  await untilSo(
    async () =>
      (await user.request({ path: '/api/notifications', headers: place.session })).status === 200,
  )
  assert.equal(await isReady(user), false, 'a replica cannot be written')
  const env = {
    ...nodes.environment,
    CARILLON_DATABASE_URL: replica.url(new URL(url).pathname.slice(1)),
  }
  const refused = await carillon(nodes.folder, ['serve'], { env })
  assert.equal(refused.status, 1)
  assert.match(refused.stderr, /^carillon: This PostgreSQL is a read-only replica\. [^\n]+\n$/)
  isUnavailable(await user.deliver('Not delivered'))
  await replica.query('select pg_promote()')
  t.diagnostic(`back after ${(await isBack(place)).toFixed(0)} ms`)
  await sleep(200)
  await stop()
  const { retried } = await ledger.settle(user, place.session)
  assert.ok(retried > 0 && ledger.delivered.size > retried, 'the load was too low')
})

suite('a network in between', { concurrency: 4 }, () => {
  for (const where of [
    'before the call',
    'before the reply',
    'in the reply',
    'reply dropped',
  ] as Break[])
    test(`the connection breaks during the commit of a delivery (${where}): the response says that the outcome is unknown, and a retry delivers once (R7, D1-D3)`, async () => {
      await using proxy = await TcpProxy.to(server.port)
      await using place = await newPlace(proxy)
      const { user, session, node } = place
      const broken = breakOnce(proxy, 'deliverTogether', where)
      const response = await user.deliver('Once', 'once')
      await broken
      isUnavailable(response)
      assert.match(response.json().error.message, /the outcome is unknown/)
      const titles = async () => (await user.inbox(session)).map(({ title }) => title)
      const welcome = 'Welcome to Carillon'
      assert.deepEqual(await titles(), where === 'before the call' ? [welcome] : ['Once', welcome])
      const first = await user.deliver('Once', 'once')
      const second = await user.deliver('Once', 'once')
      assert.deepEqual([first.status, second.status], [201, 201])
      assert.equal(idIn(first), idIn(second))
      assert.deepEqual(await titles(), ['Once', welcome])
      assert.equal(node.process.child.exitCode, null)
    })

  test('a sign-out whose reply from the database is lost is not a 204, and the session has ended (R7, S4)', async () => {
    await using proxy = await TcpProxy.to(server.port)
    await using place = await newPlace(proxy)
    const broken = breakOnce(proxy, 'commit', 'before the reply')
    isUnavailable(
      await place.user.request({ method: 'POST', path: '/logout', headers: place.session }),
    )
    await broken
    assert.equal(
      (await place.user.request({ path: '/api/notifications', headers: place.session })).status,
      401,
    )
  })

  test('a slow network slows responses down and changes nothing else (R7)', async () => {
    await using proxy = await TcpProxy.to(server.port)
    await using place = await newPlace(proxy)
    proxy.delayMs = 75
    const before = performance.now()
    assert.equal((await place.user.deliver('Slowly')).status, 201)
    assert.ok(performance.now() - before > 2 * proxy.delayMs, 'the proxy did not delay')
    await isBack(place)
  })

  test('a network that drops every packet: 503 in time, and working again when the network does (R7)', async (t) => {
    await using proxy = await TcpProxy.to(server.port)
    await using place = await newPlace(proxy)
    proxy.drops = 'both'
    const startedAt = performance.now()
    await isAway(place)
    t.diagnostic(`all refused after ${(performance.now() - startedAt).toFixed(0)} ms`)
    assert.ok(performance.now() - startedAt < backWithinMs)
    proxy.drops = undefined
    t.diagnostic(`back after ${(await isBack(place)).toFixed(0)} ms`)
    proxy.isRefusing = true
    proxy.disconnect()
    await isAway(place)
    proxy.isRefusing = false
    await isBack(place)
  })

  test('a node that silently receives no change signals refuses a token that another node revoked within five seconds (R7, T7, N9)', async (t) => {
    await using proxy = await TcpProxy.to(server.port)
    const signals = hearingThrough(proxy)
    await using place = await newPlace(proxy)
    const { nodes, user, token } = place
    const other = (await nodes.add()).user(nodes.firstSignIn)
    signals.isDeaf = true
    const silentAt = performance.now()
    assert.equal(
      (await other.request({ method: 'POST', path: '/logout', headers: token })).status,
      204,
    )
    const status = async () =>
      (await user.request({ path: '/routeRestreinte', headers: token })).status
    const atFirst = await status()
    // The node notices the missing signals after two seconds at the earliest.
    if (performance.now() - silentAt < 1_500)
      assert.equal(atFirst, 200, 'the node received the change signal')
    const afterMs = await untilSo(async () => (await status()) === 401, backWithinMs)
    t.diagnostic(`refused after ${afterMs.toFixed(0)} ms`)
  })
})
