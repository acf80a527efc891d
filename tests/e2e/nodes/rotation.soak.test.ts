// A change on one of two processes replaces the proof of its caller: the other refuses the older
// ones too, and ends what they hold open (S17; decision 0063). ended-elsewhere.soak.test.ts has tokens.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { EventReader } from '../../support/event-source/event-source.ts'
import { Nodes } from '../../support/processes/nodes.ts'
import type { UserOfService } from '../../support/processes/user-of-service.ts'
import type { Proof } from '../../support/service.ts'

/** An older stream ends ten seconds after the first use of the new cookie, and is checked once a second. */
const leastMs = 9_000
const mostMs = 60_000
const rounds = 7

const nodes = await Nodes.on('PostgreSQL')
after(() => nodes[Symbol.asyncDispose]())
const started = [await nodes.add(), await nodes.add()] as const
const [a, b] = started.map((node) => node.user(nodes.firstSignIn)) as [UserOfService, UserOfService]

const statusOf = async (user: UserOfService, headers: Proof) =>
  (await user.request({ path: '/routeRestreinte', headers })).status
const confirm = (user: UserOfService, proof: Proof) =>
  user.post('/api/me/confirm', { password: nodes.firstSignIn.password }, proof)

test('a cookie that was replaced on one node is refused by both at once, and its streams end on both', async () => {
  const old = await a.signIn()
  const readers = await Promise.all(started.map(({ url }) => EventReader.of(url, old)))
  const confirmed = await confirm(a, old)
  assert.equal(confirmed.status, 204, confirmed.text)
  const renewed = { cookie: confirmed.headers.getSetCookie()[0]?.split(';')[0] ?? '' }
  for (const node of [b, a]) assert.equal(await statusOf(node, old), 401)
  const usedAt = performance.now()
  for (const node of [b, a]) assert.equal(await statusOf(node, renewed), 200)
  await Promise.all(readers.map((reader) => reader.ended(mostMs)))
  assert.ok(
    performance.now() - usedAt > leastMs,
    'a client would not have had the time to receive the new cookie',
  )
  for (const node of [a, b]) assert.equal(await statusOf(node, renewed), 200)
})

test('of two changes by one cookie on two nodes at the same moment one succeeds, and the other one is 401', async () => {
  for (let n = 0; n < rounds; n++) {
    const old = await a.signIn()
    const both = await Promise.all([a, b].map((node) => confirm(node, old)))
    assert.deepEqual(both.map(({ status }) => status).sort(), [204, 401])
  }
})
