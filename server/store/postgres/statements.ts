// The SQL of every statement, each one round trip. `$1` is the user wherever there is one: a hot statement touches one
// partition. Pages are assembled as JSON text by the server. The laws of writing are in functions/.
import { notificationJsonSql } from '../notification-json.ts'
import { columns } from '../rows.ts'
import { blockSize } from '../unread-blocks.ts'

/** When the first read-all passed that sequence number, or up to where. */
const markPast = (seq: string, column: 'at' | 'through_seq') => `(
  select m.${column} from read_mark m where m.user_id = $1 and m.through_seq >= ${seq} order by m.through_seq limit 1
)`
const readAt = `coalesce(n.read_at, ${markPast('n.seq', 'at')})`
const text = notificationJsonSql(readAt)
const box = `box as (
  select version, first_seq, last_seq, total, unread, read_through from inbox where user_id = $1
  union all
  select 0, 1, 0, 0, 0, 0 where not exists (select 1 from inbox where user_id = $1)
)`
/** A field of it as a value, not as a join: a plan that was made without values then always takes a range of the index. */
const boxed = (expression: string) => `(select ${expression} from box)`
const unreadOf = `n.user_id = $1 and n.read_at is null and n.seq > ${boxed('read_through')}`
const hasGaps = boxed('unread < last_seq - read_through')
/** Whether a numbered page of the unread is no further than a block from either end. */
const isShallow = boxed(`least($3, unread - $3::bigint) <= ${blockSize}`)
const olderUnread = `exists (select 1 from notification n where ${unreadOf} and n.seq < (select min(seq) from picked))`

/** Beyond the watermark no read-all has passed, and none is looked for. */
const textBeyond = notificationJsonSql(`case when n.seq > ${boxed('read_through')} then n.read_at else ${readAt} end`)

type PageSql = { rows: string; hasOlder: string }

/** The inbox, the page as a JSON array, the sequence number of its last row, and whether older ones follow. */
const answered = ({ hasOlder }: PageSql) => `
  box.*, coalesce((select '[' || string_agg(text, ',' order by seq desc) || ']' from picked), '[]'),
  (select min(seq) from picked), ${hasOlder}`

function pageOf(page: PageSql): string {
  return `with ${box}, picked as (${page.rows}) select ${answered(page)} from box`
}

/** The session whose hash is `$4`, with such a page. Without a session no notification is read. */
function sessionWith(page: PageSql): string {
  return `
    with ${box}, picked as (${page.rows})
    select ${columns.sessionAlone}, ${answered(page)}
    from session s cross join box where s.user_id = $1 and s.secret_hash = $4`
}

const pages = {
  page: {
    rows: `select n.seq, ${text} as text from notification n
     where n.user_id = $1 and n.seq <= ${boxed('last_seq - $3::bigint')}
       and n.seq > ${boxed('greatest(last_seq - $3::bigint - $2, first_seq - 1)')}`,
    hasOlder: 'box.total > $3::bigint + $2',
  },
  before: {
    rows: `select n.seq, ${text} as text from notification n
     where n.user_id = $1 and n.seq < $3 order by n.seq desc limit $2`,
    hasOlder: 'coalesce((select min(seq) from picked) > box.first_seq, false)',
  },
  unreadPage: {
    // Without a gap the unread are a range; only what was read one by one is skipped over, from the nearer end. A page
    // that is further away from both ends than a block comes back empty: unreadFrom reads it.
    rows: `select n.seq, ${text} as text from (
       (select n.seq from notification n
        where not ${hasGaps} and ${unreadOf}
          and n.seq <= ${boxed('last_seq - $3::bigint')} and n.seq > ${boxed('last_seq - $3::bigint - $2')})
       union all
       (select n.seq from notification n
        where ${hasGaps} and ${isShallow} and ${boxed('$3 * 2 <= unread')} and ${unreadOf}
        order by n.seq desc limit $2 offset $3::bigint)
       union all
       (select n.seq from notification n
        where ${hasGaps} and ${isShallow} and ${boxed('$3 * 2 > unread')} and ${unreadOf}
        order by n.seq
        limit ${boxed('greatest(0, least($2, unread - $3::bigint))')}
        offset ${boxed('greatest(0, unread - $3::bigint - $2)')})
     ) found cross join lateral (select * from notification where user_id = $1 and seq = found.seq limit 1) n`,
    hasOlder: 'box.unread > $3::bigint + $2',
  },
  unreadBefore: {
    rows: `select n.seq, ${text} as text from notification n
     where ${unreadOf} and n.seq < $3 order by n.seq desc limit $2`,
    hasOlder: olderUnread,
  },
  // The first $2 unread at or below $3, after $4 of them.
  unreadFrom: {
    rows: `select n.seq, ${text} as text from (
       select n.seq from notification n where ${unreadOf} and n.seq <= $3 order by n.seq desc limit $2 offset $4::bigint
     ) found cross join lateral (select * from notification where user_id = $1 and seq = found.seq limit 1) n`,
    hasOlder: olderUnread,
  },
} satisfies Record<string, PageSql>

export const statements = {
  user: `select ${columns.user} from "user" where id = $1`,
  credentials: `select ${columns.user}, password_hash from "user" where username = $1`,
  users: `select ${columns.user} from "user" where username > $1 order by username limit $2`,
  addUser: `insert into "user" (id, username, display_name, password_hash, created_at) values ($1, $2, $3, $4, $5)
    on conflict (username) do nothing`,
  disableUser: `select disable_user($1, $2, $3)`,
  setPassword: `select set_password($1, $2, $3, $4)`,

  addSession: `select add_session_replacing($1, $2, $3, $4, $5, $6)`,
  session: `
    select ${columns.session}
    from session s left join inbox i on i.user_id = $1
    where s.user_id = $1 and s.secret_hash = $2`,
  sessionPage: sessionWith(pages.page),
  sessionBefore: sessionWith(pages.before),
  sessionUnreadPage: sessionWith(pages.unreadPage),
  sessionUnreadBefore: sessionWith(pages.unreadBefore),
  touchSession: `update session set last_seen_at = greatest(last_seen_at, $3) where user_id = $1 and secret_hash = $2`,
  endSessions: `select ${columns.endedSession} from end_sessions($1, $2)`,
  removeStaleSessions: `
    delete from session where (user_id, secret_hash) in (
      select user_id, secret_hash from session where created_at < $1 or last_seen_at < $2 or last_seen_at > $3 limit $4
    )`,

  revokeTokens: `select cut_tokens($1, $2, $3, $4)`,
  tokenRevocations: `select ${columns.tokenRevocation} from token_cutoff where expires_at > $1`,
  ensureSigningKey: `select ensure_signing_key($1, $2, $3, $4)`,
  signingKeys: `select ${columns.signingKey} from signing_key order by created_at, kid`,

  addProducer: `insert into producer (id, name, secret_hash, scopes, created_at, expires_at)
    values ($1, $2, $3, $4, $5, $6)`,
  producer: `select ${columns.producer} from producer where id = $1`,
  producers: `select ${columns.producer} from producer order by created_at, id`,
  revokeProducer: `update producer set revoked_at = coalesce(revoked_at, $2) where id = $1`,
  touchProducer: `update producer set last_used_at = $2 where id = $1`,

  isReadOnly: `select current_setting('transaction_read_only')::bool`,
  inbox: `select ${columns.inbox} from inbox where user_id = $1`,
  page: pageOf(pages.page),
  before: pageOf(pages.before),
  unreadPage: pageOf(pages.unreadPage),
  unreadBefore: pageOf(pages.unreadBefore),
  unreadFrom: pageOf(pages.unreadFrom),
  changedSeqs: `
    with ${box}
    select box.*, array(
      select n.seq from notification n where n.user_id = $1 and n.changed_version > $2 order by n.changed_version limit $3
    ) from box`,
  unreadInBlocks: `
    select block, (
      select count(*) from notification n where n.user_id = $1 and n.read_at is null
        and n.seq > block * ${blockSize}::bigint and n.seq <= (block + 1) * ${blockSize}::bigint
    ) from unnest($2::bigint[]) as block`,
  notification: `select ${text} from notification n where n.user_id = $1 and n.id = $2`,
  counts: `
    with ${box}
    select box.*, coalesce((
      select json_object_agg(category, json_build_object('total', total, 'unread', unread) order by category)
      from inbox_category where user_id = $1 and total > 0
    ), '{}')::text
    from box`,
  // No more can have arrived than there were changes. If that is more than $3, halving finds where the arrivals begin:
  // versions rise with seq.
  changes: `
    with recursive ${box}, halving (low, high) as (
      select greatest(last_seq - version + $2::bigint, first_seq - 1), last_seq from box where version - $2::bigint <= $4
      union all
      select case when middle.version > $2 then low else middle.seq end,
        case when middle.version > $2 then middle.seq else high end
      from halving cross join lateral (
        select seq, version from notification where user_id = $1 and seq = (low + high) / 2
      ) middle
      where high - low > $3
    )
    select box.*, array(
      select json_build_array(n.version, 'arrived', ${textBeyond})::text from notification n
      where n.user_id = $1 and n.seq > (select max(low) from halving) and n.version > $2
      order by n.seq limit $3
    ), array(
      select json_build_array(n.changed_version, case when n.replaced_version > $2 then 'replaced' else 'read' end,
        ${textBeyond})::text from notification n
      where n.user_id = $1 and n.changed_version > $2 order by n.changed_version limit $3
    ), array(
      select json_build_array(m.version, n.id, m.at)::text
      from read_mark m join notification n on n.user_id = $1 and n.seq = m.through_seq
      where m.user_id = $1 and m.version > $2 order by m.version limit $3
    ) from box`,
  markRead: `select mark_read($1, $2, $3)`,
  markAllRead: `select mark_all_read($1, $2, $3)`,

  deliver: `select deliver($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
  removeOldDeliveries: `
    delete from delivery where ctid = any (array(
      select ctid from delivery where at < $1 order by at limit $2 for update skip locked
    ))`,
} as const
