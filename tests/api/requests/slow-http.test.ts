// Those who send slowly, or do not read: each is ended after 10 s at most, and everybody else is served meanwhile
// (I8, E1). The attempts run side by side, since each takes its ten seconds.
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
for (let n = 0; n < 100; n++) await app.deliver({ to: ann, title: `No. ${n}`, body: 'x'.repeat(3_900) })

/** The figure of row I8, and what a machine with other work to do may add to it. */
const maxLifeMs = 10_000 + 40_000
const patience = { timeoutMs: maxLifeMs + 1_000 }

/** When the server's end of each connection is over, by the port of the client's. */
const overs = new Map<number | undefined, Promise<unknown>>()
subscribe('net.server.socket', (message) => {
  const { socket } = message as { socket: Socket }
  overs.set(socket.remotePort, new Promise((resolve) => socket.once('close', resolve)))
})

const login = 'POST /login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n'

/** One byte at a time, for longer than anybody may take. */
const drip = (text: string) => Array.from({ length: 200 }, (_, n) => text[n % text.length] as string)

function isTimedOut({ bytes, lifeMs, ended }: RawExchange): void {
  assert.ok(ended && lifeMs <= maxLifeMs, `it lived for ${lifeMs} ms`)
  const [response, ...more] = readResponses(bytes)
  assert.equal(refusalIn(response ?? assert.fail('no answer')).code, 'TIMEOUT')
  assert.equal(response?.headers.get('connection'), 'close')
  assert.deepEqual(more, [])
}

suite('I8: what is too slow is ended', { concurrency: true }, () => {
  const late: Record<string, string[]> = {
    'a request line that never ends': ['GET /livez'],
    'header fields that never end': ['GET /livez HTTP/1.1\r\nHost: a\r\n'],
    'header fields that drip': ['GET /livez HTTP/1.1\r\nHost: a\r\n', ...drip('X-A: b\r\n')],
    'a body that never comes': [`${login}Content-Length: 100\r\n\r\n`],
    'a body that is cut': [`${login}Content-Length: 100\r\n\r\n{"username":`],
    'a body that drips': [`${login}Content-Length: 1000\r\n\r\n`, ...drip('{')],
    'a chunk that never comes': [`${login}Transfer-Encoding: chunked\r\n\r\n5\r\n`],
    'a chunk that is cut': [`${login}Transfer-Encoding: chunked\r\n\r\nfffffff\r\n{"username":`],
    'chunks that drip': [`${login}Transfer-Encoding: chunked\r\n\r\n`, ...drip('1\r\n{\r\n')],
    'a trailer that drips': [`${login}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n`, ...drip('X-A: b\r\n')],
  }
  for (const [name, pieces] of Object.entries(late))
    test(`I8, E1: ${name}: 408 in the envelope`, async () => {
      isTimedOut(await exchangeBytes(app.url, pieces, { ...patience, pauseMs: 300 }))
    })

  test('I8: a body that never comes after a refusal: the connection ends, and there is no second answer', async () => {
    const start = 'POST /api/notifications HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{'
    const { bytes, lifeMs, ended } = await exchangeBytes(app.url, [start], patience)
    assert.ok(ended && lifeMs <= maxLifeMs, `it lived for ${lifeMs} ms`)
    const [response, ...more] = readResponses(bytes)
    assert.equal(response?.status, 401)
    assert.deepEqual(more, [])
  })

  test('I8: a connection on which nothing is ever said is ended', async () => {
    const { lifeMs, ended } = await exchangeBytes(app.url, [], patience)
    assert.ok(ended && lifeMs <= maxLifeMs, `it lived for ${lifeMs} ms`)
  })

  test('I8: a connection on which nothing more is said is ended', async () => {
    const { bytes, lifeMs, ended } = await exchangeBytes(app.url, ['GET /livez HTTP/1.1\r\nHost: a\r\n\r\n'], patience)
    assert.ok(ended && lifeMs <= maxLifeMs, `it lived for ${lifeMs} ms`)
    assert.deepEqual(
      readResponses(bytes).map(({ status }) => status),
      [200],
    )
  })

  test('I8: a reader that asks for much and reads nothing is ended', async () => {
    const startedAt = performance.now()
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(app.url).port) })
    socket.on('error', () => {})
    const asked = 16
    socket.write(
      `GET /api/notifications?limit=100 HTTP/1.1\r\nHost: a\r\nCookie: ${proof.cookie}\r\n\r\n`.repeat(asked),
    )
    socket.pause()
    while (!overs.has(socket.localPort ?? 0)) await sleep(10)
    await Promise.race([overs.get(socket.localPort), sleep(maxLifeMs, undefined, { ref: false })])
    const lifeMs = performance.now() - startedAt
    assert.ok(lifeMs <= maxLifeMs, `it lived for ${lifeMs} ms`)
    // Only now does it read; a connection that was ended in time has no more than what was under way.
    let received = 0
    socket.on('data', (chunk: Buffer) => {
      received += chunk.length
    })
    const closed = new Promise<boolean>((resolve) => socket.on('close', () => resolve(true)))
    socket.resume()
    assert.ok(await Promise.race([closed, sleep(10_000, false)]), 'the connection was still open')
    const one = Number((await app.get('/api/notifications?limit=100', proof)).headers.get('content-length'))
    assert.ok(received > 0 && received < asked * one, `${received} bytes came of ${asked * one}`)
  })

  test('I8: a client that asks on and on without waiting is cut, and one that asks a little ahead is served', async () => {
    const request = 'GET /docs HTTP/1.1\r\nHost: a\r\n\r\n'
    const flood = await exchangeBytes(app.url, [request.repeat(2_000)], { timeoutMs: 5_000 })
    assert.ok(flood.ended, `it lived for ${flood.lifeMs} ms`)
    const last = 'GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
    const ahead = await exchangeBytes(app.url, [request.repeat(10) + last], { timeoutMs: 10_000 })
    const responses = readResponses(ahead.bytes)
    assert.equal(responses.length, 11)
    assert.match(responses.at(-1)?.text ?? '', /alive/)
  })

  test('I8: everybody else is served meanwhile', async (t) => {
    const slow = Array.from({ length: 200 }, () =>
      exchangeBytes(app.url, ['POST /login HTTP/1.1\r\nHost: a\r\n'], patience),
    )
    const waits: number[] = []
    const endAt = performance.now() + 9_000
    while (performance.now() < endAt) {
      const before = performance.now()
      assert.equal((await app.get('/routeRestreinte', proof)).status, 200)
      waits.push(performance.now() - before)
      await sleep(50)
    }
    for (const one of slow) isTimedOut(await one)
    waits.sort((a, b) => a - b)
    const [median = 0, longest = 0] = [waits[Math.floor(waits.length / 2)], waits.at(-1)]
    t.diagnostic(`${waits.length} requests: half within ${median.toFixed(1)} ms, all within ${longest.toFixed(1)} ms`)
    // Those who would have to wait for the slow ones would wait for seconds, each of them.
    assert.ok(median < 1_000 && longest < 5_000, `half within ${median} ms, all within ${longest} ms`)
  })
})
