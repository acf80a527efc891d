// The largest replay arrives, a client that leaves leaves nothing behind, and the limits hold (N5,
// N7).
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, suite, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { findSession } from '../../../server/sessions/sessions.store.ts'
import { replaceOperation } from '../../../server/store/testing/operations.ts'
import { arrivals, EventReader, streamPath } from '../../support/event-source/event-source.ts'
import { randomOf } from '../../support/event-source/random.ts'
import { refusalIn } from '../../support/http/envelope.ts'
import { type Proof, startTestService, type TestUser, variants } from '../../support/service.ts'

const leaves = process.env.SOAK === undefined ? 40 : 10_000
const perUser = 20

const app = await startTestService()
after(() => app.stop())

const send = (to: TestUser, content = { title: 'x' }) => app.deliver({ to, ...content })

const biggest = {
  title: '🔔'.repeat(200),
  body: '🔔'.repeat(4_000),
  url: `/${'a'.repeat(2_000)}`,
  data: { x: 'x'.repeat(8_000) },
}

/** Such as the one about too many listeners. */
function warningsDuring(t: TestContext): Error[] {
  const warnings: Error[] = []
  const onWarning = (warning: Error) => warnings.push(warning)
  process.on('warning', onWarning)
  t.after(() => process.off('warning', onWarning))
  return warnings
}

test('a replay of the largest notifications arrives completely, without a warning about resources (N4, N5)', async (t) => {
  const warnings = warningsDuring(t)
  const ann = await app.user()
  const count = 400
  for (let n = 0; n < count; n += 50)
    await Promise.all(Array.from({ length: 50 }, () => send(ann, biggest)))
  const proof = await app.signIn(ann, 'stateless')
  const readers = await Promise.all(
    variants.map(async (variant) =>
      EventReader.of(app.url, await app.signIn(ann, variant), `${streamPath}?since=0`),
    ),
  )
  for (const reader of readers) {
    await reader.until(() => reader.events.length > count, 60_000)
    assert.deepEqual(
      [reader.isOver, reader.retries.length],
      [false, 1],
      'the client was disconnected',
    )
    assert.equal(new Set(arrivals(reader.events)).size, count)
    assert.equal(reader.events.at(-1)?.data.version, count)
  }
  await send(ann)
  for (const reader of readers) {
    await reader.until(() => reader.events.length > count + 1)
    reader.close()
  }
  // A client that reads slowly: a little, with pauses.
  using slow = await EventReader.open(app.url, { headers: { ...proof, 'last-event-id': '0' } })
  while (slow.events.length < 200 && !slow.isOver) {
    slow.stopReading()
    await sleep(10)
    slow.readOn()
    await sleep(1)
  }
  assert.ok(!slow.isOver, 'the client was disconnected')
  assert.deepEqual(warnings, [])
})

/** The service notices a moment later that a client has left. */
async function onceAllowed(url: string, headers: Proof): Promise<EventReader> {
  const giveUpAt = performance.now() + 60_000
  for (;;) {
    const reader = await EventReader.open(url, { headers })
    if (reader.status === 200) return reader
    assert.ok(performance.now() < giveUpAt, 'a stream that has ended is still counted')
    await sleep(20)
  }
}

/** No stream of a client that left is counted. */
async function canOpenAll(proof: Proof): Promise<void> {
  const readers: EventReader[] = []
  // The streams stay open: otherwise the next one could meet the limit because of one that has just left.
  while (readers.length < perUser) readers.push(await onceAllowed(app.url, proof))
  for (const reader of readers) reader.close()
}

/** Leaves `afterMs` later, in order or by a reset. */
function requestAndLeave(
  fields: Proof,
  of: { path: string; afterMs: number; byReset: boolean; times?: number },
): Promise<void> {
  const { hostname, port, host } = new URL(app.url)
  const head = [
    `GET ${of.path} HTTP/1.1`,
    `host: ${host}`,
    ...Object.entries(fields).map((field) => field.join(': ')),
  ]
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, async () => {
      socket.write(`${head.join('\r\n')}\r\n\r\n`.repeat(of.times ?? 1))
      if (of.afterMs > 0) await sleep(of.afterMs)
      else if (of.afterMs === 0) await new Promise(setImmediate)
      if (of.byReset) socket.resetAndDestroy()
      else socket.destroySoon()
    })
    socket.resume().on('error', () => {})
    socket.on('close', () => resolve())
  })
}

test('a client that leaves at any moment leaves no stream and no held poll behind (N5)', async (t) => {
  const random = randomOf(t)
  const warnings = warningsDuring(t)
  const ann = await app.user()
  for (let n = 0; n < 5; n++)
    await Promise.all(Array.from({ length: 20 }, () => send(ann, biggest)))
  const proof = await app.signIn(ann, 'stateful')
  const paths = [
    streamPath,
    `${streamPath}?since=0`,
    '/api/notifications/changes?since=100&wait=25',
  ]
  for (let n = 0; n < leaves; n += 10)
    await Promise.all(
      Array.from({ length: 10 }, () =>
        requestAndLeave(proof, {
          path: paths[random.below(paths.length)] ?? assert.fail(),
          afterMs: random.below(6) - 1,
          byReset: random.draw() < 0.5,
          // Some send several requests on one connection, without waiting for a response.
          times: 1 + random.below(3),
        }),
      ),
    )
  await canOpenAll(proof)
  assert.deepEqual(warnings, [])
})

test('a client whose connection breaks while the store is read leaves no stream behind (N5)', async () => {
  const ann = await app.user()
  const proof = await app.signIn(ann, 'stateful')
  // As slow as a store over a network can be.
  const restore = replaceOperation(app.store, findSession, async (_, run) => {
    await sleep(30)
    return run()
  })
  for (const path of [streamPath, '/api/notifications/changes?since=0&wait=25'])
    for (let n = 0; n < perUser; n++)
      await requestAndLeave(proof, { path, afterMs: n * 3, byReset: n % 2 === 0 })
  restore()
  await canOpenAll(proof)
})

suite('stream limits (N7)', () => {
  const isRefused = (reader: EventReader) => {
    const { status, headers, text } = reader
    const refusal = refusalIn({ status, headers, text })
    assert.equal(refusal.code, 'TOO_MANY_REQUESTS')
    const seconds = Number(headers.get('retry-after'))
    assert.ok(seconds >= 5 && seconds <= 15, `${seconds}`)
    return refusal.message
  }
  const open = async (url: string, headers: Proof, path = streamPath) => {
    const reader = await EventReader.open(url, { headers, path })
    if (reader.status !== 200) await reader.ended()
    return reader
  }
  const polls = '/api/notifications/changes?since=0&wait='

  test('a user may have 20 streams and held polls; the next is 429, until one of them ends (N7)', async () => {
    const ann = await app.user()
    const bob = await app.user()
    const other = await app.signIn(ann, 'stateless')
    const proof = await app.signIn(ann, 'stateful')
    const readers = await Promise.all(
      Array.from({ length: perUser - 1 }, () => open(app.url, proof)),
    )
    assert.deepEqual(new Set(readers.map(({ status }) => status)), new Set([200]))
    const giveUpAt = performance.now() + 60_000
    const hold = async () => {
      // The polls of the loop below may be the last one allowed.
      for (;;) {
        const response = await app.get(`${polls}25`, proof)
        if (response.status !== 429) return response
        assert.ok(performance.now() < giveUpAt, 'the limit never allows one more')
        await sleep(20)
      }
    }
    const held = hold()
    while ((await app.get(`${polls}1`, proof)).status !== 429) {
      assert.ok(performance.now() < giveUpAt, 'the limit always allows one more')
      await sleep(20)
    }
    assert.match(isRefused(await open(app.url, proof)), /^You have 20 streams open/)
    assert.match(isRefused(await open(app.url, other)), /^You have 20 streams open/)
    // A poll whose response is sent at once does not count.
    assert.equal((await app.get('/api/notifications/changes?since=0', proof)).status, 200)
    assert.equal((await app.get(`${polls}0`, proof)).status, 200)
    using theirs = await EventReader.of(app.url, await app.signIn(bob, 'stateful'))
    await send(ann)
    assert.equal((await held).json().data.created.length, 1)
    using inItsPlace = await EventReader.of(app.url, proof)
    isRefused(await open(app.url, proof))
    readers[0]?.close()
    using another = await onceAllowed(app.url, other)
    isRefused(await open(app.url, proof))
    await app.post('/logout', undefined, proof)
    await Promise.all([...readers, inItsPlace].map((reader) => reader.ended()))
    await sleep(50)
    assert.ok(!theirs.isOver && !another.isOver)
    another.close()
    await canOpenAll(other)
  })

  test('CARILLON_STREAMS limits all users together, and CARILLON_STREAMS_PER_USER each user (N7, N8)', async (t) => {
    const small = await startTestService({
      env: { CARILLON_STREAMS: '5', CARILLON_STREAMS_PER_USER: '3' },
    })
    t.after(() => small.stop())
    const anns = await small.signIn(await small.user(), 'stateful')
    const bobs = await small.signIn(await small.user(), 'stateless')
    const cys = await small.signIn(await small.user(), 'stateful')
    const readers = [...Array(3).fill(anns), ...Array(2).fill(bobs)].map((proof) =>
      EventReader.of(small.url, proof),
    )
    const [first, ...others] = await Promise.all(readers)
    assert.match(isRefused(await open(small.url, anns)), /^You have 3 streams open/)
    assert.match(isRefused(await open(small.url, bobs)), /^This process has 5 streams open/)
    assert.match(isRefused(await open(small.url, cys)), /^This process has 5 streams open/)
    assert.equal((await small.get(`${polls}5`, cys)).status, 429)
    // All other requests are served.
    assert.equal((await small.get('/api/notifications', cys)).status, 200)
    assert.equal((await small.get('/api/notifications/changes?since=0', cys)).status, 200)
    first?.close()
    using free = await onceAllowed(small.url, cys)
    isRefused(await open(small.url, bobs))
    for (const reader of others) reader.close()
    assert.ok(!free.isOver)
  })
})
