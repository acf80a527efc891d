// One list of a client, shared by all that opened it with equal options: its extent, its snapshot and its listeners.
import type { CarillonError } from '../transport/errors.ts'
import type { Notification, NotificationPage } from '../transport/types.ts'
import { firstSnapshot, type InboxSnapshot, type ListState, type OpenOptions } from './inbox-list.ts'
import { type Extent, type InboxState, itemsOf } from './state.ts'

/** Arrivals push older items out of a list that is not held, once it is that much longer than the pages that were requested. */
const maxSurplus = 100

export type View = Pick<InboxState, 'known' | 'unread' | 'total'> & {
  state: ListState
  error: CarillonError | undefined
}

export class SharedList implements Extent {
  readonly key: string
  readonly status
  readonly categories: readonly string[]
  readonly limit: number
  end = 0
  rest = 0
  /** False before the first page, and after the user has changed. */
  isLoaded = false
  /** It has to be requested again, because an event did not say enough. */
  isUnclear = false
  isHeld = false
  /** How many calls of `close()` are still to come. */
  opened = 0
  /** The request for the next page. */
  next: Promise<void> | undefined
  isLoading = false
  snapshot: InboxSnapshot
  readonly #listeners = new Set<{ listener: (snapshot: InboxSnapshot) => void }>()
  /** The number of items that were requested. */
  #wanted: number

  constructor({ status = 'all', category = [], limit = 20, initial }: OpenOptions) {
    this.status = status
    this.categories = [category].flat()
    this.limit = limit
    this.key = JSON.stringify([status, [...this.categories].sort(), limit])
    this.#wanted = limit
    this.snapshot = firstSnapshot(initial)
  }

  /** Of the request for a page. */
  get query() {
    const { status, categories, limit } = this
    // A server of the version before does not know the status `all`.
    return { status: status === 'all' ? undefined : status, category: categories, limit }
  }

  /** The number of items to request when the list is requested again. */
  get size(): number {
    return Math.max(this.limit, this.snapshot.items.length + this.snapshot.newer.length)
  }

  subscribe(listener: (snapshot: InboxSnapshot) => void): () => void {
    // The same function may be subscribed twice.
    const entry = { listener }
    this.#listeners.add(entry)
    return () => void this.#listeners.delete(entry)
  }

  /** Pages have been added to what is known; `last` is the last of them. `version`: up to which events have been received. */
  extendTo(last: NotificationPage, known: InboxState['known'], version: number): void {
    this.end = last.next === null ? 0 : (last.items.at(-1)?.seq ?? 0)
    const count = itemsOf(known, this).length
    this.rest = Math.max(0, last.total - count)
    this.#wanted = Math.max(this.limit, count)
    this.isLoaded = true
    // Events that are not there yet may have changed the rest.
    this.isUnclear = this.categories.length > 0 && this.rest > 0 && last.version !== version
  }

  /** What is loaded, as one page. */
  page(version: number): NotificationPage {
    const { items, newer, unread, total, hasMore } = this.snapshot
    return { items: [...newer, ...items], unread, total, hasMore, version, next: hasMore ? `${this.end}` : null }
  }

  /** Makes a new snapshot. Returns whether it differs, and then calls the listeners. `isAsked`: shows what waits in `newer`. */
  show({ known, unread, total: inboxTotal, state, error }: View, isAsked = false): boolean {
    const { snapshot: old, isHeld, status } = this
    const all = this.isLoaded ? itemsOf(known, this) : []
    if (!isHeld && all.length > this.#wanted + maxSurplus) this.#cut(all)
    // Only what the reader asks for may move the items that are on screen: the next page, below the last of them.
    const places = new Set(old.items.map(({ seq }) => seq))
    const low = old.items.at(-1)?.seq ?? Number.POSITIVE_INFINITY
    const isShown = ({ seq }: Notification) => !isHeld || isAsked || seq < low || places.has(seq)
    // The reader has emptied the list, and there are more.
    if (this.end && all.length < this.limit) this.isUnclear = true
    const ofStatus = { all: inboxTotal, unread, read: inboxTotal - unread }[status]
    const total = !this.isLoaded ? 0 : this.categories.length ? all.length + this.rest : ofStatus
    const next: InboxSnapshot = {
      items: sameIfEqual(old.items, all.filter(isShown)),
      newer: sameIfEqual(
        old.newer,
        all.filter((one) => !isShown(one)),
      ),
      unread,
      total,
      state,
      error,
      hasMore: this.end > 0 && total > all.length,
      isLoading: this.isLoading || (!this.isLoaded && state === 'loading'),
    }
    const names = Object.keys(next) as (keyof InboxSnapshot)[]
    if (names.every((name) => next[name] === old[name])) return false
    this.snapshot = next
    for (const { listener } of [...this.#listeners]) notify(listener, next)
    return true
  }

  #cut(all: Notification[]): void {
    this.rest += all.length - this.#wanted
    all.length = this.#wanted
    this.end = all.at(-1)?.seq ?? 0
  }
}

/** It has to be requested. */
export function isDue({ isLoaded, isUnclear }: SharedList): boolean {
  return !isLoaded || isUnclear
}

function sameIfEqual(old: readonly Notification[], items: readonly Notification[]): readonly Notification[] {
  return old.length === items.length && items.every((one, index) => one === old[index]) ? old : items
}

/** An error of a listener is reported as uncaught, and ends nothing here. */
function notify(listener: (snapshot: InboxSnapshot) => void, snapshot: InboxSnapshot): void {
  try {
    listener(snapshot)
  } catch (error) {
    setTimeout(() => {
      throw error
    })
  }
}
