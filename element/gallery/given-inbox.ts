// An inbox without a server, for the gallery and its tests: the elements open lists of it as they do of a client. What the reader
// does changes it, as a server would; a state such as `error` is given and stays.
import type { InboxList, InboxSnapshot, ListState, OpenOptions } from '../../client/store/inbox-list.ts'
import { CarillonError, type ErrorCode } from '../../client/transport/errors.ts'
import type { Notification, Preferences, PreferencesChange } from '../../client/transport/types.ts'

export type Given = {
  /** Newest first. */
  items?: Notification[]
  /** Arrived while the list was held: newer than all of `items`. */
  newer?: Notification[]
  state?: ListState
  error?: ErrorCode
  /** The code with which the inbox refuses what the reader does. */
  refusal?: ErrorCode
  /** The labels of the categories by their names; each can be muted. */
  labels?: Record<string, string>
}

/** Whether a tab displays it; a list without a status displays what is neither archived nor snoozed. */
function isIn(status: OpenOptions['status'], { read, archivedAt, snoozedUntil }: Notification): boolean {
  if (status === 'archived') return archivedAt !== null
  if (status === 'snoozed') return snoozedUntil !== null
  const isAway = archivedAt !== null || snoozedUntil !== null
  return status === 'all' || (!isAway && (!status || read === (status === 'read')))
}

const inList = { archivedAt: null, snoozedUntil: null }
const archived = { archivedAt: '2026-11-22T12:00:00.000Z', snoozedUntil: null, read: true }

export class GivenInbox {
  #items: Notification[]
  #newer: Notification[]
  #seen = 0
  #before: Notification[] | undefined
  readonly #muted = new Set<string>()
  readonly #given: Given
  readonly #onChange = new Set<() => void>()

  constructor(given: Given) {
    this.#items = given.items ?? []
    this.#newer = given.newer ?? []
    this.#given = given
  }

  /** Does what `carillon.inbox.open` of the client does. */
  open({ status, limit = 20 }: OpenOptions = {}): InboxList {
    const listeners = new Set<(snapshot: InboxSnapshot) => void>()
    let shown = limit
    let snapshot = this.#snapshot(status, shown)
    const update = () => {
      snapshot = this.#snapshot(status, shown)
      for (const listener of listeners) listener(snapshot)
    }
    this.#onChange.add(update)
    return {
      getSnapshot: () => snapshot,
      subscribe: (listener) => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
      more: async () => {
        shown += limit
        update()
      },
      hold: () => {},
      showNewer: () => this.#showNewer(),
      read: (id) => this.#change(id, { read: true }),
      unread: (id) => this.#change(id, { read: false, ...inList }),
      archive: (id) => this.#change(id, archived),
      unarchive: (id) => this.#change(id, inList),
      snooze: (id, snoozedUntil) => this.#change(id, { archivedAt: null, snoozedUntil, read: true }),
      remove: (id) => this.#act((items) => items.filter((one) => one.id !== id)),
      readAll: () => this.#changeAll(() => ({ read: true })),
      archiveRead: () => this.#changeAll((one) => (one.read && !one.snoozedUntil ? archived : {})),
      seen: () => this.seen(snapshot.items[0]?.seq ?? 0),
      undo: () => this.#act((items) => this.#before ?? items),
      close: () => this.#onChange.delete(update),
    }
  }

  async preferences(): Promise<Preferences> {
    const categories = Object.entries(this.#given.labels ?? {}).map(([name, label]) => {
      const mutedUntil = this.#muted.has(name) ? 'forever' : null
      return [name, { mutedUntil, label, description: null, mandatory: false }] as const
    })
    return { mutedUntil: null, categories: Object.fromEntries(categories) }
  }

  async setPreferences({ categories = {} }: PreferencesChange): Promise<void> {
    for (const [name, { mutedUntil }] of Object.entries(categories))
      mutedUntil ? this.#muted.add(name) : this.#muted.delete(name)
  }

  #snapshot(status: OpenOptions['status'], shown: number): InboxSnapshot {
    const { state = 'live', error } = this.#given
    const matching = this.#items.filter((one) => isIn(status, one))
    const newer = this.#newer.filter((one) => isIn(status, one))
    const listed = [...this.#items, ...this.#newer].filter((one) => isIn(undefined, one))
    return {
      items: matching.slice(0, shown),
      newer,
      unread: listed.filter(({ read }) => !read).length,
      unseen: listed.filter(({ seq }) => seq > this.#seen).length,
      total: matching.length + newer.length,
      state,
      error: error && new CarillonError(error, 'given by the gallery'),
      hasMore: matching.length > shown,
      isLoading: state === 'loading',
    }
  }

  #showNewer(): void {
    if (this.#newer.length === 0) return
    this.#items = [...this.#newer, ...this.#items]
    this.#newer = []
    this.#changed()
  }

  async seen(seq: number): Promise<void> {
    this.#seen = Math.max(this.#seen, seq)
    this.#changed()
  }

  async #act(change: (items: Notification[]) => Notification[]): Promise<void> {
    const { refusal } = this.#given
    if (refusal) throw new CarillonError(refusal, 'refused by the gallery')
    this.#items = change(this.#items)
    this.#changed()
  }

  #change(id: string, change: Partial<Notification>): Promise<void> {
    return this.#act((items) => items.map((one) => (one.id === id ? { ...one, ...change } : one)))
  }

  #changeAll(change: (one: Notification) => Partial<Notification>): Promise<void> {
    return this.#act((items) => {
      this.#before = items
      return items.map((one) => ({ ...one, ...(isIn(undefined, one) && change(one)) }))
    })
  }

  #changed(): void {
    for (const update of this.#onChange) update()
  }
}
