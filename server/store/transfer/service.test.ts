// Real processes handle requests while their database is moved or backed up.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../../tests/support/network/free-port.ts'
import { isSoak, soakTest } from '../../../tests/support/soak.ts'
import { readDatabaseUrl } from '../../config/database-url.ts'
import { recount } from '../../contract/random/random.ts'
import { newId, World } from '../../contract/world.ts'
import { openStore, usualPartitions } from '../../open-store.ts'
import { Passwords } from '../../passwords/passwords.ts'
import { ProducerKeys } from '../../producers/producer-key.ts'
import { addToOutbox, claimOutbox, listOutbox } from '../../reach/outbox.store.ts'
import { findCredentials } from '../../users/users.store.ts'
import { addUser } from '../../users/users.ts'
import { newFolder } from '../sqlite/testing/folder.ts'
import { backUp, restoreBackup } from './backup.ts'
import { carillon, start } from './testing/command.ts'
import { checksumsAt, emptyPlace, engines, report } from './testing/filled.ts'

const password = 'plum orchard gate 41'
const secret = 'a secret of more than thirty-two characters'

type Proof = Record<string, string>
type Answer = {
  status: number
  retryAfter: string | null
  cookie: string
  body: ReturnType<typeof JSON.parse>
}

/** A user is signed in both ways. */
class Running {
  readonly url: string
  readonly #child: ReturnType<typeof start>

  private constructor(child: ReturnType<typeof start>, url: string) {
    this.#child = child
    this.url = url
  }

  static async on(
    t: TestContext,
    { place, port }: { place: string; port: number },
  ): Promise<Running> {
    const child = start(['serve'], {
      CARILLON_DATABASE_URL: place,
      CARILLON_SECRET: secret,
      CARILLON_PORT: String(port),
      CARILLON_FIRST_START: 'off',
      // A use is noted every two seconds.
      CARILLON_SESSION_IDLE: '40s',
      CARILLON_LOG: 'info',
    })
    t.after(() => child.kill('SIGKILL'))
    for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
      const { url } = JSON.parse(line)
      if (url !== undefined && line.includes('"started"')) break
    }
    child.stdout?.resume()
    return new Running(child, `http://127.0.0.1:${port}`)
  }

  async ask(
    path: string,
    { proof = {}, body }: { proof?: Proof; body?: unknown } = {},
  ): Promise<Answer> {
    const response = await fetch(this.url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...proof, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return {
      status: response.status,
      retryAfter: response.headers.get('retry-after'),
      cookie: response.headers.getSetCookie()[0]?.split(';')[0] ?? '',
      body: text === '' ? undefined : JSON.parse(text),
    }
  }

  async signIn(): Promise<{ cookie: Proof; token: Proof }> {
    const by = (variant: string) =>
      this.ask('/login', { body: { username: 'ann', password, variant } })
    const stateful = await by('stateful')
    const stateless = await by('stateless')
    return {
      cookie: { cookie: stateful.cookie },
      token: { authorization: `Bearer ${stateless.body.token}` },
    }
  }

  deliver(key: string, title: string): Promise<Answer> {
    const body = { recipients: [{ username: 'ann' }], title, category: 'c' }
    return this.ask('/api/notifications', { proof: { authorization: `Bearer ${key}` }, body })
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGTERM')
    await once(this.#child, 'exit')
  }
}

/** Returns the producer's key. */
async function fill(place: string): Promise<string> {
  const { store } = await openStore(readDatabaseUrl(place))
  const passwords = new Passwords({ threads: 4 })
  await addUser(
    { store, passwords, passwordMinLength: 8, erased: async () => undefined, now: Date.now },
    { username: 'ann', password },
  )
  const keys = new ProducerKeys({ store, now: Date.now })
  const { key } = await keys.issue({ name: 'shop', scopes: ['send'], expiresAt: null })
  await store.close()
  return key
}

/** Until `stop` is called, which returns all responses. */
function keepSending(ask: () => Promise<Answer>): {
  answers: readonly Answer[]
  stop: () => Promise<Answer[]>
} {
  const answers: Answer[] = []
  let isGoingOn = true
  const going = (async () => {
    while (isGoingOn) {
      answers.push(await ask())
      await sleep(2)
    }
  })()
  const stop = async () => {
    isGoingOn = false
    await going
    return answers
  }
  return { answers, stop }
}

const idOf = ({ body }: Answer): string => body.data.results[0].id

async function everyId(service: Running, proof: Proof): Promise<Set<string>> {
  const ids = new Set<string>()
  for (let page = 1; ; page++) {
    const { body } = await service.ask(`/api/notifications?limit=100&page=${page}`, { proof })
    for (const { id } of body.data.items) ids.add(id)
    if (!body.data.hasMore) return ids
  }
}

async function movesUnderLoad(
  t: TestContext,
  { from, to }: { from: string; to: string },
): Promise<void> {
  const key = await fill(from)
  const port = await freePort()
  const service = await Running.on(t, { place: from, port })
  const { cookie, token } = await service.signIn()
  let reads = 0
  const reading = keepSending(() =>
    service.ask('/api/notifications', { proof: ++reads % 2 === 0 ? cookie : token }),
  )
  const writing = keepSending(() => service.deliver(key, 'Hi'))
  const giveUpAt = performance.now() + 120_000
  while (writing.answers.length < 20) {
    assert.ok(
      performance.now() < giveUpAt,
      `only ${writing.answers.length} deliveries were answered`,
    )
    await sleep(5)
  }
  const moved = await carillon(['move', '--json'], {
    CARILLON_DATABASE_URL: from,
    CARILLON_TARGET_URL: to,
  })
  assert.equal(moved.status, 0, moved.stderr)
  const written = [...(await writing.stop()), await service.deliver(key, 'Too late')]
  const statuses = written.map(({ status }) => status)
  const firstRefused = statuses.indexOf(503)
  assert.ok(firstRefused > 0, 'writes were taken before, and refused from then on')
  assert.ok(statuses.slice(0, firstRefused).every((status) => status === 201))
  assert.ok(statuses.slice(firstRefused).every((status) => status === 503))
  const { body, retryAfter } = written.at(-1) ?? assert.fail()
  assert.deepEqual([body.error.code, retryAfter], ['UNAVAILABLE', '30'])
  assert.match(body.error.message, /^This database is being moved, and can only be read\. /)

  // The database has refused to record the use of the session, and the user notices nothing.
  await sleep(2_100)
  const answers = await reading.stop()
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  assert.equal((await service.ask('/routeRestreinte', { proof: cookie })).status, 200)
  assert.equal((await service.ask('/readyz')).status, 200)
  assert.equal(
    (await service.ask('/api/notifications/read-all', { proof: token, body: {} })).status,
    503,
  )
  const signIn = async (variant: string) =>
    (await service.ask('/login', { body: { username: 'ann', password, variant } })).status
  assert.deepEqual([await signIn('stateful'), await signIn('stateless')], [503, 503])
  assert.equal((await service.ask('/token/renew', { proof: token, body: {} })).status, 200)
  assert.equal((await service.ask('/logout', { proof: cookie, body: {} })).status, 503)
  await service.stop()

  const acknowledged = new Set(written.slice(0, firstRefused).map(idOf))
  const next = await Running.on(t, { place: to, port })
  for (const proof of [cookie, token]) assert.deepEqual(await everyId(next, proof), acknowledged)
  assert.equal((await next.deliver(key, 'Here')).status, 201)
  await next.stop()
}

soakTest(
  'SQLite to PostgreSQL under load: reads work, writes get 503, and no acknowledged delivery is lost',
  async (t) => {
    await movesUnderLoad(t, {
      from: await emptyPlace(t, 'sqlite'),
      to: await emptyPlace(t, 'postgres'),
    })
  },
)

soakTest(
  'PostgreSQL to SQLite under load: reads work, writes get 503, and no acknowledged delivery is lost',
  async (t) => {
    await movesUnderLoad(t, {
      from: await emptyPlace(t, 'postgres'),
      to: await emptyPlace(t, 'sqlite'),
    })
  },
)

test('a backup under load has the state of one moment, and every row of it is restored (R11)', async (t) => {
  for (const engine of isSoak ? engines : (['sqlite'] as const)) {
    const place = await emptyPlace(t, engine)
    const key = await fill(place)
    const service = await Running.on(t, { place, port: await freePort() })
    const folder = await newFolder(t)
    const before = await Promise.all(
      Array.from({ length: 20 }, () => service.deliver(key, 'Before')),
    )
    const writing = keepSending(() => service.deliver(key, 'Meanwhile'))
    const file = join(folder, 'backup')
    const checksums = await backUp({
      from: readDatabaseUrl(place),
      file,
      at: '2026-01-01T00:00:00.000Z',
      report,
    })
    const written = await writing.stop()
    assert.ok(written.every(({ status }) => status === 201))

    const to = await emptyPlace(t, engine === 'sqlite' ? 'postgres' : 'sqlite')
    assert.deepEqual(
      await restoreBackup({ file, to: readDatabaseUrl(to), partitions: usualPartitions, report }),
      checksums,
    )
    assert.deepEqual(await checksumsAt(to), checksums)
    const { store } = await openStore(readDatabaseUrl(to))
    const { id = '' } = (await store.read(findCredentials, 'ann')) ?? {}
    const { items } = await recount(await World.on(store), {
      id,
      username: 'ann',
      passwordHash: '',
    })
    const kept = new Set(items.map((item) => item.id))
    assert.ok(
      before.every((answer) => kept.has(idOf(answer))),
      'what came before is in it',
    )
    // One after the other, so what is in it is the first of them.
    const inIt = written.map((answer) => kept.has(idOf(answer)))
    assert.deepEqual(inIt, [...inIt].sort().reverse())
    await store.close()
    await service.stop()
  }
})

test('in maintenance every node serves reads and refuses writes, also after a restart, until the command ends it', async (t) => {
  for (const engine of isSoak ? engines : (['postgres'] as const)) {
    const place = await emptyPlace(t, engine)
    const key = await fill(place)
    const port = await freePort()
    const first = await Running.on(t, { place, port })
    // Its tokens have another issuer.
    const other = engine === 'postgres' && (await Running.on(t, { place, port: await freePort() }))
    const { cookie, token } = await first.signIn()
    const { status, body } = await first.deliver(key, 'Before')
    assert.equal(status, 201)
    const id = body.data.results[0].id
    const env = { CARILLON_DATABASE_URL: place }
    const maintenance = async (...args: string[]) => {
      const ended = await carillon(['maintenance', ...args], env)
      assert.equal(ended.status, 0, ended.stderr)
      return ended.stdout
    }
    assert.equal(await maintenance(), 'The service accepts writes\n')
    await leaveClaimed(place)
    const onIn =
      /^The service can only be read since \S+Z: to end that, run carillon maintenance off\n$/
    assert.match(await maintenance('on'), onIn)
    assert.match(await maintenance('on'), onIn, 'a second call changes nothing')

    const isReadOnly = async (node: Running, proofs: Proof[]) => {
      const refused = await node.deliver(key, 'Meanwhile')
      assert.deepEqual([refused.status, refused.retryAfter], [503, '30'])
      assert.match(
        refused.body.error.message,
        /^This service is in maintenance, and can only be read\. /,
      )
      for (const proof of proofs) {
        assert.deepEqual(await everyId(node, proof), new Set([id]))
        assert.equal((await node.ask('/routeRestreinte', { proof })).status, 200)
      }
      for (const variant of ['stateful', 'stateless']) {
        const signIn = await node.ask('/login', { body: { username: 'ann', password, variant } })
        assert.deepEqual([signIn.status, signIn.retryAfter], [503, '30'])
      }
      assert.equal((await node.ask('/logout', { proof: cookie, body: {} })).status, 503)
      assert.equal((await node.ask('/readyz')).status, 200)
    }
    await isReadOnly(first, [cookie, token])
    if (other) await isReadOnly(other, [cookie])
    await first.stop()
    const again = await Running.on(t, { place, port })
    await isReadOnly(again, [cookie, token])
    assert.equal((await again.ask('/token/renew', { proof: token, body: {} })).status, 200)
    const command = await carillon(['user', 'add', 'ben', '--password-stdin'], env)
    assert.deepEqual([command.status, command.stdout], [1, ''])
    const doctor = await carillon(['doctor', '--json'], { ...env, CARILLON_SECRET: secret })
    const findings: { check: string; state: string; change: string }[] = JSON.parse(
      doctor.stdout,
    ).findings
    const finding = findings.find(({ check }) => check === 'maintenance')
    assert.deepEqual(
      [finding?.state, finding?.change],
      ['warning', 'when it is done: npx carillon maintenance off'],
    )

    assert.equal(await maintenance('off'), 'The service accepts writes\n')
    assert.equal((await again.deliver(key, 'After')).status, 201)
    assert.equal((await again.ask('/logout', { proof: cookie, body: {} })).status, 204)
    const audit = await carillon(['audit', '--json'], env)
    const events = JSON.parse(audit.stdout).map(({ event }: { event: string }) => event)
    assert.deepEqual(
      events.filter((event: string) => event.startsWith('maintenance')),
      ['maintenance-began', 'maintenance-ended'],
    )
    const { store } = await openStore(readDatabaseUrl(place))
    while ((await store.read(listOutbox, { limit: 1 })).length > 0) await sleep(50)
    await store.close()
    for (const node of [again, other]) if (node) await node.stop()
  }
})

/** A push that a process was sending when it ended. Its subscription is gone, so it is removed when it is sent. */
async function leaveClaimed(place: string): Promise<void> {
  const { store } = await openStore(readDatabaseUrl(place))
  const holder = store.holder() ?? assert.fail('the store has no number')
  const row = { id: newId(), kind: 'push', channel: 'push', queue: 'push.example' } as const
  // No running process claims it before.
  const dueAt = Date.now() + 10_000
  const target = { target: 'gone', ownerId: newId(), ids: '[]' }
  await store.write(addToOutbox, { ...row, ...target, dueAt, at: Date.now() })
  const places = [{ queue: row.queue, limit: 1 }]
  const claimed = await store.write(claimOutbox, { holder, channel: 'push', at: dueAt, places })
  assert.equal(claimed.length, 1)
  await store.close()
}
