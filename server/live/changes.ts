// What changed in an inbox since a position, in one response; if the client wants to wait, held until there is a change.
import type { Change, Changes } from '../inbox/inbox-state.ts'
import { readChanges } from '../inbox/language.ts'
import { archiveReadJson, readAllJson } from '../inbox/notification-json.ts'
import type { ChangeSignal } from '../store/events.ts'
import type { Store } from '../store/store.ts'
import { inboxTagOf, maxBehind, positionOf, reached, versionIn } from './position.ts'
import type { StreamLimits } from './stream-limits.ts'

/** `since` is a position or a bare version. */
export type ChangesQuery = { since: string; limit: number; waitMs: number; signal: AbortSignal }
export class ChangesSince {
  readonly #store: Store
  readonly #streamLimits: StreamLimits
  /** The held requests of each user, as the functions that wake them. */
  readonly #waiting = new Map<string, Set<(value?: unknown) => void>>()
  /** Ends the listening for change signals, which lasts while requests are held. */
  #stopListening: (() => void) | undefined
  #isEnding = false

  constructor({ store, streamLimits }: { store: Store; streamLimits: StreamLimits }) {
    this.#store = store
    this.#streamLimits = streamLimits
  }

  /** The `data` of the response as JSON text. Throws TOO_MANY_REQUESTS or UNAVAILABLE if the request cannot be held. */
  async read({ userId }: { userId: string }, query: ChangesQuery): Promise<string> {
    const inboxTag = inboxTagOf(this.#store.history, userId)
    const version = versionIn(query.since, inboxTag)
    if (version === null) return reset
    const request = () => readChanges(this.#store, { userId, version, limit: query.limit, maxBehind })
    const found = query.waitMs === 0 ? await request() : await this.#held(userId, query, request)
    return found === 'reset' ? reset : render(found, inboxTag)
  }

  /** Ends every wait: the held requests get their responses. */
  end(): void {
    this.#isEnding = true
    this.#onSignal({ about: 'anything' })
  }

  async #held(userId: string, { waitMs, signal }: ChangesQuery, request: () => Promise<Changes | 'reset'>) {
    this.#streamLimits.take(userId)
    const giveUpAt = performance.now() + waitMs
    try {
      for (;;) {
        // Waits before it reads, so that a change between the two is noticed.
        const next = this.#nextChange(userId, { ms: giveUpAt - performance.now(), signal })
        try {
          const found = await request()
          const isOver = signal.aborted || this.#isEnding || performance.now() >= giveUpAt
          if (isOver || found === 'reset' || found.changes.length > 0) return found
          await next.changed
        } finally {
          next.forget()
        }
      }
    } finally {
      this.#streamLimits.release(userId)
    }
  }

  #nextChange(userId: string, { ms, signal }: { ms: number; signal: AbortSignal }) {
    const { promise: changed, resolve } = Promise.withResolvers<unknown>()
    const waiting = this.#waiting.get(userId) ?? new Set()
    this.#waiting.set(userId, waiting.add(resolve))
    this.#stopListening ??= this.#store.onChange((one) => this.#onSignal(one))
    const timer = setTimeout(resolve, Math.max(ms, 0))
    signal.addEventListener('abort', resolve)
    const forget = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', resolve)
      waiting.delete(resolve)
      if (waiting.size === 0 && this.#waiting.get(userId) === waiting) this.#waiting.delete(userId)
      if (this.#waiting.size > 0) return
      this.#stopListening?.()
      this.#stopListening = undefined
    }
    return { changed, forget }
  }

  #onSignal(signal: ChangeSignal): void {
    if (signal.about === 'inbox') for (const resolve of this.#waiting.get(signal.userId) ?? []) resolve()
    if (signal.about === 'anything')
      for (const waiting of this.#waiting.values()) for (const resolve of waiting) resolve()
  }
}

const reset = '{"reset":true}'

/** Grouped by kind, each in its order. Every item has its current state, so the order between kinds does not matter. */
function render(found: Changes, inboxTag: string): string {
  const { inbox, changes, more } = found
  const textsOf = (...types: Change['type'][]) =>
    changes.flatMap((one) => ('notification' in one && types.includes(one.type) ? [one.notification] : []))
  const readAlls = changes.flatMap((change) => (change.type === 'read-all' ? [`{${readAllJson(change)}}`] : []))
  const archiveReads = changes.flatMap((one) => (one.type === 'archive-read' ? [`{${archiveReadJson(one)}}`] : []))
  const removed = changes.flatMap((one) => (one.type === 'removed' ? [`"${one.id}"`] : []))
  const changed = textsOf('replaced', 'read', 'unread', 'archived', 'unarchived', 'snoozed')
  const version = reached(found)
  return (
    `{"created":[${textsOf('created')}],"changed":[${changed}],"readAlls":[${readAlls}],"archiveReads":[${archiveReads}],` +
    `"removed":[${removed}],"total":${inbox.total},"unread":${inbox.unread},"unseen":${inbox.unseen},"version":${version},` +
    `"position":"${positionOf(version, inboxTag)}","hasMore":${more}}`
  )
}
