// An inbox without a server, for the gallery and its tests: the elements open lists of it as they do of a client. What the reader
// does changes it, as a server would; a state such as `error` is given and stays.
import type { InboxList, InboxSnapshot, ListState, OpenOptions } from '../../client/store/inbox-list.ts'
import { CarillonError, type ErrorCode } from '../../client/transport/errors.ts'
import type { Notification } from '../../client/transport/types.ts'

export type Given = {
  /** Newest first. */
  items?: Notification[]
  /** Arrived while the list was held: newer than all of `items`. */
  newer?: Notification[]
  state?: ListState
  error?: ErrorCode
  /** The code with which the inbox refuses what the reader does. */
  refusal?: ErrorCode
}

export class GivenInbox {
  #items: Notification[]
  #newer: Notification[]
  #beforeReadAll: Notification[] | undefined
  readonly #given: Given
  readonly #onChange = new Set<() => void>()

  constructor(given: Given) {
    this.#items = given.items ?? []
    this.#newer = given.newer ?? []
    this.#given = given
  }

  /** Does what `carillon.inbox.open` of the client does. */
  open({ status = 'all', limit = 20 }: OpenOptions = {}): InboxList {
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
      read: (id) => this.#act(() => this.#mark((one) => one.id === id, true)),
      unread: (id) => this.#act(() => this.#mark((one) => one.id === id, false)),
      readAll: () => this.#act(() => this.#readAll()),
      undo: () => this.#act(() => this.#undo()),
      close: () => this.#onChange.delete(update),
    }
  }

  #snapshot(status: 'all' | 'unread' | 'read', shown: number): InboxSnapshot {
    const { state = 'live', error } = this.#given
    const isShown = ({ read }: Notification) => status === 'all' || read === (status === 'read')
    const matching = this.#items.filter(isShown)
    const newer = this.#newer.filter(isShown)
    return {
      items: matching.slice(0, shown),
      newer,
      unread: [...this.#items, ...this.#newer].filter(({ read }) => !read).length,
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

  async #act(change: () => void): Promise<void> {
    const { refusal } = this.#given
    if (refusal) throw new CarillonError(refusal, 'refused by the gallery')
    change()
    this.#changed()
  }

  #readAll(): void {
    this.#beforeReadAll = this.#items
    this.#mark(() => true, true)
  }

  #undo(): void {
    this.#items = this.#beforeReadAll ?? this.#items
    this.#beforeReadAll = undefined
  }

  #mark(isMeant: (one: Notification) => boolean, read: boolean): void {
    this.#items = this.#items.map((one) => (isMeant(one) && one.read !== read ? { ...one, read } : one))
  }

  #changed(): void {
    for (const update of this.#onChange) update()
  }
}
