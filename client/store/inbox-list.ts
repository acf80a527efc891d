// The public shape of an open list. source.ts keeps it right.
import type { ListOptions } from '../inbox.ts'
import type { CarillonError } from '../transport/errors.ts'
import type { Notification, NotificationPage, Time } from '../transport/types.ts'

/** `limit`: the size of a page. */
export type OpenOptions = Pick<ListOptions, 'status' | 'category' | 'limit'> & {
  /** The first page, if the server has rendered it: the list then sends no request for it. */
  initial?: NotificationPage | undefined
}

/**
 * - `loading`: no list yet, or the connection is not there yet.
 * - `live`: the list is that of the server, and stays so.
 * - `offline`: no connection. The list stays as it was, and acts wait.
 * - `signed-out`: no user is signed in. The list is empty.
 * - `error`: the server refuses for another reason, which is in `error`.
 */
export type ListState = 'loading' | 'live' | 'offline' | 'signed-out' | 'error'

/** `label`: in the language of the user. The counts are those of the inbox. */
export type Category = { readonly label: string; readonly total: number; readonly unread: number }

/** Immutable: a new object for each change. The same holds for each item. */
export type InboxSnapshot = {
  /** Newest first, without a gap. */
  readonly items: readonly Notification[]
  /** Arrived while the list was held; not in `items`. */
  readonly newer: readonly Notification[]
  /** The number of unread notifications in the whole inbox, with the acts of this page. */
  readonly unread: number
  /** How many arrived after the last `seen`; 0 before the state is `live`. */
  readonly unseen: number
  /** The number of notifications that match the filter, on all pages. */
  readonly total: number
  /** The categories declared, muted or in the inbox, by name. Empty before the first read. */
  readonly categories: Readonly<Record<string, Category>>
  readonly state: ListState
  /** In the state `error`; in the state `offline`, the last failure. */
  readonly error: CarillonError | undefined
  readonly hasMore: boolean
  readonly isLoading: boolean
}

/**
 * `subscribe` and `getSnapshot` need no `this`.
 *
 * @example const snapshot = useSyncExternalStore(list.subscribe, list.getSnapshot)
 */
export type InboxList = {
  /** Returns the newest snapshot: the same object until something changes. */
  getSnapshot(): InboxSnapshot
  /** Calls `listener` after changes, at most once per frame. Returns a function that ends that. */
  subscribe(listener: (snapshot: InboxSnapshot) => void): () => void
  /** Loads the next page. Concurrent calls share one request. */
  more(): Promise<void>
  /**
   * True while the reader has scrolled or has the focus in the list: arrivals wait in `newer`.
   * False shows them.
   */
  hold(isHeld: boolean): void
  /** Moves `newer` into `items`. */
  showNewer(): void
  /** Marks one as read: at once here, and at the server. Rejects if the server refuses it. */
  read(id: string): Promise<void>
  /** Marks one as unread; if it is archived or snoozed, it returns to the list. */
  markUnread(id: string): Promise<void>
  /** Archives one, and marks it as read. */
  archive(id: string): Promise<void>
  /** Puts an archived or snoozed one back at its place. */
  unarchive(id: string): Promise<void>
  /** Takes one from the list. It returns at `until`, at most a year away, as the newest, unread. */
  snooze(id: string, until: Time): Promise<void>
  /** Removes one for good. */
  remove(id: string): Promise<void>
  /** Marks as read what matches the filter, up to the newest of `items`. */
  readAll(): Promise<void>
  /** Archives everything in the inbox that is read. */
  archiveRead(): Promise<void>
  /** The reader has seen the list up to the newest of `items`: `unseen` counts later arrivals. */
  seen(): Promise<void>
  /**
   * Takes back the last act of this page; a `readAll` or `archiveRead` within ten minutes. Rejects
   * with CONFLICT after `remove`, which is final.
   */
  undo(): Promise<void>
  /** Closes this list. The last `close()` of a client ends its stream. */
  close(): void
}

/** An open list also has the members of its newest snapshot. */
export type OpenList = InboxList & Readonly<InboxSnapshot>

export function firstSnapshot(initial?: NotificationPage): InboxSnapshot {
  const { items = [], unread = 0, total = 0, hasMore = false } = initial ?? {}
  const counts = { unread, unseen: 0, total, categories: {} }
  return {
    items,
    newer: [],
    ...counts,
    state: 'loading',
    error: undefined,
    hasMore,
    isLoading: !initial,
  }
}
