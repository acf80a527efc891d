// Deletes each second what is due, each minute what is too many, each hour what is too old. After a
// kill, the next second goes on.
import { removeOldAudit } from '../audit/audit.store.ts'
import { type Clock, iso } from '../basics/clock.ts'
import { counts } from '../basics/counts.ts'
import { oneAtATime, yieldToEventLoop } from '../basics/event-loop.ts'
import type { Log } from '../basics/log.ts'
import { LogWindow } from '../basics/log-window.ts'
import type { Config } from '../config/settings.ts'
import { continueKeyChange, findKeyChange } from '../delivery/by-key.store.ts'
import { removeExpiredChallenges } from '../factors/factors.store.ts'
import * as stored from '../inbox/retention.store.ts'
import { removeExpiredLinks } from '../links/links.store.ts'
import { removeOldHourly } from '../metrics/hourly.store.ts'
import { hourMs } from '../metrics/hourly.ts'
import { inBatches } from '../store/batches.ts'
import type { Store } from '../store/store.ts'
import { removeKeptSecrets } from '../tokens/sealing-secret.ts'
import { removeOldErased } from '../users/erasure/erased-ids.store.ts'

const writesAtOnce = 4
const maxAnnounced = 1_000
const everyMs = { turn: 1_000, trim: 60_000 }
/** A database that is away fails each second. */
const logEveryMs = 60_000
const hourlyKeptMs = 400 * 24 * 3_600_000
/** A client that was away is sent removals for this long. */
const eventsKeptMs = 30 * 24 * 3_600_000

type Limits = Pick<Config, 'retentionMs' | 'retentionUnreadMs' | 'inboxMax'>
/** `aged`: for age and expiry (start/removal-clock.ts). */
type Dependencies = {
  store: Store
  wall: () => number
  aged: () => Promise<number>
  log: Log
  limits: Limits
}

export class Upkeep {
  readonly #dependencies: Dependencies
  #timers: readonly NodeJS.Timeout[] = []
  #isEnding = false
  readonly #logged = new LogWindow(logEveryMs, () => {})
  readonly turn = oneAtATime(() => this.#turn())
  readonly trim = oneAtATime(() => this.#trim())
  readonly sweep = oneAtATime(() => this.#sweep())

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  start(): void {
    const every = (ms: number, work: () => Promise<void>) =>
      setInterval(() => work().catch((error: unknown) => this.#logFailure(error)), ms).unref()
    this.#timers = [every(everyMs.turn, this.turn), every(everyMs.trim, this.trim)]
  }

  async end(): Promise<void> {
    this.#isEnding = true
    for (const timer of this.#timers) clearInterval(timer)
    await Promise.allSettled([this.turn(), this.trim(), this.sweep()])
  }

  #logFailure(err: unknown): void {
    counts.timers.failed++
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
      counts.timers.due += due.length
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
        if (isFull) counts.timers.excess += size - max
        while (isFull && !this.#isEnding)
          isFull = await store.write(stored.shrink, { userId, max, at: wall() })
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
    const textOf = (time: number) => (time > 0 ? iso(time) : '')
    const retention = { readBefore: textOf(read), unreadBefore: textOf(unread) }
    const before = Math.max(read, unread)
    const changed = new Set<string>()
    let place: stored.Old['next'] = before > 0 ? { id: '', userId: '' } : undefined
    while (place !== undefined && !this.#isEnding) {
      const { old, next }: stored.Old = await store.read(stored.findOld, {
        before,
        after: place,
        retention,
      })
      await this.#removeOrWake(old, changed, retention)
      counts.timers.old += old.length
      if (changed.size >= maxAnnounced) await this.#announce(changed)
      place = next
      await yieldToEventLoop()
    }
    await this.#announce(changed)
    await this.trim()
    await inBatches(
      async () => !this.#isEnding && store.write(stored.removeOldEvents, at - eventsKeptMs),
    )
  }

  async #announce(changed: Set<string>): Promise<void> {
    if (changed.size > 0) await this.#dependencies.store.write(stored.announce, [...changed])
    changed.clear()
  }

  async #removeOrWake(
    due: readonly stored.Candidate[],
    changed: Set<string>,
    retention?: stored.Retention,
  ) {
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
    store.write(removeOldHourly, Math.floor((at - hourlyKeptMs) / hourMs)),
  ])
  await inBatches(() => store.write(removeOldAudit, at - auditRetentionMs))
  if (database.engine === 'sqlite') removeKeptSecrets(database.path, iso(at).slice(0, 10))
}
