// A service that is told to stop while it is busy (R9): every request that it took is answered, its status is 0,
// and it is gone within ten seconds, whatever hangs on to it.
import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { EventReader } from '../../support/event-source/event-source.ts'
import { refusalIn, type Seen } from '../../support/http/envelope.ts'
import { readResponses } from '../../support/http/raw-http.ts'
import { SqliteBehind } from '../../support/network/database-behind.ts'
import { CarillonProcess, Folder, firstSignInOf } from '../../support/processes/carillon-process.ts'
import { untilSo } from '../../support/processes/nodes.ts'
import { idIn, UserOfService } from '../../support/processes/user-of-service.ts'

/** A connection that is kept: one request at a time, and it says how many were never answered. */
class KeptConnection {
  readonly #socket: Socket
  readonly #host: string
  #received = Buffer.alloc(0)
  #wake = () => {}
  isOpen = true
  unanswered = 0

  constructor(url: string) {
    const { hostname, port, host } = new URL(url)
    this.#host = host
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true })
    this.#socket.on('error', () => {})
    this.#socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk])
      this.#wake()
    })
    this.#socket.on('close', () => {
      this.isOpen = false
      this.#wake()
    })
  }

  opened(): Promise<void> {
    return new Promise((resolve) => this.#socket.once('connect', () => resolve()))
  }

  /** The answer, or undefined where the connection ended without one. */
  async request(head: string, fields: readonly string[] = [], body = ''): Promise<Seen | undefined> {
    if (!this.isOpen) return undefined
    this.unanswered++
    this.#received = Buffer.alloc(0)
    const length = body === '' ? [] : ['content-type: application/json', `content-length: ${Buffer.byteLength(body)}`]
    this.#socket.write(
      `${[`${head} HTTP/1.1`, `host: ${this.#host}`, ...fields, ...length].join('\r\n')}\r\n\r\n${body}`,
    )
    while (this.isOpen && !isWhole(this.#received)) await new Promise<void>((resolve) => (this.#wake = resolve))
    if (!isWhole(this.#received)) return undefined
    this.unanswered--
    const [response] = readResponses(this.#received)
    // As HTTP has it: no other request on this one (RFC 9112, section 9.6).
    if (response?.headers.get('connection') === 'close') this.end()
    return response
  }

  end(): void {
    this.isOpen = false
    this.#socket.end()
  }
}

function isWhole(received: Buffer): boolean {
  const head = received.indexOf('\r\n\r\n')
  if (head < 0) return false
  const length = /content-length: (\d+)/i.exec(received.toString('latin1', 0, head))?.[1] ?? '0'
  return received.length >= head + 4 + Number(length)
}

const halfRequest =
  'POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{'

/** A connection that sends this, reads nothing and stays. */
class Hanger implements Disposable {
  readonly #socket: Socket
  readonly begun: Promise<void>

  constructor(url: string, text: string) {
    const { hostname, port } = new URL(url)
    this.#socket = connect(Number(port), hostname).pause()
    this.#socket.on('error', () => {})
    this.begun = new Promise((resolve) => {
      this.#socket.once('connect', () => {
        this.#socket.write(text)
        resolve()
      })
    })
  }

  leave(): void {
    this.#socket.destroy()
  }

  [Symbol.dispose](): void {
    this.leave()
  }
}

async function isRefused(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => resolve(false))
    socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED'))
  })
}

test('R9: told to stop under load, it answers every request that it took, and is gone with status 0', async (t) => {
  using folder = new Folder()
  await using running = await CarillonProcess.ready(folder)
  const { url } = running
  const signIn = firstSignInOf(folder)
  const user = new UserOfService(url, signIn)
  const { cookie } = await user.signIn()
  user.close()

  const reads = ['GET /api/notifications', 'GET /routeRestreinte', 'GET /docs', 'GET /livez']
  const login = JSON.stringify({ username: signIn.username, password: signIn.password })
  const acknowledged: string[] = []
  let deliveries = 0
  const statuses = new Map<number, number>()
  const reader = (connection: KeptConnection, n: number) =>
    connection.request(reads[n % reads.length] as string, [`cookie: ${cookie}`])
  const signer = (connection: KeptConnection) => connection.request('POST /login', [], login)
  const producer = async (connection: KeptConnection) => {
    const title = `No. ${++deliveries}`
    const body = JSON.stringify({ recipients: [{ username: signIn.username }], title })
    const response = await connection.request('POST /api/notifications', [`authorization: Bearer ${signIn.key}`], body)
    if (response?.status === 201) acknowledged.push(title)
    return response
  }
  const acts = [...Array(30).fill(reader), ...Array(16).fill(producer), ...Array(4).fill(signer)]
  const connections = acts.map(() => new KeptConnection(url))
  const work = async (connection: KeptConnection, worker: number, n: number) => {
    const response = await acts[worker](connection, n)
    if (response !== undefined) statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
  }
  // What still waits in the system's queue of connections was not taken, so each has its first answer before the signal.
  await Promise.all(connections.map((connection, worker) => work(connection, worker, worker)))
  let signalledAt = Number.POSITIVE_INFINITY
  const working = connections.map(async (connection, worker) => {
    for (let n = worker; connection.isOpen; n++) {
      // An idle one is kept for half a second: too late to ask on it where this process stood still meanwhile.
      if (performance.now() - signalledAt > 300) return connection.end()
      await work(connection, worker, n)
    }
  })
  await sleep(500)
  signalledAt = performance.now()
  const ended = running.end('SIGTERM')
  await Promise.all(working)
  const { status, signal, afterMs } = await ended

  const unanswered = connections.reduce((sum, connection) => sum + connection.unanswered, 0)
  t.diagnostic(`${JSON.stringify([...statuses])} answers; gone after ${afterMs.toFixed(0)} ms`)
  assert.equal(unanswered, 0, `${unanswered} requests were never answered`)
  assert.deepEqual([status, signal], [0, null])
  assert.deepEqual([...statuses.keys()].sort(), [200, 201], 'something was refused')
  assert.ok(await isRefused(url))
  assert.equal(running.lines.at(-1)?.msg, 'stopped')

  const file = new SqliteBehind(folder.path)
  const kept = new Set(
    (await file.rows('select content from notification')).map(({ content }) => JSON.parse(`{${content}}`).title),
  )
  await file.close()
  assert.deepEqual(
    acknowledged.filter((title) => !kept.has(title)),
    [],
  )
})

/** Tries again where a machine that stood still left nothing to see. */
async function isSeen(tried: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 5; tries++) if (await tried()) return
  assert.fail('each time there was nothing left to see: the service was too soon, or this machine too late')
}

test('R9: while it stops it says that it is not ready, on every answer that it is the last, and takes no new connection', async () => {
  await isSeen(saysThatItStops)
})

/** False where this machine stood still so long that there was nothing left to see. */
async function saysThatItStops(): Promise<boolean> {
  using folder = new Folder()
  await using running = await CarillonProcess.ready(folder)
  const { url } = running
  using hanger = new Hanger(url, halfRequest)
  const connections = Array.from({ length: 12 }, () => new KeptConnection(url))
  await Promise.all(connections.map((connection) => connection.opened()))
  const before = connections.pop()
  assert.equal((await before?.request('GET /readyz'))?.status, 200)
  assert.ok(before?.isOpen)

  const ended = running.end('SIGTERM')
  const signalledAt = performance.now()
  const isLate = () => performance.now() - signalledAt > 400
  const responses: Seen[] = []
  for (const connection of connections) {
    await sleep(10)
    const response = await connection.request('GET /readyz')
    if (!response && isLate()) return false
    assert.ok(response, 'a connection was cut that was about to ask')
    responses.push(response)
    if (response.status !== 200) break
  }
  const last = responses.at(-1)
  assert.ok(last)
  assert.equal(refusalIn(last).code, 'UNAVAILABLE')
  assert.equal(last.headers.get('connection'), 'close')
  // Somebody asks for readiness: he finds it listening until he has seen that it should be sent no more.
  const isListening = !(await isRefused(url))
  if (!isListening && isLate()) return false
  assert.ok(isListening)
  await untilSo(() => isRefused(url))
  assert.equal(running.child.exitCode, null, 'it was gone by then')
  hanger.leave()
  assert.equal((await ended).status, 0)
  return true
}

test('while it stops it serves on for the grace, streams included, if a load balancer watches (R9)', async () => {
  // Longer than the 12 seconds after which a stop without a grace is cut.
  const graceMs = 13_000
  using folder = new Folder()
  await using running = await CarillonProcess.ready(folder, { env: { CARILLON_DRAIN_GRACE: `${graceMs}ms` } })
  const user = new UserOfService(running.url, firstSignInOf(folder))
  const proof = await user.signIn()
  assert.equal((await user.request({ path: '/readyz' })).status, 200)
  const before = await EventReader.of(running.url, proof)
  const signalledAt = performance.now()
  const ended = running.end('SIGTERM')
  await untilSo(async () => (await user.request({ path: '/readyz' })).status === 503)
  // New connections, each of them: the service closes every one that it answers on.
  const later = await EventReader.of(running.url, proof)
  assert.equal((await user.request({ path: '/api/notifications', headers: proof })).status, 200)
  const seenAfterMs = performance.now() - signalledAt
  await Promise.all([before.ended(), later.ended()])
  const endedAfterMs = performance.now() - signalledAt
  user.close()
  assert.ok(endedAfterMs >= graceMs, `the streams ended after ${endedAfterMs} ms`)
  assert.ok(seenAfterMs < endedAfterMs)
  await untilSo(() => isRefused(running.url))
  assert.equal((await ended).status, 0)
})

test('R9: what comes while it stands still is answered, however long that is', async () => {
  await isSeen(answersWhatItFinds)
})

/** False where it had ended what is idle before it could be stopped. */
async function answersWhatItFinds(): Promise<boolean> {
  using folder = new Folder()
  await using running = await CarillonProcess.ready(folder)
  const connections = Array.from({ length: 20 }, () => new KeptConnection(running.url))
  await Promise.all(connections.map((connection) => connection.opened()))
  await Promise.all(connections.map((connection) => connection.request('GET /livez')))
  const ended = running.end('SIGTERM')
  // It has begun to stop, and lets what is idle be for half a second.
  await sleep(100)
  running.child.kill('SIGSTOP')
  await sleep(20)
  const areOpen = connections.every(({ isOpen }) => isOpen)
  const responses = connections.map((connection) => connection.request('GET /livez'))
  await sleep(900)
  running.child.kill('SIGCONT')
  const statuses = (await Promise.all(responses)).map((response) => response?.status)
  assert.equal((await ended).status, 0)
  if (areOpen) assert.deepEqual(statuses, Array(20).fill(200))
  return areOpen
}

test('R9: a request that never ends and a client that never reads hold it up for ten seconds at most', async (t) => {
  using folder = new Folder()
  await using running = await CarillonProcess.ready(folder)
  const texts = [halfRequest, 'GET /docs HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(50), 'GET /liv', '']
  const hangers = texts.map((text) => new Hanger(running.url, text))
  for (const hanger of hangers) await hanger.begun
  // Who comes later is answered: these were taken.
  const later = new KeptConnection(running.url)
  assert.equal((await later.request('GET /livez'))?.status, 200)
  await sleep(300)
  const { status, afterMs } = await running.end('SIGTERM')
  for (const hanger of hangers) hanger.leave()
  t.diagnostic(`gone after ${afterMs.toFixed(0)} ms`)
  assert.equal(status, 0)
  assert.ok(afterMs > 1_000, `gone after ${afterMs} ms`)
})

test('R9: SIGINT and SIGHUP stop it as SIGTERM does, and a second signal changes nothing', async () => {
  for (const signal of ['SIGINT', 'SIGHUP'] as const) {
    using folder = new Folder()
    await using running = await CarillonProcess.ready(folder)
    const user = new UserOfService(running.url, firstSignInOf(folder))
    const id = idIn(await user.deliver('Hi'))
    user.close()
    running.child.kill(signal)
    const { status } = await running.end('SIGTERM')
    assert.equal(status, 0)
    await using again = await CarillonProcess.ready(folder)
    const later = new UserOfService(again.url, firstSignInOf(folder))
    assert.equal((await later.request({ path: `/api/notifications/${id}`, headers: await later.signIn() })).status, 200)
    later.close()
  }
})
