// A test server can misbehave: how does the loop end, how slowly may it read, and how do events of
// the page wake it?
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { getEventListeners, once } from 'node:events'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../testing/clients.ts'
import { eventText, notificationText, type Stream, StreamServer } from '../testing/stream-server.ts'
import { failureOf, received, subscribe } from '../testing/subscribe.ts'

test('break closes the connection to the server, and leaves no listener on the signal', async () => {
  await using server = await StreamServer.with((stream) => stream.greet(0).notify(1))
  const { signal } = new AbortController()
  await received(subscribe(server, { signal }), 1)
  assert.deepEqual(getEventListeners(signal, 'abort'), [])
  await server.streams[0]?.closed
  await sleep(100)
  assert.equal(server.streams.length, 1)
})

test('return() ends the stream without an error, even while a next() waits', async () => {
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
  'during a connection attempt': () => {},
  'during the wait for events': (stream) => stream.greet(0),
  'during the wait before a retry': (stream) =>
    stream.refuse(503, 'UNAVAILABLE', { 'retry-after': '20' }),
}
for (const [moment, act] of Object.entries(moments))
  test(`an abort ${moment} ends the stream promptly with the reason of the signal, and leaves no listener`, async () => {
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

test('after an abort the loop receives no event, even if one has arrived already', async () => {
  await using server = await StreamServer.with((stream) =>
    stream.open().write(eventText('hello', 0) + notificationText(1) + notificationText(2)),
  )
  const controller = new AbortController()
  const seen: string[] = []
  const failing = (async () => {
    for await (const { type } of subscribe(server, { signal: controller.signal })) {
      seen.push(type)
      if (type === 'created') controller.abort()
    }
  })()
  await assert.rejects(failing, { name: 'AbortError' })
  assert.deepEqual(seen, ['hello', 'created'])
})

test('with a custom fetch that ignores the signal, break cancels the body; a failure to cancel has no effect', async () => {
  let cancelled = 0
  const fetchOnce = async () => {
    const body = new ReadableStream({
      start: (source) =>
        source.enqueue(new TextEncoder().encode(eventText('hello', 0) + notificationText(1))),
      cancel() {
        cancelled++
        throw new Error('cannot cancel')
      },
    })
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  }
  await received(subscribe({ url: 'http://bell.example' }, { fetch: fetchOnce }), 1)
  await sleep(10)
  assert.equal(cancelled, 1)
})

test('with a signal that is already aborted the client sends no request', async () => {
  await using server = await StreamServer.with((stream) => stream.greet(0))
  const failure = await failureOf(subscribe(server, { signal: AbortSignal.abort() }))
  assert.equal((failure as Error).name, 'AbortError')
  assert.equal(server.streams.length, 0)
})

test('the client reads nothing ahead of the loop: a server that sends endlessly does not fill the memory', async () => {
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
  // At most the size of the buffers of two sockets.
  assert.ok(sent < 20_000_000, `${sent} bytes were read`)
  await events.return?.()
})

test('a loop that reads nothing for longer than the heartbeat limit keeps its connection', async () => {
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

test('a process can exit when its loop has ended', async (t) => {
  await using server = await StreamServer.with((stream) => stream.greet(0).notify(1))
  const script = `
    import { createCarillon } from '${new URL('../carillon-client.ts', import.meta.url)}'
    const { inbox } = createCarillon({ baseUrl: '${server.url}' })
    for await (const { type } of inbox.subscribe()) if (type === 'created') break
    const ending = AbortSignal.timeout(50)
    try { for await (const _ of inbox.subscribe({ signal: ending })); } catch {}
    console.log('over')
  `
  const stdio = ['ignore', 'pipe', 'inherit'] as const
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: [...stdio],
  })
  t.after(() => child.kill())
  await once(child.stdout ?? assert.fail(), 'data', { signal: AbortSignal.timeout(60_000) })
  const [status] = await once(child, 'exit', { signal: AbortSignal.timeout(20_000) })
  assert.equal(status, 0)
})

/** The events of `window` and `document` by which a browser reports network and visibility. */
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
    for (const name of ['document', 'addEventListener', 'removeEventListener'])
      Reflect.deleteProperty(globalThis, name)
  }
}

for (const [event, happens] of [
  ['online', (page: Page) => page.online()],
  ['visibilitychange', (page: Page) => page.show('visible')],
] as const)
  test(`the event ${event} ends the wait before a retry`, async () => {
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
    const receiving = received(subscribe(server, { timing: { random } }), 1)
    await until(() => isWaiting)
    page.show('hidden')
    await sleep(50)
    assert.equal(server.streams.length, 1, 'a hidden page does not reconnect early')
    happens(page)
    assert.deepEqual(await receiving, ['hello 0', 'created 1'])
    assert.deepEqual(getEventListeners(page.window, 'online'), [])
    assert.deepEqual(getEventListeners(page.document, 'visibilitychange'), [])
  })

test('the event online drops the connection, because it belongs to the lost network', async () => {
  using page = new Page()
  await using server = await StreamServer.with(
    (stream) => stream.greet(0),
    (stream) => stream.greet(0).notify(1),
  )
  const seen: string[] = []
  const receiving = received(subscribe(server), 1, seen)
  await until(() => seen.length === 1)
  page.online()
  assert.deepEqual(await receiving, ['hello 0', 'hello 0', 'created 1'])
})

test('a page that is visible again after a sleep drops a connection that is over its time limit, and keeps another', async (t) => {
  using page = new Page()
  await using server = await StreamServer.with(
    (stream) => stream.greet(0),
    (stream) => stream.greet(0).notify(1),
  )
  const seen: string[] = []
  const receiving = received(subscribe(server), 1, seen)
  await until(() => seen.length === 1)
  page.show('visible')
  await sleep(50)
  assert.equal(server.streams.length, 1, 'the connection is within its time limit')
  const now = Date.now()
  t.mock.method(Date, 'now', () => now + 1_500_000)
  page.show('visible')
  assert.deepEqual(await receiving, ['hello 0', 'hello 0', 'created 1'])
})
