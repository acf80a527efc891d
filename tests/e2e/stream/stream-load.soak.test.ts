// A client that does not read is disconnected and uses a bounded amount of memory, while others are
// served; closed streams leave nothing behind (N5). SOAK=1: the full figures.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { newId } from '../../../server/basics/ids.ts'
import { readDatabaseUrl } from '../../../server/config/database-url.ts'
import { openStore } from '../../../server/open-store.ts'
import { Sessions } from '../../../server/sessions/sessions.ts'
import { addUser } from '../../../server/users/users.store.ts'
import { EventReader, streamPath } from '../../support/event-source/event-source.ts'
import { type Random, randomOf } from '../../support/event-source/random.ts'
import { CarillonProcess, Folder, firstSignInOf } from '../../support/processes/carillon-process.ts'
import { untilSo } from '../../support/processes/nodes.ts'
import { UserOfService } from '../../support/processes/user-of-service.ts'
import type { Proof } from '../../support/service.ts'

const isSoak = process.env.SOAK !== undefined
const idlers = isSoak ? 200 : 40
/**
 * Each client that does not read gets so much. Linux buffers 4 to 5 MiB of it for each connection.
 */
const sentMiB = isSoak ? 12 : 10
const visits = isSoak ? 20_000 : 1_500
const MiB = 1024 * 1024

/** On SIGUSR2 the process collects garbage and writes its memory use to stderr. */
const memoryTap = `data:text/javascript,${encodeURIComponent(
  'process.on("SIGUSR2", () => { gc(); gc(); process.stderr.write(JSON.stringify(process.memoryUsage()) + "\\n") })',
)}`

class Watched implements AsyncDisposable {
  readonly folder = new Folder()
  readonly #running: CarillonProcess

  private constructor(running: (folder: Folder) => CarillonProcess) {
    this.#running = running(this.folder)
  }

  static async start(env: Readonly<Record<string, string>> = {}): Promise<Watched> {
    const nodeOptions = ['--expose-gc', '--import', memoryTap]
    const watched = new Watched((folder) => new CarillonProcess(folder, { env, nodeOptions }))
    await watched.#running.isReady()
    return watched
  }

  get url(): string {
    return this.#running.url
  }

  get highWater(): number {
    const status = readFileSync(`/proc/${this.#running.child.pid}/status`, 'utf8')
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024
  }

  get sockets(): number {
    const folder = `/proc/${this.#running.child.pid}/fd`
    const targetOf = (name: string) => {
      try {
        return readlinkSync(`${folder}/${name}`)
      } catch {
        return 'gone'
      }
    }
    return readdirSync(folder).filter((name) => targetOf(name).startsWith('socket:')).length
  }

  /** Bytes in use after a garbage collection. */
  async heapUsed(): Promise<number> {
    const before = this.#running.stderr.length
    this.#running.child.kill('SIGUSR2')
    await untilSo(
      async () => this.#running.stderr.endsWith('\n') && this.#running.stderr.length > before,
    )
    const { heapUsed, external } = JSON.parse(this.#running.stderr.slice(before))
    return heapUsed + external
  }

  get errorLines(): string[] {
    return this.#running.stderr
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('{"rss"'))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running[Symbol.asyncDispose]()
    this.folder[Symbol.dispose]()
  }
}

/**
 * Writes users with one session each to the database: signing each in would take longer than the
 * test.
 */
async function signedIn(
  folder: Folder,
  count: number,
): Promise<{ username: string; proof: Proof }[]> {
  const { store } = await openStore(readDatabaseUrl(`sqlite:${folder.file('carillon.db')}`))
  const sessions = new Sessions({
    policy: { limitedFrom: () => Number.POSITIVE_INFINITY },
    store,
    revocations: { note() {} },
    now: Date.now,
    idleMs: 3_600_000,
    lifetimeMs: 3_600_000,
  })
  const users = await Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const user = {
        id: crypto.randomUUID(),
        username: `idler${n}`,
        displayName: null,
        passwordHash: `none ${n}`,
      }
      await store.write(addUser, { ...user, createdAt: Date.now() })
      const proven = { ...user, createdAt: Date.now(), disabledAt: null, credentialGeneration: 0 }
      const signIn = { replaces: [], signInId: newId(Date.now()), device: null, address: null }
      const { secret } = await sessions.issue(proven, signIn)
      return { username: user.username, proof: { cookie: `carillon=${secret}` } }
    }),
  )
  await store.close()
  return users
}

/** Reads only the first piece of the response. The returned function closes the stream. */
async function idle(url: string, proof: Proof): Promise<() => void> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const fields = Object.entries(proof).map((field) => field.join(': '))
  socket.write([`GET ${streamPath} HTTP/1.1`, 'host: localhost', ...fields, '', ''].join('\r\n'))
  const [piece] = await once(socket, 'data')
  socket.pause().on('error', () => {})
  assert.match(String(piece), /^HTTP\/1\.1 200 /)
  return () => socket.destroy()
}

/** A notification of the maximum size, about 26 KiB, which no compression makes smaller. */
const big = () => ({
  title: '🔔'.repeat(200),
  body: '🔔'.repeat(4_000),
  data: { x: randomBytes(4_050).toString('hex') },
})

test(`${idlers} clients that do not read ${sentMiB} MiB each are disconnected, memory is bounded, others are served (N5)`, async (t) => {
  await using service = await Watched.start()
  const signIn = firstSignInOf(service.folder)
  // One connection each, so that sockets can be counted.
  const user = new UserOfService(service.url, signIn, { connections: 1 })
  const other = new UserOfService(service.url, signIn, { connections: 1 })
  t.after(() => [user, other].map((one) => one.close()))
  const proofs = [await user.signIn('stateful'), await other.signIn('stateless')]
  const users = await signedIn(service.folder, idlers)
  const recipients = users.map(({ username }) => ({ username }))
  const key = { authorization: `Bearer ${signIn.key}` }
  assert.equal(
    (await user.post('/api/notifications', { recipients, title: 'warm' }, key)).status,
    201,
  )
  const readers: EventReader[] = []
  for (const proof of proofs) readers.push(await EventReader.of(service.url, proof))
  const quietSockets = service.sockets
  const before = service.highWater
  const leave = await Promise.all(users.map(({ proof }) => idle(service.url, proof)))
  assert.equal(service.sockets, quietSockets + idlers)

  let isOver = false
  const waits: number[] = []
  const requesting = (async () => {
    while (!isOver) {
      const from = performance.now()
      for (const headers of proofs) {
        const response = await other.request({ path: '/api/notifications?limit=1', headers })
        assert.equal(response.status, 200)
      }
      waits.push((performance.now() - from) / 2)
      await sleep(20)
    }
  })()
  const deliveries = Math.ceil((sentMiB * MiB) / 26_000)
  for (let n = 1; n <= deliveries / 5; n++) {
    const responses = Array.from({ length: 5 }, () =>
      user.post('/api/notifications', { recipients, ...big() }, key),
    )
    for (const response of await Promise.all(responses))
      assert.equal(response.status, 201, response.text)
    assert.equal((await user.deliver(`No. ${n}`)).status, 201)
    for (const reader of readers)
      assert.equal((await reader.next('created')).data.notification.title, `No. ${n}`)
  }
  // It takes thirty seconds on a machine that does nothing else.
  const disconnectedAfterMs = await untilSo(async () => service.sockets <= quietSockets, 60_000)
  isOver = true
  await requesting
  const grown = service.highWater - before
  for (const one of leave) one()
  waits.sort((a, b) => a - b)
  const median = waits[Math.floor(waits.length / 2)] ?? 0
  const longest = waits.at(-1) ?? 0
  t.diagnostic(
    `all disconnected ${disconnectedAfterMs.toFixed(0)} ms after the last delivery; memory grew by ${(grown / MiB).toFixed(0)} MiB at most; ` +
      `${waits.length} requests, half within ${median.toFixed(1)} ms, all within ${longest.toFixed(0)} ms`,
  )
  // 1 MiB for each client, half of that again until it is collected, and what a busy process needs.
  // Without a limit it would be all that the system does not buffer.
  const bound = 1.5 * idlers * MiB + 100 * MiB
  assert.ok(bound < idlers * (sentMiB - 5) * MiB)
  assert.ok(grown < bound, `memory grew by ${grown / MiB} MiB`)
  // A client that does not read is disconnected after thirty seconds: a request that waited for that would exceed these limits.
  assert.ok(
    median < 2_000 && longest < 10_000,
    `half within ${median} ms, all within ${longest} ms`,
  )
  for (const reader of readers) {
    assert.ok(!reader.isOver && reader.isUpToDate)
    reader.close()
  }
  assert.deepEqual(service.errorLines, [])
})

function visit(url: string, { proof, random }: { proof: Proof; random: Random }): Promise<void> {
  const { hostname, port, host } = new URL(url)
  const query = ['', '?since=0', '?since=x'][random.below(3)]
  const fields = Object.entries(proof).map((field) => field.join(': '))
  const afterBytes = random.below(400)
  const way = random.below(4)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(
        [`GET ${streamPath}${query} HTTP/1.1`, `host: ${host}`, ...fields, '', ''].join('\r\n'),
      )
      if (way === 0) socket.resetAndDestroy()
      else if (way === 1) socket.end()
    })
    let received = 0
    socket.on('data', (piece: Buffer) => {
      received += piece.length
      if (received < afterBytes) return
      if (way === 2) socket.resetAndDestroy()
      else socket.destroy()
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve())
  })
}

test(`${visits} streams that are closed in order or abruptly leave no connection, no counted stream and no memory behind (N5)`, async (t) => {
  const random = randomOf(t)
  await using service = await Watched.start({
    CARILLON_STREAMS: '100',
    CARILLON_STREAMS_PER_USER: '60',
  })
  const user = new UserOfService(service.url, firstSignInOf(service.folder), { connections: 1 })
  const proofs = [await user.signIn('stateful'), await user.signIn('stateless')]
  const churn = async (count: number) => {
    let left = count
    const worker = async () => {
      while (left-- > 0) {
        await visit(service.url, { proof: proofs[left % 2] ?? assert.fail(), random })
        if (left % 100 === 0) assert.equal((await user.deliver('x')).status, 201)
      }
    }
    await Promise.all(Array.from({ length: 40 }, worker))
  }
  const { sockets } = service
  // A heartbeat closes a forgotten stream after fifteen seconds at most.
  const areGone = () => untilSo(async () => service.sockets <= sockets)
  await churn(500)
  await areGone()
  const before = await service.heapUsed()
  await churn(visits)
  await areGone()
  const grown = (await service.heapUsed()) - before
  t.diagnostic(`memory in use grew by ${(grown / MiB).toFixed(1)} MiB`)
  assert.ok(grown < 6 * MiB, `${grown / MiB} MiB`)
  const readers = await Promise.all(
    Array.from({ length: 60 }, (_, n) => EventReader.of(service.url, proofs[n % 2] ?? {})),
  )
  await user.deliver('received by all')
  for (const reader of readers) {
    assert.equal((await reader.next('created')).data.notification.title, 'received by all')
    reader.close()
  }
  user.close()
  assert.deepEqual(service.errorLines, [])
})
