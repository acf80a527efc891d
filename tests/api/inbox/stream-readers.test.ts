// Who reads a stream, and how (N5, N7): the biggest replay comes through, whoever goes away leaves nothing behind at
// whatever moment, and there are so many seats and no more.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, suite, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { arrivals, EventReader, streamPath } from '../../support/event-source/event-source.ts'
import { randomOf } from '../../support/event-source/random.ts'
import { refusalIn } from '../../support/http/envelope.ts'
import { type Proof, startTestService, type TestUser, variants } from '../../support/service.ts'

const leaves = process.env.SOAK === undefined ? 400 : 10_000
const perUser = 20

const app = await startTestService()
after(() => app.stop())

const send = (to: TestUser, content = { title: 'x' }) => app.deliver({ to, ...content })

/** As much as a notification can hold. */
const biggest = {
  title: '🔔'.repeat(200),
  body: '🔔'.repeat(4_000),
  url: `/${'a'.repeat(2_000)}`,
  data: { x: 'x'.repeat(8_000) },
}

/** What Node complains of, such as listeners that pile up. */
function warningsDuring(t: TestContext): Error[] {
  const warnings: Error[] = []
  const onWarning = (warning: Error) => warnings.push(warning)
  process.on('warning', onWarning)
  t.after(() => process.off('warning', onWarning))
  return warnings
}

test('N4, N5: a replay of the biggest notifications comes through whole, and nothing piles up beside it', async (t) => {
  const warnings = warningsDuring(t)
  const ann = await app.user()
  const count = 1_150
  for (let n = 0; n < count; n += 50) await Promise.all(Array.from({ length: 50 }, () => send(ann, biggest)))
  const proof = await app.signIn(ann, 'stateless')
  const readers = await Promise.all(
    variants.map(async (variant) => EventReader.of(app.url, await app.signIn(ann, variant), `${streamPath}?since=0`)),
  )
  for (const reader of readers) {
    await reader.until(() => reader.events.length > count, 60_000)
    assert.deepEqual([reader.isOver, reader.retries.length], [false, 1], 'it was cut')
    assert.equal(new Set(arrivals(reader.events)).size, count)
    assert.equal(reader.events.at(-1)?.data.version, count)
  }
  await send(ann)
  for (const reader of readers) {
    await reader.until(() => reader.events.length > count + 1)
    reader.close()
  }
  // One who reads slowly: now and then, and not much.
  using slow = await EventReader.open(app.url, { headers: { ...proof, 'last-event-id': '0' } })
  while (slow.events.length < 200 && !slow.isOver) {
    slow.stopReading()
    await sleep(10)
    slow.readOn()
    await sleep(1)
  }
  assert.ok(!slow.isOver, 'it was cut')
  assert.deepEqual(warnings, [])
})

/** Opens a stream on the seat of one who has just left, which is noticed a moment later. */
async function onFreedSeat(url: string, headers: Proof): Promise<EventReader> {
  const giveUpAt = performance.now() + 60_000
  for (;;) {
    const reader = await EventReader.open(url, { headers })
    if (reader.status === 200) return reader
    assert.ok(performance.now() < giveUpAt, 'a seat is taken that nobody sits on')
    await sleep(20)
  }
}

/** That user can have all of his seats: nobody who left sits on one. */
async function hasAllSeats(proof: Proof): Promise<void> {
  const readers: EventReader[] = []
  // Those that were had are kept: who asks for all of them again could meet his own that he has just left.
  while (readers.length < perUser) readers.push(await onFreedSeat(app.url, proof))
  for (const reader of readers) reader.close()
}

/** Asks so many `times` and goes away, in order or by a reset, `afterMs` later; whatever was answered until then. */
function askAndLeave(
  fields: Proof,
  of: { path: string; afterMs: number; byReset: boolean; times?: number },
): Promise<void> {
  const { hostname, port, host } = new URL(app.url)
  const head = [`GET ${of.path} HTTP/1.1`, `host: ${host}`, ...Object.entries(fields).map((field) => field.join(': '))]
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

for (const variant of variants)
  test(`N5: whoever leaves, at whatever moment, leaves no stream and no held poll behind (${variant})`, async (t) => {
    const chance = randomOf(t)
    const warnings = warningsDuring(t)
    const ann = await app.user()
    for (let n = 0; n < 20; n++) await Promise.all(Array.from({ length: 20 }, () => send(ann, biggest)))
    const proof = await app.signIn(ann, variant)
    const paths = [streamPath, `${streamPath}?since=0`, '/api/notifications/changes?since=400&wait=25']
    for (let n = 0; n < leaves; n += 10)
      await Promise.all(
        Array.from({ length: 10 }, () =>
          askAndLeave(proof, {
            path: paths[chance.below(paths.length)] ?? assert.fail(),
            afterMs: chance.below(6) - 1,
            byReset: chance.draw() < 0.5,
            // Some ask several times on one connection, without waiting.
            times: 1 + chance.below(3),
          }),
        ),
      )
    await hasAllSeats(proof)
    assert.deepEqual(warnings, [])
  })

test('N5: a user whose connection breaks while he waits for the store leaves no stream behind', async () => {
  const ann = await app.user()
  const proof = await app.signIn(ann, 'stateful')
  const { findSession } = app.store
  // As slow as a store across a network can be.
  app.store.findSession = async (session) => {
    await sleep(30)
    return findSession.call(app.store, session)
  }
  for (const path of [streamPath, '/api/notifications/changes?since=0&wait=25'])
    for (let n = 0; n < perUser; n++) await askAndLeave(proof, { path, afterMs: n * 3, byReset: n % 2 === 0 })
  app.store.findSession = findSession
  await hasAllSeats(proof)
})

suite('N7: seats', () => {
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

  for (const variant of variants)
    test(`N7: 20 streams and held polls of one user, the next is 429, and a seat that is left is free (${variant})`, async () => {
      const [ann, bob] = [await app.user(), await app.user()]
      const other = await app.signIn(ann, variant === 'stateful' ? 'stateless' : 'stateful')
      const proof = await app.signIn(ann, variant)
      const readers = await Promise.all(Array.from({ length: perUser - 1 }, () => open(app.url, proof)))
      assert.deepEqual(new Set(readers.map(({ status }) => status)), new Set([200]))
      const giveUpAt = performance.now() + 60_000
      const hold = async () => {
        // The asking below may have the last seat.
        for (;;) {
          const response = await app.get(`${polls}25`, proof)
          if (response.status !== 429) return response
          assert.ok(performance.now() < giveUpAt, 'the last seat is never free')
          await sleep(20)
        }
      }
      const held = hold()
      while ((await app.get(`${polls}1`, proof)).status !== 429) {
        assert.ok(performance.now() < giveUpAt, 'there is always one more seat')
        await sleep(20)
      }
      assert.match(isRefused(await open(app.url, proof)), /^You have 20 streams open/)
      assert.match(isRefused(await open(app.url, other)), /^You have 20 streams open/)
      // A question that is answered at once takes no seat.
      assert.equal((await app.get('/api/notifications/changes?since=0', proof)).status, 200)
      assert.equal((await app.get(`${polls}0`, proof)).status, 200)
      using theirs = await EventReader.of(app.url, await app.signIn(bob, variant))
      await send(ann)
      assert.equal((await held).json().data.created.length, 1)
      using inHisPlace = await EventReader.of(app.url, proof)
      isRefused(await open(app.url, proof))
      readers[0]?.close()
      using another = await onFreedSeat(app.url, other)
      isRefused(await open(app.url, proof))
      await app.post('/logout', undefined, proof)
      await Promise.all([...readers, inHisPlace].map((reader) => reader.ended()))
      await sleep(50)
      assert.ok(!theirs.isOver && !another.isOver)
      another.close()
      await hasAllSeats(other)
    })

  test('N7: CARILLON_STREAMS of all users together, and CARILLON_STREAMS_PER_USER of one', async (t) => {
    const small = await startTestService({ env: { CARILLON_STREAMS: '5', CARILLON_STREAMS_PER_USER: '3' } })
    t.after(() => small.stop())
    const [anns, bobs, cys] = [
      await small.signIn(await small.user(), 'stateful'),
      await small.signIn(await small.user(), 'stateless'),
      await small.signIn(await small.user(), 'stateful'),
    ]
    const readers = [...Array(3).fill(anns), ...Array(2).fill(bobs)].map((proof) => EventReader.of(small.url, proof))
    const [first, ...others] = await Promise.all(readers)
    assert.match(isRefused(await open(small.url, anns)), /^You have 3 streams open/)
    assert.match(isRefused(await open(small.url, bobs)), /^This process has 5 streams open/)
    assert.match(isRefused(await open(small.url, cys)), /^This process has 5 streams open/)
    assert.equal((await small.get(`${polls}5`, cys)).status, 429)
    // Everything else is served.
    assert.equal((await small.get('/api/notifications', cys)).status, 200)
    assert.equal((await small.get('/api/notifications/changes?since=0', cys)).status, 200)
    first?.close()
    using free = await onFreedSeat(small.url, cys)
    isRefused(await open(small.url, bobs))
    for (const reader of others) reader.close()
    assert.ok(!free.isOver)
  })
})
