// Removes and wakes notifications without a request: each second what is due, and every hour what is too old. It also continues what senders
// change by key. Each node does so, in short writes that decide again under the locks of their inboxes: after a kill, the next second
// finds what is left.
import { iso } from '../basics/clock.ts'
import type { Log } from '../basics/log.ts'
import type { Config } from '../config/settings.ts'
import { continueKeyChange, findKeyChange } from '../delivery/by-key.store.ts'
import {
  announce,
  type Full,
  findDue,
  findOld,
  maxAtOnce,
  maxListed,
  type Old,
  type Placed,
  type Retention,
  removeOldRemovals,
  type Size,
  settle,
  shrink,
  sizesAfter,
  sizesOf,
} from '../inbox/retention.store.ts'
import type { ChangeSignal } from '../store/events.ts'
import type { Store } from '../store/store.ts'

const everyMs = 1_000
/** How long a client that was away is sent what was removed. */
const removalsKeptMs = 30 * 24 * 3_600_000

type Limits = Pick<Config, 'retentionMs' | 'retentionUnreadMs' | 'inboxMax'>
type Dependencies = { store: Store; wall: () => number; log: Log; limits: Limits }
/** How many were removed from each inbox. */
type Counts = Map<string, number>

export class Upkeep {
  readonly #dependencies: Dependencies
  /** The inboxes that changed since the last turn, if inboxes have a maximum. */
  readonly #changed = new Set<string>()
  #stop = () => {}
  #isEnding = false
  /** Removes what has expired or is too many, wakes what was snoozed, and continues the changes by key. */
  readonly turn = oneAtATime(() => this.#turn())
  /** Removes what is too old, and what is too many in any inbox. */
  readonly sweep = oneAtATime(() => this.#sweep())

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  start(): void {
    const { store, log, limits } = this.#dependencies
    const sentence = 'notifications could not be removed or woken; retrying in a second'
    const onFailure = (error: unknown) => log.warn({ event: 'tidying-failed', err: error }, sentence)
    const ticking = setInterval(() => this.turn().catch(onFailure), everyMs).unref()
    const onChange = (signal: ChangeSignal) => signal.about === 'inbox' && this.#changed.add(signal.userId)
    const stopListening = limits.inboxMax === undefined ? () => {} : store.onChange(onChange, ['inbox'])
    this.#stop = () => {
      clearInterval(ticking)
      stopListening()
    }
  }

  /** Resolves after the writes in progress. */
  async end(): Promise<void> {
    this.#isEnding = true
    this.#stop()
    await Promise.allSettled([this.turn(), this.sweep()])
  }

  async #turn(): Promise<void> {
    const { store, wall } = this.#dependencies
    const counts: Counts = new Map()
    for (let isDone = this.#isEnding; !isDone; isDone ||= this.#isEnding) {
      const changed = [...this.#changed]
      this.#changed.clear()
      for (const userIds of inChunks(changed, 1_000)) await this.#shrink(await store.read(sizesOf, userIds))
      const due = await store.read(findDue, wall())
      await this.#settle(due, counts)
      const change = await store.read(findKeyChange)
      if (change !== undefined) await store.write(continueKeyChange, change)
      isDone = due.length === 0 && change === undefined
    }
    await this.#announce(counts)
  }

  async #sweep(): Promise<void> {
    const { store, wall, limits } = this.#dependencies
    const { retentionMs = Number.POSITIVE_INFINITY, retentionUnreadMs = retentionMs, inboxMax } = limits
    const at = wall()
    const [read, unread] = [at - retentionMs, at - retentionUnreadMs]
    const retention = { readBefore: read > 0 ? iso(read) : '', unreadBefore: unread > 0 ? iso(unread) : '' }
    const before = Math.max(read, unread)
    const counts: Counts = new Map()
    let place: Old['next'] = before > 0 ? { start: '', userId: '' } : undefined
    while (place !== undefined && !this.#isEnding) {
      const { old, next }: Old = await store.read(findOld, { before, after: place, retention })
      await this.#settle(old, counts, retention)
      place = next
    }
    await this.#announce(counts)
    let user = inboxMax === undefined ? undefined : ''
    while (user !== undefined && !this.#isEnding) {
      const sizes: Size[] = await store.read(sizesAfter, user)
      await this.#shrink(sizes)
      user = sizes.at(-1)?.userId
    }
    while (!this.#isEnding && (await store.write(removeOldRemovals, at - removalsKeptMs)));
  }

  async #settle(due: readonly Placed[], counts: Counts, retention?: Retention): Promise<void> {
    const { store, wall } = this.#dependencies
    for (const { userId } of due) counts.set(userId, (counts.get(userId) ?? 0) + 1)
    for (const chunk of inChunks(due, maxAtOnce)) {
      if (this.#isEnding) return
      const users = [...new Set(chunk.map(({ userId }) => userId))]
      const unlisted = users.filter((userId) => isUnlisted(counts.get(userId)))
      await store.write(settle, { due: chunk, unlisted, at: wall(), retention })
    }
  }

  async #announce(counts: Counts): Promise<void> {
    const unlisted = [...counts.keys()].filter((userId) => isUnlisted(counts.get(userId)))
    if (unlisted.length > 0) await this.#dependencies.store.write(announce, unlisted)
  }

  async #shrink(sizes: readonly Size[]): Promise<void> {
    const { store, wall, limits } = this.#dependencies
    const max = limits.inboxMax ?? Number.POSITIVE_INFINITY
    const overfull = sizes.flatMap(({ userId, size }) => (size > max ? { userId } : []))
    for (const chunk of inChunks(overfull, maxAtOnce))
      for (let full: readonly Full[] = chunk; full.length > 0 && !this.#isEnding; )
        full = await store.write(shrink, { full, max, at: wall() })
  }
}

const isUnlisted = (count = 0) => count > maxListed

/** Another call joins the run that is not over. */
function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  return () => {
    running ??= work().finally(() => {
      running = undefined
    })
    return running
  }
}

function inChunks<Item>(items: readonly Item[], length: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / length) }, (_, n) => items.slice(n * length, (n + 1) * length))
}
