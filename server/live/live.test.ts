// Races that a test from outside rarely hits, on a real store.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { type StreamEvent, StrictEvents } from '../../tests/support/event-source/event-source.ts'
import type { CarillonError } from '../basics/errors.ts'
import { type Person, World } from '../contract/world.ts'
import { markAllRead } from '../inbox/bulk/bulk.store.ts'
import { undo as undoLast } from '../inbox/bulk/undo.store.ts'
import { changesSince, readInbox } from '../inbox/inbox.store.ts'
import type { Changes, ChangesQuery } from '../inbox/inbox-state.ts'
import { announce, removeOrWake } from '../inbox/retention.store.ts'
import { openStore } from '../open-store.ts'
import type { ChangeSignal } from '../store/events.ts'
import { newFolder } from '../store/sqlite/testing/folder.ts'
import type { Store } from '../store/store.ts'
import { replaceOperation } from '../store/testing/operations.ts'
import { ChangesSince } from './changes.ts'
import { Live } from './live.ts'
import { EventStream, LiveStream, type Sink, type Watcher } from './live-stream.ts'
import { type MaxStreams, StreamLimits } from './stream-limits.ts'

/** A test may replace `performance.now`. */
const clock = performance.now.bind(performance)

/** It takes everything at once, unless `isReading` is false. */
class Reader implements Sink {
  readonly events: StreamEvent[] = []
  readonly #parser = new StrictEvents()
  readonly #listeners: (() => void)[] = []
  hasBegun = false
  readonly texts: Buffer[] = []
  how: 'open' | 'ended' | 'disconnected' | 'left' = 'open'
  isReading = true
  unread = 0

  get beats(): number {
    return this.#parser.beats
  }

  get retries(): readonly number[] {
    return this.#parser.retries
  }

  get types(): string[] {
    return this.events.map(({ type }) => type)
  }

  get versions(): number[] {
    return this.events.filter(({ type }) => type !== 'hello').map(({ data }) => data.version)
  }

  begin(): void {
    this.hasBegun = true
  }

  send(bytes: Buffer): void {
    if (this.how === 'left') return
    assert.equal(this.how, 'open', 'bytes were sent after the end')
    assert.ok(this.hasBegun, 'bytes were sent before the header')
    this.texts.push(bytes)
    this.events.push(...this.#parser.push(bytes))
    if (!this.isReading) this.unread += bytes.length
  }

  async untilTaken(): Promise<void> {
    while (this.unread > 0 && this.how === 'open') await sleep(5)
  }

  end(): void {
    this.#close('ended')
  }

  disconnect(): void {
    this.#close('disconnected')
  }

  onClose(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** Bytes that are sent before this is noticed are lost. */
  leave(): void {
    this.#close('left')
  }

  #close(how: 'ended' | 'disconnected' | 'left'): void {
    if (this.how !== 'open') return
    this.how = how
    for (const listener of this.#listeners) setImmediate(listener)
  }

  async until(isSo: () => boolean): Promise<void> {
    const giveUpAt = clock() + maxWaitMs
    while (!isSo()) {
      assert.ok(clock() < giveUpAt, `not within ${maxWaitMs} ms; ${JSON.stringify(this.types)}`)
      await sleep(2)
    }
  }
}

/** Enough for a slow machine. No heartbeat comes in this time. */
const maxWaitMs = 20_000

/** There is no heartbeat unless the test moves the clock. `of` may wrap the store. */
async function newWorld(
  t: TestContext,
  { of = (store) => store, limits }: { of?: (store: Store) => Store; limits?: MaxStreams } = {},
) {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { store } = await openStore({
    engine: 'sqlite',
    path: join(await newFolder(t), 'carillon.db'),
  })
  const world = await World.on(store)
  const failures: unknown[] = []
  const failedAt: number[] = []
  const reads = { begun: 0, done: 0 }
  const streamLimits = new StreamLimits(
    limits ?? { perUser: 1_000, perProcess: 100_000 },
    Math.random,
  )
  const live = new Live({
    store: counted(of(store), reads),
    streamLimits,
    now: Date.now,
    random: Math.random,
    onFailure(error) {
      failures.push(error)
      failedAt.push(clock())
    },
  })
  t.after(async () => {
    await live.end()
    await store.close()
  })
  const open = async (
    person: Person,
    { from, holds = forever }: { from?: string; holds?: Watcher['validUntil'] } = {},
  ) => {
    const reader = new Reader()
    await live.open({ userId: person.id, validUntil: holds }, from, reader)
    return reader
  }
  /** The first stream of each user causes one read. */
  const untilRead = async (times: number) => {
    await new Reader().until(() => reads.done === times)
    await new Promise(setImmediate)
  }
  return { world, store, live, open, failures, failedAt, streamLimits, reads, untilRead }
}

const forever = async () => Number.POSITIVE_INFINITY

function withChangesSince(
  other: Parameters<typeof replaceOperation<ChangesQuery, Changes | 'reset'>>[2],
) {
  return (store: Store): Store => {
    const replaced: Store = Object.create(store)
    replaceOperation(replaced, changesSince, other)
    return replaced
  }
}

function counted(store: Store, reads: { begun: number; done: number }): Store {
  const replaced: Store = Object.create(store)
  replaceOperation(replaced, changesSince, async (_, run) => {
    reads.begun++
    try {
      return await run()
    } finally {
      reads.done++
    }
  })
  return replaced
}

test('a change is read once and rendered once, however many streams its user has, and many changes at once need few reads', async (t) => {
  const { world, live, open, reads, untilRead } = await newWorld(t)
  const ann = await world.addUser('ann')
  const bob = await world.addUser('bob')
  const anns = await Promise.all(Array.from({ length: 200 }, () => open(ann)))
  const bobs = await open(bob)
  assert.equal(live.size, 201)
  await untilRead(2)
  for (let n = 1; n <= 20; n++) {
    const before = reads.begun
    await world.send(ann, `No. ${n}`)
    await Promise.all(anns.map((reader) => reader.until(() => reader.events.length === n + 1)))
    assert.equal(reads.begun - before, 1, `${reads.begun - before} reads for one change`)
    assert.equal(new Set(anns.map(({ texts }) => texts.at(-1))).size, 1, 'not one text for all')
  }
  assert.deepEqual(bobs.types, ['hello'])
  const before = reads.begun
  await world.sendTimes(1_000, ann)
  for (const reader of anns) await reader.until(() => reader.events.length === 1_021)
  const [first] = anns
  assert.deepEqual(
    first?.versions,
    Array.from({ length: 1_020 }, (_, n) => n + 1),
  )
  assert.ok(reads.begun - before < 500, `${reads.begun - before} reads`)
})

/** Each result has the state at the time of its request, as on PostgreSQL. */
async function heldReads(t: TestContext) {
  const held: (() => void)[] = []
  let isHolding = false
  const made = await newWorld(t, {
    of: withChangesSince(async (_, run) => {
      const found = await run()
      if (isHolding) await new Promise<void>((resolve) => held.push(resolve))
      return found
    }),
  })
  const hold = (isSo: boolean) => {
    isHolding = isSo
  }
  return { ...made, held, hold }
}

/** The read that the first one caused is delayed. */
async function heldFirst(t: TestContext) {
  const made = await heldReads(t)
  const { world, open, held, hold, untilRead } = made
  const ann = await world.addUser('ann')
  const reader = await open(ann)
  await untilRead(1)
  hold(true)
  await world.send(ann, 'one')
  await reader.until(() => held.length === 1)
  await world.send(ann, 'two')
  return { ...made, ann, reader }
}

test('a change that is committed during the read of another change is sent without a delay (N4)', async (t) => {
  const { held, hold, reader } = await heldFirst(t)
  await reader.until(() => held.length === 2)
  hold(false)
  // The later read has found more changes; the earlier one returns first.
  held[0]?.()
  await reader.until(() => reader.events.length === 2)
  held[1]?.()
  await reader.until(() => reader.events.length === 3)
  assert.deepEqual(reader.versions, [1, 2])
})

test('a stream that opens during a read that has found fewer changes is sent nothing that its hello already counted (N4)', async (t) => {
  const { world, open, held, hold, ann, reader } = await heldFirst(t)
  const late = await open(ann)
  assert.equal(late.events[0]?.data.version, 2)
  hold(false)
  for (const response of held) response()
  await reader.until(() => reader.events.length === 3)
  await world.send(ann, 'three')
  await late.until(() => late.versions.at(-1) === 3)
  assert.deepEqual([reader.versions, late.versions], [[1, 2, 3], [3]])
})

/** All later reads of changes are delayed. */
async function heldUndo(t: TestContext, { notifications }: { notifications: number }) {
  const made = await heldReads(t)
  const { world, store, open, hold, untilRead } = made
  const ann = await world.addUser('ann')
  await world.sendTimes(notifications, ann)
  await store.write(markAllRead, { userId: ann.id, throughId: null, at: 1_000 })
  const reader = await open(ann)
  await untilRead(1)
  hold(true)
  const undo = async () =>
    assert.equal(await store.write(undoLast, { userId: ann.id, at: 2_000 }), 'done')
  return { ...made, ann, reader, undo }
}

test('a stream that resumes while the undo is being read for the others gets one resync, and each change since the undo once (N3, N4)', async (t) => {
  const { world, open, held, hold, ann, reader, undo } = await heldUndo(t, { notifications: 1 })
  await undo()
  await reader.until(() => held.length === 1)
  const late = await open(ann, { from: '2' })
  assert.deepEqual(late.types, ['hello', 'resync'])
  await world.send(ann)
  hold(false)
  for (const response of held) response()
  await late.until(() => late.versions.at(-1) === 4)
  await world.send(ann)
  for (const one of [reader, late]) await one.until(() => one.versions.at(-1) === 5)
  assert.deepEqual(reader.types, ['hello', 'resync', 'created'])
  assert.deepEqual(reader.versions, [4, 5])
  assert.deepEqual(late.types, ['hello', 'resync', 'created', 'created'])
  assert.deepEqual(late.versions, [3, 4, 5])
})

for (const first of ['the streams that are live', 'the stream that catches up'])
  test(`an undo during the catch-up of a stream ends no stream: each gets one resync, if it is read first for ${first} (N3)`, async (t) => {
    const { world, live, held, hold, ann, reader, undo } = await heldUndo(t, { notifications: 150 })
    const behind = new Reader()
    const opening = live.open({ userId: ann.id, validUntil: forever }, '0', behind)
    await reader.until(() => held.length === 1)
    await undo()
    await reader.until(() => held.length === 2)
    hold(false)
    const [catchUp, undone] = held
    const steps = [
      async () => {
        undone?.()
        await reader.until(() => reader.types.includes('resync'))
      },
      async () => {
        catchUp?.()
        await opening
      },
    ]
    for (const step of first === 'the streams that are live' ? steps : steps.reverse()) await step()
    await world.send(ann)
    for (const one of [reader, behind])
      await one.until(() => one.how !== 'open' || one.versions.at(-1) === 153)
    assert.deepEqual([reader.how, behind.how], ['open', 'open'])
    assert.deepEqual(reader.types, ['hello', 'resync', 'created'])
    assert.deepEqual(behind.types.slice(101), ['resync', 'created'])
    assert.deepEqual(behind.versions.slice(100), [152, 153])
  })

test('a stream that is being opened when the service stops is refused like every later one, without a byte on it (R9)', async (t) => {
  const { world, live } = await newWorld(t)
  const ann = await world.addUser('ann')
  const { promise: looked, resolve: look } = Promise.withResolvers<number>()
  const reader = new Reader()
  const opening = live.open({ userId: ann.id, validUntil: () => looked }, undefined, reader)
  const refused = assert.rejects(opening, ({ code }: CarillonError) => code === 'UNAVAILABLE')
  await live.end()
  look(Number.POSITIVE_INFINITY)
  await refused
  assert.deepEqual([reader.hasBegun, reader.texts], [false, []])
  assert.equal(live.size, 0)
  const late = live.open({ userId: ann.id, validUntil: forever }, undefined, new Reader())
  await assert.rejects(late, ({ code }: CarillonError) => code === 'UNAVAILABLE')
})

test('a proof that ends while its stream is being opened opens no stream (Z6)', async (t) => {
  const { world, live, streamLimits } = await newWorld(t, { limits: { perUser: 1, perProcess: 1 } })
  const ann = await world.addUser('ann')
  for (const endsAfter of [0, 1]) {
    let looks = 0
    const reader = new Reader()
    const holds = async () => {
      // The proof ends between the two reads, with a change signal.
      if (looks++ < endsAfter) {
        live.checkProofs(ann.id)
        return Number.POSITIVE_INFINITY
      }
      return null
    }
    const opening = live.open({ userId: ann.id, validUntil: holds }, undefined, reader)
    if (endsAfter === 0)
      await assert.rejects(opening, ({ code }: CarillonError) => code === 'UNAUTHORIZED')
    else {
      await opening
      await reader.until(() => reader.how === 'ended')
      assert.equal(reader.events.at(-1)?.text, '{"reason":"revoked"}')
    }
    await reader.until(() => live.size === 0)
    // It no longer counts against the stream limits.
    streamLimits.take(ann.id)
    streamLimits.release(ann.id)
  }
})

test('if the history of the store changes, every open stream gets a resync, and a position of the old history is not accepted (N3, R7)', async (t) => {
  let history = 'before'
  let signal: ((signal: ChangeSignal) => void) | undefined
  const of = (store: Store): Store => ({
    ...store,
    get history() {
      return history
    },
    onChange(listener) {
      signal = listener
      return store.onChange(listener)
    },
  })
  const { world, open } = await newWorld(t, { of })
  const ann = await world.addUser('ann')
  await world.send(ann)
  const readers = [await open(ann), await open(ann)]
  const [before] = readers[0]?.events ?? []
  history = 'after'
  signal?.({ about: 'anything' })
  for (const reader of readers) await reader.until(() => reader.types.includes('resync'))
  const resync = readers[0]?.events.find(({ type }) => type === 'resync')
  assert.notEqual(resync?.id, before?.id)
  await world.send(ann)
  for (const reader of readers) await reader.until(() => reader.types.at(-1) === 'created')
  const late = await open(ann, { from: before?.id ?? '' })
  assert.deepEqual(late.types.slice(0, 2), ['hello', 'resync'])
  const resumed = await open(ann, { from: resync?.id ?? '' })
  await resumed.until(() => resumed.types.join() === 'hello,created')
})

test('more than 1,000 removals at once are one resync of an open stream and of one that resumes behind them; up to 1,000 are sent', async (t) => {
  const { world, store, open } = await newWorld(t)
  const ann = await world.addUser('ann')
  await world.sendTimes(1_001, ann)
  const reader = await open(ann)
  const candidates = Array.from({ length: 1_001 }, (_, n) => ({ userId: ann.id, seq: n + 1 }))
  const retention = { readBefore: '9', unreadBefore: '9' }
  for (let from = 0; from < 1_001; from += 50) {
    const due = candidates.slice(from, from + 50)
    await store.write(removeOrWake, { due, at: Date.now(), retention })
  }
  await store.write(announce, [ann.id])
  await reader.until(() => reader.versions.at(-1) === 2_002)
  assert.deepEqual([reader.types, reader.how], [['hello', 'resync'], 'open'])
  const behind = await open(ann, { from: '1001' })
  const resumed = await open(ann, { from: '1002' })
  await world.send(ann)
  for (const one of [reader, behind, resumed]) await one.until(() => one.versions.at(-1) === 2_003)
  assert.deepEqual([behind.types, behind.how], [['hello', 'resync', 'created'], 'open'])
  assert.deepEqual([resumed.types.length, resumed.types.includes('resync')], [1_002, false])
})

test('two reads that find the loss at the same time send one resync, and a stream that is catching up ends and gets it when it reconnects', async (t) => {
  let isLost = false
  let asking = 0
  const both = Promise.withResolvers<void>()
  // The third change is lost. Both reads for the changes after it start before either returns.
  const { world, live, open, untilRead } = await newWorld(t, {
    of(store) {
      const replaced = withChangesSince(async (query, run) => {
        if (!isLost || query.version < 3) return run()
        if (++asking === 2) both.resolve()
        await both.promise
        return 'reset'
      })(store)
      replaceOperation(replaced, readInbox, async (_, run) =>
        isLost ? { ...(await run()), version: 2 } : run(),
      )
      return replaced
    },
  })
  const ann = await world.addUser('ann')
  await world.sendTimes(3, ann)
  const reader = await open(ann)
  const behind = new Reader()
  behind.isReading = false
  void live.open({ userId: ann.id, validUntil: forever }, '1', behind)
  await behind.until(() => behind.events.length === 3)
  await untilRead(2)
  isLost = true
  live.checkProofs(ann.id)
  await reader.until(() => asking === 1)
  live.checkProofs(ann.id)
  await reader.until(() => reader.types.includes('resync'))
  await behind.until(() => behind.how === 'ended')
  isLost = false
  await world.send(ann)
  await reader.until(() => reader.versions.at(-1) === 4)
  assert.deepEqual(reader.types, ['hello', 'resync', 'created', 'created'])
  assert.deepEqual(reader.versions, [2, 3, 4])
})

test('an unavailable store is logged once a second, however many change signals and streams there are', async (t) => {
  let isAway = false
  const { world, live, open, failedAt } = await newWorld(t, {
    of: withChangesSince((_, run) => (isAway ? Promise.reject(new Error('away')) : run())),
  })
  const ann = await world.addUser('ann')
  const reader = await open(ann)
  isAway = true
  await reader.until(() => {
    live.checkProofs(ann.id)
    return failedAt.length === 3
  })
  // A timer may fire a millisecond early.
  for (const [n, at] of failedAt.slice(1).entries())
    assert.ok(at - (failedAt[n] ?? 0) > 990, `logged at ${failedAt.map(Math.round)} ms`)
})

test('a replay yields to the event loop, so that a long one delays no other request', async (t) => {
  const { world, open, reads } = await newWorld(t)
  const ann = await world.addUser('ann')
  await world.sendTimes(6_000, ann)
  const inEachTurn: number[] = []
  let isReplaying = true
  const sample = () => {
    inEachTurn.push(reads.begun)
    if (isReplaying) setImmediate(sample)
  }
  sample()
  const reader = await open(ann, { from: '0' })
  isReplaying = false
  inEachTurn.push(reads.begun)
  assert.equal(reader.versions.length, 6_000)
  const steps = inEachTurn.map((count, i) => count - (inEachTurn[i - 1] ?? 0))
  assert.ok(reads.begun >= 60 && Math.max(...steps) < 40, `of ${reads.begun}: ${steps}`)
})

test('no event is sent while the store checks whether a proof is still valid (Z6)', async (t) => {
  const { world, live, open } = await newWorld(t)
  const ann = await world.addUser('ann')
  const looked = Promise.withResolvers<null>()
  let isOver = false
  let isLooking = false
  const reader = await open(ann, {
    holds: () => {
      isLooking = isOver
      return isOver ? looked.promise : forever()
    },
  })
  isOver = true
  live.checkProofs(ann.id)
  await reader.until(() => isLooking)
  await world.send(ann)
  await sleep(50)
  looked.resolve(null)
  await reader.until(() => reader.how === 'ended')
  assert.deepEqual(reader.types, ['hello', 'session-ended'])
})

test('a store that cannot be read ends no live stream: the missed changes are sent when it is back', async (t) => {
  let isAway = false
  const { world, open, failures } = await newWorld(t, {
    of: withChangesSince((_, run) => (isAway ? Promise.reject(new Error('away')) : run())),
  })
  const ann = await world.addUser('ann')
  const reader = await open(ann)
  await world.sendTimes(2, ann)
  await reader.until(() => reader.events.length === 3)
  isAway = true
  await world.send(ann)
  await reader.until(() => failures.length > 0)
  assert.deepEqual([reader.versions, reader.how], [[1, 2], 'open'])
  // A stream that has to catch up and cannot is ended; its client reconnects.
  const behind = await open(ann, { from: '1' })
  await behind.until(() => behind.how === 'ended')
  isAway = false
  await reader.until(() => reader.events.length === 4)
  assert.deepEqual(reader.versions, [1, 2, 3])
})

test('if it is unknown whether a proof is valid, its stream stays open and the check is repeated (Z7)', async (t) => {
  const { world, live, open, failures } = await newWorld(t)
  const ann = await world.addUser('ann')
  let found: number | null | Error = Number.POSITIVE_INFINITY
  const reader = await open(ann, {
    holds: async () => {
      if (found instanceof Error) throw found
      return found
    },
  })
  found = new Error('away')
  live.checkProofs(ann.id)
  await reader.until(() => failures.length > 0)
  assert.equal(reader.how, 'open')
  found = null
  await reader.until(() => reader.how === 'ended')
  assert.deepEqual(reader.types, ['hello', 'session-ended'])
})

suite('a client that does not read its stream (N5)', () => {
  /** A stream that has begun, and whose client takes nothing. */
  const sink = () => {
    const reader = new Reader()
    reader.isReading = false
    const stream = new LiveStream({ userId: 'a', validUntil: forever }, reader, () => {})
    stream.begin(0, ':\n\n')
    return { reader, stream }
  }
  const event = Buffer.from(`event: hello\ndata: {"x":"${'x'.repeat(100_000)}"}\n\n`)

  test('is disconnected before more than 1 MiB waits for it, and not sooner; a larger event comes if everything before was taken (N5)', () => {
    const { reader, stream } = sink()
    for (let sent = 3; sent + event.length <= 1024 * 1024; sent += event.length) stream.send(event)
    assert.equal(reader.how, 'open')
    reader.unread = 0
    stream.send(Buffer.concat(Array(20).fill(event)))
    assert.equal(reader.how, 'open')
    stream.send(event)
    assert.equal(reader.how, 'disconnected')
    stream.send(event)
    stream.end()
    const { reader: other, stream: another } = sink()
    while (other.how === 'open') another.send(event)
    assert.ok(other.unread <= 1024 * 1024)
  })

  test('is disconnected on a real connection too, when what the system does not take is more than 1 MiB (N5)', async (t) => {
    const server = createServer()
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause()
    t.after(() => {
      client.destroy()
      server.close()
    })
    client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
    const [, raw] = (await once(server, 'request')) as [unknown, ServerResponse]
    const reply = { raw, hijack: () => {}, headers: () => {}, getHeaders: () => ({}) }
    const stream = new LiveStream(
      { userId: 'a', validUntil: forever },
      new EventStream(reply as unknown as FastifyReply),
      () => {},
    )
    stream.begin(0, ':\n\n')
    // The system takes a few MiB for a client that does not read.
    for (let n = 0; n < 1_000 && !stream.hasEnded; n++) stream.send(event)
    assert.ok(stream.hasEnded)
    assert.ok(raw.writableLength <= 1024 * 1024, `${raw.writableLength}`)
  })
})

suite('stream limits (N7)', () => {
  test('clients that are refused at the same time get different values of Retry-After (N7)', () => {
    const streamLimits = new StreamLimits({ perUser: 0, perProcess: 0 }, Math.random)
    const seconds: number[] = []
    for (let n = 0; n < 200; n++)
      assert.throws(
        () => streamLimits.take('ann'),
        ({ retryAfter = 0 }: CarillonError) => seconds.push(retryAfter) > 0,
      )
    assert.ok(
      seconds.every((one) => Number.isInteger(one) && one >= 5 && one <= 15),
      `${seconds}`,
    )
    assert.ok(new Set(seconds).size > 5, `${seconds}`)
  })

  test('a held poll counts like a stream, until it ends, in whatever way (N7)', async (t) => {
    const { world, store, streamLimits } = await newWorld(t, {
      limits: { perUser: 1, perProcess: 1 },
    })
    const changes = new ChangesSince({ store, streamLimits, now: Date.now })
    let validUntil: number | null = Number.POSITIVE_INFINITY
    const ann = await world.addUser('ann')
    const isFull = () => {
      try {
        streamLimits.take(ann.id)
      } catch {
        return true
      }
      streamLimits.release(ann.id)
      return false
    }
    const query = { since: '0', limit: 100, waitMs: 60_000, signal: new AbortController().signal }
    const held = async (since: string, end: (gone: AbortController) => unknown) => {
      const gone = new AbortController()
      const caller = { userId: ann.id, validUntil: async () => validUntil }
      const response = changes.read(caller, { ...query, since, signal: gone.signal })
      await new Reader().until(isFull)
      await end(gone)
      const { created } = JSON.parse(await response)
      streamLimits.take(ann.id)
      streamLimits.release(ann.id)
      return created.length
    }
    assert.equal(await held('0', () => world.send(ann)), 1)
    assert.equal(await held('1', (gone) => gone.abort()), 0)
    const endProof = () => {
      validUntil = null
      changes.checkProofs(ann.id)
    }
    await assert.rejects(held('1', endProof), ({ code }: CarillonError) => code === 'UNAUTHORIZED')
    streamLimits.take(ann.id)
    streamLimits.release(ann.id)
    validUntil = Number.POSITIVE_INFINITY
    assert.equal(await held('1', () => changes.end()), 0)
    streamLimits.close()
    const late = { userId: ann.id, validUntil: async () => validUntil }
    await assert.rejects(
      changes.read(late, query),
      ({ code }: CarillonError) => code === 'UNAVAILABLE',
    )
  })
})

suite('heartbeats', () => {
  /** `pass` moves the clock by milliseconds. */
  async function beating(t: TestContext, of?: (store: Store) => Store) {
    let now = clock()
    t.mock.method(performance, 'now', () => now)
    const made = await newWorld(t, { ...(of && { of }) })
    const pass = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 250) {
        now += 250
        t.mock.timers.tick(250)
      }
      await sleep(20)
    }
    return { ...made, pass }
  }

  test('every stream gets one every 15 s, and those of many users come at different times (N6)', async (t) => {
    const { world, open, pass } = await beating(t)
    const readers = await Promise.all(
      Array.from({ length: 60 }, async (_, n) => open(await world.addUser(`user${n}`))),
    )
    const untilBeats = (count: number) =>
      new Reader().until(() => readers.every(({ beats }) => beats >= count))
    let seconds = 0
    for (let second = 1, before = 0; second <= 15; second++) {
      await pass(1_000)
      const beats = readers.reduce((sum, reader) => sum + reader.beats, 0)
      if (beats > before) seconds++
      before = beats
    }
    await untilBeats(1)
    assert.deepEqual(new Set(readers.map(({ beats }) => beats)), new Set([1]))
    assert.ok(seconds >= 8, `in ${seconds} of 15 seconds`)
    await pass(45_000)
    await untilBeats(4)
    assert.deepEqual(new Set(readers.map(({ beats }) => beats)), new Set([4]))
    assert.deepEqual(new Set(readers.flatMap(({ types }) => types)), new Set(['hello']))
  })

  test('after a lost change signal, the next heartbeat causes the read that sends the changes', async (t) => {
    const { world, open, pass, untilRead } = await beating(t, (store) => ({
      ...store,
      onChange: () => () => {},
    }))
    const ann = await world.addUser('ann')
    const reader = await open(ann)
    await untilRead(1)
    const ids = await world.sendTimes(3, ann)
    await sleep(100)
    assert.deepEqual(reader.types, ['hello'])
    await pass(15_000)
    await reader.until(() => reader.events.length === 4)
    assert.deepEqual(
      reader.events.slice(1).map(({ data }) => data.notification.id),
      ids,
    )
  })

  test('a proof that ended without a change signal is found at the fourth heartbeat, within a minute (Z6)', async (t) => {
    const { world, open, pass } = await beating(t)
    const ann = await world.addUser('ann')
    let checks = 0
    let isOver = false
    const reader = await open(ann, {
      holds: async () => {
        checks++
        return isOver ? null : Number.POSITIVE_INFINITY
      },
    })
    isOver = true
    await pass(44_000)
    assert.deepEqual([checks, reader.how], [1, 'open'])
    await pass(16_000)
    await reader.until(() => reader.how === 'ended')
    assert.deepEqual(reader.types, ['hello', 'session-ended'])
  })
})

test('a change signal about anything makes every subscription check its proofs and read again', async (t) => {
  const listeners: ((signal: ChangeSignal) => void)[] = []
  const { world, open, untilRead } = await newWorld(t, {
    of: (store) => ({
      ...store,
      onChange(listener) {
        listeners.push(listener)
        return () => {}
      },
    }),
  })
  const ann = await world.addUser('ann')
  const bob = await world.addUser('bob')
  const readers = [await open(ann), await open(bob)]
  await untilRead(2)
  await Promise.all([world.send(ann), world.send(bob)])
  await sleep(50)
  assert.deepEqual(
    readers.map(({ types }) => types),
    [['hello'], ['hello']],
  )
  for (const listener of listeners) listener({ about: 'anything' })
  for (const reader of readers) await reader.until(() => reader.events.length === 2)
})
