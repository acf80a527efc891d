// What the operations of an inbox take and return, and how both engines make it of their rows.

/** The state of the inbox of a user without any delivery. Every change of an inbox updates its row first. In the order of the table's columns. */
export const emptyInbox = {
  /** Raised by one with every change, in the order in which changes become visible. */
  version: 0,
  /** The lowest sequence number in use; 1 without notifications. */
  firstSeq: 1,
  /** The highest sequence number in use, and the last that was given. A notification that was sent again leaves a gap. */
  lastSeq: 0,
  /** How many are in the list: neither archived nor snoozed. */
  total: 0,
  /** How many are unread: all of them are in the list. */
  unread: 0,
  /** High-water mark: every notification up to this sequence number is read, except those that the user marked as unread since. */
  readThrough: 0,
  /** The version of the last read-all that was not undone. A notification that was marked as unread at an earlier version does not count. */
  readVersion: 0,
  /** How many notifications up to `readThrough` are unread. */
  markedUnread: 0,
  /** A client that is behind this version loads the list again: that of the last undo, or of a removal that is listed no more; 0 without one. */
  resetVersion: 0,
  /** No read-all of a category covers a notification above this sequence number; 0 if there was none. */
  categoryThrough: 0,
  archived: 0,
  snoozed: 0,
  /** The version of the last archive-read that was not undone; 0 without one. */
  archiveVersion: 0,
  /** What is in the list and came after what the user has seen. */
  unseen: 0,
  /** The version at which the user said last what was seen. */
  seenVersion: 0,
}
export type InboxState = typeof emptyInbox

const fields = Object.keys(emptyInbox) as (keyof InboxState)[]
const columnOf = (field: string) => field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
/** The columns that `toInbox` reads. */
export const inboxColumns = fields.map(columnOf)
/** The columns of an inbox `i`, each with the name of its field. */
export const inboxFields = (names: readonly string[] = fields) =>
  names.map((name) => `i.${columnOf(name)} as "${name}"`).join()

/** Those in the list (`inbox`), all or by read state; those away from it; everything. */
export type Status = 'inbox' | 'unread' | 'read' | 'archived' | 'snoozed' | 'all'

/** Which notifications are listed: those with this status and, if `categories` is given, with one of them (each named once). */
export type Filter = { status: Status; categories?: readonly string[] | undefined }

/** How many notifications have a status, as SQL of the columns of inbox or inbox_category. */
export const countOf: Readonly<Record<Status, string>> = {
  inbox: 'total',
  unread: 'unread',
  read: 'total - unread',
  archived: 'archived',
  snoozed: 'snoozed',
  all: 'total + archived + snoozed',
}

/** Which notifications of an inbox: a numbered page, or those before a sequence number. */
export type PageRequest = Filter & { limit: number } & ({ page: number } | { before: number })

/** `unless`: the page that the caller already has, the same object in each call. */
export type PageQuery = PageRequest & { userId: string; unless?: { version: number } | undefined }

/** Notifications as JSON text (notification-json.ts), ready to send. */
export type Page = {
  inbox: InboxState
  /** How many notifications match the filter, on all pages. */
  total: number
  /** A JSON array, newest first. */
  items: string
  /** The `before` of the next page, or null if this page reaches the end. */
  next: number | null
}

export type Counts = { inbox: InboxState; categories: Record<string, { total: number; unread: number }> }

/**
 * 'created': it arrived, or came back after a snooze. 'replaced': a later delivery replaced its content; with `again` it also has another
 * place, and a client may not know it yet. The others: what it is as of now.
 */
type NotificationChange = 'created' | 'replaced' | 'read' | 'unread' | 'archived' | 'unarchived' | 'snoozed'

/** `notification` is JSON text as of now, not as of `version`. */
export type Change =
  | { version: number; type: NotificationChange; notification: string }
  | ({ version: number; type: 'read-all' } & ReadAll)
  | ({ version: number; type: 'archive-read' } & ArchiveRead)
  | ({ version: number; type: 'removed' } & Removed)
  | { version: number; type: 'seen' }

/** Every notification that was read, and not snoozed, is archived up to this sequence number. */
export type ArchiveRead = { throughSeq: number; at: string }

/** 'deleted' by the user, 'withdrawn' by the sender. */
export type RemovalReason = 'deleted' | 'withdrawn' | 'expired' | 'retention'
export type Removed = { id: string; reason: RemovalReason }

/** `throughId` is null if that notification has another sequence number since. With `categories` it covered only these. */
export type ReadAll = { throughSeq: number; throughId: string | null; at: string; categories?: readonly string[] }

export type ChangesQuery = { userId: string; version: number; limit: number; maxBehind?: number }

export type Changes = { inbox: InboxState; changes: Change[]; more: boolean }

/** `throughId`: the notification that is the last one covered; null for all. With `categories`: distinct, at least one. */
export type MarkAllRead = {
  userId: string
  throughId: string | null
  throughSeq?: number
  categories?: readonly string[] | undefined
  at: number
}
export type OneNotification = { userId: string; id: string }
export type MarkRead = OneNotification & { at: number }
/** `at` and `until` in milliseconds. */
export type Snooze = OneNotification & { until: number; at: number }
export type Undo = { userId: string; at: number }

/** How long a read-all or an archive-read can be undone, in milliseconds. */
export const undoableFor = 10 * 60_000

export function toInbox(row: readonly unknown[] | undefined): InboxState {
  if (row === undefined) return emptyInbox
  const inbox = { ...emptyInbox }
  for (const [place, field] of fields.entries()) inbox[field] = row[place] as number
  return inbox
}

export type ChangeRow = [version: number, type: NotificationChange, notification: string]
/** `categories` is JSON text. */
type ReadAllRow = [version: number, seq: number, throughId: string | null, at: string, categories: string | null]
type ChangeRows = {
  notifications: readonly ChangeRow[]
  readAlls: readonly ReadAllRow[]
  archiveReads: readonly [version: number, throughSeq: number, at: string][]
  removed: readonly [version: number, id: string, reason: RemovalReason, at: string][]
}

/** If more were removed within `atOnceMs`, a client that has missed them begins again: it reads its list faster. */
export const maxRemoved = 1_000
const atOnceMs = 60_000

/** `removed` may have more than `limit`, so that many at once are noticed. */
export function toChanges(
  inbox: InboxState,
  { version: since, limit }: ChangesQuery,
  rows: Partial<ChangeRows>,
): Changes | 'reset' {
  const { notifications = [], readAlls = [], archiveReads = [], removed = [] } = rows
  const first = removed[0]
  const next = removed[maxRemoved]
  if (first && next && Date.parse(next[3]) - Date.parse(first[3]) < atOnceMs) return 'reset'
  const all: Change[] = notifications.map(([version, type, notification]) => ({ version, type, notification }))
  for (const [version, throughSeq, throughId, at, categories] of readAlls) {
    const only = categories !== null && { categories: JSON.parse(categories) }
    all.push({ version, type: 'read-all', throughSeq, throughId, at, ...only })
  }
  for (const [version, throughSeq, at] of archiveReads) all.push({ version, type: 'archive-read', throughSeq, at })
  for (const [version, id, reason] of removed) all.push({ version, type: 'removed', id, reason })
  if (inbox.seenVersion > since) all.push({ version: inbox.seenVersion, type: 'seen' })
  all.sort((a, b) => a.version - b.version)
  return { inbox, changes: all.slice(0, limit), more: all.length > limit }
}
