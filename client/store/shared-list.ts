// One list of a client, shared by all that open it with equal options.
import type { Notification, NotificationPage } from '../transport/types.ts'
import { firstSnapshot, type InboxSnapshot, type OpenOptions } from './inbox-list.ts'
import { type Extent, hasCounter, type InboxState, itemsOf } from './state.ts'

/** A list that is not held drops older items if it is that much longer than the requested pages. */
const maxSurplus = 100

export type View = InboxState &
  Pick<InboxSnapshot, 'categories' | 'state' | 'error'> & { own: ReadonlySet<string> }

/** An application may subscribe one function twice, so each has an object. */
export type Opened = {
  listeners: Set<{ listener: (snapshot: InboxSnapshot) => void }>
  isHeld: boolean
}

export class SharedList implements Extent {
  readonly key: string
  readonly status: Extent['status']
  readonly categories: readonly string[]
  readonly limit: number
  end = 0
  rest = 0
  isLoaded = false
  /** An event said too little: the list has to be requested again. */
  isUnclear = false
  readonly opened = new Set<Opened>()
  next: Promise<void> | undefined
  isLoading = false
  snapshot: InboxSnapshot
  #wanted: number

  constructor({ status, category = [], limit = 20, initial }: OpenOptions) {
    const categories = [category].flat().sort()
    this.key = JSON.stringify([status, categories, limit])
    const isNamed = !categories[20] && categories.every(({ length }) => length && length < 65)
    if (
      !isNamed ||
      !/^(undefined|unread|read|archived|snoozed|all) ([1-9]\d?|100)$/.test(`${status} ${limit}`)
    )
      throw new TypeError(`Invalid list: ${this.key}`)
    this.status = status ?? 'inbox'
    this.categories = categories
    this.limit = this.#wanted = limit
    this.snapshot = firstSnapshot(initial)
  }

  get query() {
    const { status, categories, limit } = this
    return { status: status === 'inbox' ? undefined : status, category: categories, limit }
  }

  get size(): number {
    return Math.max(this.limit, this.snapshot.items.length + this.snapshot.newer.length)
  }

  /** `version`: of the last received event. */
  extendTo(last: NotificationPage, known: InboxState['known'], version: number): void {
    this.end = (last.next && last.items.at(-1)?.seq) || 0
    const count = itemsOf(known, this).length
    this.rest = this.end && last.total - count
    this.#wanted = Math.max(this.limit, count)
    this.isLoaded = true
    // `rest` is wrong, even if it is 0, if the page lacks events.
    this.isUnclear =
      last.version !== version && (this.isUnclear || (this.end > 0 && !hasCounter(this)))
  }

  /** `isRequested`: shows what is in `newer`. */
  show(view: View, isRequested = false): void {
    const { known, own, unread, unseen, categories, error } = view
    const state = view.state === 'live' && !this.isLoaded ? 'loading' : view.state
    const { snapshot: old } = this
    const isHeld = [...this.opened].some((one) => one.isHeld)
    const all = this.isLoaded ? itemsOf(known, this) : []
    if (!isHeld && all.length > this.#wanted + maxSurplus) {
      this.rest += all.length - this.#wanted
      all.length = this.#wanted
      this.end = all.at(-1)?.seq ?? 0
    }
    // Items on screen move only at the reader's request: by the next page or an act.
    const places = new Set(old.items.map(({ seq }) => seq))
    const low = old.items.at(-1)?.seq ?? Number.POSITIVE_INFINITY
    const isShown = ({ id, seq }: Notification) =>
      !isHeld || isRequested || seq < low || places.has(seq) || own.has(id)
    if (this.end && all.length < this.limit) this.isUnclear = true
    const total = this.isLoaded ? this.#totalOf(view, all.length) : 0
    const waiting = all.filter((one) => !isShown(one))
    const next: InboxSnapshot = {
      items: sameIfEqual(old.items, all.filter(isShown)),
      newer: sameIfEqual(old.newer, waiting),
      unread,
      unseen,
      total,
      categories,
      state,
      error,
      hasMore: this.end > 0 && total > all.length,
      isLoading: this.isLoading || (!this.isLoaded && state === 'loading'),
    }
    if (Object.entries(next).every(([name, value]) => value === old[name as keyof InboxSnapshot]))
      return
    this.snapshot = next
    this.#notify()
  }

  #totalOf({ unread, total }: View, shown: number): number {
    if (!hasCounter(this)) return shown + this.rest
    if (this.status === 'inbox') return total
    return this.status === 'unread' ? unread : total - unread
  }

  /** Async: a listener's error is an unhandled rejection, and ends nothing here. */
  #notify(): void {
    for (const { listeners } of [...this.opened])
      for (const entry of [...listeners])
        if (listeners.has(entry)) void (async () => entry.listener(this.snapshot))()
  }
}

export function isDue({ isLoaded, isUnclear }: SharedList): boolean {
  return !isLoaded || isUnclear
}

function sameIfEqual(
  old: readonly Notification[],
  items: readonly Notification[],
): readonly Notification[] {
  return old.length === items.length && items.every((one, index) => one === old[index])
    ? old
    : items
}
