// What goes on inside while people listen, on a real store: how often it is read, what a lost ring costs, what the seats
// hold, and what a stream does in the moments that come once in a thousand.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type StreamEvent, StrictEvents } from '../../../tests/support/event-source/event-source.ts'
import { randomOf } from '../../../tests/support/event-source/random.ts'
import type { CarillonError } from '../../errors.ts'
import { type Person, World } from '../../store/contract/world.ts'
import { openSqliteStore } from '../../store/sqlite/store.ts'
import { newFolder } from '../../store/sqlite/testing/folder.ts'
import type { ChangeSignal, Store } from '../../store/store.ts'
import { ChangesSince } from './changes.ts'
import { Live } from './live.ts'
import type { Sink, Watcher } from './live-stream.ts'
import { LiveStream } from './live-stream.ts'
import { type MaxStreams, StreamLimits } from './stream-limits.ts'

/** That of the process, whatever a test makes of its clock. */
const clock = performance.now.bind(performance)

/** A reader in the same process: it takes everything at once, unless it is told not to. */
class Reader implements Sink {
  readonly events: StreamEvent[] = []
  readonly #parser = new StrictEvents()
  readonly #listeners: (() => void)[] = []
  hasBegun = false
  /** Each text that it was sent. */
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
    assert.equal(this.how, 'open', 'sent behind the end')
    assert.ok(this.hasBegun, 'sent before the head')
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

  /** As a client that goes away; what is sent until that is known goes nowhere. */
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

/** However slow the machine: no heartbeat comes meanwhile to make a lost ring good. */
const maxWaitMs = 20_000

type LiveStore = Pick<Store, 'readInbox' | 'changesSince' | 'onChange' | 'history'>

/**
 * A world whose people can be listened to; there is no heartbeat unless the test moves the clock. `of` may put something
 * between the streams and the store.
 */
async function newWorld(
  t: TestContext,
  { of = (store) => store, limits }: { of?: (store: Store) => LiveStore; limits?: MaxStreams } = {},
) {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { store } = await openSqliteStore(join(await newFolder(t), 'carillon.db'))
  const world = await World.on(store)
  const failures: unknown[] = []
  const failedAt: number[] = []
  const reads = { begun: 0, done: 0 }
  const streamLimits = new StreamLimits(limits ?? { perUser: 1_000, perProcess: 100_000 }, Math.random)
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
  /** Resolves when so many reads of changes are over: the first stream of each user leads to one. */
  const untilRead = async (times: number) => {
    await new Reader().until(() => reads.done === times)
    await new Promise(setImmediate)
  }
  return { world, store, live, open, failures, failedAt, streamLimits, reads, untilRead }
}

const forever = async () => Number.POSITIVE_INFINITY

/** The same store, with some of its methods put in place. */
function withMethods(store: LiveStore, methods: Partial<LiveStore>): LiveStore {
  return {
    get history() {
      return store.history
    },
    onChange: (listener) => store.onChange(listener),
    readInbox: (userId) => store.readInbox(userId),
    changesSince: (query) => store.changesSince(query),
    ...methods,
  }
}

/** Counts how often changes are read. */
function counted(store: LiveStore, reads: { begun: number; done: number }): LiveStore {
  return withMethods(store, {
    async changesSince(query) {
      reads.begun++
      try {
        return await store.changesSince(query)
      } finally {
        reads.done++
      }
    },
  })
}

test('however many streams a user has, a change is read once and is one text for all of them', async (t) => {
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
})

test('many changes at once are few reads, and each is told once, in order', async (t) => {
  const { world, open, reads, untilRead } = await newWorld(t)
  const ann = await world.addUser('ann')
  const readers = await Promise.all(Array.from({ length: 10 }, () => open(ann)))
  await untilRead(1)
  const ids = await world.sendTimes(1_000, ann)
  for (const reader of readers) {
    await reader.until(() => reader.events.length === 1_001)
    assert.deepEqual(
      reader.events.slice(1).map(({ data }) => data.notification.id),
      ids,
    )
  }
  t.diagnostic(`${reads.begun} reads for 1,000 changes`)
  assert.ok(reads.begun < 500, `${reads.begun} reads`)
})

/** Reads that are answered when the test says so, each with what it saw when it was asked: as PostgreSQL may do it. */
async function heldReads(t: TestContext) {
  const held: (() => void)[] = []
  let isHolding = false
  const parts = await newWorld(t, {
    of: (store) =>
      withMethods(store, {
        async changesSince(query) {
          const found = await store.changesSince(query)
          if (isHolding) await new Promise<void>((resolve) => held.push(resolve))
          return found
        },
      }),
  })
  const hold = (isSo: boolean) => {
    isHolding = isSo
  }
  return { ...parts, held, hold }
}

/** Ann was told twice; what was read of the first is held back from her reader. */
async function heldFirst(t: TestContext) {
  const parts = await heldReads(t)
  const { world, open, held, hold, untilRead } = parts
  const ann = await world.addUser('ann')
  const reader = await open(ann)
  await untilRead(1)
  hold(true)
  await world.send(ann, 'one')
  await reader.until(() => held.length === 1)
  await world.send(ann, 'two')
  return { ...parts, ann, reader }
}

test('N4: what is committed while it is being read for another change is told without a delay', async (t) => {
  const { held, hold, reader } = await heldFirst(t)
  await reader.until(() => held.length === 2)
  hold(false)
  // The later one has seen more, and the earlier one is answered first.
  held[0]?.()
  await reader.until(() => reader.events.length === 2)
  held[1]?.()
  await reader.until(() => reader.events.length === 3)
  assert.deepEqual(reader.versions, [1, 2])
})

test('N4: who came while a read was under way that had seen less is told nothing that his list had', async (t) => {
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

test('R9: a stream that is being opened when the service stops is refused as all that come later, and nothing was written to it', async (t) => {
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

test('Z6: a proof that ends while its stream is being opened opens none', async (t) => {
  const { world, live, streamLimits } = await newWorld(t, { limits: { perUser: 1, perProcess: 1 } })
  const ann = await world.addUser('ann')
  for (const endsAfter of [0, 1]) {
    let looks = 0
    const reader = new Reader()
    const holds = async () => {
      // It ends between two looks, and rings.
      if (looks++ < endsAfter) {
        live.checkProofs(ann.id)
        return Number.POSITIVE_INFINITY
      }
      return null
    }
    const opening = live.open({ userId: ann.id, validUntil: holds }, undefined, reader)
    if (endsAfter === 0) await assert.rejects(opening, ({ code }: CarillonError) => code === 'UNAUTHORIZED')
    else {
      await opening
      await reader.until(() => reader.how === 'ended')
      assert.equal(reader.events.at(-1)?.text, '{"reason":"revoked"}')
    }
    await reader.until(() => live.size === 0)
    // Its seat is free.
    streamLimits.take(ann.id)()
  }
})

test('another history of the store: every open stream gets a resync, and a position of before means nothing (N3, R7)', async (t) => {
  let history = 'before'
  let ring: ((ring: ChangeSignal) => void) | undefined
  const of = (store: Store): LiveStore => ({
    get history() {
      return history
    },
    readInbox: store.readInbox,
    changesSince: store.changesSince,
    onChange(listener) {
      ring = listener
      return store.onChange(listener)
    },
  })
  const { world, open } = await newWorld(t, { of })
  const ann = await world.addUser('ann')
  await world.send(ann)
  const readers = [await open(ann), await open(ann)]
  const [before] = readers[0]?.events ?? []
  history = 'after'
  ring?.({ about: 'anything' })
  for (const reader of readers) await reader.until(() => reader.types.includes('resync'))
  const resync = readers[0]?.events.find(({ type }) => type === 'resync')
  assert.notEqual(resync?.id, before?.id)
  await world.send(ann)
  for (const reader of readers) await reader.until(() => reader.types.at(-1) === 'notification')
  const late = await open(ann, { from: before?.id ?? '' })
  assert.deepEqual(late.types.slice(0, 2), ['hello', 'resync'])
  const resumed = await open(ann, { from: resync?.id ?? '' })
  await resumed.until(() => resumed.types.join() === 'hello,notification')
})

test('reset: where the store lost what was told, all streams are told to fetch anew, and then what follows', async (t) => {
  let isLost = false
  const { world, open } = await newWorld(t, {
    of: (store) =>
      withMethods(store, {
        changesSince: async (query) => (isLost ? 'reset' : store.changesSince(query)),
      }),
  })
  const ann = await world.addUser('ann')
  const readers = await Promise.all(Array.from({ length: 5 }, () => open(ann)))
  await world.send(ann, 'one')
  for (const reader of readers) await reader.until(() => reader.events.length === 2)
  isLost = true
  await world.send(ann, 'two')
  for (const reader of readers) await reader.until(() => reader.types.includes('resync'))
  isLost = false
  await world.send(ann, 'three')
  for (const reader of readers) {
    await reader.until(() => reader.types.at(-1) === 'notification' && reader.versions.at(-1) === 3)
    assert.deepEqual(reader.types, ['hello', 'notification', 'resync', 'notification'])
    assert.deepEqual(reader.events[2]?.data, { version: 2, unread: 2, total: 2 })
  }
})

test('reset: two reads that find it at once tell it once, and who is catching up comes back to be told', async (t) => {
  let isLost = false
  let asking = 0
  const both = Promise.withResolvers<void>()
  // The third change is lost; of two reads that ask for what follows it neither is answered before the other has asked.
  const { world, live, open, untilRead } = await newWorld(t, {
    of: (store) =>
      withMethods(store, {
        changesSince: async (query) => {
          if (!isLost || query.version < 3) return store.changesSince(query)
          if (++asking === 2) both.resolve()
          await both.promise
          return 'reset'
        },
        readInbox: async (userId) => {
          const inbox = await store.readInbox(userId)
          return isLost ? { ...inbox, version: 2 } : inbox
        },
      }),
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
  assert.deepEqual(reader.types, ['hello', 'resync', 'notification', 'notification'])
  assert.deepEqual(reader.versions, [2, 3, 4])
})

test('a store that is away is told of once a second, however often it rings and whoever listens', async (t) => {
  let isAway = false
  const { world, live, open, failedAt } = await newWorld(t, {
    of: (store) =>
      withMethods(store, {
        changesSince: (query) => (isAway ? Promise.reject(new Error('away')) : store.changesSince(query)),
      }),
  })
  const ann = await world.addUser('ann')
  const reader = await open(ann)
  isAway = true
  await reader.until(() => {
    live.checkProofs(ann.id)
    return failedAt.length === 3
  })
  // A timer may be a millisecond early.
  for (const [n, at] of failedAt.slice(1).entries())
    assert.ok(at - (failedAt[n] ?? 0) > 990, `told at ${failedAt.map(Math.round)} ms`)
})

test('a replay takes its turns as everything does: it keeps nobody waiting, however long it is', async (t) => {
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

test('Z6: nothing is told while it is looked up whether a proof still holds', async (t) => {
  const { world, live, open } = await newWorld(t)
  const ann = await world.addUser('ann')
  const looked = Promise.withResolvers<null>()
  let isOver = false
  const reader = await open(ann, { holds: () => (isOver ? looked.promise : forever()) })
  await sleep(20)
  isOver = true
  live.checkProofs(ann.id)
  await sleep(20)
  await world.send(ann)
  await sleep(50)
  looked.resolve(null)
  await reader.until(() => reader.how === 'ended')
  assert.deepEqual(reader.types, ['hello', 'session-ended'])
})

test('a store that cannot be read costs no stream: what was missed comes when it is back', async (t) => {
  let isAway = false
  const { world, open, failures } = await newWorld(t, {
    of: (store) =>
      withMethods(store, {
        changesSince: (query) => (isAway ? Promise.reject(new Error('away')) : store.changesSince(query)),
      }),
  })
  const ann = await world.addUser('ann')
  const reader = await open(ann)
  await world.sendTimes(2, ann)
  await reader.until(() => reader.events.length === 3)
  isAway = true
  await world.send(ann)
  await reader.until(() => failures.length > 0)
  assert.deepEqual([reader.versions, reader.how], [[1, 2], 'open'])
  // Who has to catch up, and cannot, is let go, and comes back.
  const behind = await open(ann, { from: '1' })
  await behind.until(() => behind.how === 'ended')
  isAway = false
  await reader.until(() => reader.events.length === 4)
  assert.deepEqual(reader.versions, [1, 2, 3])
})

test('Z7: where it cannot be known whether a proof holds, the stream is asked again, not ended and not forgotten', async (t) => {
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

suite('N5: whoever does not read', () => {
  /** Begun at 0 by a clock that stands still. */
  const sink = () => {
    const reader = new Reader()
    reader.isReading = false
    const stream = new LiveStream({ userId: 'a', validUntil: forever }, reader, () => {})
    stream.begin(0, ':\n\n')
    return { reader, stream }
  }
  const event = Buffer.from(`event: hello\ndata: {"x":"${'x'.repeat(100_000)}"}\n\n`)

  test('N5: he is cut where more than 1 MiB would wait for him, and not before', () => {
    const { reader, stream } = sink()
    for (let sent = 3; sent + event.length <= 1024 * 1024; sent += event.length) stream.send(event)
    assert.equal(reader.how, 'open')
    stream.send(event)
    assert.equal(reader.how, 'disconnected')
    assert.ok(reader.unread <= 1024 * 1024)
    stream.send(event)
    stream.end()
  })

  test('N5: what is more than that by itself goes to whoever has taken the rest', () => {
    const { reader, stream } = sink()
    reader.unread = 0
    stream.send(Buffer.concat(Array(20).fill(event)))
    assert.equal(reader.how, 'open')
    stream.send(event)
    assert.equal(reader.how, 'disconnected')
  })

  test('N4, N5: a replay waits for its reader piece by piece, and cuts nobody who reads, however big a piece is', async (t) => {
    const { world, live } = await newWorld(t)
    const ann = await world.addUser('ann')
    const content = `"title":"x","body":"${'x'.repeat(20_000)}"`
    await Promise.all(Array.from({ length: 300 }, () => world.send(ann, 'x', { content })))
    const reader = new Reader()
    reader.isReading = false
    const opening = live.open({ userId: ann.id, validUntil: forever }, '0', reader)
    const deepest: number[] = []
    while (reader.events.length < 301 && reader.how === 'open') {
      deepest.push(reader.unread)
      reader.unread = 0
      await sleep(10)
    }
    reader.unread = 0
    await opening
    assert.deepEqual([reader.how, reader.versions.length], ['open', 300])
    assert.ok(deepest.length >= 20 && Math.max(...deepest) < 300 * 1024, `${deepest}`)
  })
})

test('N5: after thousands of opens and leaves nothing is kept of them', async (t) => {
  const rounds = process.env.SOAK === undefined ? 3_000 : 100_000
  const { world, live, open, streamLimits } = await newWorld(t, { limits: { perUser: 20, perProcess: 40 } })
  const people = [await world.addUser('ann'), await world.addUser('bob'), await world.addUser('cy')]
  const chance = randomOf(t)
  let stayed: Reader[] = []
  for (let n = 0; n < rounds; n++) {
    const person = people[n % 3] ?? assert.fail()
    const opening = open(person, { ...(chance.draw() < 0.5 && { from: '0' }) })
    if (n % 50 === 0) await world.send(person)
    const reader = await opening
    await new Promise(setImmediate)
    if (chance.draw() < 0.3) stayed.push(reader)
    else reader.leave()
    if (stayed.length > 10) {
      for (const one of stayed) one.leave()
      stayed = []
      await new Promise(setImmediate)
    }
  }
  for (const reader of stayed) reader.leave()
  await new Reader().until(() => live.size === 0)
  const given = people.slice(0, 2).flatMap(({ id }) => Array.from({ length: 20 }, () => streamLimits.take(id)))
  assert.throws(() => streamLimits.take(people[2]?.id ?? ''), /CARILLON_STREAMS\b/)
  for (const giveUp of given) giveUp()
})

suite('N7: seats', () => {
  const refusal = (take: () => unknown): CarillonError => {
    try {
      take()
    } catch (error) {
      return error as CarillonError
    }
    return assert.fail('it was not refused')
  }

  test('N7: so many for each user and so many in all; each is given up once', () => {
    const streamLimits = new StreamLimits({ perUser: 2, perProcess: 3 }, () => 0.5)
    const [first, second] = [streamLimits.take('ann'), streamLimits.take('ann')]
    assert.match(
      refusal(() => streamLimits.take('ann')).message,
      /^You have 2 streams open \(CARILLON_STREAMS_PER_USER\)/,
    )
    const other = streamLimits.take('bob')
    const full = refusal(() => streamLimits.take('bob'))
    assert.deepEqual([full.code, full.retryAfter], ['TOO_MANY_REQUESTS', 10])
    assert.match(full.message, /^This process has 3 streams open \(CARILLON_STREAMS\)/)
    first()
    first()
    first()
    streamLimits.take('ann')
    assert.equal(refusal(() => streamLimits.take('ann')).code, 'TOO_MANY_REQUESTS')
    second()
    other()
    for (const user of ['bob', 'bob']) streamLimits.take(user)
    refusal(() => streamLimits.take('cy'))
  })

  test('N7: those who are refused together are told different times to come back', () => {
    const streamLimits = new StreamLimits({ perUser: 0, perProcess: 0 }, Math.random)
    const told = Array.from({ length: 200 }, () => refusal(() => streamLimits.take('ann')).retryAfter ?? 0)
    assert.ok(
      told.every((seconds) => Number.isInteger(seconds) && seconds >= 5 && seconds <= 15),
      `${told}`,
    )
    assert.ok(new Set(told).size > 5, `${told}`)
  })

  test('N7: a held poll has a seat as a stream has, and gives it up however it ends', async (t) => {
    const { world, store, streamLimits } = await newWorld(t, { limits: { perUser: 1, perProcess: 1 } })
    const changes = new ChangesSince({ store, streamLimits })
    const ann = await world.addUser('ann')
    const query = { since: '0', limit: 100, waitMs: 60_000, signal: new AbortController().signal }
    const held = async (since: string, end: (gone: AbortController) => unknown) => {
      const gone = new AbortController()
      const response = changes.read({ userId: ann.id }, { ...query, since, signal: gone.signal })
      await sleep(20)
      refusal(() => streamLimits.take(ann.id))
      await end(gone)
      const { created } = JSON.parse(await response)
      streamLimits.take(ann.id)()
      return created.length
    }
    assert.equal(await held('0', () => world.send(ann)), 1)
    assert.equal(await held('1', (gone) => gone.abort()), 0)
    assert.equal(await held('1', () => changes.end()), 0)
    streamLimits.close()
    await assert.rejects(changes.read({ userId: ann.id }, query), ({ code }: CarillonError) => code === 'UNAVAILABLE')
  })
})

suite('heartbeats', () => {
  /** Sets a world under a clock that nothing but the test moves; so many milliseconds pass at once. */
  async function beating(t: TestContext, of?: (store: Store) => LiveStore) {
    let now = clock()
    t.mock.method(performance, 'now', () => now)
    const parts = await newWorld(t, { ...(of && { of }) })
    const pass = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 250) {
        now += 250
        t.mock.timers.tick(250)
      }
      await sleep(20)
    }
    return { ...parts, pass }
  }

  test('N6: there is one every 15 s, and those of many users do not come together', async (t) => {
    const { world, open, pass } = await beating(t)
    const readers = await Promise.all(Array.from({ length: 60 }, async (_, n) => open(await world.addUser(`user${n}`))))
    let seconds = 0
    for (let second = 1, before = 0; second <= 15; second++) {
      await pass(1_000)
      const beats = readers.reduce((sum, reader) => sum + reader.beats, 0)
      if (beats > before) seconds++
      before = beats
    }
    assert.deepEqual(new Set(readers.map(({ beats }) => beats)), new Set([1]))
    assert.ok(seconds >= 8, `in ${seconds} of 15 seconds`)
    await pass(45_000)
    assert.deepEqual(new Set(readers.map(({ beats }) => beats)), new Set([4]))
    assert.deepEqual(new Set(readers.flatMap(({ types }) => types)), new Set(['hello']))
  })

  test('a ring that is lost is made good at the next one', async (t) => {
    const { world, open, pass, untilRead } = await beating(t, (store) =>
      withMethods(store, { onChange: () => () => {} }),
    )
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

  test('Z6: a proof that ended without a ring is found at the fourth, within a minute', async (t) => {
    const { world, open, pass } = await beating(t)
    const ann = await world.addUser('ann')
    let [asked, isOver] = [0, false]
    const reader = await open(ann, {
      holds: async () => {
        asked++
        return isOver ? null : Number.POSITIVE_INFINITY
      },
    })
    isOver = true
    await pass(44_000)
    assert.deepEqual([asked, reader.how], [1, 'open'])
    await pass(16_000)
    await reader.until(() => reader.how === 'ended')
    assert.deepEqual(reader.types, ['hello', 'session-ended'])
  })
})

test('a ring about anything at all is heard by everybody', async (t) => {
  const listeners: ((ring: ChangeSignal) => void)[] = []
  const { world, open, untilRead } = await newWorld(t, {
    of: (store) =>
      withMethods(store, {
        onChange(listener) {
          listeners.push(listener)
          return () => {}
        },
      }),
  })
  const [ann, bob] = [await world.addUser('ann'), await world.addUser('bob')]
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
