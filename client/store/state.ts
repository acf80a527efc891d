// What a client knows of an inbox, and how pages, events and acts change it. No network, no clock.
import type { ListStatus } from '../inbox.ts'
import type {
  Notification,
  NotificationPage,
  StreamData,
  StreamEvent,
  Time,
} from '../transport/types.ts'

export type Filter = {
  /** `inbox`: neither archived nor snoozed. */
  status: ListStatus | 'inbox'
  categories: readonly string[]
}

/** A list's loaded part: what matches the filter and has a `seq` of at least `end`. */
export type Extent = Filter & {
  /** 0 if the whole list is loaded. */
  end: number
  /** How many are below `end`. Only used without a counter (`hasCounter`). */
  rest: number
}

type Known = ReadonlyMap<string, Notification>

export type InboxState = {
  known: Known
  unread: number
  total: number
  /** Only events have it. */
  unseen: number
}

export const emptyState: InboxState = { known: new Map(), unread: 0, total: 0, unseen: 0 }

export type ActOnOne = { id: string; before?: Notification | undefined } & (
  | { type: 'read' | 'unread' | 'archive' | 'unarchive' | 'remove' }
  | { type: 'snooze'; until: Time }
)

export type Act =
  | ActOnOne
  /**
   * Marks these categories as read, or all without `categories`. `isExact`: all unread ones above
   * `throughSeq` are known.
   */
  | { type: 'read-all'; throughSeq: number; categories?: readonly string[]; isExact?: boolean }
  | { type: 'archive-read' }
  | { type: 'seen'; throughSeq: number }
  /** `ids`: known ones that the last bulk act changed. `made`: how many it changed. */
  | { type: 'undo'; of: 'read-all' | 'archive-read'; ids: readonly string[]; made: number }

const versions = new WeakMap<Notification, number>()

function isListed({ archivedAt, snoozedUntil }: Notification): boolean {
  return !archivedAt && !snoozedUntil
}

const isIn: Record<Filter['status'], (one: Notification) => boolean> = {
  inbox: isListed,
  unread: ({ read }) => !read,
  read: (one) => one.read && isListed(one),
  archived: ({ archivedAt }) => archivedAt !== null,
  snoozed: ({ snoozedUntil }) => snoozedUntil !== null,
  all: () => true,
}

function contains({ status, categories, end }: Extent, one: Notification): boolean {
  return one.seq >= end && isIn[status](one) && isOf(categories, one.category)
}

export function hasCounter({ status, categories }: Filter): boolean {
  return !categories.length && ['inbox', 'unread', 'read'].includes(status)
}

function isOf(categories: readonly string[], category: string | null): boolean {
  return !categories.length || categories.includes(category ?? '')
}

export function itemsOf(known: Known, extent: Extent): Notification[] {
  const items = [...known.values()].filter((one) => contains(extent, one))
  return items.sort((a, b) => b.seq - a.seq)
}

/** A page may stay open for weeks. */
export function withLists(state: InboxState, lists: readonly Extent[]): InboxState {
  const known = [...state.known].filter(([, one]) => lists.some((list) => contains(list, one)))
  return { ...state, known: new Map(known) }
}

/** Unchanged notifications stay the same objects as in `before`. */
export function withPages(
  state: InboxState,
  filter: Filter,
  pages: NotificationPage[],
  before = state.known,
) {
  const known = new Map(state.known)
  let { unread, total } = state
  for (const page of pages) {
    for (const item of page.items) put(known, item, page.version, before)
    unread = page.unread
    if (filter.status !== 'unread' && hasCounter(filter))
      total = page.total + (filter.status === 'read' ? unread : 0)
  }
  return { ...state, known, unread, total }
}

/** Each event changes only what was read at an older version. */
export function withEvents(state: InboxState, events: readonly StreamEvent[]): InboxState {
  const known = new Map(state.known)
  for (const event of events) {
    if ('notification' in event) put(known, event.notification, event.version)
    else if (event.type === 'read-all') readAll(known, event)
    else if (event.type === 'archive-read') archiveRead(known, event)
    else if (event.type === 'removed' && isOlder(known.get(event.id), event.version))
      known.delete(event.id)
  }
  const { unread, total, unseen } = events.at(-1) ?? state
  return { known, unread, total, unseen }
}

function readAll(known: Map<string, Notification>, event: StreamData['read-all']): void {
  const { throughSeq, readAt, version, categories = [] } = event
  for (const one of known.values())
    if (!one.read && one.seq <= throughSeq && isOf(categories, one.category))
      put(known, { ...one, read: true, readAt }, version)
}

function archiveRead(known: Map<string, Notification>, event: StreamData['archive-read']): void {
  const { throughSeq, archivedAt, version } = event
  for (const one of known.values())
    if (isIn.read(one) && one.seq <= throughSeq) put(known, { ...one, archivedAt }, version)
}

export function isUnclear(extent: Extent, event: StreamEvent, known: Known): boolean {
  const { status, end } = extent
  if (event.type === 'read-all' && status === 'read') return true
  if (event.type === 'archive-read' && status === 'archived') return true
  if (end === 0 || event.type === 'seen' || hasCounter(extent)) return false
  const { id = '', updatedAt = '' } =
    'notification' in event ? event.notification : (event as Partial<Notification>)
  const isNew =
    status !== 'all' &&
    status !== 'snoozed' &&
    [...known.values()].every((one) => one.updatedAt <= updatedAt)
  // It may have been in the rest, or have moved up in another list's newer page.
  const before = known.get(id)
  return (
    !(event.type === 'created' && isNew) &&
    !(before && before.seq >= end && isOlder(before, event.version))
  )
}

type Shown = InboxState & {
  known: Map<string, Notification>
  own: Set<string>
  unseenFrom: number
}

/** What the user sees: the state with the acts on it. `idle`: acts that the state shows already. */
export function withActs<Made extends Act>(state: InboxState, acts: readonly Made[], at: Time) {
  const { unseen } = state
  const listed = itemsOf(state.known, everything)
  const unseenFrom = unseen > 0 ? (listed[unseen - 1]?.seq ?? 0) : Number.POSITIVE_INFINITY
  const shown: Shown = { ...state, known: new Map(state.known), own: new Set(), unseenFrom }
  const idle = acts.filter((act) => {
    const before = { ...shown }
    const flips = idsOf(act, shown.known).filter((id) => flip(shown, id, act, at)).length
    countBulk(shown, act, flips)
    return (
      !flips &&
      (['unread', 'total', 'unseen'] as const).every((name) => before[name] === shown[name])
    )
  })
  return { ...shown, idle }
}

const everything: Extent = { status: 'inbox', categories: [], end: 0, rest: 0 }

function flip(shown: Shown, id: string, act: Act, at: Time): boolean {
  const { known, own, unseenFrom } = shown
  const one = known.get(id)
  const next = one && changedBy(act, one, at)
  if (!one || one === next) return false
  const difference = (counts: (one: Notification) => boolean) =>
    Number(!!next && counts(next)) - Number(counts(one))
  shown.unread += difference(isIn.unread)
  shown.total += difference(isListed)
  shown.unseen += difference((any) => isListed(any) && any.seq >= unseenFrom)
  if (next) known.set(id, next)
  else known.delete(id)
  own.add(id)
  return true
}

function countBulk(shown: Shown, act: Act, flips: number): void {
  const { known } = shown
  if (act.type === 'read-all' && act.isExact)
    shown.unread = [...known.values()].filter(isIn.unread).length
  if (act.type === 'undo' && flips > 0)
    shown[act.of === 'read-all' ? 'unread' : 'total'] += act.made - act.ids.length
  if (act.type === 'archive-read') shown.total = shown.unread
  if (act.type === 'seen') {
    const end = act.throughSeq + 1
    shown.unseen = Math.min(shown.unseen, itemsOf(known, { ...everything, end }).length)
    shown.unseenFrom = Math.max(shown.unseenFrom, end)
  }
}

function idsOf(act: Act, known: Known): readonly string[] {
  if ('ids' in act) return act.ids
  if ('id' in act) return [act.id]
  if (act.type === 'seen') return []
  const isMeant = (one: Notification) =>
    act.type === 'archive-read'
      ? isIn.read(one)
      : one.seq <= act.throughSeq && isOf(act.categories ?? [], one.category)
  return [...known.values()].filter(isMeant).map(({ id }) => id)
}

const changed = new WeakMap<Act, WeakMap<Notification, Notification>>()

/** One object for the same act and notification: a page renders it once. Undefined for removals. */
function changedBy(act: Act, one: Notification, at: Time): Notification | undefined {
  if (act.type === 'remove') return undefined
  const others = changed.get(act) ?? new WeakMap<Notification, Notification>()
  changed.set(act, others)
  const other = others.get(one) ?? { ...one, ...changeBy(act, one, at) }
  others.set(one, other)
  const { read, archivedAt, snoozedUntil } = one
  const isSame =
    other.read === read && other.archivedAt === archivedAt && other.snoozedUntil === snoozedUntil
  return isSame ? one : other
}

function changeBy(act: Act, one: Notification, at: Time): Partial<Notification> {
  const read = { read: true, readAt: one.readAt ?? at }
  const unread = { read: false, readAt: null }
  if (act.type === 'unread') return { ...unread, archivedAt: null, snoozedUntil: null }
  if (act.type === 'archive')
    return { ...read, archivedAt: one.archivedAt ?? at, snoozedUntil: null }
  if (act.type === 'snooze') return { ...read, archivedAt: null, snoozedUntil: act.until }
  if (act.type === 'archive-read') return { archivedAt: at }
  if (act.type === 'undo' && act.of === 'read-all') return isListed(one) ? unread : {}
  if (act.type === 'undo') return { archivedAt: null }
  return act.type === 'unarchive' ? { archivedAt: null, snoozedUntil: null } : read
}

/** Returns the act that takes this one back. Undefined for a removal, which is final. */
export function backOf(act: Act): Act | undefined {
  if (!('id' in act)) return { ...act }
  const { type, id, before } = act
  if (type === 'remove' || !before) return undefined
  const { read, archivedAt, snoozedUntil } = before
  if (archivedAt) return { type: 'archive', id }
  if (snoozedUntil) return { type: 'snooze', id, until: snoozedUntil }
  if (!read) return { type: 'unread', id }
  return { type: type === 'unread' ? 'read' : 'unarchive', id }
}

function isOlder(one: Notification | undefined, version: number): boolean {
  return (versions.get(one as Notification) ?? -1) < version
}

function put(
  known: Map<string, Notification>,
  one: Notification,
  version: number,
  before: Known = known,
): void {
  if (!isOlder(known.get(one.id), version)) return
  const old = before.get(one.id)
  const kept = old && JSON.stringify(old) === JSON.stringify(one) ? old : one
  versions.set(kept, version)
  known.set(one.id, kept)
}
