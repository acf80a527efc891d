// Streams are disconnected at random bytes while the service is killed and restarted: a client that
// resumes from its last complete event receives each notification once, in order (N2). SOAK=1: at
// least 1,000 disconnects and 10,000 events.
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Random, randomOf } from '../../support/event-source/random.ts'
import { TcpProxy } from '../../support/network/tcp-proxy.ts'
import { Follower } from '../../support/processes/follower.ts'
import { Ledger } from '../../support/processes/ledger.ts'
import { engines, type Node, Nodes } from '../../support/processes/nodes.ts'
import type { UserOfService } from '../../support/processes/user-of-service.ts'
import { variants } from '../../support/service.ts'

const {
  disconnects: minDisconnects,
  events: minEvents,
  kills,
} = process.env.SOAK === undefined
  ? { disconnects: 60, events: 800, kills: 2 }
  : { disconnects: 1_000, events: 10_000, kills: 20 }

/**
 * Each connection ends after a random number of bytes to its client. The returned function counts
 * them.
 */
function disconnectAtRandom(proxy: TcpProxy, random: Random): () => number {
  /** Says how many bytes each connection may still carry; the key is the connection's `notes`. */
  const left = new WeakMap<object, number>()
  let disconnects = 0
  proxy.intercept = ({ direction, bytes, notes }) => {
    if (direction === 'to server') return undefined
    const before = left.get(notes) ?? random.below(6_000)
    left.set(notes, before - bytes.length)
    if (bytes.length <= before) return undefined
    disconnects++
    return { pass: bytes.subarray(0, before), disconnects: true }
  }
  return () => disconnects
}

async function deliverAndKill(
  ledger: Ledger,
  { user, node }: { user: UserOfService; node: Node },
): Promise<void> {
  const stop = ledger.begin([user], { writersEach: 2 })
  for (let part = 1; part <= kills + 1; part++) {
    while (ledger.delivered.size < (minEvents * part) / (kills + 1)) await sleep(5)
    if (part > kills) break
    await node.process.end('SIGKILL')
    await node.again()
  }
  await stop()
}

suite('streams that are disconnected (N2)', { concurrency: true }, () => {
  for (const engine of engines)
    test(`${minDisconnects} disconnects and ${kills} kills during ${minEvents} events: the client receives each event once, in order (${engine})`, async (t) => {
      const random = randomOf(t)
      await using nodes = await Nodes.on(engine)
      const node = await nodes.add()
      const user = node.user(nodes.firstSignIn)
      await using proxy = await TcpProxy.to(node.port)
      const disconnects = disconnectAtRandom(proxy, random)
      const followers: Follower[] = []
      for (const variant of variants)
        followers.push(
          new Follower(proxy.urlFor(node.url), await user.signIn(variant), { pauseMs: 5 }),
        )

      const ledger = new Ledger()
      await deliverAndKill(ledger, { user, node })
      const proof = await user.signIn()
      const { retried } = await ledger.settle(user, proof)

      const ids = (await user.inbox(proof)).map(({ id }) => id).toReversed()
      for (const follower of followers) {
        await follower.until(() => follower.ids.length >= ids.length, 60_000)
        await follower.stop()
        assert.deepEqual(follower.ids, ids)
        assert.equal(follower.count('resync'), 0)
        assert.equal(follower.count('hello') + follower.ids.length, follower.events.length)
      }
      const connections = followers.map((follower) => follower.connections)
      t.diagnostic(
        `${ids.length} events, ${disconnects()} disconnects, connections ${connections}, ${retried} deliveries sent again`,
      )
      assert.ok(
        disconnects() >= minDisconnects && ids.length >= minEvents,
        `${disconnects()} disconnects, ${ids.length} events`,
      )
    })
})
