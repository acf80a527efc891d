// An inbox's changes since a position, in one response that waits for a change.
import { EventEmitter, once } from 'node:events'
import { notAuthenticated } from '../basics/errors.ts'
import type { LongLivedCaller } from '../http/operation.ts'
import { readChanges } from '../inbox/inbox.store.ts'
import type { Change, Changes } from '../inbox/inbox-state.ts'
import { archiveReadJson, readAllJson } from '../inbox/notification-json.ts'
import type { Store } from '../store/store.ts'
import { inboxTagOf, positionOf, reached, versionIn } from './events.ts'
import type { StreamLimits } from './stream-limits.ts'

export type ChangesQuery = { since: string; limit: number; waitMs: number; signal: AbortSignal }

type Caller = Pick<LongLivedCaller, 'userId' | 'validUntil'>

export class ChangesSince {
  readonly #store: Store
  readonly #streamLimits: StreamLimits
  readonly #now: () => number
  readonly #changes = new EventEmitter().setMaxListeners(0)
  /** Without held requests, change signals cost nothing. */
  #stopListening: (() => void) | undefined
  #isEnding = false

  constructor({
    store,
    streamLimits,
    now,
  }: { store: Store; streamLimits: StreamLimits; now: () => number }) {
    this.#store = store
    this.#streamLimits = streamLimits
    this.#now = now
  }

  /** Throws TOO_MANY_REQUESTS or UNAVAILABLE if it cannot wait, UNAUTHORIZED if its proof ends. */
  async read(caller: Caller, query: ChangesQuery): Promise<string> {
    const { userId } = caller
    const inboxTag = inboxTagOf(this.#store.history, userId)
    const version = versionIn(query.since, inboxTag)
    if (version === null) return reset
    const request = () => readChanges(this.#store, { userId, version, limit: query.limit })
    const found = query.waitMs === 0 ? await request() : await this.#held(caller, query, request)
    return found === 'reset' ? reset : render(found, inboxTag)
  }

  checkProofs(userId: string): void {
    this.#changes.emit(userId)
  }

  end(): void {
    this.#isEnding = true
    this.#wakeAll()
  }

  #wakeAll(): void {
    // `once` also listens for 'error'.
    for (const name of this.#changes.eventNames()) if (name !== 'error') this.#changes.emit(name)
  }

  async #held(
    caller: Caller,
    { waitMs, signal }: ChangesQuery,
    request: () => Promise<Changes | 'reset'>,
  ) {
    const { userId, validUntil } = caller
    this.#streamLimits.take(userId)
    this.#stopListening ??= this.#store.onChange(
      (change) => ('userId' in change ? this.#changes.emit(change.userId) : this.#wakeAll()),
      ['inbox', 'session'],
    )
    const end = new AbortController()
    const timer = setTimeout(() => end.abort(), waitMs)
    const over = AbortSignal.any([signal, end.signal])
    let checking: NodeJS.Timeout | undefined
    try {
      for (;;) {
        // Listens first, to notice a change meanwhile.
        const changed = once(this.#changes, userId, { signal: over }).catch(() => {})
        const found = await request()
        if (over.aborted || this.#isEnding || found === 'reset' || found.changes.length > 0)
          return found
        await changed
        const endsAt = await validUntil()
        if (endsAt === null) throw notAuthenticated()
        clearTimeout(checking)
        checking = setTimeout(
          () => this.checkProofs(userId),
          Math.min(endsAt - this.#now(), waitMs),
        )
      }
    } finally {
      clearTimeout(timer)
      clearTimeout(checking)
      end.abort()
      this.#streamLimits.release(userId)
    }
  }
}

const reset = '{"reset":true}'

/** Items have their present state, so order does not matter. */
function render(found: Changes, inboxTag: string): string {
  const { inbox, changes, more } = found
  const textsOf = (...types: Change['type'][]) =>
    changes.flatMap((one) =>
      'notification' in one && types.includes(one.type) ? [one.notification] : [],
    )
  const readAlls = changes.flatMap((change) =>
    change.type === 'read-all' ? [`{${readAllJson(change)}}`] : [],
  )
  const archiveReads = changes.flatMap((one) =>
    one.type === 'archive-read' ? [`{${archiveReadJson(one)}}`] : [],
  )
  const removed = changes.flatMap((one) => (one.type === 'removed' ? [`"${one.id}"`] : []))
  const changed = textsOf('replaced', 'read', 'unread', 'archived', 'unarchived', 'snoozed')
  const version = reached(found)
  return (
    `{"created":[${textsOf('created')}],"changed":[${changed}],"readAlls":[${readAlls}],"archiveReads":[${archiveReads}],` +
    `"removed":[${removed}],"total":${inbox.total},"unread":${inbox.unread},"unseen":${inbox.unseen},"version":${version},` +
    `"position":"${positionOf(version, inboxTag)}","hasMore":${more}}`
  )
}
