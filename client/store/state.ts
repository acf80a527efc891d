// What a client knows of an inbox, and how pages, events and acts change it: functions without a network and without a clock.
import type { Notification, NotificationPage, StreamData, StreamEvent } from '../transport/types.ts'

export type Filter = {
  status: 'all' | 'unread' | 'read'
  /** Empty: every category. */
  categories: readonly string[]
}

/** The loaded part of a list: all notifications that match the filter and have a `seq` of at least `end`. */
export type Extent = Filter & {
  /** 0 if the whole list is loaded. */
  end: number
  /** The number of notifications below `end`. Used with categories only: without them, the counters of the inbox suffice. */
  rest: number
}

type Known = ReadonlyMap<string, Notification>

export type InboxState = {
  /** The notifications of all lists by id, each at the version of the inbox at which it was read or changed last. */
  known: Known
  /** The counters of the whole inbox. */
  unread: number
  total: number
}

export const emptyState: InboxState = { known: new Map(), unread: 0, total: 0 }

/** What the user has done. */
export type Act =
  | { type: 'read' | 'unread'; id: string }
  /** Marks these categories as read, or all without `categories`. `isExact`: all unread notifications above `throughSeq` are known. */
  | { type: 'read-all'; throughSeq: number; categories?: readonly string[]; isExact?: boolean }
  /** The known notifications that the last 'read-all' made read, and how many it made read in all. */
  | { type: 'undo'; ids: readonly string[]; made: number }

const versions = new WeakMap<Notification, number>()

function contains({ status, categories, end }: Extent, { seq, read, category }: Notification): boolean {
  const isListed = seq >= end && (status === 'all' || read === (status === 'read'))
  return isListed && isOf(categories, category)
}

function isOf(categories: readonly string[], category: string | null): boolean {
  return !categories.length || categories.includes(category ?? '')
}

/** Newest first. */
export function itemsOf(known: Known, extent: Extent): Notification[] {
  const items = [...known.values()].filter((one) => contains(extent, one))
  return items.sort((a, b) => b.seq - a.seq)
}

/** Drops what no list contains: a page may stay open for weeks. */
export function withLists(state: InboxState, lists: readonly Extent[]): InboxState {
  const known = [...state.known].filter(([, one]) => lists.some((list) => contains(list, one)))
  return { ...state, known: new Map(known) }
}

/** Adds pages of one list. Notifications that have not changed since `before` are the same objects as there. */
export function withPages(
  state: InboxState,
  { status, categories }: Filter,
  pages: readonly NotificationPage[],
  before = state.known,
): InboxState {
  const known = new Map(state.known)
  let { unread, total } = state
  for (const page of pages) {
    for (const item of page.items) put(known, item, page.version, before)
    unread = page.unread
    if (status !== 'unread' && !categories.length) total = page.total + (status === 'read' ? unread : 0)
  }
  return { known, unread, total }
}

/** The state after events. Each changes only what was read at an older version. */
export function withEvents(state: InboxState, events: readonly StreamEvent[]): InboxState {
  const known = new Map(state.known)
  for (const event of events) {
    if ('notification' in event) put(known, event.notification, event.version)
    else if (event.type === 'read-all') readAll(known, event)
    else if (event.type === 'removed' && isOlder(known.get(event.id), event.version)) known.delete(event.id)
  }
  // An event has the counters of the moment at which it was sent, so those of the last one are the newest.
  const { unread, total } = events.at(-1) ?? state
  return { known, unread, total }
}

function readAll(known: Map<string, Notification>, event: StreamData['read-all']): void {
  const { throughSeq, readAt, version, categories = [] } = event
  for (const one of known.values())
    if (!one.read && one.seq <= throughSeq && isOf(categories, one.category))
      put(known, { ...one, read: true, readAt }, version)
}

/** Can a list not tell from the event, and from what was known before it, what it has to contain now? */
export function isUnclear({ status, categories, end }: Extent, event: StreamEvent, known: Known): boolean {
  // What was unread is now in the list, and unknown.
  if (event.type === 'read-all' && status === 'read') return true
  const id = 'notification' in event ? event.notification.id : 'id' in event ? event.id : ''
  // It may have been one of the rest.
  return event.type !== 'created' && categories.length > 0 && end > 0 && !((known.get(id)?.seq ?? -1) >= end)
}

/** What the user sees: the state, and on top of it the acts. `idle` are those acts that the state shows already. */
export function withActs<Made extends Act>(state: InboxState, acts: readonly Made[], at: string) {
  const known = new Map(state.known)
  let { unread } = state
  const idle = acts.filter((act) => {
    const isRead = act.type === 'read' || act.type === 'read-all'
    const ids = idsOf(act, known)
    const flips = ids.filter((id) => flip(known, id, isRead, at)).length
    const before = unread
    if (act.type === 'read-all' && act.isExact) unread = [...known.values()].filter(({ read }) => !read).length
    else if (act.type === 'undo') unread += flips && act.made - ids.length + flips
    else unread += isRead ? -flips : flips
    return !flips && unread === before
  })
  return { known, unread, total: state.total, idle }
}

function idsOf(act: Act, known: Known): readonly string[] {
  if (act.type === 'undo') return act.ids
  if (act.type !== 'read-all') return [act.id]
  const { throughSeq, categories = [] } = act
  return [...known.values()]
    .filter((one) => one.seq <= throughSeq && isOf(categories, one.category))
    .map(({ id }) => id)
}

const flipped = new WeakMap<Notification, Notification>()

/** False if it is already so, or is not known. The same notification becomes the same object each time. */
function flip(known: Map<string, Notification>, id: string, read: boolean, at: string): boolean {
  const one = known.get(id)
  if (!one || one.read === read) return false
  const other = flipped.get(one) ?? { ...one, read, readAt: read ? at : null }
  flipped.set(one, other)
  known.set(id, other)
  return true
}

function isOlder(one: Notification | undefined, version: number): boolean {
  return (versions.get(one as Notification) ?? -1) < version
}

function put(known: Map<string, Notification>, one: Notification, version: number, before: Known = known): void {
  if (!isOlder(known.get(one.id), version)) return
  const old = before.get(one.id)
  const kept = old && JSON.stringify(old) === JSON.stringify(one) ? old : one
  versions.set(kept, version)
  known.set(one.id, kept)
}
