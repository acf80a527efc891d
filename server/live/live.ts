// All open streams of this process. For each user, a change signal causes one read and one text. No
// stream waits for another's slow client.
import { notAuthenticated } from '../basics/errors.ts'
import { WorkQueue, yieldToEventLoop } from '../basics/event-loop.ts'
import { maxBehind, readChanges, readInbox } from '../inbox/inbox.store.ts'
import type { InboxState } from '../inbox/inbox-state.ts'
import type { ChangeSignal } from '../store/events.ts'
import type { Store } from '../store/store.ts'
import { erasedKey, isErasedKey } from '../tokens/tokens.store.ts'
import { ChangesSince } from './changes.ts'
import {
  eventsOf,
  heartbeat,
  helloText,
  inboxTagOf,
  reached,
  resyncText,
  retryText,
  versionIn,
} from './events.ts'
import { bytesOf, LiveStream, type Sink, type Watcher } from './live-stream.ts'
import { type StreamLimits, stopping } from './stream-limits.ts'

type LiveDependencies = {
  store: Store
  streamLimits: StreamLimits
  now: () => number
  /** Clients disconnected together must not return together. */
  random: () => number
  onFailure: (error: unknown) => void
}

type Beginning = { from: string | undefined; inbox: InboxState }

const changesAtOnce = 100

const heartbeatMs = 15_000
const tickMs = 100
const slotCount = heartbeatMs / tickMs
const ticksBetweenChecks = 1_000 / tickMs
/** The signal of a session's end may be lost. */
const heartbeatsBetweenProofs = 4

const reconnectMs = { min: 1_000, max: 4_000 }

class Subscription {
  readonly userId: string
  history = ''
  inboxTag = ''
  /** Subscriptions of one slot get their heartbeat at one tick. */
  readonly slot: number
  /** A change replaces it, so loops see all. A Set would take 180 bytes. */
  streams: readonly LiveStream[] = []
  version: number | undefined
  isProofDue = false
  /** Events wait until the proofs are checked. */
  proofs: Promise<void> | undefined
  heartbeats = 0

  constructor(userId: string, slot: number) {
    this.userId = userId
    this.slot = slot
  }

  follow(history: string): void {
    this.history = history
    this.inboxTag = inboxTagOf(history, this.userId)
  }
}

export class Live {
  readonly changes: ChangesSince
  readonly #dependencies: LiveDependencies
  readonly #subscriptions = new Map<string, Subscription>()
  readonly #reading: WorkQueue<Subscription>
  readonly #ticking: NodeJS.Timeout
  #ticks = 0
  /** Without streams, change signals cost nothing. */
  #stopListening: (() => void) | undefined

  constructor(dependencies: LiveDependencies) {
    this.#dependencies = dependencies
    this.changes = new ChangesSince(dependencies)
    this.#reading = new WorkQueue(
      (subscription) => this.#readChecked(subscription),
      dependencies.onFailure,
    )
    this.#ticking = setInterval(() => this.#tick(), tickMs).unref()
  }

  get size(): number {
    return this.#subscriptions.values().reduce((sum, { streams }) => sum + streams.length, 0)
  }

  /** Throws TOO_MANY_REQUESTS, UNAVAILABLE or UNAUTHORIZED before the stream begins. */
  async open(watcher: Watcher, from: string | undefined, sink: Sink): Promise<void> {
    const { userId } = watcher
    this.#dependencies.streamLimits.take(userId)
    const slot = Math.floor(this.#dependencies.random() * slotCount)
    const subscription = this.#subscriptions.get(userId) ?? new Subscription(userId, slot)
    const stream = new LiveStream(watcher, sink, this.#onOver)
    this.#stopListening ??= this.#dependencies.store.onChange((signal) => this.#onSignal(signal))
    this.#subscriptions.set(userId, subscription)
    subscription.streams = [...subscription.streams, stream]
    try {
      // If the proof ends from here on, the signal finds the stream.
      await stream.checkProof(this.#dependencies.now)
      const inbox = await this.#dependencies.store.read(readInbox, userId)
      if (this.#dependencies.streamLimits.isClosed) throw stopping()
      if (stream.hasEnded) throw notAuthenticated()
      this.#begin(subscription, stream, { from, inbox })
    } catch (error) {
      stream.leave()
      throw error
    }
    await this.#catchUp(subscription, stream)
  }

  checkProofs(userId: string): void {
    this.changes.checkProofs(userId)
    const subscription = this.#subscriptions.get(userId) ?? this.#findErased(userId)
    if (subscription === undefined) return
    subscription.isProofDue = true
    this.#reading.add(subscription)
  }

  checkEveryProof(): void {
    for (const userId of this.#subscriptions.keys()) this.checkProofs(userId)
  }

  // One microsecond for each user.
  #findErased(key: string): Subscription | undefined {
    if (!isErasedKey(key)) return undefined
    return this.#subscriptions.values().find(({ userId }) => erasedKey(userId) === key)
  }

  async end(): Promise<void> {
    this.changes.end()
    this.#dependencies.streamLimits.close()
    clearInterval(this.#ticking)
    for (const stream of this.#subscriptions.values().flatMap(({ streams }) => streams)) {
      stream.send(Buffer.from(retryText(this.#reconnectMs())))
      stream.end()
      await yieldToEventLoop()
    }
  }

  #reconnectMs(): number {
    return reconnectMs.min + this.#dependencies.random() * (reconnectMs.max - reconnectMs.min)
  }

  /** A closure for each stream would keep what opened it. */
  readonly #onOver = (stream: LiveStream): void => {
    this.#dependencies.streamLimits.release(stream.userId)
    const subscription = this.#subscriptions.get(stream.userId) as Subscription
    subscription.streams = subscription.streams.filter((one) => one !== stream)
    if (subscription.streams.length > 0) return
    this.#subscriptions.delete(subscription.userId)
    if (this.#subscriptions.size > 0) return
    this.#stopListening?.()
    this.#stopListening = undefined
  }

  #begin(subscription: Subscription, stream: LiveStream, { from, inbox }: Beginning): void {
    if (subscription.version === undefined) subscription.follow(this.#dependencies.store.history)
    const { inboxTag } = subscription
    const since = from === undefined ? inbox.version : versionIn(from, inboxTag)
    const isLost =
      since === null ||
      since > inbox.version ||
      since < inbox.resetVersion ||
      inbox.version - since > maxBehind
    const text =
      retryText(this.#reconnectMs()) + helloText(inbox, { from: isLost ? null : since, inboxTag })
    stream.begin(isLost ? inbox.version : since, text)
    if (subscription.version !== undefined) return
    subscription.version = inbox.version
    // Before there was a version to compare, the inbox may have changed.
    this.#reading.add(subscription)
  }

  /** Sends as fast as the client reads. Then the stream is live, without a gap (N4). */
  async #catchUp(subscription: Subscription, stream: LiveStream): Promise<void> {
    const { userId, inboxTag } = subscription
    try {
      while (!stream.hasEnded && stream.position < (subscription.version ?? 0)) {
        const { position: version } = stream
        const found = await readChanges(this.#dependencies.store, {
          userId,
          version,
          limit: changesAtOnce,
        })
        if (found === 'reset') await this.#resync(stream, inboxTag)
        else await stream.replay(eventsOf(found, inboxTag), reached(found))
        await yieldToEventLoop()
      }
      stream.isLive = true
    } catch (error) {
      this.#dependencies.onFailure(error)
      stream.end()
    }
  }

  /** If the store lost changes, a reconnect gets the resync. */
  async #resync(stream: LiveStream, inboxTag: string): Promise<void> {
    const inbox = await this.#dependencies.store.read(readInbox, stream.userId)
    if (stream.position <= inbox.version)
      stream.resync(inbox.version, Buffer.from(resyncText(inbox, inboxTag)))
    else stream.end()
  }

  #onSignal(signal: ChangeSignal): void {
    if (signal.about === 'anything') this.checkEveryProof()
    else if (signal.about === 'session') this.checkProofs(signal.userId)
    else if (signal.about === 'inbox') {
      const subscription = this.#subscriptions.get(signal.userId)
      if (subscription !== undefined) this.#reading.add(subscription)
    }
  }

  async #readChecked(subscription: Subscription): Promise<void> {
    if (subscription.isProofDue) subscription.proofs = this.#checkProofsOf(subscription)
    await subscription.proofs
    await this.#read(subscription)
  }

  /** After a lost change signal, the next heartbeat causes the read. */
  async #read(subscription: Subscription): Promise<void> {
    const { userId, inboxTag, version, streams } = subscription
    if (version === undefined || streams.length === 0) return
    if (subscription.history !== this.#dependencies.store.history)
      return this.#restart(subscription, version)
    const found = await readChanges(this.#dependencies.store, {
      userId,
      version,
      limit: changesAtOnce,
    })
    // Another read was sent first: read again.
    if (subscription.version !== version) return this.#reading.add(subscription)
    if (found === 'reset') return this.#restart(subscription, version)
    if (found.changes.length === 0) return
    const events = eventsOf(found, inboxTag)
    const sent = { whole: bytesOf(events), version: reached(found) }
    subscription.version = sent.version
    for (const stream of subscription.streams) stream.sendEvents(events, sent)
    if (found.more) this.#reading.add(subscription)
  }

  /** A failover or restore may have lost changes that were sent. */
  async #restart(subscription: Subscription, reachedBefore: number): Promise<void> {
    const { history } = this.#dependencies.store
    const inbox = await this.#dependencies.store.read(readInbox, subscription.userId)
    if (subscription.version !== reachedBefore) return
    const isUndo = history === subscription.history && reachedBefore < inbox.resetVersion
    subscription.follow(history)
    subscription.version = isUndo ? inbox.resetVersion : inbox.version
    const resync = Buffer.from(resyncText(inbox, subscription.inboxTag))
    for (const stream of subscription.streams)
      if (!isUndo) stream.restart(inbox.version, resync)
      else if (stream.isLive && stream.position < inbox.resetVersion)
        stream.resync(inbox.version, resync)
    if (inbox.version > subscription.version) this.#reading.add(subscription)
  }

  async #checkProofsOf(subscription: Subscription): Promise<void> {
    subscription.isProofDue = false
    try {
      for (const stream of subscription.streams) await stream.checkProof(this.#dependencies.now)
    } catch (error) {
      subscription.isProofDue = true
      throw error
    }
  }

  /** Each tick serves some, so that no turn has all. */
  #tick(): void {
    const tick = this.#ticks++
    const now = this.#dependencies.now()
    for (const subscription of this.#subscriptions.values()) {
      const ticks = tick - subscription.slot
      if (ticks % slotCount === 0) this.#sendHeartbeat(subscription)
      if (
        ticks % ticksBetweenChecks === 0 &&
        subscription.streams.some(({ endsAt }) => now >= endsAt)
      )
        this.checkProofs(subscription.userId)
    }
  }

  #sendHeartbeat(subscription: Subscription): void {
    for (const stream of subscription.streams) if (stream.isLive) stream.send(heartbeat)
    subscription.heartbeats++
    subscription.isProofDue ||= subscription.heartbeats % heartbeatsBetweenProofs === 0
    this.#reading.add(subscription)
  }
}
