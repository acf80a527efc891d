// Several processes on one PostgreSQL database show each change on all nodes (D1-D3).
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Nodes } from '../../support/processes/nodes.ts'
import { idIn, type UserOfService } from '../../support/processes/user-of-service.ts'

const times = process.env.SOAK === undefined ? 20 : 1_000

const nodes = await Nodes.on('PostgreSQL')
after(() => nodes[Symbol.asyncDispose]())
const started = await Promise.all([nodes.begin(), nodes.begin(), nodes.begin()])
await Promise.all(started.map((node) => node.process.isReady()))
const users = started.map((node) => node.user(nodes.firstSignIn))
const [a, b, c] = users as [UserOfService, UserOfService, UserOfService]

test('three processes that start at the same time on an empty database make one first sign-in and one signing key', async () => {
  const lines = started.flatMap((node) => node.process.lines)
  assert.equal(lines.filter(({ msg }) => msg.startsWith('first start')).length, 1)
  const keySets = await Promise.all(
    users.map((user) => user.request({ path: '/.well-known/jwks.json' })),
  )
  assert.equal(keySets[0]?.status, 200)
  assert.equal(new Set(keySets.map(({ text }) => text)).size, 1)
})

test('a change that one node acknowledged is in the next response of every other node, cached pages included', async () => {
  const proof = await b.signIn()
  for (let n = 0; n < times; n++) {
    const [writer, reader, third] = [users[n % 3], users[(n + 1) % 3], users[(n + 2) % 3]] as [
      typeof a,
      typeof b,
      typeof c,
    ]
    await reader.request({ path: '/api/notifications', headers: proof })
    const id = idIn(await writer.deliver(`No. ${n}`))
    const [newest] = (await reader.request({ path: '/api/notifications', headers: proof })).json()
      .data.items
    assert.deepEqual([newest.id, newest.read], [id, false])
    const read = await third.request({
      method: 'PATCH',
      path: `/api/notifications/${id}/read`,
      headers: proof,
    })
    assert.equal(read.status, 204)
    const seen = await reader.request({ path: `/api/notifications/${id}`, headers: proof })
    assert.equal(seen.json().data.read, true)
  }
  assert.equal((await a.post('/api/notifications/read-all', {}, proof)).status, 204)
  assert.equal(
    (await c.request({ path: '/api/notifications/counts', headers: proof })).json().data.unread,
    0,
  )
})

test('the same Idempotency-Key on three nodes at the same time makes one notification and one outcome (D1-D3)', async () => {
  for (let n = 0; n < times; n++) {
    const responses = await Promise.all(users.map((user) => user.deliver(`Once ${n}`, `once-${n}`)))
    assert.deepEqual(
      responses.map(({ status }) => status),
      [201, 201, 201],
    )
    assert.equal(new Set(responses.map(idIn)).size, 1)
  }
  const titles = (await a.inbox(await a.signIn()))
    .map(({ title }) => title)
    .filter((title) => title.startsWith('Once'))
  assert.equal(titles.length, times)
})
