// Several processes on one PostgreSQL database show each change on all nodes (S4, S7, T7, D1-D3).
import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { newDatabase } from '../../support/postgres.ts'
import { carillon } from '../../support/processes/carillon-process.ts'
import { Nodes, untilSo } from '../../support/processes/nodes.ts'
import { idIn, type UserOfService } from '../../support/processes/user-of-service.ts'
import { type Proof, variants } from '../../support/service.ts'

/** A second on an idle machine. A node that misses a change signal catches up in about two; so the test checks the median too. */
const soonMs = 60_000
const times = process.env.SOAK === undefined ? 20 : 1_000

const database = await newDatabase()
const nodes = new Nodes(database.url)
after(async () => {
  await nodes[Symbol.asyncDispose]()
  await database.drop()
})
const started = await Promise.all([nodes.begin(), nodes.begin(), nodes.begin()])
await Promise.all(started.map((node) => node.process.isReady()))
const users = started.map((node) => node.user(nodes.firstSignIn))
const [a, b, c] = users as [UserOfService, UserOfService, UserOfService]

const statusOf = async (user: UserOfService, proof: Proof) =>
  (await user.request({ path: '/api/notifications', headers: proof })).status

/** Returns how many milliseconds passed until every node refused the proof. */
async function refusedEverywhere(proof: Proof): Promise<number> {
  const isRefused = (user: UserOfService) =>
    untilSo(async () => (await statusOf(user, proof)) === 401, soonMs)
  return Math.max(...(await Promise.all(users.map(isRefused))))
}

test('three processes that start at the same time on an empty database make one first sign-in and one signing key', async () => {
  const lines = started.flatMap((node) => node.process.lines)
  assert.equal(lines.filter(({ msg }) => msg.startsWith('first start')).length, 1)
  const keySets = await Promise.all(
    users.map((user) => user.request({ path: '/.well-known/jwks.json' })),
  )
  assert.equal(keySets[0]?.status, 200)
  assert.equal(new Set(keySets.map(({ text }) => text)).size, 1)
})

for (const variant of variants)
  suite(variant, () => {
    test('a sign-in on one node is valid on all; a sign-out ends a session on all at once and a token within a second (S4, T7)', async (t) => {
      const took: number[] = []
      for (let n = 0; n < times; n++) {
        const proof = await a.signIn(variant)
        for (const user of users) assert.equal(await statusOf(user, proof), 200)
        assert.equal(
          (await a.request({ method: 'POST', path: '/logout', headers: proof })).status,
          204,
        )
        if (variant === 'stateful') assert.equal(await statusOf(b, proof), 401)
        took.push(await refusedEverywhere(proof))
      }
      took.sort((one, other) => one - other)
      t.diagnostic(`refused everywhere after ${took.at(-1)?.toFixed(0)} ms at most`)
      assert.ok((took[Math.floor(took.length / 2)] ?? 0) < 1_000)
    })

    test('every node refuses a user soon after the command that disables the user (S7, T7)', async () => {
      const made = await carillon(nodes.folder, ['user', 'add', `gone-${variant}`, '--json'], {
        env: nodes.environment,
      })
      assert.equal(made.status, 0, made.stderr)
      const [one, other] = [started[0], started[1]].map((node) =>
        node?.user({ ...nodes.firstSignIn, ...JSON.parse(made.stdout) }),
      ) as [UserOfService, UserOfService]
      const proof = await one.signIn(variant)
      assert.equal(await statusOf(other, proof), 200)
      const disabled = await carillon(nodes.folder, ['user', 'disable', `gone-${variant}`], {
        env: nodes.environment,
      })
      assert.equal(disabled.status, 0, disabled.stderr)
      await refusedEverywhere(proof)
    })
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
