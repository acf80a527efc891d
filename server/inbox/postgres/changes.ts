// What changed in an inbox after a version, on PostgreSQL: arrivals, later changes and read-alls, in one round trip.
import type { Database } from '../../store/postgres/connection/connection.ts'
import type { Row } from '../../store/postgres/connection/gathering.ts'
import { arrivalType, laterType, marksSql } from '../change-types.ts'
import { type Changes, type ChangesQuery, toChanges, toInbox } from '../inbox-state.ts'
import { notificationJsonSql } from '../notification-json.ts'
import { anyPlaceSql } from '../read-at.ts'
import { inboxField, readAtByAnyMark, readAtText, withInbox } from './pages.ts'

type Texts = { text: string; isUnread: string }

const textAt = (readAt: string) => notificationJsonSql('postgres', readAt, anyPlaceSql('$1'))

const plain: Texts = {
  // Above the high-water mark no read-all covers a notification, so none is searched for.
  text: textAt(`case when n.seq > ${inboxField('read_through')} then n.read_at else ${readAtText} end`),
  isUnread: `n.read_at is null and (n.seq > ${inboxField('read_through')} or n.unread_version >= ${inboxField('read_version')})`,
}
const byAnyMark: Texts = { text: textAt(readAtByAnyMark), isUnread: `${readAtByAnyMark} is null` }

const marks = marksSql('postgres')

// At most as many notifications arrived, or were sent again, as there were changes. If that is more than $3, halving finds
// where they begin: versions rise with seq.
const textOf = ({ text, isUnread }: Texts) => `
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
    select json_build_array(n.changed_version, case
      when n.replaced_version > greatest($2, n.version) then 'replaced'
      ${laterType(isUnread)} end, ${text})::text from notification n
    where n.user_id = $1 and n.changed_version > $2 order by n.changed_version limit $3
  ), array(${marks.readAlls}), array(${marks.archiveReads}), array(${marks.removals}) from box`
const statements = {
  plain: { name: 'changes', text: textOf(plain) },
  byAnyMark: { name: 'changesByAnyMark', text: textOf(byAnyMark) },
}

type ChangeTexts = Record<0 | 1 | 2 | 3 | 4, string[]> & Iterable<string[]>

export async function changesSince(db: Database, query: ChangesQuery): Promise<Changes | 'reset'> {
  const { userId, version, limit, maxBehind = Number.MAX_SAFE_INTEGER } = query
  // A version above every bigint would be an error on the server; here it is one that was never reached.
  const values = [userId, Math.min(version, Number.MAX_SAFE_INTEGER), limit + 1, maxBehind]
  const { row, inbox } = await db.byMarks(userId, async ({ hasCategoryMarks }) => {
    const { name, text } = statements[hasCategoryMarks ? 'byAnyMark' : 'plain']
    const found = (await db.one(name, text, values)) as Row
    return { row: found, inbox: toInbox(found) }
  })
  const behind = inbox.version - version
  if (behind < 0 || version < inbox.resetVersion || behind > maxBehind) return 'reset'
  const [created, later, readAlls, archiveReads, removed] = row.slice(-5) as unknown as ChangeTexts
  const rowsIn = (texts: readonly string[]) => texts.map((json) => JSON.parse(json))
  return toChanges(inbox, query, {
    notifications: rowsIn([...created, ...later]),
    readAlls: rowsIn(readAlls),
    archiveReads: rowsIn(archiveReads),
    removed: rowsIn(removed),
  })
}
