// Reads what changed in an inbox after a version.
import type { Reader } from '../../store/sqlite/reader.ts'
import { arrivalType, laterType, marksSql } from '../change-types.ts'
import { type ChangeRow, type Changes, type ChangesQuery, toChanges } from '../inbox-state.ts'
import { notificationJsonSql } from '../notification-json.ts'
import { anyPlaceSql, readAtByAnyMarkSql } from '../read-at.ts'
import { type FoundInbox, inboxOf } from './pages.ts'

/** `?2` is the user's readThrough, or where the last read-all of a category ended: no read-all covers what lies beyond it. */
const readAt = `case when n.seq > ?2 then n.read_at else ${readAtByAnyMarkSql('?1')} end`
const text = notificationJsonSql('sqlite', readAt, anyPlaceSql('?1'))

export const newestUpTo = `
  select seq, version from notification where user_id = ? and seq > ? and seq <= ? order by seq desc limit 1`
export const arrivals = `
  select n.version, ${arrivalType}, ${text} from notification n
  where n.user_id = ?1 and n.seq > ?3 and n.version > ?4 order by n.seq limit +?5`
export const laterChanges = `
  select n.changed_version, case
      when n.replaced_version > max(?3, n.version) then 'replaced'
      ${laterType(`${readAt} is null`)}
    end, ${text}
  from notification n where n.user_id = ?1 and n.changed_version > ?3 order by n.changed_version limit +?4`
export const { readAlls, archiveReads, removals } = marksSql('sqlite')

export async function changesSince(reader: Reader, query: ChangesQuery): Promise<Changes | 'reset'> {
  const { version, limit, maxBehind = Number.POSITIVE_INFINITY } = query
  const { user, inbox } = inboxOf(reader, query.userId)
  const through = Math.max(inbox.readThrough, inbox.categoryThrough)
  const behind = inbox.version - version
  if (behind < 0 || version < inbox.resetVersion || behind > maxBehind) return 'reset'
  if (behind === 0) return { inbox, changes: [], more: false }
  const atOnce = limit + 1
  const earliest = lastSeqUpTo(reader, query, { user, inbox })
  const created = reader.all<ChangeRow>(arrivals, user, through, earliest, version, atOnce)
  if (created.length === behind) return toChanges(inbox, query, { notifications: created })
  const later = reader.all<ChangeRow>(laterChanges, user, through, version, atOnce)
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
