// What is deleted without a request. Notifications are removed or woken: each second what is due, each minute what is too many, and every hour
// what is too old; what senders change by key is continued. Each node does so, in short writes that decide again under the locks of their
// inboxes: after a kill, the next second finds what is left.
import { removeOldAudit } from '../audit/audit.store.ts'
import { type Clock, iso } from '../basics/clock.ts'
import { yieldToEventLoop } from '../basics/event-loop.ts'
import type { Log } from '../basics/log.ts'
import { LogWindow } from '../basics/log-window.ts'
import type { Config } from '../config/settings.ts'
import { continueKeyChange, findKeyChange } from '../delivery/by-key.store.ts'
import { removeExpiredChallenges } from '../factors/factors.store.ts'
import * as stored from '../inbox/retention.store.ts'
import { removeExpiredLinks } from '../links/links.store.ts'
import type { Store } from '../store/store.ts'
import { removeOldErased } from '../users/erased-ids.store.ts'
import { removeKeptSecrets } from './sealing-secret.ts'

/** On PostgreSQL they take place at the same time. */
const writesAtOnce = 4
/** Inboxes whose change signals are raised together. */
const maxAnnounced = 1_000
const everyMs = { turn: 1_000, trim: 60_000 }
/** A failure is logged at once, and its repetitions within this time are not: a database that is away fails each second. */
const logEveryMs = 60_000
/** How long a client that was away is sent what was removed. */
const removalsKeptMs = 30 * 24 * 3_600_000

type Limits = Pick<Config, 'retentionMs' | 'retentionUnreadMs' | 'inboxMax'>
/** `aged`: the time by which something is too old or has expired (start/removal-clock.ts). */
type Dependencies = { store: Store; wall: () => number; aged: () => Promise<number>; log: Log; limits: Limits }

export class Upkeep {
  readonly #dependencies: Dependencies
  #timers: readonly NodeJS.Timeout[] = []
  #isEnding = false
  readonly #logged = new LogWindow(logEveryMs, () => {})
  /** Removes what has expired, wakes what was snoozed, and continues the changes by key. */
  readonly turn = oneAtATime(() => this.#turn())
  /** Removes what is too many in any inbox. */
  readonly trim = oneAtATime(() => this.#trim())
  /** Removes what is too old, what is too many, and what clients no longer have to be sent. */
  readonly sweep = oneAtATime(() => this.#sweep())

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  start(): void {
    const every = (ms: number, work: () => Promise<void>) =>
      setInterval(() => work().catch((error: unknown) => this.#logFailure(error)), ms).unref()
    this.#timers = [every(everyMs.turn, this.turn), every(everyMs.trim, this.trim)]
  }

  /** Resolves after the writes in progress. */
  async end(): Promise<void> {
    this.#isEnding = true
    for (const timer of this.#timers) clearInterval(timer)
    await Promise.allSettled([this.turn(), this.trim(), this.sweep()])
  }

  #logFailure(err: unknown): void {
    if (this.#logged.isOpen) return
    this.#logged.begin()
    const sentence = 'notifications could not be removed or woken; retrying each second'
    this.#dependencies.log.warn({ event: 'tidying-failed', err }, sentence)
  }

  async #turn(): Promise<void> {
    const { store, wall, aged } = this.#dependencies
    const changed = new Set<string>()
    let isDone = false
    while (!isDone && !this.#isEnding) {
      const due = await store.read(stored.findDue, wall(), await aged())
      await this.#removeOrWake(due, changed)
      const change = await store.read(findKeyChange)
      if (change !== undefined) await store.write(continueKeyChange, change)
      isDone = due.length === 0 && change === undefined
      if (due.length === 0 || changed.size >= maxAnnounced) await this.#announce(changed)
    }
    await this.#announce(changed)
  }

  async #trim(): Promise<void> {
    const { store, wall, limits } = this.#dependencies
    const { inboxMax: max } = limits
    if (max === undefined) return
    let user: string | undefined = ''
    while (user !== undefined && !this.#isEnding) {
      const sizes: stored.Size[] = await store.read(stored.sizesAfter, user)
      for (const { userId, size } of sizes) {
        let isFull = size > max
        while (isFull && !this.#isEnding) isFull = await store.write(stored.shrink, { userId, max, at: wall() })
      }
      user = sizes.at(-1)?.userId
      await yieldToEventLoop()
    }
  }

  async #sweep(): Promise<void> {
    const { store, aged, limits } = this.#dependencies
    const { retentionMs = Number.POSITIVE_INFINITY, retentionUnreadMs = retentionMs } = limits
    const at = await aged()
    const read = at - retentionMs
    const unread = at - retentionUnreadMs
    const retention = { readBefore: read > 0 ? iso(read) : '', unreadBefore: unread > 0 ? iso(unread) : '' }
    const before = Math.max(read, unread)
    const changed = new Set<string>()
    let place: stored.Old['next'] = before > 0 ? { id: '', userId: '' } : undefined
    while (place !== undefined && !this.#isEnding) {
      const { old, next }: stored.Old = await store.read(stored.findOld, { before, after: place, retention })
      await this.#removeOrWake(old, changed, retention)
      if (changed.size >= maxAnnounced) await this.#announce(changed)
      place = next
      await yieldToEventLoop()
    }
    await this.#announce(changed)
    await this.trim()
    let hasMore = true
    while (hasMore && !this.#isEnding) hasMore = await store.write(stored.removeOldRemovals, at - removalsKeptMs)
  }

  async #announce(changed: Set<string>): Promise<void> {
    if (changed.size > 0) await this.#dependencies.store.write(stored.announce, [...changed])
    changed.clear()
  }

  async #removeOrWake(due: readonly stored.Candidate[], changed: Set<string>, retention?: stored.Retention) {
    const { store, wall, aged } = this.#dependencies
    let next = 0
    const work = async () => {
      while (next < due.length && !this.#isEnding) {
        const chunk = due.slice(next, next + stored.maxAtOnce)
        next += stored.maxAtOnce
        const users = await store.write(stored.removeOrWake, {
          due: chunk,
          at: wall(),
          agedAt: await aged(),
          retention,
        })
        for (const userId of users) changed.add(userId)
      }
    }
    await Promise.all(Array.from({ length: writesAtOnce }, work))
  }
}

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

/** Removes links, challenges, secrets and MACs of erased ids that have expired, and old entries of the audit log. */
export async function removeEnded(
  store: Store,
  config: Config,
  { now, aged }: Pick<Clock, 'now'> & Pick<Dependencies, 'aged'>,
): Promise<void> {
  const { database, auditRetentionMs, erasedForMs } = config
  const at = await aged()
  await Promise.all([
    store.write(removeExpiredLinks, now()),
    store.write(removeExpiredChallenges, now()),
    store.write(removeOldErased, at - erasedForMs),
  ])
  // In batches, so that no other write waits long.
  let removed = 1
  while (removed > 0) removed = await store.write(removeOldAudit, at - auditRetentionMs)
  if (database.engine === 'sqlite') removeKeptSecrets(database.path, iso(at).slice(0, 10))
}
