// The SQL of every read. `limit +?` and not `limit ?`: of a bare one SQLite makes the plan depend, and prepares the
// statement again each time. Notifications leave SQLite as the JSON text that is sent: a page is one row, one string.
import { notificationJsonSql } from '../../notification-json.ts'
import { columns } from '../../rows.ts'

/** When the first read-all passed that sequence number, or up to where. */
const markPast = (seq: string, column: 'at' | 'through_seq') => `(
  select m.${column} from read_mark m where m.user_id = ?1 and m.through_seq >= ${seq} order by m.through_seq limit 1
)`
const readAt = `coalesce(n.read_at, ${markPast('n.seq', 'at')})`
// In a range ?2 is the user's read_through: beyond it no read-all has passed, and none is looked for. Mostly the first that
// passed the lowest of a page passed the rest of it as well: one look-up for all, and not one for each.
const readAtInRange = `coalesce(n.read_at, case
  when n.seq > ?2 then null
  when n.seq <= ${markPast('?3 + 1', 'through_seq')} then ${markPast('?3 + 1', 'at')}
  else ${markPast('n.seq', 'at')}
end)`

/** Where `?2` is the user's read_through. */
const readAtBeyond = `case when n.seq > ?2 then n.read_at else ${readAt} end`

/** A JSON array, newest first, and the lowest sequence number in it; both null where there is nothing. */
const pageOf = (at: string, where: string) => `
  select '[' || group_concat(text, ',') || ']', min(seq) from (
    select ${notificationJsonSql(at)} as text, n.seq from notification n where n.user_id = ?1 and ${where} order by n.seq desc
  )`
const unread = 'n.user_id = ?1 and n.seq > ?2 and n.read_at is null'
const unreadPageOf = (chosen: string) =>
  pageOf('null', `n.seq in (select n.seq from notification n where ${unread} ${chosen})`)

export const statements = {
  user: `select ${columns.user} from user where id = ?`,
  credentials: `select ${columns.user}, password_hash from user where username = ?`,
  users: `select ${columns.user} from user where username > ? order by username limit +?`,
  session: `
    select ${columns.session}
    from session s left join inbox i on i.user_id = s.user_id
    where s.user_id = ? and s.secret_hash = ?`,
  tokenRevocations: `select ${columns.tokenRevocation} from token_cutoff where expires_at > ?`,
  signingKeys: `select ${columns.signingKey} from signing_key order by created_at, kid`,
  producer: `select ${columns.producer} from producer where id = ?`,
  producers: `select ${columns.producer} from producer order by created_at, id`,

  inbox: `select ${columns.inbox} from inbox where user_id = ?`,
  range: pageOf(readAtInRange, 'n.seq > ?3 and n.seq <= ?4'),
  unreadBefore: unreadPageOf('and n.seq < ?3 order by n.seq desc limit +?4'),
  unreadFromNewest: unreadPageOf('order by n.seq desc limit +?3 offset +?4'),
  unreadFromOldest: unreadPageOf('order by n.seq limit +?3 offset +?4'),
  unreadFrom: unreadPageOf('and n.seq <= ?3 order by n.seq desc limit +?4 offset +?5'),
  unreadInBlock: `
    select count(*) from notification n where n.user_id = ?1 and n.seq > ?2 and n.seq <= ?3 and n.read_at is null`,
  changedSeqs: 'select n.seq from notification n where n.user_id = ?1 and n.changed_version > ?2',
  isUnreadBefore: `select exists (select 1 from notification n where ${unread} and n.seq < ?3)`,
  notification: `select ${notificationJsonSql(readAt)} from notification n where n.user_id = ?1 and n.id = ?2`,
  categories: 'select category, total, unread from inbox_category where user_id = ? and total > 0 order by category',
  versionAt: 'select version from notification where user_id = ? and seq = ?',
  arrivals: `
    select n.version, 'arrived', ${notificationJsonSql(readAtBeyond)} from notification n
    where n.user_id = ?1 and n.seq > ?3 and n.version > ?4 order by n.seq limit +?5`,
  laterChanges: `
    select n.changed_version, case when n.replaced_version > ?3 then 'replaced' else 'read' end, ${notificationJsonSql(readAtBeyond)}
    from notification n where n.user_id = ?1 and n.changed_version > ?3 order by n.changed_version limit +?4`,
  readAlls: `
    select m.version, n.id, m.at from read_mark m join notification n on n.user_id = m.user_id and n.seq = m.through_seq
    where m.user_id = ?1 and m.version > ?2 order by m.version limit +?3`,
} as const
