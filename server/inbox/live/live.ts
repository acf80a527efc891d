// Who is listening right now. One subscription for each user, however many streams he has: a ring leads to one read of the
// store and one text for all of them. Nobody waits for a slow reader.
import { notAuthenticated } from '../../errors.ts'
import { yieldToEventLoop } from '../../event-loop.ts'
import type { ChangeSignal, Changes, InboxState, Store } from '../../store/store.ts'
import { eventOf, heartbeat, helloText, resyncText, retryText, type StreamEvent } from './events.ts'
import { bytesOf, LiveStream, type Sink, type Watcher } from './live-stream.ts'
import { inboxTagOf, maxBehind, reached, versionIn } from './position.ts'
import { type StreamLimits, stopping } from './stream-limits.ts'
import { InSlices } from './work-queue.ts'

type LiveDependencies = {
  store: Pick<Store, 'readInbox' | 'changesSince' | 'onChange' | 'history'>
  seats: StreamLimits
  now: () => number
  /** From 0 to 1: those who were cut together do not come back together. */
  chance: () => number
  onFailure: (error: unknown) => void
}

const changesAtOnce = 100

const beatEveryMs = 15_000
const tickMs = 100
const slotCount = beatEveryMs / tickMs
const ticksBetweenLooks = 1_000 / tickMs
/** ChangeSignals tell when a session ends; one may be lost with the process that should have rung. */
const beatsBetweenProofs = 4

const comeBackMs = { least: 1_000, most: 4_000 }

class Subscription {
  readonly userId: string
  /** The store's when this was last looked at, and the mark that it gives. */
  history = ''
  mark = ''
  readonly slot: number
  readonly streams = new Set<LiveStream>()
  /** The version up to which all live streams were told; undefined before the first of them knows. */
  version: number | undefined
  isProofDue = false
  /** The last look at their proofs: nobody is told anything while it goes on. */
  proofs: Promise<void> | undefined
  beats = 0

  constructor(of: { userId: string; history: string; slot: number }) {
    this.userId = of.userId
    this.slot = of.slot
    this.follow(of.history)
  }

  /** From here on positions are those of this history. */
  follow(history: string): void {
    this.history = history
    this.mark = inboxTagOf(history, this.userId)
  }
}

export class Live {
  readonly #dependencies: LiveDependencies
  readonly #subscriptions = new Map<string, Subscription>()
  /** Who gets a heartbeat at which tick. */
  readonly #slots = Array.from({ length: slotCount }, () => new Set<Subscription>())
  readonly #reading: InSlices<Subscription>
  readonly #ticking: NodeJS.Timeout
  #ticks = 0
  #isEnding = false

  constructor(parts: LiveDependencies) {
    this.#dependencies = parts
    this.#reading = new InSlices((subscription) => this.#look(subscription), parts.onFailure)
    parts.store.onChange((ring) => this.#hear(ring))
    this.#ticking = setInterval(() => this.#tick(), tickMs).unref()
  }

  /** How many streams are open. */
  get size(): number {
    let size = 0
    for (const { streams } of this.#subscriptions.values()) size += streams.size
    return size
  }

  /**
   * Opens a stream, from now on or from the position `from`. Throws TOO_MANY_REQUESTS, UNAVAILABLE, or UNAUTHORIZED where
   * the proof ended meanwhile; once it has begun, everything is told through the sink.
   */
  async open(watcher: Watcher, from: string | undefined, sink: Sink): Promise<void> {
    const { userId } = watcher
    const giveUpSeat = this.#dependencies.seats.take(userId)
    const subscription = this.#subscriptionOf(userId)
    const stream = new LiveStream(watcher, sink, () => {
      giveUpSeat()
      this.#remove(subscription, stream)
    })
    this.#add(subscription, stream)
    try {
      // Now that it is among the streams: a proof that ends from here on finds it there.
      const holds = await stream.checkProof(this.#dependencies.now)
      const inbox = await this.#dependencies.store.readInbox(userId)
      if (this.#isEnding) throw stopping()
      if (!holds || stream.isOver) throw notAuthenticated()
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
    this.#reading.add(subscription)
  }

  /** Ends every stream, telling each when to come back, and takes no more. */
  async end(): Promise<void> {
    this.#isEnding = true
    this.#dependencies.seats.close()
    clearInterval(this.#ticking)
    for (const stream of this.#streams()) {
      stream.send(Buffer.from(retryText(this.#comeBackMs())))
      stream.end()
      await yieldToEventLoop()
    }
  }

  #comeBackMs(): number {
    return comeBackMs.least + this.#dependencies.chance() * (comeBackMs.most - comeBackMs.least)
  }

  *#streams(): Generator<LiveStream> {
    for (const { streams } of this.#subscriptions.values()) yield* streams
  }

  #subscriptionOf(userId: string): Subscription {
    const known = this.#subscriptions.get(userId)
    if (known !== undefined) return known
    const slot = Math.floor(this.#dependencies.chance() * slotCount) % slotCount
    return new Subscription({ userId, history: this.#dependencies.store.history, slot })
  }

  #add(subscription: Subscription, stream: LiveStream): void {
    this.#subscriptions.set(subscription.userId, subscription)
    this.#slots[subscription.slot]?.add(subscription)
    subscription.streams.add(stream)
  }

  #remove(subscription: Subscription, stream: LiveStream): void {
    subscription.streams.delete(stream)
    if (subscription.streams.size > 0) return
    this.#subscriptions.delete(subscription.userId)
    this.#slots[subscription.slot]?.delete(subscription)
    this.#reading.remove(subscription)
  }

  #begin(
    subscription: Subscription,
    stream: LiveStream,
    { from, inbox }: { from: string | undefined; inbox: InboxState },
  ): void {
    if (subscription.version === undefined) subscription.follow(this.#dependencies.store.history)
    const { mark } = subscription
    const since = from === undefined ? inbox.version : versionIn(from, mark)
    const isLost = since === null || since > inbox.version || inbox.version - since > maxBehind
    const hello = helloText(inbox, { from: isLost ? null : since, mark })
    const text = retryText(this.#comeBackMs()) + hello + (isLost ? resyncText(inbox, mark) : '')
    stream.begin(isLost ? inbox.version : since, text)
    if (subscription.version !== undefined) return
    subscription.version = inbox.version
    // It may have rung while that was being read.
    this.#reading.add(subscription)
  }

  /** What was missed goes to this stream alone, as fast as it is taken. Then it hears what the others hear: no gap (N4). */
  async #catchUp(subscription: Subscription, stream: LiveStream): Promise<void> {
    const { userId, mark } = subscription
    try {
      while (!stream.isOver && stream.position < (subscription.version ?? 0)) {
        const query = { userId, version: stream.position, limit: changesAtOnce, maxBehind }
        const found = await this.#dependencies.store.changesSince(query)
        if (found === 'reset') return stream.end()
        await stream.replay(eventsOf(found, mark), reached(found))
        await yieldToEventLoop()
      }
      stream.isLive = true
    } catch (error) {
      // Its reader comes back to where he is.
      this.#dependencies.onFailure(error)
      stream.end()
    }
  }

  #hear(ring: ChangeSignal): void {
    if (ring.about === 'anything') for (const userId of this.#subscriptions.keys()) this.checkProofs(userId)
    else if (ring.about === 'session') this.checkProofs(ring.userId)
    else if (ring.about === 'inbox') {
      const subscription = this.#subscriptions.get(ring.userId)
      if (subscription !== undefined) this.#reading.add(subscription)
    }
  }

  async #look(subscription: Subscription): Promise<void> {
    if (subscription.isProofDue) subscription.proofs = this.#checkProofsOf(subscription)
    await subscription.proofs
    await this.#read(subscription)
  }

  /** One read, one text, however many streams. A lost ring is made good at the next heartbeat, which comes here too. */
  async #read(subscription: Subscription): Promise<void> {
    const { userId, mark, version } = subscription
    if (version === undefined) return
    if (subscription.history !== this.#dependencies.store.history) return this.#restart(subscription, version)
    const found = await this.#dependencies.store.changesSince({ userId, version, limit: changesAtOnce })
    // Another read of this user was told of meanwhile; this one may have seen more, or less.
    if (subscription.version !== version) return this.#reading.add(subscription)
    if (found === 'reset') return this.#restart(subscription, version)
    if (found.changes.length === 0) return
    const events = eventsOf(found, mark)
    const told = { whole: bytesOf(events), version: reached(found) }
    subscription.version = told.version
    for (const stream of subscription.streams) stream.tell(events, told)
    if (found.more) this.#reading.add(subscription)
  }

  /** The store lost changes that were told of, or may have, in a failover perhaps. */
  async #restart(subscription: Subscription, lost: number): Promise<void> {
    const { history } = this.#dependencies.store
    const inbox = await this.#dependencies.store.readInbox(subscription.userId)
    if (subscription.version !== lost) return
    subscription.version = inbox.version
    subscription.follow(history)
    const bytes = Buffer.from(resyncText(inbox, subscription.mark))
    for (const stream of subscription.streams) stream.restart(inbox.version, bytes)
  }

  async #checkProofsOf(subscription: Subscription): Promise<void> {
    subscription.isProofDue = false
    try {
      for (const stream of [...subscription.streams]) await stream.checkProof(this.#dependencies.now)
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
    this.#reading.add(subscription)
  }

  /** Whose proof ends about now, and who does not read. */
  #lookAt(subscriptions: Iterable<Subscription>): void {
    const [now, at] = [this.#dependencies.now(), performance.now()]
    for (const { userId, streams } of subscriptions)
      for (const stream of streams) {
        if (now >= stream.endsAt) this.checkProofs(userId)
        stream.checkReader(at)
      }
  }
}

function eventsOf({ changes, inbox }: Changes, mark: string): StreamEvent[] {
  return changes.map((change) => eventOf(change, inbox, mark))
}
