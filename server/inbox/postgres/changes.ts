// One round trip reads arrivals, later changes and bulk acts.
import type { Database } from '../../store/postgres/connection/connection.ts'
import type { Row } from '../../store/postgres/connection/gathering.ts'
import {
  arrivalType,
  type Changes,
  type ChangesQuery,
  eventsSql,
  laterType,
  toChanges,
  toInbox,
} from '../inbox-state.ts'
import { notificationJsonSql } from '../notification-json.ts'
import { withInbox } from './pages.ts'

const text = notificationJsonSql('postgres')
const events = eventsSql('postgres')

// There are at most as many arrivals as changes. If these are more than $3, halving finds the first
// arrival: versions rise with seq.
const changesText = `
  with recursive ${withInbox}, halving (low, high) as (
    select greatest(last_seq - version + $2::bigint, first_seq - 1), last_seq from box where version - $2::bigint <= $4
    union all
    select case when middle.version > $2 then low else (low + high) / 2 end,
      case when middle.version > $2 then middle.seq else high end
    from halving left join lateral (
      select seq, version from notification where user_id = $1 and seq > low and seq <= (low + high) / 2
      order by seq desc limit 1
    ) middle on true
    where high - low > $3
  )
  select box.*, array(
    select json_build_array(n.version, ${arrivalType}, ${text})::text from notification n
    where n.user_id = $1 and n.seq > (select max(low) from halving) and n.version > $2
    order by n.seq limit $3
  ), array(
    select json_build_array(n.changed_version,
      case when n.replaced_version > greatest($2, n.version) then 'replaced' else ${laterType} end, ${text})::text from notification n
    where n.user_id = $1 and n.changed_version > $2 order by n.changed_version limit $3
  ), array(${events.bulk}), array(${events.removals}) from box`

type ChangeTexts = Record<0 | 1 | 2 | 3, string[]> & Iterable<string[]>

export async function changesSince(db: Database, query: ChangesQuery): Promise<Changes | 'reset'> {
  const { userId, version, limit, maxBehind = Number.MAX_SAFE_INTEGER } = query
  // The server would refuse a version above every bigint.
  const values = [userId, Math.min(version, Number.MAX_SAFE_INTEGER), limit + 1, maxBehind]
  const row = (await db.one('changes', changesText, values)) as Row
  const inbox = toInbox(row)
  const behind = inbox.version - version
  if (behind < 0 || version < inbox.resetVersion || behind > maxBehind) return 'reset'
  const [created, later, bulk, removed] = row.slice(-4) as unknown as ChangeTexts
  const rowsIn = (texts: readonly string[]) => texts.map((json) => JSON.parse(json))
  return toChanges(inbox, query, {
    notifications: rowsIn([...created, ...later]),
    bulk: rowsIn(bulk),
    removed: rowsIn(removed),
  })
}
