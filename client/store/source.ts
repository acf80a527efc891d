// The origin of a client's open lists. It knows the inbox (state.ts) by requested pages and by the
// stream's events (connection.ts), and shows it, with the user's acts (acts.ts), in the lists
// (shared-list.ts).
import type { Inbox } from '../inbox.ts'
import { areOfOneInbox, versionOf } from '../stream/position.ts'
import { abort, throwIfAborted } from '../transport/cancellation.ts'
import { CarillonError } from '../transport/errors.ts'
import type { Requests } from '../transport/requests.ts'
import type { NotificationPage, Position, StreamEvent } from '../transport/types.ts'
import { Acts } from './acts.ts'
import { Connection } from './connection.ts'
import type { InboxList, InboxSnapshot, ListState, OpenList, OpenOptions } from './inbox-list.ts'
import { isDue, type Opened, SharedList, type View } from './shared-list.ts'
import {
  type Act,
  type ActOnOne,
  backOf,
  emptyState,
  type InboxState,
  isUnclear,
  withActs,
  withEvents,
  withLists,
  withPages,
} from './state.ts'

/** Milliseconds between two snapshots after events; after an act there is no wait. */
const snapshotMs = 50
const againMs = 1_000
/** Above this number, the client forgets what no list contains. An undo may list the rest again. */
const maxKnown = 2_000
type Undo = Extract<Act, { type: 'undo' }>
const noBulk: Undo = { type: 'undo', of: 'read-all', ids: [], made: 0 }

type Timer = ReturnType<typeof setTimeout> | undefined

export class Source {
  readonly #inbox: Inbox
  #lists: SharedList[] = []
  readonly #acts: Acts
  readonly connection: Connection
  #state = emptyState
  #view: View = {
    ...emptyState,
    own: new Set(),
    categories: {},
    state: 'loading',
    error: undefined,
  }
  #events: StreamEvent[] = []
  #position: Position | undefined
  /** The server rendered its page for the first user. */
  #isFirstUser = true
  #isStale = true
  /** An undo takes back the last act. Earlier acts stay in case later ones are refused. */
  #made: Act[] = [noBulk]
  #usesCategories = false
  #areCategoriesDue = false
  #session = new AbortController()
  /** Page requests follow one another; events wait for them. */
  #pages: Promise<unknown> = Promise.resolve()
  #shownAt = Number.NEGATIVE_INFINITY
  #showTimer: Timer
  #againTimer: Timer

  constructor(requests: Requests, inbox: Inbox) {
    this.#inbox = inbox
    this.connection = new Connection(requests, this)
    this.#acts = new Acts(this)
  }

  open(options: OpenOptions = {}): OpenList {
    const list = this.#listOf(options)
    const opened: Opened = { listeners: new Set(), isHeld: false }
    const { listeners } = opened
    list.opened.add(opened)
    const one = (type: Exclude<ActOnOne['type'], 'snooze'>) => (id: string) =>
      this.#actOn({ type, id })
    const methods: InboxList = {
      getSnapshot: () => list.snapshot,
      subscribe: (listener) => {
        const entry = { listener }
        listeners.add(entry)
        return () => void listeners.delete(entry)
      },
      more: () => this.#more(list),
      hold: (isHeld) => {
        opened.isHeld = isHeld
        this.show()
      },
      showNewer: () => list.show(this.#view, true),
      read: one('read'),
      markUnread: one('unread'),
      archive: one('archive'),
      unarchive: one('unarchive'),
      snooze: (id, until) => this.#actOn({ type: 'snooze', id, until }),
      remove: one('remove'),
      readAll: () => this.#readAll(list),
      archiveRead: () => this.#addBulk({ type: 'archive-read' }),
      seen: () => this.#seen(list),
      undo: () => this.#undo(),
      close: () => {
        list.opened.delete(opened)
        listeners.clear()
        // A replaced component closes its list just before its replacement opens it.
        queueMicrotask(() => this.#closeUnused())
      },
    }
    for (const name in list.snapshot)
      if (!(name in methods))
        Object.defineProperty(methods, name, {
          get: () => {
            if (name === 'categories' && !this.#usesCategories) {
              this.#usesCategories = true
              this.#again(0)
            }
            return list.snapshot[name as keyof InboxSnapshot]
          },
        })
    return methods as OpenList
  }

  #listOf(options: OpenOptions): SharedList {
    const initial = this.#isFirstUser ? options.initial : undefined
    const list = new SharedList({ ...options, initial })
    const open = this.#lists.find(({ key }) => key === list.key)
    if (open) return open
    this.#lists.push(list)
    if (initial && this.#position === undefined) {
      this.#position = initial.version
      this.#isStale = false
      this.#add(list, [initial])
    }
    if (this.isClosed) this.connection.open()
    else
      queueMicrotask(() => {
        this.#again(0)
        this.show()
      })
    return list
  }

  #closeUnused(): void {
    this.#lists = this.#lists.filter(({ opened }) => opened.size)
    if (this.#lists.length) this.show()
    if (this.#lists.length || this.isClosed) return
    this.connection.close()
    this.#forget()
    this.#acts.wake()
  }

  #forget(): void {
    abort(this.#session)
    this.#session = new AbortController()
    this.#state = emptyState
    this.#events = []
    this.#position = undefined
    this.#isStale = true
    for (const list of this.#lists) list.isLoaded = false
    this.onState('loading')
  }

  #readAll({ snapshot, categories, status }: SharedList): Promise<void> {
    const throughSeq = snapshot.items[0]?.seq
    // Other lists show nothing unread.
    if (!throughSeq || !['inbox', 'unread', 'all'].includes(status)) return Promise.resolve()
    return this.#addBulk({ type: 'read-all', throughSeq, categories, isExact: !categories.length })
  }

  #addBulk(act: Extract<Act, { type: Undo['of'] }>): Promise<void> {
    const { known, unread, total } = this.#view
    const settled = this.#acts.add(act)
    const now = this.#view
    const made = [...known.values()].filter((one) => now.known.get(one.id) !== one)
    // An act changes one of the two.
    const count = unread - now.unread + total - now.total
    return this.#remember(
      { type: 'undo', of: act.type, ids: made.map(({ id }) => id), made: count },
      settled,
    )
  }

  #actOn(act: ActOnOne): Promise<void> {
    act.before = this.#view.known.get(act.id)
    return this.#remember(act, this.#acts.add(act))
  }

  #remember(act: Act, settled: Promise<void>): Promise<void> {
    this.#made = [...this.#made.slice(-20), act]
    settled.catch(() => {
      this.#made = this.#made.filter((one) => one !== act)
    })
    return settled
  }

  async #undo(): Promise<void> {
    const last = this.#made.at(-1)
    this.#made = []
    const back = last && backOf(last)
    if (back) return this.#acts.add(back)
    if (last)
      throw new CarillonError('CONFLICT', 'What was removed does not come back', { status: 409 })
  }

  #seen({ snapshot }: SharedList): Promise<void> {
    const throughSeq = snapshot.items[0]?.seq
    if (!throughSeq || (this.#isLive && !this.#view.unseen)) return Promise.resolve()
    return this.#acts.add({ type: 'seen', throughSeq })
  }

  show(): void {
    clearTimeout(this.#showTimer)
    this.#showTimer = undefined
    this.#shownAt = performance.now()
    this.#applyEvents()
    const { idle, ...view } = withActs(this.#state, this.#acts.pending, new Date().toISOString())
    this.#acts.remove(idle.filter(({ isDone }) => isDone))
    Object.assign(this.#view, view)
    for (const list of this.#lists) list.show(this.#view)
    if (this.#lists.some(({ isLoaded }) => !isLoaded)) this.#again(0)
    else if (this.#isFreshDue || this.#areCategoriesDue || this.#lists.some(isDue))
      this.#again(againMs)
  }

  async #loadCategories(signal: AbortSignal): Promise<void> {
    if (!this.#usesCategories) return
    this.#areCategoriesDue = false
    const [counts, preferences] = await Promise.all([
      this.#inbox.counts({ signal }),
      this.#inbox.preferences({ signal }),
    ])
    const entries = Object.entries(preferences.categories).map(([name, { label }]) => {
      const count = Object.hasOwn(counts.categories, name)
        ? counts.categories[name]
        : { total: 0, unread: 0 }
      return [name, { label, ...count }]
    })
    this.#view = { ...this.#view, categories: Object.fromEntries(entries) }
  }

  /** A page cannot draw each of 200 snapshots per second. */
  #showSoon(): void {
    const ms = globalThis.document?.hidden ? 0 : this.#shownAt + snapshotMs - performance.now()
    if (ms > 0) this.#showTimer ??= setTimeout(() => this.show(), ms)
    else this.show()
  }

  get #isLive(): boolean {
    return this.#view.state === 'live'
  }

  /** An act's event may be missing, because another act has undone it. */
  get #isFreshDue(): boolean {
    return this.#isStale || this.#acts.pending.some(({ isDone }) => isDone)
  }

  /** Requests what is due in `ms` milliseconds. Only 0 replaces a pause that has begun. */
  #again(ms: number): void {
    if (ms && this.#againTimer) return
    clearTimeout(this.#againTimer)
    this.#againTimer = setTimeout(() => {
      this.#againTimer = undefined
      if (this.#isLive) this.load().catch((error) => this.connection.restart(error))
    }, ms)
  }

  #add(list: SharedList, pages: NotificationPage[], before?: InboxState['known']): void {
    this.#state = withPages(this.#state, list, pages, before)
    list.extendTo(pages.at(-1) as NotificationPage, this.#state.known, versionOf(this.#position))
  }

  #more(list: SharedList): Promise<void> {
    list.next ??= this.#inTurn(async (signal) => {
      if (!list.snapshot.hasMore) return
      list.isLoading = true
      this.show()
      const page = await this.#inbox.list({ ...list.query, before: list.end, signal })
      throwIfAborted(signal)
      this.#applyEvents()
      const wasUnclear = list.isUnclear
      this.#add(list, [page])
      list.isUnclear ||= wasUnclear
    }).finally(() => {
      list.isLoading = false
      list.next = undefined
      this.show()
    })
    list.next.catch(() => {})
    return list.next
  }

  /** Throws if the user changes meanwhile. */
  #inTurn<Result>(task: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const { signal } = this.#session
    const turn = this.#pages.then(() => {
      throwIfAborted(signal)
      return task(signal)
    })
    this.#pages = turn.catch(() => {})
    return turn
  }

  async #pagesOf(list: SharedList, signal: AbortSignal) {
    const pages: NotificationPage[] = []
    let missing = list.size
    for (;;) {
      const before = pages.at(-1)?.items.at(-1)?.seq
      const page = await this.#inbox.list({
        ...list.query,
        limit: Math.min(missing, 100),
        before,
        signal,
      })
      pages.push(page)
      missing -= page.items.length
      if (missing <= 0 || !page.next) return { list, pages, version: page.version }
    }
  }

  #applyEvents(): void {
    const events = this.#events.splice(0)
    this.#areCategoriesDue ||= this.#usesCategories && events.length > 0
    const { known } = this.#state
    for (const list of this.#lists)
      list.isUnclear ||= events.some((event) => isUnclear(list, event, known))
    this.#state = withEvents(this.#state, events)
    if (this.#state.known.size > maxKnown) this.#state = withLists(this.#state, this.#lists)
  }

  async confirm(isRetry: boolean): Promise<void> {
    if (isRetry || !this.#isLive) await this.connection.confirm()
  }

  async transmit(act: Act): Promise<void> {
    const inbox = this.#inbox
    if ('id' in act && act.type !== 'remove') act.before ??= await inbox.get(act.id)
    if (act.type === 'read-all')
      return inbox.readAll({ throughSeq: act.throughSeq, category: act.categories })
    if (act.type === 'archive-read') return inbox.archiveRead()
    if (act.type === 'seen') return inbox.seen(act.throughSeq)
    if (act.type === 'snooze') return inbox.snooze(act.id, act.until)
    if (act.type === 'undo') return inbox.undo()
    return act.type === 'unread' ? inbox.markUnread(act.id) : inbox[act.type](act.id)
  }

  get isClosed(): boolean {
    return !this.connection.isOpen
  }

  onOtherUser(error: CarillonError): void {
    this.#acts.rejectAll(error)
    this.#made = [noBulk]
    this.#view = { ...this.#view, categories: {} }
    this.#isFirstUser = false
    this.#forget()
  }

  onState(state: ListState, error?: unknown): void {
    this.#view = { ...this.#view, state, error: error as CarillonError | undefined }
    this.show()
    if (this.#isLive) this.#acts.wake()
  }

  load(): Promise<Position> {
    this.#isStale ||= this.#view.state === 'offline'
    return this.#inTurn(async (signal) => {
      const isFresh = this.#isFreshDue
      const done = this.#acts.pending.filter(({ isDone }) => isDone)
      const due = this.#lists.filter((list) => isFresh || isDue(list))
      const [loaded] = await Promise.all([
        Promise.all(due.map((list) => this.#pagesOf(list, signal))),
        this.#loadCategories(signal),
      ])
      throwIfAborted(signal)
      this.#applyEvents()
      const { known } = this.#state
      // Oldest first: a list's rest is its total without what is known, which must not be newer.
      loaded.sort((a, b) => a.version - b.version)
      this.#position ??= loaded[0]?.version ?? 0
      if (isFresh) {
        this.#state = { ...this.#state, known: new Map() }
        this.#isStale = false
        this.#acts.remove(done)
      }
      for (const { list, pages } of loaded) this.#add(list, pages, known)
      this.show()
      return this.#position
    })
  }

  async onEvent(event: StreamEvent): Promise<void> {
    const { signal } = this.#session
    await this.#pages
    if (signal.aborted) return
    if (!areOfOneInbox(event.position, this.#position)) {
      // Another user signed in, or a backup was restored.
      this.#forget()
      return this.connection.restart()
    }
    this.#position = event.position
    if (event.type === 'hello' || event.type === 'resync') {
      this.#applyEvents()
      this.#state = { ...this.#state, unseen: event.unseen }
    } else this.#events.push(event)
    if (event.type === 'resync') {
      this.#isStale = true
      await this.load()
    }
    if (this.#isLive) this.#showSoon()
    else this.onState('live')
  }
}
