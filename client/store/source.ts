// Where all open lists of a client come from. It requests their pages, keeps what is known of the inbox (state.ts) with the events of
// the stream (connection.ts), and shows it, with the acts of the user (acts.ts), to the lists (shared-list.ts).
import { areOfOneInbox, versionOf } from '../stream/tabs/tab-log.ts'
import { type CarillonError, isCarillonError } from '../transport/errors.ts'
import type { Requests } from '../transport/requests.ts'
import type { NotificationPage, Position, StreamEvent } from '../transport/types.ts'
import { Acts } from './acts.ts'
import { Connection } from './connection.ts'
import type { InboxList, ListState, OpenOptions } from './inbox-list.ts'
import { isDue, SharedList } from './shared-list.ts'
import { type Act, emptyState, type InboxState, isUnclear, withActs, withEvents, withPages } from './state.ts'

/** What the store calls of the inbox. */
export type Calls = {
  list(options: ListCall): Promise<NotificationPage>
  transmit(act: Act): Promise<void>
}
export type ListCall = {
  status: SharedList['status']
  category: readonly string[]
  limit: number
  before: number | undefined
  signal: AbortSignal
}

/** Between two snapshots that events cause. An act, and an event after a pause, cause one at once. */
const snapshotMs = 50
/** Before a list that is unclear is requested again. */
const againMs = 1_000

export class Source {
  readonly #calls: Calls
  readonly #lists = new Map<string, SharedList>()
  readonly #acts: Acts
  readonly #connection: Connection
  #state: InboxState = emptyState
  #view: Pick<InboxState, 'known' | 'unread' | 'total'> = emptyState
  #status: { state: ListState; error: CarillonError | undefined } = { state: 'loading', error: undefined }
  /** Events that the state does not have yet. */
  #events: StreamEvent[] = []
  /** Of the last event; before the first one, the version of the oldest page. */
  #position: Position | undefined
  /** All lists have to be requested. */
  #isStale = true
  #lastReadAll: { ids: string[]; made: number } = { ids: [], made: 0 }
  /** Aborts the requests for pages when the user changes, and when the last list is closed. */
  #session = new AbortController()
  /** The requests for pages, one after the other. Events wait for them. */
  #pages: Promise<unknown> = Promise.resolve()
  #shownAt = Number.NEGATIVE_INFINITY
  #timers: { show?: ReturnType<typeof setTimeout>; again?: ReturnType<typeof setTimeout> } = {}

  constructor(requests: Requests, calls: Calls) {
    this.#calls = calls
    this.#connection = new Connection(requests, {
      load: () => this.#loadDue(),
      onEvent: (event) => this.#receive(event),
      onState: (state, error) => this.#setStatus(state, error),
      onOtherUser: (error) => {
        this.#acts.rejectAll(error)
        this.#forget()
      },
    })
    this.#acts = new Acts({
      confirm: async () => this.#status.state === 'live' || this.#connection.confirm(),
      transmit: (act) => this.#whileSignedIn(calls.transmit(act)),
      isClosed: () => !this.#connection.isOpen,
      onChange: () => this.#show(),
    })
  }

  /** A user has signed in or out with this client. */
  lookAgain(): void {
    this.#connection.lookAgain()
  }

  open(options: OpenOptions = {}): InboxList {
    const list = this.#listOf(options)
    list.opened++
    let isOpen = true
    return {
      getSnapshot: () => list.snapshot,
      subscribe: (listener) => list.subscribe(listener),
      more: () => this.#more(list),
      hold: (isHeld) => {
        list.isHeld = isHeld
        this.#show()
      },
      showNewer: () => list.show({ ...this.#view, ...this.#status }, true),
      read: (id) => this.#acts.add({ type: 'read', id }),
      unread: (id) => this.#acts.add({ type: 'unread', id }),
      readAll: () => this.#readAll(list),
      undo: () => this.#acts.add({ type: 'undo', ...this.#lastReadAll }),
      close: () => {
        if (isOpen) list.opened--
        isOpen = false
        // A component that is replaced by another closes its list just before the other opens it.
        queueMicrotask(() => this.#closeUnused())
      },
    }
  }

  #listOf(options: OpenOptions): SharedList {
    const made = new SharedList(options)
    const list = this.#lists.get(made.key) ?? made
    if (list !== made) return list
    this.#lists.set(list.key, list)
    const { initial } = options
    if (initial && this.#position === undefined) {
      this.#position = initial.version
      this.#isStale = false
      this.#add(list, [initial])
    }
    if (this.#connection.isOpen) queueMicrotask(() => this.#again(0))
    else this.#connection.open()
    return list
  }

  #closeUnused(): void {
    for (const [key, { opened }] of this.#lists) if (!opened) this.#lists.delete(key)
    if (this.#lists.size || !this.#connection.isOpen) return
    this.#connection.close()
    this.#forget()
    clearTimeout(this.#timers.again)
    this.#timers = {}
    this.#acts.wake()
  }

  /** Forgets everything that is known of the inbox. */
  #forget(): void {
    this.#session.abort()
    this.#session = new AbortController()
    this.#state = emptyState
    this.#events = []
    this.#position = undefined
    this.#isStale = true
    for (const list of this.#lists.values()) list.clear()
    this.#setStatus('loading')
  }

  #setStatus(state: ListState, error?: unknown): void {
    this.#status = { state, error: error as CarillonError | undefined }
    this.#show()
    if (state === 'live') this.#acts.wake()
  }

  /** An act with which the user marks as read what the list shows, and nothing that arrives later. */
  async #readAll(list: SharedList): Promise<void> {
    const throughSeq = list.snapshot.items[0]?.seq
    if (throughSeq === undefined) return
    const before = this.#view
    const isExact = !list.categories.length && list.status !== 'read'
    const settled = this.#acts.add({ type: 'read-all', throughSeq, isExact })
    const after = this.#view
    const ids = [...before.known.values()].filter(({ id, read }) => !read && after.known.get(id)?.read)
    this.#lastReadAll = { ids: ids.map(({ id }) => id), made: before.unread - after.unread }
    return settled
  }

  async #whileSignedIn(call: Promise<void>): Promise<void> {
    try {
      return await call
    } catch (error) {
      if (isCarillonError(error) && error.status === 401) this.#connection.restart(error)
      throw error
    }
  }

  #show(): void {
    clearTimeout(this.#timers.show)
    delete this.#timers.show
    this.#shownAt = performance.now()
    this.#applyEvents()
    const { idle, ...view } = withActs(this.#state, this.#acts.pending, new Date().toISOString())
    this.#acts.remove(idle.filter(({ isDone }) => isDone))
    this.#view = view
    for (const list of this.#lists.values()) list.show({ ...view, ...this.#status })
    if (this.#isFreshDue || [...this.#lists.values()].some(isDue)) this.#again(againMs)
  }

  /** A page cannot draw each of 200 snapshots per second. */
  #showSoon(): void {
    const ms = globalThis.document?.hidden ? 0 : this.#shownAt + snapshotMs - performance.now()
    if (ms > 0) this.#timers.show ??= setTimeout(() => this.#show(), ms)
    else this.#show()
  }

  /** An event that an act has to cause may be missing, because another act has undone it: after a request, it does not matter. */
  get #isFreshDue(): boolean {
    return this.#isStale || this.#acts.pending.some(({ isDone }) => isDone)
  }

  /** Once the stream is there, requests what is due. */
  #again(ms: number): void {
    if (this.#status.state !== 'live') return
    this.#timers.again ??= setTimeout(async () => {
      delete this.#timers.again
      if (this.#status.state === 'live') await this.#loadDue().catch((error) => this.#connection.restart(error))
    }, ms)
  }

  /** Requests the lists that are due. Resolves to the position from which the stream continues. */
  #loadDue(): Promise<Position> {
    return this.#inTurn(async (signal) => {
      const isFresh = this.#isFreshDue
      const due = [...this.#lists.values()].filter((list) => isFresh || isDue(list))
      const done = this.#acts.pending.filter(({ isDone }) => isDone)
      const loaded = await Promise.all(due.map(async (list) => [list, await this.#pagesOf(list, signal)] as const))
      signal.throwIfAborted()
      this.#applyEvents()
      const { known } = this.#state
      this.#position ??= Math.min(...loaded.flatMap(([, pages]) => pages.map(({ version }) => version)))
      if (isFresh) {
        this.#state = emptyState
        this.#isStale = false
        this.#acts.remove(done)
      }
      for (const [list, pages] of loaded) this.#add(list, pages, known)
      this.#show()
      return this.#position
    })
  }

  async #pagesOf(list: SharedList, signal: AbortSignal): Promise<NotificationPage[]> {
    const pages: NotificationPage[] = []
    let before: number | undefined
    for (let missing = list.size; missing > 0; ) {
      const page = await this.#request(list, { limit: Math.min(missing, 100), before, signal })
      pages.push(page)
      missing = page.next === null ? 0 : missing - page.items.length
      before = page.items.at(-1)?.seq
    }
    return pages
  }

  #request({ status, categories: category }: SharedList, page: Pick<ListCall, 'limit' | 'before' | 'signal'>) {
    return this.#calls.list({ status, category, ...page })
  }

  #add(list: SharedList, pages: readonly NotificationPage[], before?: InboxState['known']): void {
    this.#state = withPages(this.#state, list, pages, before)
    const last = pages.at(-1) as NotificationPage
    list.extendTo(last, this.#state.known)
    list.isUnclear = list.categories.length > 0 && list.rest > 0 && last.version !== versionOf(this.#position)
  }

  #more(list: SharedList): Promise<void> {
    list.next ??= this.#inTurn(async (signal) => {
      if (!list.snapshot.hasMore) return
      list.isLoading = true
      this.#show()
      const { end: before, limit } = list
      const page = await this.#request(list, { limit, before, signal })
      signal.throwIfAborted()
      this.#applyEvents()
      this.#add(list, [page])
    }).finally(() => {
      list.isLoading = false
      list.next = undefined
      this.#show()
    })
    list.next.catch(() => {})
    return list.next
  }

  /** Runs after the requests for pages before it. Throws if the user changes in between. */
  #inTurn<Result>(task: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const { signal } = this.#session
    const turn = this.#pages.then(() => {
      signal.throwIfAborted()
      return task(signal)
    })
    this.#pages = turn.catch(() => {})
    return turn
  }

  async #receive(event: StreamEvent): Promise<void> {
    await this.#pages
    if (!areOfOneInbox(event.position, this.#position)) {
      // Another user has signed in, or a backup was restored.
      this.#forget()
      this.#connection.restart()
      return
    }
    this.#position = event.position
    if (event.type === 'resync') {
      this.#isStale = true
      await this.#loadDue()
    } else this.#events.push(event)
    if (this.#status.state !== 'live') this.#setStatus('live')
    else this.#showSoon()
  }

  #applyEvents(): void {
    if (!this.#events.length) return
    const { known } = this.#state
    for (const list of this.#lists.values())
      list.isUnclear ||= this.#events.some((event) => isUnclear(list, event, known))
    this.#state = withEvents(this.#state, this.#events)
    this.#events = []
  }
}
