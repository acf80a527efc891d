import type { Reader } from '../../store/sqlite/reader.ts'
import {
  arrivalType,
  type ChangeRow,
  type Changes,
  type ChangesQuery,
  eventsSql,
  laterType,
  toChanges,
} from '../inbox-state.ts'
import { notificationJsonSql } from '../notification-json.ts'
import { type FoundInbox, inboxOf } from './pages.ts'

const text = notificationJsonSql('sqlite')

const newestUpTo = `
  select seq, version from notification where user_id = ? and seq > ? and seq <= ? order by seq desc limit 1`
export const arrivals = `
  select n.version, ${arrivalType}, ${text} from notification n
  where n.user_id = ?1 and n.seq > ?2 and n.version > ?3 order by n.seq limit +?4`
export const laterChanges = `
  select n.changed_version, case when n.replaced_version > max(?2, n.version) then 'replaced' else ${laterType} end, ${text}
  from notification n where n.user_id = ?1 and n.changed_version > ?2 order by n.changed_version limit +?3`
export const { bulk, removals } = eventsSql('sqlite')

export async function changesSince(
  reader: Reader,
  query: ChangesQuery,
): Promise<Changes | 'reset'> {
  const { version, limit, maxBehind = Number.POSITIVE_INFINITY } = query
  const { user, inbox } = inboxOf(reader, query.userId)
  const behind = inbox.version - version
  if (behind < 0 || version < inbox.resetVersion || behind > maxBehind) return 'reset'
  if (behind === 0) return { inbox, changes: [], more: false }
  const atOnce = limit + 1
  const earliest = lastSeqUpTo(reader, query, { user, inbox })
  const created = reader.all<ChangeRow>(arrivals, user, earliest, version, atOnce)
  if (created.length === behind) return toChanges(inbox, query, { notifications: created })
  const later = reader.all<ChangeRow>(laterChanges, user, version, atOnce)
  return toChanges(inbox, query, {
    notifications: [...created, ...later],
    bulk: reader.all(bulk, user, version, atOnce),
    removed: reader.all(removals, user, version),
  })
}

// Nothing at or below the result arrived after `version`. There are at most as many arrivals as
// changes. If these are more than the limit, bisection finds the result: versions rise with seq.
function lastSeqUpTo(reader: Reader, query: ChangesQuery, { user, inbox }: FoundInbox): number {
  let low = Math.max(inbox.lastSeq - (inbox.version - query.version), inbox.firstSeq - 1)
  let high = inbox.lastSeq
  while (high - low > query.limit) {
    const middle = Math.floor((low + high) / 2)
    const [seq, version] = reader.one<[number, number]>(newestUpTo, user, low, middle) ?? [
      middle,
      0,
    ]
    if (version > query.version) high = seq
    else low = middle
  }
  return low
}
