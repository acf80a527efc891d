// An open list: what a page displays, and what its reader does with it. Its state is kept right by source.ts.
import type { ListOptions } from '../inbox.ts'
import type { CarillonError } from '../transport/errors.ts'
import type { Notification, NotificationPage, Time } from '../transport/types.ts'

/** `limit` is the size of a page. */
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

/** Immutable: a new object for each change, and the same object while nothing changes. The same holds for each item. */
export type InboxSnapshot = {
  /** Newest first, without a gap from the newest to the end of the last page. */
  readonly items: readonly Notification[]
  /** Arrived while the list was held; not in `items`. */
  readonly newer: readonly Notification[]
  /** The number on the bell: that of the whole inbox, acts of this page included. */
  readonly unread: number
  /** How many arrived in the whole inbox after the last `seen`; 0 before the state is `live`. */
  readonly unseen: number
  /** The number of notifications that match the filter, on all pages. */
  readonly total: number
  /** Those that are declared, muted or in the inbox, by name. Empty until it is requested, because `categories` of a list or the hook was read. */
  readonly categories: Readonly<Record<string, Category>>
  readonly state: ListState
  /** In the state `error`; in the state `offline`, the last failure. */
  readonly error: CarillonError | undefined
  readonly hasMore: boolean
  readonly isLoading: boolean
}

/** `subscribe` and `getSnapshot` need no `this`: `useSyncExternalStore(list.subscribe, list.getSnapshot)`. */
export type InboxList = {
  getSnapshot(): InboxSnapshot
  /** Calls `listener` after each change, at most once per frame. Returns a function that ends that. */
  subscribe(listener: (snapshot: InboxSnapshot) => void): () => void
  /** Loads the next page. Concurrent calls share one request. */
  more(): Promise<void>
  /** True (the reader has scrolled, or has the focus in the list): arrivals wait in `newer`. False shows them. */
  hold(isHeld: boolean): void
  showNewer(): void
  /** Marks one notification as read: at once here, and at the server. Rejects with the reason if the server refuses it. */
  read(id: string): Promise<void>
  /** Marks one notification as unread. One that is archived or snoozed is back in the list. */
  unread(id: string): Promise<void>
  /** Archives one notification, and marks it as read. */
  archive(id: string): Promise<void>
  /** Puts one that is archived or snoozed back at its place. */
  unarchive(id: string): Promise<void>
  /** The notification leaves the list until then, and comes back as the newest, unread. `until`: in the future, at most a year away. */
  snooze(id: string, until: Time): Promise<void>
  /** Removes one notification for good. */
  remove(id: string): Promise<void>
  /** Marks as read all notifications that match the filter of the list, up to the newest one in `items`. */
  readAll(): Promise<void>
  /** Archives everything in the inbox that is read. */
  archiveRead(): Promise<void>
  /** Says that the reader has seen the list, up to the newest one in `items`: `unseen` counts what arrives after it. */
  seen(): Promise<void>
  /**
   * Takes back the last act of this page, whichever list sent it; a `readAll` or `archiveRead` for ten minutes, also that of another page if
   * this one has done nothing yet. A second call changes nothing. Rejects with CONFLICT after `remove`, which is final.
   */
  undo(): Promise<void>
  /** Ends the list. The last `close()` of a client ends its stream. */
  close(): void
}

/** An open list also has the members of its newest snapshot, except for `unread`, which is a method of the list. */
export type OpenList = InboxList & Readonly<Omit<InboxSnapshot, 'unread'>>

/** The snapshot before the first response: with the page that the server has rendered, if there is one. */
export function firstSnapshot(initial?: NotificationPage): InboxSnapshot {
  const { items = [], unread = 0, total = 0, hasMore = false } = initial ?? {}
  const counts = { unread, unseen: 0, total, categories: {} }
  return { items, newer: [], ...counts, state: 'loading', error: undefined, hasMore, isLoading: !initial }
}
