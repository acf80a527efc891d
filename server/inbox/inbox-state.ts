// What the operations of an inbox take and return, and how both engines make it of their rows.

/** The state of the inbox of a user without any delivery. Every change of an inbox updates its row first. In the order of the table's columns. */
export const emptyInbox = {
  /** Raised by one with every change, in the order in which changes become visible. */
  version: 0,
  /** The lowest sequence number in use; 1 without notifications. */
  firstSeq: 1,
  /** The highest sequence number in use, and the last that was given. A notification that was sent again leaves a gap. */
  lastSeq: 0,
  total: 0,
  unread: 0,
  /** High-water mark: every notification up to this sequence number is read, except those that the user marked as unread since. */
  readThrough: 0,
  /** The version of the last read-all that was not undone. A notification that was marked as unread at an earlier version does not count. */
  readVersion: 0,
  /** How many notifications up to `readThrough` are unread. */
  markedUnread: 0,
  /** The version of the last undo; 0 without one. */
  resetVersion: 0,
  /** No read-all of a category covers a notification above this sequence number; 0 if there was none. */
  categoryThrough: 0,
}
export type InboxState = typeof emptyInbox

const fields = Object.keys(emptyInbox) as (keyof InboxState)[]
const columnOf = (field: string) => field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
/** The columns that `toInbox` reads. */
export const inboxColumns = fields.map(columnOf)
/** The columns of an inbox `i`, each with the name of its field. */
export const inboxFields = fields.map((field) => `i.${columnOf(field)} as "${field}"`).join()

/** Which notifications are listed: those with this status and, if `categories` is given, with one of them (each named once). */
export type Filter = { status: 'all' | 'unread' | 'read'; categories?: readonly string[] | undefined }

/** Which notifications of an inbox: a numbered page, or those before a sequence number. */
export type PageRequest = Filter & { limit: number } & ({ page: number } | { before: number })

/** `unlessVersion` is the inbox version of the page that the caller already has. */
export type PageQuery = PageRequest & { userId: string; unlessVersion?: number | undefined }

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
 * `notification` is JSON text as of now, not as of `version`. 'replaced': a later delivery replaced its content; with `again` it
 * also has another place, and a client may not know it yet. 'read' or 'unread': what it is as of now.
 */
export type Change =
  | { version: number; type: 'created' | 'replaced' | 'read' | 'unread'; notification: string }
  | ({ version: number; type: 'read-all' } & ReadAll)

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
export type UndoReadAll = { userId: string; at: number }

/** How long a read-all can be undone, in milliseconds. */
export const undoableFor = 10 * 60_000

export function toInbox(row: readonly unknown[]): InboxState {
  const inbox = { ...emptyInbox }
  for (const [place, field] of fields.entries()) inbox[field] = row[place] as number
  return inbox
}

export type ChangeRow = [version: number, type: 'created' | 'replaced' | 'read' | 'unread', notification: string]
/** `categories` is JSON text. */
export type ReadAllRow = [
  version: number,
  throughSeq: number,
  throughId: string | null,
  at: string,
  categories: string | null,
]
type ChangeRows = { notifications: readonly ChangeRow[]; readAlls: readonly ReadAllRow[] }

export function toChanges(inbox: InboxState, limit: number, { notifications, readAlls }: ChangeRows): Changes {
  const all: Change[] = notifications.map(([version, type, notification]) => ({ version, type, notification }))
  for (const [version, throughSeq, throughId, at, categories] of readAlls) {
    const only = categories !== null && { categories: JSON.parse(categories) }
    all.push({ version, type: 'read-all', throughSeq, throughId, at, ...only })
  }
  all.sort((a, b) => a.version - b.version)
  return { inbox, changes: all.slice(0, limit), more: all.length > limit }
}
