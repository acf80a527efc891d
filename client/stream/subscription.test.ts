// A test server can misbehave. live-stream.test.ts has a real service.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { soakTest } from '../../tests/support/soak.ts'
import { until } from '../testing/clients.ts'
import {
  eventText,
  notificationText,
  positionOf,
  type Stream,
  StreamServer,
  sessionEndedText,
} from '../testing/stream-server.ts'
import { connecting, failureOf, received, subscribe } from '../testing/subscribe.ts'
import { isCarillonError } from '../transport/errors.ts'
import type { StreamEvent } from '../transport/types.ts'

test('yields typed events with the position to resume from', async () => {
  await using server = await StreamServer.with((stream) => stream.greet(4).notify(5))
  const seen: StreamEvent[] = []
  for await (const event of subscribe(server)) {
    seen.push(event)
    if (event.type === 'created') break
  }
  assert.deepEqual(seen, [
    { type: 'hello', position: positionOf(4), version: 4, unread: 4, total: 4 },
    {
      type: 'created',
      position: positionOf(5),
      version: 5,
      unread: 5,
      total: 5,
      notification: { id: 'n5', title: 'Ünïcödé 🔔 5' },
    },
  ])
  assert.equal(server.streams[0]?.since, null)
})

test('after a connection ends within an event, the client resumes after the last complete event: each arrives once, in order', async () => {
  const half = notificationText(3).slice(0, -20)
  const seen: string[] = []
  await using server = await StreamServer.with(
    async (stream) => {
      stream.greet(0).notify(1).notify(2).write(half)
      await until(() => seen.length === 3)
      await sleep(20)
      stream.disconnect()
    },
    async (stream) => {
      stream.greet(2).notify(3).write(notificationText(4).slice(0, -1))
      await until(() => seen.length === 5)
      await sleep(20)
      stream.end()
    },
    (stream) => stream.greet(3).notify(4).notify(5),
  )
  await received(subscribe(server), 5, seen)
  assert.deepEqual(seen, [
    'hello 0',
    'created 1',
    'created 2',
    'hello 2',
    'created 3',
    'hello 3',
    'created 4',
    'created 5',
  ])
  assert.deepEqual(
    server.streams.map(({ since }) => since),
    [null, positionOf(2), positionOf(3)],
  )
})

test('a hello without an id keeps the requested position, and the resync after it replaces that position', async () => {
  await using server = await StreamServer.with(
    (stream) =>
      stream
        .open()
        .write('event: hello\ndata: {"version":9,"unread":0,"total":0}\n\n')
        .write(eventText('resync', 9))
        .end(),
    (stream) => stream.greet(9).notify(10),
  )
  const positions: string[] = []
  for await (const event of subscribe(server, { since: 'garbage' })) {
    positions.push(`${event.type} ${event.position}`)
    if (event.type === 'created') break
  }
  assert.deepEqual(positions, [
    'hello garbage',
    `resync ${positionOf(9)}`,
    `hello ${positionOf(9)}`,
    `created ${positionOf(10)}`,
  ])
  assert.equal(server.streams[1]?.since, positionOf(9))
})

test('the client skips unknown types of events, and resumes after them', async () => {
  await using server = await StreamServer.with(
    (stream) =>
      stream.greet(0).write(eventText('archive', 1)).write(eventText('toString', 2)).end(),
    (stream) => stream.greet(2).notify(3),
  )
  assert.deepEqual(await received(subscribe(server), 1), ['hello 0', 'hello 2', 'created 3'])
  assert.equal(server.streams[1]?.since, positionOf(2))
})

test('after an event with invalid JSON the client reconnects and requests that event again', async () => {
  await using server = await StreamServer.with(
    (stream) =>
      stream.greet(0).write('event: created\nid: 1-x\ndata: {"version":1,\xff\n\n').notify(2),
    (stream) => stream.greet(0).notify(1).notify(2),
  )
  assert.deepEqual(await received(subscribe(server), 2), [
    'hello 0',
    'hello 0',
    'created 1',
    'created 2',
  ])
  assert.equal(server.streams[1]?.since, positionOf(0))
})

test('after 2.5 heartbeats without data the client drops the connection and reconnects at once', async () => {
  await using server = await StreamServer.with(
    (stream) => stream.greet(0),
    (stream) => stream.greet(0).notify(1),
  )
  // With backoff, the client would wait for minutes here.
  await received(
    subscribe(server, { timing: { heartbeatMs: 60, retryMs: 600_000, maxRetryMs: 600_000 } }),
    1,
  )
  const [first, second] = server.streams as [Stream, Stream]
  const silentMs = second.at - first.at
  assert.ok(silentMs >= 145 && silentMs < 60_000, `it took ${silentMs} ms`)
})

soakTest('comments alone keep the connection open', async () => {
  await using server = await StreamServer.with(async (stream) => {
    stream.greet(0)
    // A pause of the machine is shorter than 2.5 heartbeats.
    for (let i = 0; i < 17; i++) {
      await sleep(400)
      stream.write(':\n\n')
    }
    stream.notify(1)
  })
  await received(subscribe(server, { timing: { heartbeatMs: 2_500 } }), 1)
  assert.equal(server.streams.length, 1)
})

test('if the server accepts the connection but sends no response, the client drops it and tries again', async () => {
  await using server = await StreamServer.with(
    () => {},
    (stream) => stream.greet(0).notify(1),
  )
  // The client checks the time limit three times per heartbeat.
  const shortLimits = { heartbeatMs: 1_500, connectMs: 200 }
  assert.deepEqual(await received(subscribe(server, { timing: shortLimits }), 1), [
    'hello 0',
    'created 1',
  ])
})

test('the client waits for the time in Retry-After before it reconnects', async () => {
  await using server = await StreamServer.with(
    (stream) => stream.refuse(503, 'UNAVAILABLE', { 'retry-after': '1' }),
    (stream) => stream.greet(0).notify(1),
  )
  await received(subscribe(server), 1)
  const [first, second] = server.streams as [Stream, Stream]
  const waitedMs = second.at - first.at
  assert.ok(waitedMs >= 995 && waitedMs < 20_000, `it waited ${waitedMs} ms`)
})

test('the backoff has full jitter, starts at the `retry` of the server, is capped, and restarts after an event', async (t) => {
  const draws: number[] = []
  let acts = 0
  const flaky = (stream: Stream) => {
    acts++
    if (acts === 1)
      stream
        .open()
        .write(`retry: 150\n\n${eventText('hello', 0)}`)
        .end()
    else if (acts < 5) stream.refuse(503, 'UNAVAILABLE', { 'retry-after': '0' })
    else if (acts === 5) stream.greet(0).notify(1).end()
    else stream.greet(1).notify(2)
  }
  await using server = await StreamServer.with(flaky)
  const random = () => {
    draws.push(performance.now())
    return 0.999
  }
  const timers = t.mock.method(globalThis, 'setTimeout')
  await received(subscribe(server, { timing: { maxRetryMs: 400, random } }), 2)
  // The last bound is the minimum of 100 ms: the second greeting sends `retry: 20`, and its event resets the backoff.
  const bounds = [150, 300, 400, 400, 100]
  // The requested delays: real waits are longer on a busy machine. Only these delays are not whole milliseconds.
  const delays = timers.mock.calls
    .map(({ arguments: [, ms = 0] }) => ms)
    .filter((ms) => !Number.isInteger(ms))
  assert.deepEqual(
    delays,
    bounds.map((bound) => 0.999 * bound),
  )
  const at = server.streams.map((stream) => stream.at)
  for (const [i, bound] of bounds.entries()) {
    const waited = (at[i + 1] ?? 0) - (draws[i] ?? 0)
    assert.ok(waited >= bound - 3, `wait ${i} was ${waited} ms, its bound ${bound}`)
  }
})

test('a greeting alone does not reset the backoff: the client does not flood a server that fails after each greeting', async () => {
  await using server = await StreamServer.with((stream) => stream.greet(0).end())
  const tookMs = await connecting(server, 5, {
    timing: { retryMs: 20, maxRetryMs: 200, random: () => 0.999 },
  })
  assert.ok(tookMs >= 100 + 200 + 200 + 200 - 10, `${tookMs} ms`)
})

test('without a network the client keeps trying, even if it has never connected', async () => {
  const { url } = await (async () => {
    await using gone = await StreamServer.with(() => {})
    return { url: gone.url }
  })()
  const failure = await failureOf(subscribe({ url }, { signal: AbortSignal.timeout(200) }))
  assert.equal((failure as Error).name, 'TimeoutError')
})

for (const [status, code] of [
  [401, 'UNAUTHORIZED'],
  [403, 'FORBIDDEN'],
  [404, 'NOT_FOUND'],
  [400, 'INVALID_REQUEST'],
] as const)
  test(`a refusal that a retry would not fix ends the stream: ${code}`, async () => {
    await using server = await StreamServer.with((stream) => stream.refuse(status, code))
    const failure = await failureOf(subscribe(server))
    assert.ok(isCarillonError(failure, code))
    assert.deepEqual([failure.status, failure.requestId], [status, 'test-request'])
    assert.equal(
      server.streams.length,
      code === 'UNAUTHORIZED' ? 2 : 1,
      'a cookie that was refused is sent twice',
    )
  })

for (const status of [200, 401, 403, 404])
  test(`a ${status} that is not from Carillon ends the stream at the first connection; later the client retries`, async () => {
    const page = (stream: Stream) =>
      stream.response.writeHead(status, { 'content-type': 'text/html' }).end('<p>Welcome')
    {
      await using server = await StreamServer.with(page)
      assert.ok(isCarillonError(await failureOf(subscribe(server)), 'UNREADABLE'))
    }
    await using server = await StreamServer.with(
      (stream) => stream.greet(0).end(),
      page,
      (stream) => stream.greet(0).notify(1),
    )
    assert.deepEqual(await received(subscribe(server), 1), ['hello 0', 'hello 0', 'created 1'])
  })

test('after a revoked session the client tries once more, then throws UNAUTHORIZED with the reason', async () => {
  await using server = await StreamServer.with(
    (stream) => stream.greet(3).notify(4).write(sessionEndedText('revoked')).end(),
    (stream) => stream.refuse(401, 'UNAUTHORIZED'),
  )
  const failure = await failureOf(subscribe(server))
  assert.ok(isCarillonError(failure, 'UNAUTHORIZED'))
  assert.equal(failure.reason, 'revoked')
  assert.match(failure.message, /revoked/)
  assert.ok(isCarillonError(failure.cause, 'UNAUTHORIZED'))
  assert.equal(failure.requestId, 'test-request')
  assert.equal(server.streams.length, 3)
  assert.equal(
    server.streams[2]?.since,
    positionOf(4),
    'the empty id of session-ended must not replace the position',
  )
})

for (const pauseMs of [0, 10])
  test(`the client does not flood a server that ends every session ${pauseMs} ms after its greeting`, async () => {
    await using server = await StreamServer.with(async (stream) => {
      stream.greet(0)
      if (pauseMs > 0) await sleep(pauseMs)
      stream.write(sessionEndedText('expired')).end()
    })
    const tookMs = await connecting(server, 5, { timing: { maxRetryMs: 400, random: () => 0.999 } })
    // The first reconnect is at once, then come these delays.
    assert.ok(tookMs >= 100 + 200 + 400 - 10, `${tookMs} ms`)
  })

test('an error of `auth` ends the stream; after a network failure of `auth` the client calls it again', async () => {
  await using server = await StreamServer.with((stream) => stream.greet(0).notify(1))
  for (const cause of [new Error('the backend is broken'), new TypeError('response is null')]) {
    const failure = await failureOf(subscribe(server, { auth: () => Promise.reject(cause) }))
    assert.ok(isCarillonError(failure, 'AUTH_FAILED'))
    assert.equal(failure.cause, cause)
  }
  let calls = 0
  const auth = async () => {
    if (++calls < 3) throw new TypeError('fetch failed')
    return 'token'
  }
  assert.deepEqual(await received(subscribe(server, { auth }), 1), ['hello 0', 'created 1'])
})
