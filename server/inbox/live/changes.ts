// What changed in an inbox since a place in it, in one answer; on request held until there is something to tell.
import type { Change, ChangeSignal, Changes, Store } from '../../store/store.ts'
import { inboxTagOf, maxBehind, positionOf, reached, versionIn } from './position.ts'
import type { StreamLimits } from './stream-limits.ts'

/** `since` is a position or a bare version. */
export type ChangesQuery = { since: string; limit: number; waitMs: number; signal: AbortSignal }
type ChangesStore = Pick<Store, 'changesSince' | 'onChange' | 'history'>

export class ChangesSince {
  readonly #store: ChangesStore
  readonly #streamLimits: StreamLimits
  /** Who waits for a ring, by user. */
  readonly #waiting = new Map<string, Set<() => void>>()
  #isEnding = false

  constructor({ store, seats }: { store: ChangesStore; seats: StreamLimits }) {
    this.#store = store
    this.#streamLimits = seats
    store.onChange((ring) => this.#hear(ring))
  }

  /** The `data` of the answer as JSON text. Throws TOO_MANY_REQUESTS or UNAVAILABLE where it cannot be held. */
  async read({ userId }: { userId: string }, query: ChangesQuery): Promise<string> {
    const mark = inboxTagOf(this.#store.history, userId)
    const version = versionIn(query.since, mark)
    if (version === null) return reset
    const request = () => this.#store.changesSince({ userId, version, limit: query.limit, maxBehind })
    const found = query.waitMs === 0 ? await request() : await this.#held(userId, query, request)
    return found === 'reset' ? reset : render(found, mark)
  }

  /** Lets everybody go who waits. */
  end(): void {
    this.#isEnding = true
    this.#hear({ about: 'anything' })
  }

  async #held(userId: string, { waitMs, signal }: ChangesQuery, request: () => Promise<Changes | 'reset'>) {
    const giveUpSeat = this.#streamLimits.take(userId)
    const giveUpAt = performance.now() + waitMs
    try {
      for (;;) {
        // Before it is read: what comes meanwhile rings.
        const ring = this.#nextChange(userId, { ms: giveUpAt - performance.now(), signal })
        try {
          const found = await request()
          const isOver = signal.aborted || this.#isEnding || performance.now() >= giveUpAt
          if (isOver || found === 'reset' || found.changes.length > 0) return found
          await ring.rung
        } finally {
          ring.forget()
        }
      }
    } finally {
      giveUpSeat()
    }
  }

  #nextChange(userId: string, { ms, signal }: { ms: number; signal: AbortSignal }) {
    const { promise: rung, resolve } = Promise.withResolvers<void>()
    const waiting = this.#waiting.get(userId) ?? new Set()
    this.#waiting.set(userId, waiting.add(resolve))
    const timer = setTimeout(resolve, Math.max(ms, 0))
    const onAbort = () => resolve()
    signal.addEventListener('abort', onAbort)
    const forget = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      waiting.delete(resolve)
      if (waiting.size === 0 && this.#waiting.get(userId) === waiting) this.#waiting.delete(userId)
    }
    return { rung, forget }
  }

  #hear(ring: ChangeSignal): void {
    if (ring.about === 'inbox') for (const resolve of this.#waiting.get(ring.userId) ?? []) resolve()
    if (ring.about === 'anything')
      for (const waiting of this.#waiting.values()) for (const resolve of waiting) resolve()
  }
}

const reset = '{"reset":true}'

/** By kind, each in the order in which they came; all as they are now, so that the order between kinds does not matter. */
function render(found: Changes, mark: string): string {
  const { inbox, changes, more } = found
  const textsOf = (...types: Change['type'][]) =>
    changes.flatMap((change) =>
      change.type !== 'read-all' && types.includes(change.type) ? [change.notification] : [],
    )
  const readAlls = changes.flatMap((change) =>
    change.type === 'read-all' ? [`{"through":"${change.throughId}","readAt":"${change.at}"}`] : [],
  )
  const version = reached(found)
  return (
    `{"created":[${textsOf('arrived')}],"changed":[${textsOf('replaced', 'read')}],"readAlls":[${readAlls}],` +
    // No route removes a notification yet.
    `"removed":[],"total":${inbox.total},"unread":${inbox.unread},"version":${version},` +
    `"position":"${positionOf(version, mark)}","hasMore":${more}}`
  )
}
