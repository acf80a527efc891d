// A live stream that is cut at any byte, again and again, while the service is killed in between (N2): whoever comes
// back to the last event that he has whole gets each notification once, in order. SOAK=1: 1,000 cuts and more, 10,000 events.
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Random, randomOf } from '../../support/event-source/random.ts'
import { TcpProxy } from '../../support/network/tcp-proxy.ts'
import { newDatabase } from '../../support/postgres.ts'
import { Follower } from '../../support/processes/follower.ts'
import { Ledger } from '../../support/processes/ledger.ts'
import { type Node, Nodes } from '../../support/processes/nodes.ts'
import type { UserOfService } from '../../support/processes/user-of-service.ts'
import { variants } from '../../support/service.ts'

const {
  cuts: minCuts,
  events: minEvents,
  kills,
} = process.env.SOAK === undefined ? { cuts: 60, events: 800, kills: 2 } : { cuts: 1_000, events: 10_000, kills: 20 }

const engines = {
  SQLite: async () => ({ url: 'sqlite:carillon.db', drop: async () => {} }),
  PostgreSQL: () => newDatabase(),
}

/** Each connection is cut behind so many bytes to its client, in the middle of whatever that is; answers how many were. */
function cutAtRandom(proxy: TcpProxy, chance: Random): () => number {
  /** How many bytes each connection still has, known by what the proxy notes of it. */
  const left = new WeakMap<object, number>()
  let cuts = 0
  proxy.intercept = ({ direction, bytes, notes }) => {
    if (direction === 'to server') return undefined
    const before = left.get(notes) ?? chance.below(6_000)
    left.set(notes, before - bytes.length)
    if (bytes.length <= before) return undefined
    cuts++
    return { pass: bytes.subarray(0, before), cuts: true }
  }
  return () => cuts
}

async function deliverAndKill(ledger: Ledger, { user, node }: { user: UserOfService; node: Node }): Promise<void> {
  const stop = ledger.begin([user], { writersEach: 2 })
  for (let part = 1; part <= kills + 1; part++) {
    while (ledger.delivered.size < (minEvents * part) / (kills + 1)) await sleep(5)
    if (part > kills) break
    await node.process.end('SIGKILL')
    await node.again()
  }
  await stop()
}

suite('N2', { concurrency: true }, () => {
  for (const [engine, newPlace] of Object.entries(engines))
    test(`N2: ${minCuts} cuts during ${minEvents} events, ${kills} kills in between: each exactly once, in order (${engine})`, async (t) => {
      const chance = randomOf(t)
      const { url, drop } = await newPlace()
      t.after(drop)
      await using nodes = new Nodes(url)
      const node = await nodes.add()
      const user = node.user(nodes.firstSignIn)
      await using proxy = await TcpProxy.to(node.port)
      const cuts = cutAtRandom(proxy, chance)
      const followers: Follower[] = []
      for (const variant of variants)
        followers.push(new Follower(proxy.urlFor(node.url), await user.signIn(variant), { pauseMs: 5 }))

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
      t.diagnostic(`${ids.length} events, ${cuts()} cuts, connections ${connections}, ${retried} deliveries sent again`)
      assert.ok(cuts() >= minCuts && ids.length >= minEvents, `${cuts()} cuts, ${ids.length} events`)
    })
})
