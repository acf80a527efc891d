// Reads what changed in an inbox after a version.
import type { Reader } from '../../store/sqlite/reader.ts'
import { arrivalType, laterType, marksSql } from '../change-types.ts'
import { type ChangeRow, type Changes, type ChangesQuery, toChanges } from '../inbox-state.ts'
import { notificationJsonSql } from '../notification-json.ts'
import { anyPlace, coveredThrough, type FoundInbox, inboxOf, readAt, readAtByAnyMark } from './pages.ts'

/** `?2` is the user's readThrough, or where the last read-all of a category ended: no read-all covers what lies beyond it. */
const readAtBeyond = (at: string) => `case when n.seq > ?2 then n.read_at else ${at} end`

export const newestUpTo = `
  select seq, version from notification where user_id = ? and seq > ? and seq <= ? order by seq desc limit 1`
const notificationSql = (at: string) => notificationJsonSql('sqlite', readAtBeyond(at), anyPlace)
const arrivalsSql = (at: string) => `
  select n.version, ${arrivalType}, ${notificationSql(at)} from notification n
  where n.user_id = ?1 and n.seq > ?3 and n.version > ?4 order by n.seq limit +?5`
const laterChangesSql = (at: string, isUnreadNow: string) => `
  select n.changed_version, case
      when n.replaced_version > max(?3, n.version) then 'replaced'
      ${laterType(isUnreadNow)}
    end, ${notificationSql(at)}
  from notification n where n.user_id = ?1 and n.changed_version > ?3 order by n.changed_version limit +?4`
export const arrivals = arrivalsSql(readAt)
export const arrivalsByAnyMark = arrivalsSql(readAtByAnyMark)
const isUnread = 'n.read_at is null and (n.seq > ?2 or n.unread_version >= ?5)'
export const laterChanges = laterChangesSql(readAt, isUnread)
export const laterChangesByAnyMark = laterChangesSql(
  readAtByAnyMark,
  `?5 is not null and ${readAtBeyond(readAtByAnyMark)} is null`,
)
export const { readAlls, archiveReads, removals } = marksSql('sqlite')

export async function changesSince(reader: Reader, query: ChangesQuery): Promise<Changes | 'reset'> {
  const { version, limit, maxBehind = Number.POSITIVE_INFINITY } = query
  const { user, inbox } = inboxOf(reader, query.userId)
  const { readVersion, categoryThrough } = inbox
  const through = coveredThrough(inbox)
  const behind = inbox.version - version
  if (behind < 0 || version < inbox.resetVersion || behind > maxBehind) return 'reset'
  if (behind === 0) return { inbox, changes: [], more: false }
  const atOnce = limit + 1
  const earliest = lastSeqUpTo(reader, query, { user, inbox })
  const created = reader.all<ChangeRow>(
    categoryThrough ? arrivalsByAnyMark : arrivals,
    user,
    through,
    earliest,
    version,
    atOnce,
  )
  if (created.length === behind) return toChanges(inbox, query, { notifications: created })
  const later = reader.all<ChangeRow>(
    categoryThrough ? laterChangesByAnyMark : laterChanges,
    user,
    through,
    version,
    atOnce,
    readVersion,
  )
  return toChanges(inbox, query, {
    notifications: [...created, ...later],
    readAlls: reader.all(readAlls, user, version, atOnce),
    archiveReads: reader.all(archiveReads, user, version, atOnce),
    removed: reader.all(removals, user, version),
  })
}

// A sequence number with no arrival after `version` at or below it, and with few other notifications above it. At most
// one arrived, or was sent again, per version since. If that is more than one result holds, bisection finds it: versions rise with seq.
function lastSeqUpTo(reader: Reader, query: ChangesQuery, { user, inbox }: FoundInbox): number {
  let low = Math.max(inbox.lastSeq - (inbox.version - query.version), inbox.firstSeq - 1)
  let high = inbox.lastSeq
  while (high - low > query.limit) {
    const middle = Math.floor((low + high) / 2)
    const [seq, version] = reader.one<[number, number]>(newestUpTo, user, low, middle) ?? [middle, 0]
    if (version > query.version) high = seq
    else low = middle
  }
  return low
}
