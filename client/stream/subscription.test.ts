// Does the stream survive what happens to connections? Against a server that can be made to misbehave; what a real service
// does is in live-stream.test.ts.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { getEventListeners, once } from 'node:events'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../testing/clients.ts'
import {
  eventText,
  notificationText,
  positionOf,
  type Stream,
  StreamServer,
  sessionEndedText,
} from '../testing/stream-server.ts'
import { isCarillonError } from '../transport/errors.ts'
import { type Auth, type Connection, Requests } from '../transport/requests.ts'
import type { StreamEvent } from '../transport/types.ts'
import { openStream, type StreamOptions, type Timing } from './subscription.ts'

/** No watchdog bites, however long the machine stands still; tests of the watchdogs have their own. */
const timing: Timing = { heartbeatMs: 600_000, connectMs: 600_000, retryMs: 20, maxRetryMs: 100, random: () => 0.5 }

type Options = StreamOptions & { auth?: Auth; fetch?: Connection['fetch']; timing?: Partial<Timing> }

function subscribe({ url }: { url: string }, { auth = 'cookie', fetch, timing: more, ...options }: Options = {}) {
  return openStream(new Requests({ baseUrl: url, fetch }, auth), options, { ...timing, ...more })
}

/** What comes until so many notifications were told, as `type version`. */
async function told(events: AsyncIterable<StreamEvent>, notifications: number, seen: string[] = []): Promise<string[]> {
  for await (const { type, version } of events) {
    seen.push(`${type} ${version}`)
    if (seen.filter((one) => one.startsWith('notification')).length === notifications) break
  }
  return seen
}

async function failureOf(events: AsyncIterable<StreamEvent>): Promise<unknown> {
  try {
    for await (const _ of events);
  } catch (error) {
    return error
  }
  return assert.fail('it ended without an error')
}

/** Tries until there were so many connections; answers the milliseconds from the first to the last of them. */
async function connecting(server: StreamServer, times: number, options: Options): Promise<number> {
  const controller = new AbortController()
  const failing = failureOf(subscribe(server, { signal: controller.signal, ...options }))
  await until(() => server.streams.length >= times)
  controller.abort()
  await failing
  const [first, last] = [server.streams[0], server.streams[times - 1]]
  return (last?.at ?? 0) - (first?.at ?? 0)
}

test('yields typed events with the position to resume from', async () => {
  await using server = await StreamServer.with((stream) => stream.greet(4).notify(5))
  const seen: StreamEvent[] = []
  for await (const event of subscribe(server)) {
    seen.push(event)
    if (event.type === 'notification') break
  }
  assert.deepEqual(seen, [
    { type: 'hello', position: positionOf(4), version: 4, unread: 4, total: 4 },
    {
      type: 'notification',
      position: positionOf(5),
      version: 5,
      unread: 5,
      total: 5,
      notification: { id: 'n5', title: 'Ünïcödé 🔔 5' },
    },
  ])
  assert.equal(server.streams[0]?.since, null)
})

test('tells each event once and in order, over cuts within an event, and takes up behind the last complete one', async () => {
  const half = notificationText(3).slice(0, -20)
  const seen: string[] = []
  await using server = await StreamServer.with(
    async (stream) => {
      stream.greet(0).notify(1).notify(2).write(half)
      await until(() => seen.length === 3)
      await sleep(20)
      stream.cut()
    },
    async (stream) => {
      stream.greet(2).notify(3).write(notificationText(4).slice(0, -1))
      await until(() => seen.length === 5)
      await sleep(20)
      stream.end()
    },
    (stream) => stream.greet(3).notify(4).notify(5),
  )
  await told(subscribe(server), 5, seen)
  assert.deepEqual(seen, [
    'hello 0',
    'notification 1',
    'notification 2',
    'hello 2',
    'notification 3',
    'hello 3',
    'notification 4',
    'notification 5',
  ])
  assert.deepEqual(
    server.streams.map(({ since }) => since),
    [null, positionOf(2), positionOf(3)],
  )
})

test('understands a stream that comes byte by byte', async () => {
  const bytes = new TextEncoder().encode(
    `\uFEFF:\n\n${eventText('hello', 0)}${notificationText(1)}${notificationText(2)}`,
  )
  await using server = await StreamServer.with(async (stream) => {
    stream.open()
    for (const byte of bytes) {
      stream.write(Uint8Array.of(byte))
      await new Promise(setImmediate)
    }
  })
  assert.deepEqual(await told(subscribe(server), 2), ['hello 0', 'notification 1', 'notification 2'])
})

test('a given position is where the first connection begins', async () => {
  await using server = await StreamServer.with((stream) => stream.greet(7).notify(8))
  await told(subscribe(server, { since: positionOf(7) }), 1)
  await told(subscribe(server, { since: 7 }), 1)
  assert.deepEqual(
    server.streams.map(({ since }) => since),
    [positionOf(7), '7'],
  )
})

test('a hello without an id keeps the position that was asked for, and the resync behind it moves it', async () => {
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
    if (event.type === 'notification') break
  }
  assert.deepEqual(positions, [
    'hello garbage',
    `resync ${positionOf(9)}`,
    `hello ${positionOf(9)}`,
    `notification ${positionOf(10)}`,
  ])
  assert.equal(server.streams[1]?.since, positionOf(9))
})

test('passes over types of event that it does not know, and does not ask for them again', async () => {
  await using server = await StreamServer.with(
    (stream) => stream.greet(0).write(eventText('archive', 1)).write(eventText('toString', 2)).end(),
    (stream) => stream.greet(2).notify(3),
  )
  assert.deepEqual(await told(subscribe(server), 1), ['hello 0', 'hello 2', 'notification 3'])
  assert.equal(server.streams[1]?.since, positionOf(2))
})

test('garbage in the data of an event is a broken connection: it is asked for again', async () => {
  await using server = await StreamServer.with(
    (stream) => stream.greet(0).write('event: notification\nid: 1-x\ndata: {"version":1,\xff\n\n').notify(2),
    (stream) => stream.greet(0).notify(1).notify(2),
  )
  assert.deepEqual(await told(subscribe(server), 2), ['hello 0', 'hello 0', 'notification 1', 'notification 2'])
  assert.equal(server.streams[1]?.since, positionOf(0))
})

test('silence beyond two and a half heartbeats drops the connection, and the next is tried at once', async () => {
  await using server = await StreamServer.with(
    (stream) => stream.greet(0),
    (stream) => stream.greet(0).notify(1),
  )
  // A backoff would take minutes here.
  await told(subscribe(server, { timing: { heartbeatMs: 60, retryMs: 600_000, maxRetryMs: 600_000 } }), 1)
  const [first, second] = server.streams as [Stream, Stream]
  const silentMs = second.at - first.at
  assert.ok(silentMs >= 145 && silentMs < 5_000, `it took ${silentMs} ms`)
})

test('a comment alone keeps the connection', async () => {
  await using server = await StreamServer.with(async (stream) => {
    stream.greet(0)
    for (let i = 0; i < 8; i++) {
      await sleep(400)
      stream.write(':\n\n')
    }
    stream.notify(1)
  })
  await told(subscribe(server, { timing: { heartbeatMs: 1_000 } }), 1)
  assert.equal(server.streams.length, 1)
})

test('a server that takes the connection and never answers is left, and tried again', async () => {
  await using server = await StreamServer.with(
    () => {},
    (stream) => stream.greet(0).notify(1),
  )
  // It is looked at every third of a heartbeat.
  const impatient = { heartbeatMs: 1_500, connectMs: 200 }
  assert.deepEqual(await told(subscribe(server, { timing: impatient }), 1), ['hello 0', 'notification 1'])
})

test('waits as long as Retry-After says', async () => {
  await using server = await StreamServer.with(
    (stream) => stream.refuse(429, 'TOO_MANY_REQUESTS', { 'retry-after': '1' }),
    (stream) => stream.refuse(503, 'UNAVAILABLE', { 'retry-after': '1' }),
    (stream) => stream.greet(0).notify(1),
  )
  await told(subscribe(server), 1)
  const [first, second, third] = server.streams.map(({ at }) => at) as [number, number, number]
  for (const waited of [second - first, third - second])
    assert.ok(waited >= 995 && waited < 5_000, `it waited ${waited} ms`)
})

test('backs off with full jitter from the base that the server told, up to the bound, and from the base again after a success', async (t) => {
  const draws: number[] = []
  let acts = 0
  const flaky = (stream: Stream) => {
    acts++
    if (acts === 1)
      stream
        .open()
        .write(`retry: 150\n\n${eventText('hello', 0)}`)
        .end()
    else if (acts < 7) stream.refuse(503, 'UNAVAILABLE', { 'retry-after': '0' })
    else if (acts === 7) stream.greet(0).notify(1).end()
    else stream.greet(1).notify(2)
  }
  await using server = await StreamServer.with(flaky)
  const random = () => {
    draws.push(performance.now())
    return 0.999
  }
  const timers = t.mock.method(globalThis, 'setTimeout')
  await told(subscribe(server, { timing: { maxRetryMs: 400, random } }), 2)
  // After the notification 100, which is the least, as the second greeting told 20.
  const bounds = [150, 300, 400, 400, 400, 400, 100]
  // What it asked for: by the clock it is longer on a machine that stands still meanwhile. Other timers are of whole ones.
  const asked = timers.mock.calls.map(({ arguments: [, ms = 0] }) => ms).filter((ms) => !Number.isInteger(ms))
  assert.deepEqual(
    asked,
    bounds.map((bound) => 0.999 * bound),
  )
  const at = server.streams.map((stream) => stream.at)
  for (const [i, bound] of bounds.entries()) {
    const waited = (at[i + 1] ?? 0) - (draws[i] ?? 0)
    assert.ok(waited >= bound - 3, `wait ${i} was ${waited} ms, its bound ${bound}`)
  }
})

test('a greeting alone does not reset the backoff: a server that falls over at once is not hammered', async () => {
  await using server = await StreamServer.with((stream) => stream.greet(0).end())
  const tookMs = await connecting(server, 5, { timing: { retryMs: 20, maxRetryMs: 200, random: () => 0.999 } })
  assert.ok(tookMs >= 100 + 200 + 200 + 200 - 10, `${tookMs} ms`)
})

test('goes on trying where there is no network, also at the first connection', async () => {
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
  test(`a refusal that another attempt would not mend ends it: ${code}`, async () => {
    await using server = await StreamServer.with((stream) => stream.refuse(status, code))
    const failure = await failureOf(subscribe(server))
    assert.ok(isCarillonError(failure, code))
    assert.deepEqual([failure.status, failure.requestId], [status, 'test-request'])
    assert.equal(server.streams.length, 1)
  })

test("another program's page ends it at first, and is waited out once there was a stream", async () => {
  const page = (stream: Stream) => stream.response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Welcome')
  {
    await using server = await StreamServer.with(page)
    assert.ok(isCarillonError(await failureOf(subscribe(server)), 'UNREADABLE'))
  }
  await using server = await StreamServer.with(
    (stream) => stream.greet(0).end(),
    page,
    (stream) => stream.response.writeHead(404).end('no backend'),
    (stream) => stream.greet(0).notify(1),
  )
  assert.deepEqual(await told(subscribe(server), 1), ['hello 0', 'hello 0', 'notification 1'])
})

test("an intermediary's own 401 or 403 is waited out once there was a stream, and ends it at first", async () => {
  for (const status of [401, 403]) {
    const page = (stream: Stream) => stream.response.writeHead(status).end('<p>Who are you?</p>')
    await using server = await StreamServer.with(
      (stream) => stream.greet(0).end(),
      page,
      (stream) => stream.greet(0).notify(1),
    )
    assert.deepEqual(await told(subscribe(server), 1), ['hello 0', 'hello 0', 'notification 1'])
    await using closed = await StreamServer.with(page)
    assert.ok(isCarillonError(await failureOf(subscribe(closed)), 'UNREADABLE'))
  }
})

test('an event without an end is a broken connection', async () => {
  const endless = async (stream: Stream) => {
    stream.greet(0).write('data: ')
    for (let sent = 0; sent < 10 && !stream.response.destroyed; sent++)
      if (!stream.response.write('x'.repeat(2 ** 20)))
        await Promise.race([once(stream.response, 'drain'), stream.closed])
    await stream.closed
  }
  await using server = await StreamServer.with(endless, (stream) => stream.greet(0).notify(1))
  assert.deepEqual(await told(subscribe(server), 1), ['hello 0', 'hello 0', 'notification 1'])
})

test('a token that no header field takes ends it at once, and is in no message', async () => {
  await using server = await StreamServer.with((stream) => stream.greet(0))
  const failure = await failureOf(subscribe(server, { auth: () => 'a secret 🔔' }))
  assert.ok(failure instanceof TypeError && failure.cause === undefined)
  assert.doesNotMatch(String(failure.stack), /secret/)
  assert.equal(server.streams.length, 0)
})

test('a revoked proof: it tries once more, then stops and says why', async () => {
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
  assert.equal(server.streams.length, 2)
  assert.equal(server.streams[1]?.since, positionOf(4), 'the empty id of session-ended is no position')
})

test('an expired token: the callback is asked anew, and the stream goes on where it was', async () => {
  let asked = 0
  const auth = () => `token-${++asked}`
  const byToken = (stream: Stream) => {
    if (stream.authorization === 'Bearer token-1')
      if (server.streams.length === 1) stream.greet(0).notify(1).write(sessionEndedText('expired')).end()
      else stream.refuse(401, 'UNAUTHORIZED')
    else stream.greet(1).notify(2)
  }
  await using server = await StreamServer.with(byToken)
  const seen = await told(subscribe(server, { auth, timing: { retryMs: 600_000, maxRetryMs: 600_000 } }), 2)
  assert.deepEqual(seen, ['hello 0', 'notification 1', 'hello 1', 'notification 2'])
  assert.equal(asked, 2)
})

test('a server that ends every session at once is not hammered', async () => {
  await using server = await StreamServer.with((stream) => stream.greet(0).write(sessionEndedText('expired')).end())
  await failureOf(subscribe(server, { signal: AbortSignal.timeout(300), timing: { maxRetryMs: 100 } }))
  assert.ok(server.streams.length <= 12, `${server.streams.length} connections`)
})

test('nor is one that ends them a moment after its greeting, which makes the end a chunk of its own', async () => {
  await using server = await StreamServer.with(async (stream) => {
    stream.greet(0)
    await sleep(10)
    stream.write(sessionEndedText('expired')).end()
  })
  const tookMs = await connecting(server, 5, { timing: { maxRetryMs: 400, random: () => 0.999 } })
  // One at once, then these.
  assert.ok(tookMs >= 100 + 200 + 400 - 10, `${tookMs} ms`)
})

test('`retry: 0` does not make it hammer', async () => {
  await using server = await StreamServer.with((stream) => stream.open().write('retry: 0\n\n').end())
  const tookMs = await connecting(server, 4, { timing: { maxRetryMs: 400, random: () => 0.999 } })
  assert.ok(tookMs >= 100 + 200 + 400 - 10, `${tookMs} ms`)
})

test('what the token callback throws ends it; where it had no network it is asked again', async () => {
  await using server = await StreamServer.with((stream) => stream.greet(0).notify(1))
  const signedOut = new Error('signed out')
  const failure = await failureOf(subscribe(server, { auth: () => Promise.reject(signedOut) }))
  assert.equal(failure, signedOut)
  let asked = 0
  const auth = async () => {
    if (++asked < 3) throw new TypeError('fetch failed')
    return 'token'
  }
  assert.deepEqual(await told(subscribe(server, { auth }), 1), ['hello 0', 'notification 1'])
})

test('break closes the connection', async () => {
  await using server = await StreamServer.with((stream) => stream.greet(0).notify(1))
  await told(subscribe(server), 1)
  await server.streams[0]?.closed
  await sleep(100)
  assert.equal(server.streams.length, 1)
})

test('return() ends it while a next() waits, without an error', async () => {
  await using server = await StreamServer.with(async (stream) => {
    stream.greet(0)
    while (!stream.response.destroyed) await sleep(20).then(() => stream.write(':\n'))
  })
  const events = subscribe(server)
  await events.next()
  const waiting = events.next()
  await events.return?.()
  assert.deepEqual(await waiting, { done: true, value: undefined })
  assert.deepEqual(await events.next(), { done: true, value: undefined })
  await server.streams[0]?.closed
})

const moments: Record<string, (stream: Stream) => unknown> = {
  'while it connects': () => {},
  'while it waits for events': (stream) => stream.greet(0),
  'while it waits to try again': (stream) => stream.refuse(503, 'UNAVAILABLE', { 'retry-after': '20' }),
}
for (const [moment, act] of Object.entries(moments))
  test(`an abort ends it promptly, with the reason of the signal, ${moment}, and leaves no listener`, async () => {
    await using server = await StreamServer.with(act)
    const controller = new AbortController()
    const failing = failureOf(subscribe(server, { signal: controller.signal }))
    while (server.streams.length === 0) await sleep(5)
    await sleep(30)
    const reason = new Error('the page is closed')
    const from = performance.now()
    controller.abort(reason)
    assert.equal(await failing, reason)
    assert.ok(performance.now() - from < 30_000)
    assert.deepEqual(getEventListeners(controller.signal, 'abort'), [])
    await server.streams[0]?.closed
  })

test('after an abort nothing more is told of what has come already', async () => {
  await using server = await StreamServer.with((stream) =>
    stream.open().write(eventText('hello', 0) + notificationText(1) + notificationText(2)),
  )
  const controller = new AbortController()
  const seen: string[] = []
  const failing = (async () => {
    for await (const { type } of subscribe(server, { signal: controller.signal })) {
      seen.push(type)
      if (type === 'notification') controller.abort()
    }
  })()
  await assert.rejects(failing, { name: 'AbortError' })
  assert.deepEqual(seen, ['hello', 'notification'])
})

test("the body of a caller's fetch that knows no signal is cancelled, and that it cannot be is no matter", async () => {
  let cancelled = 0
  const fetchOnce = async () => {
    const body = new ReadableStream({
      start: (source) => source.enqueue(new TextEncoder().encode(eventText('hello', 0) + notificationText(1))),
      cancel() {
        cancelled++
        throw new Error('it cannot be')
      },
    })
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  }
  await told(subscribe({ url: 'http://bell.example' }, { fetch: fetchOnce }), 1)
  await sleep(10)
  assert.equal(cancelled, 1)
})

test('a signal that is aborted already asks nothing', async () => {
  await using server = await StreamServer.with((stream) => stream.greet(0))
  const failure = await failureOf(subscribe(server, { signal: AbortSignal.abort() }))
  assert.equal((failure as Error).name, 'AbortError')
  assert.equal(server.streams.length, 0)
})

test('a loop that was left leaves nothing on the signal', async () => {
  await using server = await StreamServer.with((stream) => stream.greet(0).notify(1))
  const { signal } = new AbortController()
  await told(subscribe(server, { signal }), 1)
  assert.deepEqual(getEventListeners(signal, 'abort'), [])
})

test('nothing is read ahead of the loop: a server that sends without end fills no memory', async () => {
  const big = notificationText(1).replace('🔔', 'x'.repeat(60_000))
  let sent = 0
  await using server = await StreamServer.with(async (stream) => {
    stream.greet(0)
    const { response } = stream
    while (!response.destroyed && sent < 200_000_000) {
      sent += big.length
      if (!response.write(big)) await Promise.race([once(response, 'drain'), stream.closed])
    }
  })
  const events = subscribe(server)
  await events.next()
  await events.next()
  await sleep(500)
  // What fits into the buffers of two sockets, and no more.
  assert.ok(sent < 20_000_000, `${sent} bytes were taken`)
  await events.return?.()
})

test('a loop that stays away longer than the watchdog is not dropped for it', async () => {
  await using server = await StreamServer.with((stream) => stream.greet(0).notify(1).notify(2))
  const events = subscribe(server, { timing: { heartbeatMs: 800 } })
  await events.next()
  await sleep(2_500)
  await events.next()
  const third = await events.next()
  assert.equal(third.value.version, 2)
  assert.equal(server.streams.length, 1)
  await events.return?.()
})

test('a process ends by itself when its loop is over', async (t) => {
  await using server = await StreamServer.with((stream) => stream.greet(0).notify(1))
  const script = `
    import { createCarillon } from '${new URL('../carillon-client.ts', import.meta.url)}'
    const { inbox } = createCarillon({ baseUrl: '${server.url}' })
    for await (const { type } of inbox.subscribe()) if (type === 'notification') break
    const ending = AbortSignal.timeout(50)
    try { for await (const _ of inbox.subscribe({ signal: ending })); } catch {}
    console.log('over')
  `
  const stdio = ['ignore', 'pipe', 'inherit'] as const
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: [...stdio] })
  t.after(() => child.kill())
  await once(child.stdout ?? assert.fail(), 'data', { signal: AbortSignal.timeout(60_000) })
  const [status] = await once(child, 'exit', { signal: AbortSignal.timeout(20_000) })
  assert.equal(status, 0)
})

/** The page and the network as a browser tells of them: the events of `window` and `document`. */
class Page implements Disposable {
  readonly window = new EventTarget()
  readonly document = Object.assign(new EventTarget(), { visibilityState: 'visible' })

  constructor() {
    const { window } = this
    Object.assign(globalThis, {
      document: this.document,
      addEventListener: window.addEventListener.bind(window),
      removeEventListener: window.removeEventListener.bind(window),
    })
  }

  online() {
    this.window.dispatchEvent(new Event('online'))
  }

  show(visibilityState: 'visible' | 'hidden') {
    this.document.visibilityState = visibilityState
    this.document.dispatchEvent(new Event('visibilitychange'))
  }

  [Symbol.dispose]() {
    for (const name of ['document', 'addEventListener', 'removeEventListener']) Reflect.deleteProperty(globalThis, name)
  }
}

for (const [event, happens] of [
  ['online', (page: Page) => page.online()],
  ['visibilitychange', (page: Page) => page.show('visible')],
] as const)
  test(`${event} cuts the waiting short`, async () => {
    using page = new Page()
    await using server = await StreamServer.with(
      (stream) => stream.refuse(503, 'UNAVAILABLE', { 'retry-after': '30' }),
      (stream) => stream.greet(0).notify(1),
    )
    let isWaiting = false
    const random = () => {
      isWaiting = true
      return 0.5
    }
    const telling = told(subscribe(server, { timing: { random } }), 1)
    await until(() => isWaiting)
    page.show('hidden')
    await sleep(50)
    assert.equal(server.streams.length, 1, 'a page that is hidden is in no hurry')
    happens(page)
    assert.deepEqual(await telling, ['hello 0', 'notification 1'])
    assert.deepEqual(getEventListeners(page.window, 'online'), [])
    assert.deepEqual(getEventListeners(page.document, 'visibilitychange'), [])
  })

test('online drops a connection: it was made over the network that went away', async () => {
  using page = new Page()
  await using server = await StreamServer.with(
    (stream) => stream.greet(0),
    (stream) => stream.greet(0).notify(1),
  )
  const seen: string[] = []
  const telling = told(subscribe(server), 1, seen)
  await until(() => seen.length === 1)
  page.online()
  assert.deepEqual(await telling, ['hello 0', 'hello 0', 'notification 1'])
})

test('after a sleep, in which no timer ran, the page that is shown again drops an overdue connection and keeps another', async (t) => {
  using page = new Page()
  await using server = await StreamServer.with(
    (stream) => stream.greet(0),
    (stream) => stream.greet(0).notify(1),
  )
  const seen: string[] = []
  const telling = told(subscribe(server), 1, seen)
  await until(() => seen.length === 1)
  page.show('visible')
  await sleep(50)
  assert.equal(server.streams.length, 1, 'it is not overdue yet')
  const now = Date.now()
  t.mock.method(Date, 'now', () => now + 1_500_000)
  page.show('visible')
  assert.deepEqual(await telling, ['hello 0', 'hello 0', 'notification 1'])
})
