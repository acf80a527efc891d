// What ends a proof, by a request to one node or by a command, ends it on every node within a second, with its streams, and no
// other proof. On PostgreSQL with two nodes, and commands beside one process with SQLite, too.
import assert from 'node:assert/strict'
import { after, suite, type TestContext, test } from 'node:test'
import { EventReader } from '../../support/event-source/event-source.ts'
import { carillon, carillonJson } from '../../support/processes/carillon-process.ts'
import { type Engine, type Node, Nodes, untilSo } from '../../support/processes/nodes.ts'
import type { UserOfService } from '../../support/processes/user-of-service.ts'
import { type HttpResponse, type Proof, variants } from '../../support/service.ts'
import { isSoak } from '../../support/soak.ts'

/** A second on an idle machine; so the test checks the median too. */
const soonMs = 60_000
const rounds = isSoak ? 100 : 5
const password = 'plum orchard gate 41'

/** One process is first and last. */
type Place = { nodes: Nodes; first: Node; last: Node; users: Proof; operator: Proof }

async function placeOn(engine: Engine, count: number): Promise<Place> {
  const nodes = await Nodes.on(engine)
  after(() => nodes[Symbol.asyncDispose]())
  const first = await nodes.add()
  const last = count > 1 ? await nodes.add() : first
  const options = { env: nodes.environment }
  const made = await carillonJson(nodes.folder, ['key', 'add', 'app', '--scope', 'users'], options)
  const operator = await first.user(nodes.firstSignIn).signIn()
  return { nodes, first, last, users: { authorization: `Bearer ${made.key}` }, operator }
}

const places = {
  PostgreSQL: await placeOn('PostgreSQL', 2),
  SQLite: await placeOn('SQLite', 1),
}

let people = 0

class Person {
  readonly place: Place
  readonly id: string
  readonly username: string
  readonly first: UserOfService
  readonly last: UserOfService

  private constructor(place: Place, { id, username }: { id: string; username: string }) {
    this.place = place
    this.id = id
    this.username = username
    const signIn = { username, password, key: '' }
    this.first = place.first.user(signIn)
    this.last = place.last.user(signIn)
  }

  static async at(place: Place): Promise<Person> {
    const user = place.first.user(place.nodes.firstSignIn)
    const profile = { username: `person-${++people}`, password }
    const made = await user.post('/api/users', profile, place.users)
    assert.equal(made.status, 201, made.text)
    return new Person(place, made.json().data)
  }

  async issued(by: UserOfService): Promise<Proof> {
    const { users } = this.place
    return tokenIn(await by.post(`/api/users/${this.id}/tokens`, { scope: 'inbox' }, users))
  }
}

function tokenIn(response: HttpResponse): Proof {
  assert.equal(response.status, 201, response.text)
  return { authorization: `Bearer ${response.json().data.token}` }
}

/** `later`: a proof that is made after the end, which is valid. */
type Ending = {
  ends: Proof[]
  spares: Proof[]
  end(): Promise<HttpResponse>
  later?: () => Promise<Proof>
}

const sessions = '/api/me/sessions'
const signOut = (user: UserOfService, headers: Proof) =>
  user.request({ method: 'POST', path: '/logout', headers })

const requests: Record<string, (person: Person) => Promise<Ending>> = {
  'a sign-out with a token of a session': async ({ first, last }) => {
    const session = await last.signIn()
    const tokens = [
      tokenIn(await first.post('/api/me/token', {}, session)),
      tokenIn(await last.post('/api/me/token', {}, session)),
    ]
    const [token = {}] = tokens
    const ends = [session, ...tokens]
    return { ends, spares: [await last.signIn()], end: () => signOut(first, token) }
  },
  'a revocation of issued tokens (T17)': async (person) => {
    const { first, last, id, place } = person
    const path = `/api/users/${id}/tokens`
    return {
      ends: [await person.issued(first), await person.issued(last)],
      spares: [await first.signIn('stateless')],
      end: () => first.request({ method: 'DELETE', path, headers: place.users }),
      later: () => person.issued(first),
    }
  },
  'a deletion of the user (U2)': async (person) => {
    const { first, last, id, place } = person
    const proofs = [await person.issued(last), await last.signIn(), await last.signIn('stateless')]
    const deletion = { method: 'DELETE', path: `/api/users/${id}`, headers: place.users }
    return { ends: proofs, spares: [place.operator], end: () => first.request(deletion) }
  },
  'a change that replaces a token (S17)': async ({ first }) => {
    const old = await first.signIn('stateless')
    let renewed: Proof = {}
    const end = async () => {
      const response = await first.post('/api/me/confirm', { password }, old)
      renewed = tokenIn(response)
      return { ...response, status: 204 }
    }
    return { ends: [old], spares: [], end, later: async () => renewed }
  },
}
for (const variant of variants) {
  requests[`a sign-out (${variant}, S4, T7)`] = async ({ first, last }) => {
    const proof = await first.signIn(variant)
    const spares = [await last.signIn(variant)]
    return { ends: [proof], spares, end: () => signOut(first, proof) }
  }
  requests[`the end of one of the user's sign-ins (${variant}, S20)`] = async ({ first, last }) => {
    const own = await first.signIn()
    const ended = await last.signIn(variant)
    const { items } = (await first.request({ path: sessions, headers: ended })).json().data
    const { id } = items.find(({ current }: { current: boolean }) => current)
    const deletion = { method: 'DELETE', path: `${sessions}/${id}`, headers: own }
    return { ends: [ended], spares: [own], end: () => first.request(deletion) }
  }
  requests[`the end of all other sign-ins (${variant}, S20)`] = async ({ first, last }) => {
    const own = await first.signIn(variant)
    const deletion = { method: 'DELETE', path: sessions, headers: own }
    const ends = [await last.signIn(variant)]
    return { ends, spares: [own], end: () => first.request(deletion) }
  }
}

const statusOf = async (user: UserOfService, headers: Proof) =>
  (await user.request({ path: '/api/notifications', headers })).status

/** Returns how many milliseconds after the end every node refused every proof. */
async function endEverywhere(person: Person, ending: Ending): Promise<number> {
  const { place } = person
  const open = (node: Node, proofs: Proof[]) =>
    Promise.all(proofs.map((proof) => EventReader.of(node.url, proof)))
  const readers = await open(place.first, ending.ends)
  readers.push(...(await open(place.last, ending.ends)))
  const staying = await open(place.last, ending.spares)
  const { status, text } = await ending.end()
  assert.equal(status, 204, text)
  const from = performance.now()
  await areRefused(person, ending.ends)
  for (const reader of readers) {
    assert.deepEqual((await reader.next('session-ended', soonMs)).data, { reason: 'revoked' })
    await reader.ended(soonMs)
  }
  const tookMs = performance.now() - from
  await areValid(person, ending)
  for (const reader of staying) {
    assert.equal(reader.isOver, false)
    reader.close()
  }
  return tookMs
}

async function areRefused({ first, last }: Person, proofs: Proof[]): Promise<void> {
  // Each node reads a session from the store, and learns of a token by a change signal.
  for (const proof of proofs)
    for (const user of [first, last])
      if ('cookie' in proof) assert.equal(await statusOf(user, proof), 401)
      else await untilSo(async () => (await statusOf(user, proof)) === 401, soonMs)
  for (const proof of proofs) assert.equal((await last.post('/token/renew', {}, proof)).status, 401)
}

async function areValid({ first, last }: Person, { spares, later }: Ending): Promise<void> {
  const valid = [...spares]
  // The last node may not have received the revocation that spares the sign-in.
  for (const { cookie } of spares)
    if (cookie !== undefined) valid.push(tokenIn(await last.post('/api/me/token', {}, { cookie })))
  if (later !== undefined) valid.push(await later())
  for (const proof of valid)
    for (const user of [first, last]) assert.equal(await statusOf(user, proof), 200)
}

suite('a request to one of two nodes', { concurrency: 2 }, () => {
  for (const [what, begin] of Object.entries(requests))
    test(`${what} ends the proofs on both nodes within a second, with their streams, and no other (Z6)`, async (t) => {
      const took: number[] = []
      for (let round = 0; round < rounds; round++) {
        const person = await Person.at(places.PostgreSQL)
        took.push(await endEverywhere(person, await begin(person)))
      }
      took.sort((one, other) => one - other)
      t.diagnostic(`refused everywhere after ${took.at(-1)?.toFixed(0)} ms at most`)
      const median = took[Math.floor(rounds / 2)] ?? 0
      assert.ok(median < 1_000, `${median} ms`)
    })
})

const commands: Record<string, string[]> = {
  'carillon user disable (S7, T7)': ['disable'],
  'carillon user password (A13)': ['password', '--password-stdin'],
  'carillon user delete (U2)': ['delete', '--yes'],
}

async function endByCommand(t: TestContext, place: Place, args: string[]): Promise<void> {
  const person = await Person.at(place)
  const { first, last, username } = person
  const ends: Proof[] = []
  for (const variant of variants) ends.push(await first.signIn(variant), await last.signIn(variant))
  const end = async () => {
    const options = { env: place.nodes.environment, stdin: 'another orchard gate 42\n' }
    const done = await carillon(place.nodes.folder, ['user', ...args, username], options)
    return { status: done.status === 0 ? 204 : 500, text: done.stderr } as HttpResponse
  }
  const tookMs = await endEverywhere(person, { ends, spares: [place.operator], end })
  t.diagnostic(`refused everywhere ${tookMs.toFixed(0)} ms after the command`)
}

suite('a command beside the service', { concurrency: 2 }, () => {
  for (const [what, args] of Object.entries(commands))
    for (const [where, place] of Object.entries(places))
      test(`${what} ends every proof and stream of its user, and no other, on ${where} (Z6)`, (t) =>
        endByCommand(t, place, args))
})
