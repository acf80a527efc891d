/** The inbox of a user without a delivery, in column order. Every change updates this row first. */
export const emptyInbox = {
  /** Changes become visible in its order. */
  version: 0,
  firstSeq: 1,
  /** A notification that was sent again leaves a gap. */
  lastSeq: 0,
  /** Counts what is neither archived nor snoozed. */
  total: 0,
  unread: 0,
  archived: 0,
  snoozed: 0,
  unseen: 0,
  seenVersion: 0,
  /** A client behind this version loads the list again (0001-schema.sql). */
  resetVersion: 0,
}
export type InboxState = typeof emptyInbox

const fields = Object.keys(emptyInbox) as (keyof InboxState)[]
const columnOf = (field: string) =>
  field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
export const inboxColumns = fields.map(columnOf)
export const inboxFields = (names: readonly string[] = fields) =>
  names.map((name) => `i.${columnOf(name)} as "${name}"`).join()

export type State = 'unread' | 'read' | 'archived' | 'snoozed'

/** `unread` and `read` are in the list. */
export type Status = 'inbox' | 'unread' | 'read' | 'archived' | 'snoozed' | 'all'

export type Filter = { status: Status; categories?: readonly string[] | undefined }

export const countOf: Readonly<Record<Status, string>> = {
  inbox: 'total',
  unread: 'unread',
  read: 'total - unread',
  archived: 'archived',
  snoozed: 'snoozed',
  all: 'total + archived + snoozed',
}

export type PageRequest = Filter & { limit: number } & ({ page: number } | { before: number })

export type PageQuery = PageRequest & { userId: string }

export type Page = {
  inbox: InboxState
  total: number
  items: string
  next: number | null
}

export type Counts = {
  inbox: InboxState
  categories: Record<string, { total: number; unread: number }>
}

/** 'replaced': by `renotify` also at another place; a client may not know it yet. */
type NotificationChange =
  | 'created'
  | 'replaced'
  | 'read'
  | 'unread'
  | 'archived'
  | 'unarchived'
  | 'snoozed'

export type Change =
  | { version: number; type: NotificationChange; notification: string }
  | ({ version: number; type: 'read-all' } & ReadAll)
  | ({ version: number; type: 'archive-read' } & ArchiveRead)
  | ({ version: number; type: 'removed' } & Removed)
  | { version: number; type: 'seen' }

export type ArchiveRead = { throughSeq: number; at: string }

export type RemovalReason = 'deleted' | 'withdrawn' | 'expired' | 'retention'
export type Removed = { id: string; reason: RemovalReason }

/** Null if that notification has another sequence number now. */
export type ReadAll = {
  throughSeq: number
  throughId: string | null
  at: string
  categories?: readonly string[]
}

export type ChangesQuery = { userId: string; version: number; limit: number; maxBehind?: number }

export type Changes = { inbox: InboxState; changes: Change[]; more: boolean }

export type MarkAllRead = {
  userId: string
  throughId: string | null
  throughSeq?: number
  categories?: readonly string[] | undefined
  at: number
}
export type OneNotification = { userId: string; id: string }
export type MarkRead = OneNotification & { at: number }
export type Snooze = OneNotification & { until: number; at: number }
export type Undo = { userId: string; at: number }

/** `act`: the first step's version. `through`: where the next step ends. */
export type Rest = { act: number; through: number }

export const undoableFor = 10 * 60_000

export function toInbox(row: readonly unknown[] | undefined): InboxState {
  if (row === undefined) return emptyInbox
  const inbox = { ...emptyInbox }
  for (const [place, field] of fields.entries()) inbox[field] = row[place] as number
  return inbox
}

export type ChangeRow = [version: number, type: NotificationChange, notification: string]
type BulkRow = [
  version: number,
  kind: 'read' | 'archive',
  throughSeq: number,
  throughId: string | null,
  at: string,
  categories: string | null,
]
type ChangeRows = {
  notifications: readonly ChangeRow[]
  bulk: readonly BulkRow[]
  removed: readonly [version: number, id: string, reason: RemovalReason, at: string][]
}

/** A client that missed more reads its list faster. */
export const maxRemoved = 1_000
const atOnceMs = 60_000

export function toChanges(
  inbox: InboxState,
  { version: since, limit }: ChangesQuery,
  rows: Partial<ChangeRows>,
): Changes | 'reset' {
  const { notifications = [], bulk = [], removed = [] } = rows
  const first = removed[0]
  const next = removed[maxRemoved]
  if (first && next && Date.parse(next[3]) - Date.parse(first[3]) < atOnceMs) return 'reset'
  const all: Change[] = notifications.map(([version, type, notification]) => ({
    version,
    type,
    notification,
  }))
  for (const [version, kind, throughSeq, throughId, at, categories] of bulk) {
    if (kind === 'archive') all.push({ version, type: 'archive-read', throughSeq, at })
    else {
      const only = categories !== null && { categories: JSON.parse(categories) }
      all.push({ version, type: 'read-all', throughSeq, throughId, at, ...only })
    }
  }
  for (const [version, id, reason] of removed) all.push({ version, type: 'removed', id, reason })
  if (inbox.seenVersion > since) all.push({ version: inbox.seenVersion, type: 'seen' })
  all.sort((a, b) => a.version - b.version)
  return { inbox, changes: all.slice(0, limit), more: all.length > limit }
}

// What a client has to hear, as SQL of both engines.

/** A muted notification arrives in the archive. */
export const arrivalType = `case when n.archived_at is not null and n.changed_version is null and n.bulk_version is null then 'archived'
    when n.count > 1 then 'replaced' else 'created' end`

export const laterType = `case when n.state <> 'read' then n.state
      when n.unarchived_version = n.changed_version then 'unarchived' else 'read' end`

/** Parameters: user, version before, limit. */
export function eventsSql(engine: 'sqlite' | 'postgres') {
  const isPostgres = engine === 'postgres'
  const [user, since, limit] = isPostgres ? ['$1', '$2', '$3'] : ['?1', '?2', '+?3']
  const row = (columns: string) => (isPostgres ? `json_build_array(${columns})::text` : columns)
  return {
    bulk: `
    select ${row('b.version, b.kind, b.through_seq, n.id, b.at, b.categories')}
    from bulk b left join notification n on n.user_id = ${user} and n.seq = b.through_seq
    where b.user_id = ${user} and b.version > ${since} order by b.version limit ${limit}`,
    removals: `
    select ${row('version, id, reason, at')} from removal
    where user_id = ${user} and version > ${since} order by version limit ${isPostgres ? `$3 + ${maxRemoved}` : `${maxRemoved + 1}`}`,
  }
}
