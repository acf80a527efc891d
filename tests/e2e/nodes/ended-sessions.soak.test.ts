// Each of two processes lists the sign-ins of both, and refuses within a second what the other
// ended, streams included. The caller's own sign-in works on both (S20).
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { EventReader } from '../../support/event-source/event-source.ts'
import { newDatabase } from '../../support/postgres.ts'
import { carillon } from '../../support/processes/carillon-process.ts'
import { Nodes, untilSo } from '../../support/processes/nodes.ts'
import type { UserOfService } from '../../support/processes/user-of-service.ts'
import { type Proof, variants } from '../../support/service.ts'

/** A second on an idle machine; so the test checks the median too. */
const soonMs = 60_000
const times = process.env.SOAK === undefined ? 7 : 100
/** A user can end 60 sign-ins at once, and then one a minute. */
const timesOfUser = 50
const sessions = '/api/me/sessions'

const database = await newDatabase()
const nodes = new Nodes(database.url)
after(async () => {
  await nodes[Symbol.asyncDispose]()
  await database.drop()
})
const started = [await nodes.add(), await nodes.add()] as const

type Round = { a: UserOfService; b: UserOfService; own: Proof }

/** Every 50 rounds there is a new user. */
async function* rounds(): AsyncGenerator<Round> {
  for (let left = times; left > 0; left -= timesOfUser) {
    const name = `user-${crypto.randomUUID()}`
    const made = await carillon(nodes.folder, ['user', 'add', name, '--json'], {
      env: nodes.environment,
    })
    assert.equal(made.status, 0, made.stderr)
    const signIn = { ...nodes.firstSignIn, ...JSON.parse(made.stdout) }
    const [a, b] = started.map((node) => node.user(signIn)) as [UserOfService, UserOfService]
    const own = await a.signIn()
    for (let n = 0; n < Math.min(left, timesOfUser); n++) yield { a, b, own }
  }
}

const statusOf = async (user: UserOfService, headers: Proof) =>
  (await user.request({ path: '/routeRestreinte', headers })).status

async function idsOf(
  user: UserOfService,
  headers: Proof,
): Promise<{ current: string; all: string[] }> {
  const { items } = (await user.request({ path: sessions, headers })).json().data
  const all = items.map((item: { id: string }) => item.id)
  return { current: items.find((item: { current: boolean }) => item.current).id, all }
}

async function endsOnTheOtherNode(
  proof: Proof,
  { a, b }: Round,
  end: () => Promise<{ status: number }>,
): Promise<number> {
  const reader = await EventReader.of(started[1].url, proof)
  assert.equal((await end()).status, 204)
  const from = performance.now()
  assert.equal(await statusOf(a, proof), 401)
  assert.deepEqual((await reader.next('session-ended', soonMs)).data, { reason: 'revoked' })
  await reader.ended(soonMs)
  await untilSo(async () => (await statusOf(b, proof)) === 401, soonMs)
  return performance.now() - from
}

function checkMedian(took: number[]): void {
  const median = took.toSorted((one, other) => one - other)[Math.floor(took.length / 2)]
  assert.ok((median ?? 0) < 1_000, `${median} ms`)
}

for (const variant of variants) {
  test(`a ${variant} sign-in that is ended on one node is refused within a second on the other, with its stream (S20)`, async () => {
    const took: number[] = []
    for await (const round of rounds()) {
      const { a, b, own } = round
      const ended = await b.signIn(variant)
      const { current } = await idsOf(b, ended)
      assert.ok((await idsOf(a, own)).all.includes(current))
      const path = `${sessions}/${current}`
      took.push(
        await endsOnTheOtherNode(ended, round, () =>
          a.request({ method: 'DELETE', path, headers: own }),
        ),
      )
      assert.equal((await b.request({ method: 'DELETE', path, headers: own })).status, 404)
    }
    checkMedian(took)
  })

  test(`a ${variant} sign-in that ends all others works on both nodes, and the others end on both (S20)`, async () => {
    const took: number[] = []
    for await (const round of rounds()) {
      const { a, b } = round
      const own = await a.signIn(variant)
      const ended = await b.signIn(variant)
      took.push(
        await endsOnTheOtherNode(ended, round, () =>
          a.request({ method: 'DELETE', path: sessions, headers: own }),
        ),
      )
      for (const node of [a, b]) assert.equal(await statusOf(node, own), 200)
      // Node b may not have received the revocation that spares the sign-in.
      const renewed = await b.post('/api/me/token', {}, own)
      assert.equal(renewed.status, 201, renewed.text)
      const token = { authorization: `Bearer ${renewed.json().data.token}` }
      for (const node of [a, b]) assert.equal(await statusOf(node, token), 200)
    }
    checkMedian(took)
  })
}
