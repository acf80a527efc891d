// Who is listening right now. One subscription for each user, however many streams he has: a ring leads to one read of the
// store and one text for all of them. Nobody waits for a slow reader.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { CarillonError } from '../errors.ts'
import type { Changes, InboxState, Ring, Store } from '../store/store.ts'
import { eventOf, heartbeat, helloText, resyncText, retryText, type StreamEvent } from './events.ts'
import { bytesOf, LiveStream, type Sink, type Watcher } from './live-stream.ts'
import { markOf, versionIn } from './position.ts'
import type { Seats } from './seats.ts'

type LiveParts = {
  store: Pick<Store, 'readInbox' | 'changesSince' | 'onRing' | 'history'>
  seats: Seats
  now: () => number
  /** From 0 to 1: those who were cut together do not come back together. */
  chance: () => number
  onFailure: (error: unknown) => void
}

/** Whoever is further behind fetches a page sooner than he replays all that. */
const mostReplayed = 10_000
const changesAtOnce = 100

const beatEveryMs = 15_000
const tickMs = 250
const slotCount = beatEveryMs / tickMs
const ticksBetweenLooks = 1_000 / tickMs
/** Rings tell when a session ends; one may be lost with the process that should have rung. */
const beatsBetweenProofs = 4

/** So many users are read at once, and for so long in one turn of the event loop: requests are answered in between. */
const readsAtOnce = 8
const sliceMs = 4
const retryReadMs = 1_000
const comeBackMs = { least: 1_000, most: 4_000 }

class Subscription {
  readonly userId: string
  readonly mark: string
  readonly slot: number
  readonly streams = new Set<LiveStream>()
  /** The version up to which all live streams were told; undefined before the first of them knows. */
  version: number | undefined
  isProofDue = false
  beats = 0

  constructor(of: { userId: string; mark: string; slot: number }) {
    this.userId = of.userId
    this.mark = of.mark
    this.slot = of.slot
  }
}

export class Live {
  readonly #parts: LiveParts
  readonly #subscriptions = new Map<string, Subscription>()
  /** Who gets a heartbeat at which tick. */
  readonly #slots = Array.from({ length: slotCount }, () => new Set<Subscription>())
  readonly #toRead = new Set<Subscription>()
  readonly #toReadLater = new Set<Subscription>()
  readonly #ticking: NodeJS.Timeout
  #size = 0
  #ticks = 0
  #reading = 0
  #turnBegan = 0
  #slice: Promise<void> | undefined
  #isEnding = false

  constructor(parts: LiveParts) {
    this.#parts = parts
    parts.store.onRing((ring) => this.#hear(ring))
    this.#ticking = setInterval(() => this.#tick(), tickMs).unref()
  }

  /** How many streams are open. */
  get size(): number {
    return this.#size
  }

  /**
   * Opens a stream, from now on or from the position `from`. Throws TOO_MANY_REQUESTS, UNAVAILABLE, or UNAUTHORIZED where
   * the proof ended meanwhile; once it has begun, everything is told through the sink.
   */
  async open(watcher: Watcher, from: string | undefined, sink: Sink): Promise<void> {
    if (this.#isEnding) throw stopping()
    const { userId } = watcher
    const giveUpSeat = this.#parts.seats.take(userId)
    const subscription = this.#subscriptionOf(userId)
    const stream = new LiveStream(watcher, sink, () => {
      giveUpSeat()
      this.#remove(subscription, stream)
    })
    this.#add(subscription, stream)
    try {
      // Now that it is among the streams: a proof that ends from here on finds it there.
      const holds = await stream.checkProof(this.#parts.now)
      const inbox = await this.#parts.store.readInbox(userId)
      if (this.#isEnding) throw stopping()
      if (!holds || stream.isOver) throw new CarillonError('UNAUTHORIZED', 'Not authenticated')
      this.#begin(subscription, stream, { from, inbox })
    } catch (error) {
      stream.leave()
      throw error
    }
    await this.#catchUp(subscription, stream)
  }

  /** Looks again whether that user's proofs still hold. */
  checkProofs(userId: string): void {
    const subscription = this.#subscriptions.get(userId)
    if (subscription === undefined) return
    subscription.isProofDue = true
    this.#readSoon(subscription)
  }

  /** Ends every stream, telling each when to come back, and takes no more. */
  async end(): Promise<void> {
    this.#isEnding = true
    clearInterval(this.#ticking)
    let count = 0
    for (const stream of this.#streams()) {
      stream.send(Buffer.from(retryText(this.#comeBackMs())))
      stream.end()
      if (++count % 100 === 0) await nextTurn()
    }
  }

  #comeBackMs(): number {
    return comeBackMs.least + this.#parts.chance() * (comeBackMs.most - comeBackMs.least)
  }

  *#streams(): Generator<LiveStream> {
    for (const { streams } of this.#subscriptions.values()) yield* streams
  }

  #subscriptionOf(userId: string): Subscription {
    const known = this.#subscriptions.get(userId)
    if (known !== undefined) return known
    const slot = Math.floor(this.#parts.chance() * slotCount) % slotCount
    return new Subscription({ userId, mark: markOf(this.#parts.store.history, userId), slot })
  }

  #add(subscription: Subscription, stream: LiveStream): void {
    this.#subscriptions.set(subscription.userId, subscription)
    this.#slots[subscription.slot]?.add(subscription)
    subscription.streams.add(stream)
    this.#size++
  }

  #remove(subscription: Subscription, stream: LiveStream): void {
    this.#size--
    subscription.streams.delete(stream)
    if (subscription.streams.size > 0) return
    this.#subscriptions.delete(subscription.userId)
    this.#slots[subscription.slot]?.delete(subscription)
    this.#toRead.delete(subscription)
  }

  #begin(
    subscription: Subscription,
    stream: LiveStream,
    { from, inbox }: { from: string | undefined; inbox: InboxState },
  ): void {
    const { mark } = subscription
    const since = from === undefined ? inbox.version : versionIn(from, mark)
    const isLost = since === null || since > inbox.version || inbox.version - since > mostReplayed
    const hello = helloText(inbox, { from: isLost ? null : since, mark })
    const text = retryText(this.#comeBackMs()) + hello + (isLost ? resyncText(inbox, mark) : '')
    stream.begin(isLost ? inbox.version : since, text)
    if (subscription.version !== undefined) return
    subscription.version = inbox.version
    // It may have rung while that was being read.
    this.#readSoon(subscription)
  }

  /** What was missed goes to this stream alone, as fast as it is taken. Then it hears what the others hear: no gap (N4). */
  async #catchUp(subscription: Subscription, stream: LiveStream): Promise<void> {
    const { userId, mark } = subscription
    try {
      while (!stream.isOver && stream.position < (subscription.version ?? 0)) {
        const query = { userId, version: stream.position, limit: changesAtOnce }
        const found = await this.#parts.store.changesSince(query)
        if (found === 'reset') return stream.end()
        await stream.replay(eventsOf(found, mark), reached(found))
      }
      stream.isLive = true
    } catch (error) {
      // Its reader comes back to where he is.
      this.#parts.onFailure(error)
      stream.end()
    }
  }

  #hear(ring: Ring): void {
    if (ring.about === 'anything') for (const userId of this.#subscriptions.keys()) this.checkProofs(userId)
    else if (ring.about === 'session') this.checkProofs(ring.userId)
    else if (ring.about === 'inbox') {
      const subscription = this.#subscriptions.get(ring.userId)
      if (subscription !== undefined) this.#readSoon(subscription)
    }
  }

  #readSoon(subscription: Subscription): void {
    this.#toRead.add(subscription)
    if (this.#reading >= readsAtOnce) return
    this.#reading++
    // Not in this turn: what rings together is read together.
    void nextTurn().then(() => this.#readAll())
  }

  async #readAll(): Promise<void> {
    for (const subscription of this.#toRead) {
      this.#toRead.delete(subscription)
      try {
        if (subscription.isProofDue) await this.#checkProofsOf(subscription)
        await this.#read(subscription)
      } catch (error) {
        this.#readLater(subscription, error)
      }
      if (performance.now() - this.#turnBegan >= sliceMs) await this.#nextSlice()
    }
    this.#reading--
  }

  /** One for all who read: a slice each would add up. */
  #nextSlice(): Promise<void> {
    this.#slice ??= nextTurn().then(() => {
      this.#slice = undefined
      this.#turnBegan = performance.now()
    })
    return this.#slice
  }

  /** A store that is away fails for everybody: that is told once a second, not once for each of them. */
  #readLater(subscription: Subscription, error: unknown): void {
    this.#toReadLater.add(subscription)
    if (this.#toReadLater.size > 1) return
    this.#parts.onFailure(error)
    const readAgain = () => {
      const failed = [...this.#toReadLater]
      this.#toReadLater.clear()
      for (const one of failed) if (one.streams.size > 0) this.#readSoon(one)
    }
    setTimeout(readAgain, retryReadMs).unref()
  }

  /** One read, one text, however many streams. A lost ring is made good at the next heartbeat, which comes here too. */
  async #read(subscription: Subscription): Promise<void> {
    const { userId, mark, version } = subscription
    if (version === undefined) return
    const found = await this.#parts.store.changesSince({ userId, version, limit: changesAtOnce })
    // Another read of this user was told of meanwhile; this one may have seen more, or less.
    if (subscription.version !== version) return this.#readSoon(subscription)
    if (found === 'reset') return this.#startAnew(subscription)
    if (found.changes.length === 0) return
    const events = eventsOf(found, mark)
    const told = { whole: bytesOf(events), version: reached(found) }
    subscription.version = told.version
    for (const stream of subscription.streams) stream.tell(events, told)
    if (found.more) this.#readSoon(subscription)
  }

  /** The store lost changes that were told of, in a failover perhaps. */
  async #startAnew(subscription: Subscription): Promise<void> {
    const inbox = await this.#parts.store.readInbox(subscription.userId)
    subscription.version = inbox.version
    const bytes = Buffer.from(resyncText(inbox, subscription.mark))
    for (const stream of subscription.streams) {
      if (!stream.isLive) continue
      stream.position = inbox.version
      stream.send(bytes)
    }
  }

  async #checkProofsOf(subscription: Subscription): Promise<void> {
    subscription.isProofDue = false
    try {
      for (const stream of [...subscription.streams]) await stream.checkProof(this.#parts.now)
    } catch (error) {
      subscription.isProofDue = true
      throw error
    }
  }

  #tick(): void {
    this.#ticks++
    for (const subscription of this.#slots[this.#ticks % slotCount] ?? []) this.#beat(subscription)
    // At each once a second, and not at all in one turn.
    for (let slot = this.#ticks % ticksBetweenLooks; slot < slotCount; slot += ticksBetweenLooks)
      this.#lookAt(this.#slots[slot] ?? new Set())
  }

  #beat(subscription: Subscription): void {
    for (const stream of subscription.streams) if (stream.isLive) stream.send(heartbeat)
    subscription.beats++
    subscription.isProofDue ||= subscription.beats % beatsBetweenProofs === 0
    this.#readSoon(subscription)
  }

  /** Whose proof ends about now, and who does not read. */
  #lookAt(subscriptions: Iterable<Subscription>): void {
    const [now, at] = [this.#parts.now(), performance.now()]
    for (const { userId, streams } of subscriptions)
      for (const stream of streams) {
        if (now >= stream.endsAt) this.checkProofs(userId)
        stream.checkReader(at)
      }
  }
}

function stopping(): CarillonError {
  return new CarillonError('UNAVAILABLE', 'The service is stopping; try again in a moment')
}

function eventsOf({ changes, inbox }: Changes, mark: string): StreamEvent[] {
  return changes.map((change) => eventOf(change, inbox, mark))
}

/** The version up to which an answer tells everything. */
export function reached({ changes, inbox, more }: Changes): number {
  return more ? (changes.at(-1)?.version ?? 0) : inbox.version
}
