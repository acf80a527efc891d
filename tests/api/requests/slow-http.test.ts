// Each slow client is disconnected after at most 10 s (I8, E1). The tests run side by side, since
// each takes so long.
import assert from 'node:assert/strict'
import { subscribe } from 'node:diagnostics_channel'
import { connect, type Socket } from 'node:net'
import { after, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { refusalIn } from '../../support/http/envelope.ts'
import { exchangeBytes, type RawExchange, readResponses } from '../../support/http/raw-http.ts'
import { startTestService } from '../../support/service.ts'

const app = await startTestService({ env: { CARILLON_ALLOWED_HOSTS: 'a' } })
after(() => app.stop())
const ann = await app.user('ann')
const proof = await app.signIn(ann, 'stateful')
for (let n = 0; n < 100; n++)
  await app.deliver({ to: ann, title: `No. ${n}`, body: 'x'.repeat(3_900) })

/** The limit, plus the delay of a busy machine. */
const maxLifeMs = 10_000 + 40_000
const limits = { timeoutMs: maxLifeMs + 1_000 }

/** By the port of the client's end. */
const overs = new Map<number | undefined, Promise<unknown>>()
let accepted = 0
subscribe('net.server.socket', (message) => {
  accepted++
  const { socket } = message as { socket: Socket }
  overs.set(socket.remotePort, new Promise((resolve) => socket.once('close', resolve)))
})

const login = 'POST /login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n'

/** For longer than the limit. */
const drip = (text: string) =>
  Array.from({ length: 200 }, (_, n) => text[n % text.length] as string)

function isTimedOut({ bytes, lifeMs, ended }: RawExchange): void {
  assert.ok(ended && lifeMs <= maxLifeMs, `it lived for ${lifeMs} ms`)
  const [response, ...more] = readResponses(bytes)
  assert.equal(refusalIn(response ?? assert.fail('no response')).code, 'TIMEOUT')
  assert.equal(response?.headers.get('connection'), 'close')
  assert.deepEqual(more, [])
}

suite('slow clients (I8)', { concurrency: true }, () => {
  const late: Record<string, string[]> = {
    'a request line that never ends': ['GET /livez'],
    'header fields that drip': ['GET /livez HTTP/1.1\r\nHost: a\r\n', ...drip('X-A: b\r\n')],
    'a body that never comes': [`${login}Content-Length: 100\r\n\r\n`],
    'a body that drips': [`${login}Content-Length: 1000\r\n\r\n`, ...drip('{')],
    'a chunk that never comes': [`${login}Transfer-Encoding: chunked\r\n\r\n5\r\n`],
    'chunks that drip': [`${login}Transfer-Encoding: chunked\r\n\r\n`, ...drip('1\r\n{\r\n')],
    'a trailer that drips': [
      `${login}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n`,
      ...drip('X-A: b\r\n'),
    ],
  }
  for (const [name, pieces] of Object.entries(late))
    test(`${name}: 408 in the envelope (I8, E1)`, async () => {
      isTimedOut(await exchangeBytes(app.url, pieces, { ...limits, pauseMs: 300 }))
    })

  test('a body that never comes after a refusal: the connection is closed, without a second response (I8)', async () => {
    const start = 'POST /api/notifications HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{'
    const { bytes, lifeMs, ended } = await exchangeBytes(app.url, [start], limits)
    assert.ok(ended && lifeMs <= maxLifeMs, `it lived for ${lifeMs} ms`)
    const [response, ...more] = readResponses(bytes)
    assert.equal(response?.status, 401)
    assert.deepEqual(more, [])
  })

  test('a connection without any bytes is closed (I8)', async () => {
    const { lifeMs, ended } = await exchangeBytes(app.url, [], limits)
    assert.ok(ended && lifeMs <= maxLifeMs, `it lived for ${lifeMs} ms`)
  })

  test('a connection without a next request is closed (I8)', async () => {
    const { bytes, lifeMs, ended } = await exchangeBytes(
      app.url,
      ['GET /livez HTTP/1.1\r\nHost: a\r\n\r\n'],
      limits,
    )
    assert.ok(ended && lifeMs <= maxLifeMs, `it lived for ${lifeMs} ms`)
    assert.deepEqual(
      readResponses(bytes).map(({ status }) => status),
      [200],
    )
  })

  test('a client that requests much and reads nothing is disconnected (I8)', async () => {
    const startedAt = performance.now()
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(app.url).port) })
    socket.on('error', () => {})
    const requested = 16
    socket.write(
      `GET /api/notifications?limit=100 HTTP/1.1\r\nHost: a\r\nCookie: ${proof.cookie}\r\n\r\n`.repeat(
        requested,
      ),
    )
    socket.pause()
    while (!overs.has(socket.localPort ?? 0)) await sleep(10)
    await Promise.race([overs.get(socket.localPort), sleep(maxLifeMs, undefined, { ref: false })])
    const lifeMs = performance.now() - startedAt
    assert.ok(lifeMs <= maxLifeMs, `it lived for ${lifeMs} ms`)
    // It starts to read only now; from a connection that was closed in time it gets only what was already sent.
    let received = 0
    socket.on('data', (chunk: Buffer) => {
      received += chunk.length
    })
    const closed = new Promise<boolean>((resolve) => socket.on('close', () => resolve(true)))
    socket.resume()
    assert.ok(await Promise.race([closed, sleep(10_000, false)]), 'the connection was still open')
    const one = Number(
      (await app.get('/api/notifications?limit=100', proof)).headers.get('content-length'),
    )
    assert.ok(
      received > 0 && received < requested * one,
      `${received} bytes came of ${requested * one}`,
    )
  })

  test('a client that sends many requests without waiting is disconnected, and one that sends a few ahead is served (I8)', async () => {
    const list = `GET /api/notifications?limit=1 HTTP/1.1\r\nHost: a\r\nCookie: ${proof.cookie}\r\n\r\n`
    for (const request of ['GET /docs HTTP/1.1\r\nHost: a\r\n\r\n', list]) {
      const flood = await exchangeBytes(app.url, [request.repeat(2_000)], limits)
      // A connection that was served would be closed, too, but only when it has been idle for seconds.
      const served = String(flood.bytes).split('HTTP/1.1 200').length - 1
      assert.ok(flood.ended && served < 2_000, `it got ${served} responses in ${flood.lifeMs} ms`)
      const last = 'GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
      const ahead = await exchangeBytes(app.url, [request.repeat(10) + last], limits)
      const responses = readResponses(ahead.bytes)
      assert.equal(responses.length, 11)
      assert.match(responses.at(-1)?.text ?? '', /alive/)
    }
  })

  test('all other clients are served in the usual time (I8)', async (t) => {
    const before = accepted
    const slow = Array.from({ length: 200 }, () =>
      exchangeBytes(app.url, ['POST /login HTTP/1.1\r\nHost: a\r\n'], limits),
    )
    while (accepted < before + slow.length) await sleep(10)
    const waits: number[] = []
    const endAt = performance.now() + 9_000
    while (performance.now() < endAt || waits.length < 20) {
      const sentAt = performance.now()
      assert.equal((await app.get('/routeRestreinte', proof)).status, 200)
      waits.push(performance.now() - sentAt)
      await sleep(50)
    }
    for (const one of slow) isTimedOut(await one)
    waits.sort((a, b) => a - b)
    const median = waits[Math.floor(waits.length / 2)] ?? 0
    t.diagnostic(`${waits.length} requests: half within ${median.toFixed(1)} ms`)
    // If they waited for the slow clients, each would wait for seconds.
    assert.ok(median < 1_000, `half within ${median} ms`)
  })
})
