// Wake on two nodes: a snooze that is over takes effect once, whichever node sees it first.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Nodes, untilSo } from '../../support/processes/nodes.ts'

const nodes = await Nodes.on('PostgreSQL')
after(() => nodes[Symbol.asyncDispose]())

test('what was snoozed comes back once on two nodes, within five seconds', async () => {
  const started = await Promise.all([nodes.begin(), nodes.begin()])
  await Promise.all(started.map((node) => node.process.isReady()))
  const [user, other] = started.map((node) => node.user(nodes.firstSignIn))
  assert.ok(user && other)
  const proof = await user.signIn()
  const headers = { ...proof, 'content-type': 'application/json' }
  const until = new Date(Date.now() + 4_000).toISOString()
  const data = async (path: string) => (await other.request({ path, headers: proof })).json().data
  for (let n = 0; n < 20; n++) await user.deliver(`snoozed ${n}`, `snoozed ${n}`)
  const { items } = await data('/api/notifications?limit=100')
  for (const { id } of items) {
    const snooze = {
      method: 'PATCH',
      path: `/api/notifications/${id}/snooze`,
      headers,
      body: JSON.stringify({ until }),
    }
    assert.equal((await user.request(snooze)).status, 204)
  }
  const before = await data('/api/notifications')
  assert.equal(before.total, 0)
  await untilSo(async () => (await data('/api/notifications')).total === items.length)
  assert.ok(Date.now() < Date.parse(until) + 5_000)
  const { version, unread } = await data('/api/notifications')
  assert.deepEqual([version, unread], [before.version + items.length, items.length])
})
