// The SQL of every read. `limit +?` and not `limit ?`: of a bare one SQLite makes the plan depend, and prepares the
// statement again each time. `readAt` of a notification is its own, or that of the first read-all that passed it.
const readAt = `coalesce(n.read_at, (
  select m.at from read_mark m where m.user_id = n.user_id and m.through_seq >= n.seq order by m.through_seq limit 1
))`
// In a page ?1 is the user and ?2 his read_through: beyond it no read-all has passed, and none is looked for.
const pageRow = `n.id, n.content, case when n.seq > ?2 then n.read_at else ${readAt} end, n.seq`
const unread = 'n.user_id = ?1 and n.seq > ?2 and n.read_at is null'
const userRow = 'id, username, display_name, created_at, disabled_at'
const inboxRow = 'version, first_seq, last_seq, total, unread, read_through'
const producerRow = 'id, name, secret_hash, scopes, created_at, expires_at, revoked_at, last_used_at'

export const statements = {
  user: `select ${userRow} from user where id = ?`,
  credentials: `select ${userRow}, password_hash from user where username = ?`,
  users: `select ${userRow} from user where username > ? order by username limit +?`,
  session: `
    select s.user_id, s.username, s.created_at, s.last_seen_at,
      coalesce(i.version, 0), coalesce(i.first_seq, 1), coalesce(i.last_seq, 0),
      coalesce(i.total, 0), coalesce(i.unread, 0), coalesce(i.read_through, 0)
    from session s left join inbox i on i.user_id = s.user_id
    where s.user_id = ? and s.secret_hash = ?`,
  tokenCutoffs: 'select user_id, sign_in_id, not_before, expires_at from token_cutoff where expires_at > ?',
  signingKeys: 'select kid, public_jwk, sealed_private_jwk, created_at from signing_key order by created_at, kid',
  producer: `select ${producerRow} from producer where id = ?`,
  producers: `select ${producerRow} from producer order by created_at, id`,

  inbox: `select ${inboxRow} from inbox where user_id = ?`,
  range: `select ${pageRow} from notification n where n.user_id = ?1 and n.seq > ?3 and n.seq <= ?4 order by n.seq desc`,
  unreadBefore: `
    select ${pageRow} from notification n where n.user_id = ?1 and n.seq in (
      select n.seq from notification n where ${unread} and n.seq < ?3 order by n.seq desc limit +?4
    ) order by n.seq desc`,
  unreadFromNewest: `
    select ${pageRow} from notification n where n.user_id = ?1 and n.seq in (
      select n.seq from notification n where ${unread} order by n.seq desc limit +?3 offset +?4
    ) order by n.seq desc`,
  unreadFromOldest: `
    select ${pageRow} from notification n where n.user_id = ?1 and n.seq in (
      select n.seq from notification n where ${unread} order by n.seq limit +?3 offset +?4
    ) order by n.seq desc`,
  notification: `select n.id, n.content, ${readAt} from notification n where n.user_id = ? and n.id = ?`,
  categories: 'select category, total, unread from inbox_category where user_id = ? and total > 0 order by category',
  changedNotifications: `
    select n.version, n.id, n.content, ${readAt} from notification n
    where n.user_id = ? and n.version > ? order by n.version limit +?`,
  readAlls: `
    select version, through_seq, at from read_mark
    where user_id = ? and version > ? order by version limit +?`,
} as const
