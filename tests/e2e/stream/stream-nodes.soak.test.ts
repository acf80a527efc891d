// A node sends what happened on another node or by a command, and catches up within five seconds
// with what it missed while its listening connection was lost (N9, Z6, S7).
import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { EventReader } from '../../support/event-source/event-source.ts'
import { TcpProxy } from '../../support/network/tcp-proxy.ts'
import { PostgresServer } from '../../support/postgres.ts'
import { carillon } from '../../support/processes/carillon-process.ts'
import { Follower } from '../../support/processes/follower.ts'
import { Ledger } from '../../support/processes/ledger.ts'
import { hearingThrough, type Node, Nodes, untilSo } from '../../support/processes/nodes.ts'
import { idIn } from '../../support/processes/user-of-service.ts'
import { type Proof, type Variant, variants } from '../../support/service.ts'

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

/**
 * The stream must end as revoked within `ms` and cannot be opened again. Returns how many
 * milliseconds that took.
 */
async function hasEnded(
  reader: EventReader,
  { node, proof, ms }: { node: Node; proof: Proof; ms: number },
) {
  const from = performance.now()
  const { data } = await reader.next('session-ended', ms)
  assert.deepEqual(data, { reason: 'revoked' })
  await reader.ended(ms)
  const afterMs = performance.now() - from
  using again = await EventReader.open(node.url, { headers: proof })
  assert.equal(again.status, 401)
  return afterMs
}

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

suite('a proof that ends elsewhere', { concurrency: true }, async () => {
  const nodes = new Nodes(await server.newDatabase())
  const sqlite = new Nodes('sqlite:carillon.db')
  after(async () => {
    await nodes[Symbol.asyncDispose]()
    await sqlite[Symbol.asyncDispose]()
  })
  const one = await nodes.add()
  const other = await nodes.add()
  const single = await sqlite.add()

  type Place = { of: Nodes; nodesOf: readonly Node[] }
  const places: Record<string, Place> = {
    'on PostgreSQL, on both nodes': { of: nodes, nodesOf: [one, other] },
    'on SQLite': { of: sqlite, nodesOf: [single] },
  }

  for (const variant of variants)
    test(`a sign-out on one node ends the stream on another within 5 s (Z6, ${variant})`, async (t) => {
      const user = one.user(nodes.firstSignIn)
      let slowest = 0
      for (let n = 0; n < rounds; n++) {
        const proof = await user.signIn(variant)
        using stays = await EventReader.of(other.url, await user.signIn(variant))
        const readers = [
          await EventReader.of(other.url, proof),
          await EventReader.of(one.url, proof),
        ]
        assert.equal(
          (await user.request({ method: 'POST', path: '/logout', headers: proof })).status,
          204,
        )
        for (const [index, reader] of readers.entries()) {
          const node = [other, one][index] ?? assert.fail()
          slowest = Math.max(slowest, await hasEnded(reader, { node, proof, ms: withinMs }))
        }
        assert.ok(!stays.isOver)
      }
      t.diagnostic(`ended after ${slowest.toFixed(0)} ms at most`)
    })

  /** Checks that a command ends every stream of its user, on every node. */
  async function endedBy(
    command: readonly string[],
    { of, nodesOf }: Place,
    t: { diagnostic: (text: string) => void },
  ) {
    const name = `gone-${command[1]}`
    const env = of.environment
    const made = await carillon(of.folder, ['user', 'add', name, '--json'], { env })
    assert.equal(made.status, 0, made.stderr)
    const signIn = { ...of.firstSignIn, ...JSON.parse(made.stdout) }
    const streams: { node: Node; proof: Proof; reader: EventReader }[] = []
    for (const node of nodesOf)
      for (const variant of variants as readonly Variant[]) {
        const proof = await node.user(signIn).signIn(variant)
        streams.push({ node, proof, reader: await EventReader.of(node.url, proof) })
      }
    using stays = await EventReader.of(
      nodesOf[0]?.url ?? '',
      await (nodesOf[0] as Node).user(of.firstSignIn).signIn(),
    )
    const done = await carillon(of.folder, [...command, name], {
      env,
      stdin: 'another orchard gate 42\n',
    })
    assert.equal(done.status, 0, done.stderr)
    let slowest = 0
    for (const { node, proof, reader } of streams)
      slowest = Math.max(slowest, await hasEnded(reader, { node, proof, ms: withinMs }))
    t.diagnostic(`ended ${slowest.toFixed(0)} ms after the command`)
    assert.ok(!stays.isOver)
  }

  test('a DELETE of a user on one node ends the streams on another: of a session, a token and an issued token (Z6, U2)', async (t) => {
    const made = await carillon(nodes.folder, ['key', 'add', 'app', '--scope', 'users', '--json'], {
      env: nodes.environment,
    })
    const operator = one.user(nodes.firstSignIn)
    const send = async (method: string, path: string, body?: object) => {
      const authorization = `Bearer ${JSON.parse(made.stdout).key}`
      const headers = { authorization, ...(body && { 'content-type': 'application/json' }) }
      return operator.request({
        method,
        path,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      })
    }
    let slowest = 0
    for (let n = 0; n < rounds; n++) {
      const signIn = { username: `erased-${n}`, password: 'plum orchard gate 41', key: '' }
      const { username, password } = signIn
      const user = (await send('POST', '/api/users', { username, password })).json().data
      const issued = (await send('POST', `/api/users/${user.id}/tokens`, { scope: 'inbox' })).json()
        .data.token
      const proofs: Proof[] = [{ authorization: `Bearer ${issued}` }]
      for (const variant of variants) proofs.push(await one.user(signIn).signIn(variant))
      const readers = await Promise.all(proofs.map((proof) => EventReader.of(other.url, proof)))
      using stays = await EventReader.of(other.url, await operator.signIn())
      assert.equal((await send('DELETE', `/api/users/${user.id}`)).status, 204)
      for (const proof of proofs)
        assert.equal(
          (await operator.request({ path: '/api/notifications', headers: proof })).status,
          401,
        )
      for (const [index, reader] of readers.entries()) {
        const proof = proofs[index] ?? assert.fail()
        slowest = Math.max(slowest, await hasEnded(reader, { node: other, proof, ms: withinMs }))
      }
      assert.ok(!stays.isOver)
    }
    t.diagnostic(`ended after ${slowest.toFixed(0)} ms at most`)
  })

  for (const [where, place] of Object.entries(places)) {
    test(`carillon user disable, beside the running service, ends the user's streams within 5 s (Z6, S7, ${where})`, (t) =>
      endedBy(['user', 'disable'], place, t))
    test(`carillon user password, beside the running service, ends the user's streams within 5 s (Z6, A13, ${where})`, (t) =>
      endedBy(['user', 'password', '--password-stdin'], place, t))
    test(`carillon user delete, beside the running service, ends the user's streams within 5 s (Z6, U2, ${where})`, (t) =>
      endedBy(['user', 'delete', '--yes'], place, t))
  }
})
