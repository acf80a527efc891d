// After SIGTERM a busy service responds to every request that it accepted, and ends with status 0
// within ten seconds, even if clients hang (R9).
import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { EventReader } from '../../support/event-source/event-source.ts'
import { refusalIn, type Seen } from '../../support/http/envelope.ts'
import { readResponses } from '../../support/http/raw-http.ts'
import { SqliteBehind } from '../../support/network/database-behind.ts'
import { freePort } from '../../support/network/free-port.ts'
import { CarillonProcess, Folder, firstSignInOf } from '../../support/processes/carillon-process.ts'
import { untilSo } from '../../support/processes/nodes.ts'
import { idIn, UserOfService } from '../../support/processes/user-of-service.ts'

/** Sends one request at a time, and counts those without a response. */
class KeptConnection {
  readonly #socket: Socket
  readonly #host: string
  #received = Buffer.alloc(0)
  #wake = () => {}
  isOpen = true
  pending = 0

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

  /** Returns undefined if the connection ended without a response. */
  async request(
    head: string,
    fields: readonly string[] = [],
    body = '',
  ): Promise<Seen | undefined> {
    if (!this.isOpen) return undefined
    this.pending++
    this.#received = Buffer.alloc(0)
    const length =
      body === ''
        ? []
        : ['content-type: application/json', `content-length: ${Buffer.byteLength(body)}`]
    this.#socket.write(
      `${[`${head} HTTP/1.1`, `host: ${this.#host}`, ...fields, ...length].join('\r\n')}\r\n\r\n${body}`,
    )
    while (this.isOpen && !isWhole(this.#received))
      await new Promise<void>((resolve) => (this.#wake = resolve))
    if (!isWhole(this.#received)) return undefined
    this.pending--
    const [response] = readResponses(this.#received)
    // No further request may follow on this connection (RFC 9112, section 9.6).
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

/** Sends a text, reads nothing and stays open. */
class HangingClient implements Disposable {
  readonly #socket: Socket
  readonly sent: Promise<void>

  constructor(url: string, text: string) {
    const { hostname, port } = new URL(url)
    this.#socket = connect(Number(port), hostname).pause()
    this.#socket.on('error', () => {})
    this.sent = new Promise((resolve) => {
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

test('on SIGTERM under load the service responds to every request that it accepted, and ends with status 0 (R9)', async (t) => {
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
    const response = await connection.request(
      'POST /api/notifications',
      [`authorization: Bearer ${signIn.key}`],
      body,
    )
    if (response?.status === 201) acknowledged.push(title)
    return response
  }
  const acts = [...Array(30).fill(reader), ...Array(16).fill(producer), ...Array(4).fill(signer)]
  const connections = acts.map(() => new KeptConnection(url))
  const work = async (connection: KeptConnection, worker: number, n: number) => {
    const response = await acts[worker](connection, n)
    if (response !== undefined)
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
  }
  // Each connection gets a response before the signal: one that waits in the accept queue was not
  // accepted.
  await Promise.all(connections.map((connection, worker) => work(connection, worker, worker)))
  let signalledAt = Number.POSITIVE_INFINITY
  const working = connections.map(async (connection, worker) => {
    for (let n = worker; connection.isOpen; n++) {
      // The service closes an idle connection after half a second: a request that this process sends later would be too late.
      if (performance.now() - signalledAt > 300) return connection.end()
      await work(connection, worker, n)
    }
  })
  await sleep(500)
  signalledAt = performance.now()
  const ended = running.end('SIGTERM')
  await Promise.all(working)
  const { status, signal, afterMs } = await ended

  const pending = connections.reduce((sum, connection) => sum + connection.pending, 0)
  t.diagnostic(`responses: ${JSON.stringify([...statuses])}; ended after ${afterMs.toFixed(0)} ms`)
  assert.equal(pending, 0, `${pending} requests got no response`)
  assert.deepEqual([status, signal], [0, null])
  assert.deepEqual([...statuses.keys()].sort(), [200, 201], 'a request was refused')
  assert.ok(await isRefused(url))
  assert.equal(running.lines.at(-1)?.msg, 'stopped')

  const file = new SqliteBehind(folder.path)
  const kept = new Set(await file.titles())
  await file.close()
  assert.deepEqual(
    acknowledged.filter((title) => !kept.has(title)),
    [],
  )
})

/** Repeats a test that had nothing to observe because the machine was too slow. */
async function isObserved(tried: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 5; tries++) if (await tried()) return
  assert.fail('five times the service had stopped before the test could observe it')
}

test('while it stops, the service is not ready, closes each connection after its response, and accepts no new one (R9)', async () => {
  await isObserved(showsThatItStops)
})

async function showsThatItStops(): Promise<boolean> {
  using folder = new Folder()
  await using running = await CarillonProcess.ready(folder)
  const { url } = running
  using client = new HangingClient(url, halfRequest)
  const connections = Array.from({ length: 12 }, () => new KeptConnection(url))
  await Promise.all(connections.map((connection) => connection.opened()))
  const before = connections.pop()
  for (let times = 0; times < 2; times++)
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
    assert.ok(response, 'an open connection got no response')
    responses.push(response)
    if (response.status !== 200) break
  }
  const last = responses.at(-1)
  assert.ok(last)
  assert.equal(refusalIn(last).code, 'UNAVAILABLE')
  assert.equal(last.headers.get('connection'), 'close')
  // It still listens: a balancer can read that it is not ready.
  const isListening = !(await isRefused(url))
  if (!isListening && isLate()) return false
  assert.ok(isListening)
  await untilSo(() => isRefused(url))
  assert.equal(running.child.exitCode, null, 'it had ended by then')
  client.leave()
  assert.equal((await ended).status, 0)
  return true
}

test('with CARILLON_DRAIN_GRACE the service still serves requests and streams during the grace period (R9)', async () => {
  // Longer than the 12 seconds after which a stop without a grace period is forced.
  const graceMs = 13_000
  using folder = new Folder()
  await using running = await CarillonProcess.ready(folder, {
    env: { CARILLON_DRAIN_GRACE: `${graceMs}ms` },
  })
  const user = new UserOfService(running.url, firstSignInOf(folder))
  const proof = await user.signIn()
  for (let times = 0; times < 2; times++)
    assert.equal((await user.request({ path: '/readyz' })).status, 200)
  const before = await EventReader.of(running.url, proof)
  const signalledAt = performance.now()
  const ended = running.end('SIGTERM')
  await untilSo(async () => (await user.request({ path: '/readyz' })).status === 503)
  // The service closes each connection after its response, so these are new.
  const later = await EventReader.of(running.url, proof)
  const list = await user.request({ path: '/api/notifications', headers: proof })
  assert.deepEqual([list.status, list.headers.get('connection')], [200, 'close'])
  const seenAfterMs = performance.now() - signalledAt
  await Promise.all([before.ended(), later.ended()])
  const endedAfterMs = performance.now() - signalledAt
  user.close()
  assert.ok(endedAfterMs >= graceMs, `the streams ended after ${endedAfterMs} ms`)
  assert.ok(seenAfterMs < endedAfterMs)
  await untilSo(() => isRefused(running.url))
  assert.equal((await ended).status, 0)
})

test('requests that arrive while the stopping process is suspended get a response (R9)', async () => {
  await isObserved(respondsAfterSuspension)
})

/** Returns false if it had closed the idle connections before it was suspended. */
async function respondsAfterSuspension(): Promise<boolean> {
  using folder = new Folder()
  await using running = await CarillonProcess.ready(folder)
  const connections = Array.from({ length: 20 }, () => new KeptConnection(running.url))
  await Promise.all(connections.map((connection) => connection.opened()))
  await Promise.all(connections.map((connection) => connection.request('GET /livez')))
  const ended = running.end('SIGTERM')
  // It has begun to stop, and keeps idle connections open for half a second.
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

test('a request that never ends and a client that never reads delay the end by at most ten seconds (R9)', async () => {
  await isObserved(endsBesideHangingClients)
})

/** Returns false if the half request had reached its time limit before the signal. */
async function endsBesideHangingClients(): Promise<boolean> {
  using folder = new Folder()
  await using running = await CarillonProcess.ready(folder)
  const texts = [
    halfRequest,
    'GET /docs HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(50),
    'GET /liv',
    '',
  ]
  const clients = texts.map((text) => new HangingClient(running.url, text))
  for (const client of clients) await client.sent
  // A later request got its response, so the connections before it were accepted.
  const later = new KeptConnection(running.url)
  assert.equal((await later.request('GET /livez'))?.status, 200)
  await sleep(300)
  const { status, afterMs } = await running.end('SIGTERM')
  for (const client of clients) client.leave()
  assert.equal(status, 0)
  return afterMs > 1_000
}

test('after a script that waited for the first 200 of /readyz, a stop does not wait for a load balancer', async () => {
  using folder = new Folder()
  const port = await freePort()
  const env = { CARILLON_PORT: String(port), CARILLON_DRAIN_GRACE: '60s' }
  await using running = new CarillonProcess(folder, { env })
  await untilSo(
    async () =>
      (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.status === 200,
  )
  const { status, afterMs } = await running.end('SIGTERM')
  assert.equal(status, 0)
  assert.ok(afterMs < 30_000, `ended after ${afterMs} ms`)
})

/** Not every machine has a pseudo-terminal, so a preloaded module makes the process believe that its output is one. */
const asTerminal = ['--import', 'data:text/javascript,process.stdout.isTTY=true']

test('SIGINT, and SIGHUP on a terminal, stop the service as SIGTERM does, and a second signal changes nothing (R9)', async () => {
  for (const signal of ['SIGINT', 'SIGHUP'] as const) {
    using folder = new Folder()
    const nodeOptions = signal === 'SIGHUP' ? asTerminal : []
    await using running = await CarillonProcess.ready(folder, {
      args: ['serve', '--json'],
      nodeOptions,
    })
    const user = new UserOfService(running.url, firstSignInOf(folder))
    const id = idIn(await user.deliver('Hi'))
    user.close()
    running.child.kill(signal)
    const { status } = await running.end('SIGTERM')
    assert.equal(status, 0)
    await using again = await CarillonProcess.ready(folder)
    const later = new UserOfService(again.url, firstSignInOf(folder))
    assert.equal(
      (await later.request({ path: `/api/notifications/${id}`, headers: await later.signIn() }))
        .status,
      200,
    )
    later.close()
  }
})
