// The sessions of the store on PostgreSQL. Those that end or replace others are functions: functions/sessions.sql.
import { toInbox } from '../operations.ts'
import type { EndedSession, Input, LiveSession, PageRequest, SessionKey } from '../store.ts'
import type { Database, Row } from './connection/connection.ts'
import { isDeepUnread, pageParameters, pageStatements, toPage } from './pages.ts'

export async function addSession(db: Database, session: Input<'addSession'>): Promise<'added' | 'refused'> {
  const { userId, secretHash, checkedPasswordHash, at, replaces } = session
  const values = [userId, secretHash, checkedPasswordHash, at, ...columnsOf(replaces)]
  const row = await db.one('addSession', 'select add_session_replacing($1, $2, $3, $4, $5, $6)', values)
  const endedOf = row?.[0] as string[] | null
  if (endedOf === null) return 'refused'
  signalSessions(db, endedOf)
  return 'added'
}

const sessionText = `
  select s.username, s.created_at, s.last_seen_at,
    coalesce(i.version, 0), coalesce(i.first_seq, 1), coalesce(i.last_seq, 0),
    coalesce(i.total, 0), coalesce(i.unread, 0), coalesce(i.read_through, 0)
  from session s left join inbox i on i.user_id = $1
  where s.user_id = $1 and s.secret_hash = $2`

export async function findSession(db: Database, key: SessionKey, page?: PageRequest): Promise<LiveSession | undefined> {
  const { userId, secretHash } = key
  if (page === undefined) {
    const row = await db.one('session', sessionText, [userId, secretHash])
    return row && toSession(userId, row)
  }
  const { name, text } = pageStatements(page).withSession
  const row = await db.one(name, text, [userId, ...pageParameters(page), secretHash])
  if (row === undefined) return undefined
  const found = toPage(row, 3)
  return { ...toSession(userId, row), ...(!isDeepUnread(page, found) && { page: found }) }
}

function toSession(userId: string, row: Row): LiveSession {
  const [username, createdAt, lastSeenAt] = row as unknown as [string, number, number]
  return { userId, username, createdAt, lastSeenAt, inbox: toInbox(row, 3) }
}

export async function touchSession(db: Database, { userId, secretHash, at }: Input<'touchSession'>): Promise<void> {
  const text = 'update session set last_seen_at = greatest(last_seen_at, $3) where user_id = $1 and secret_hash = $2'
  await db.change('touchSession', text, [userId, secretHash, at])
}

export async function endSessions(db: Database, keys: readonly SessionKey[]): Promise<EndedSession[]> {
  const text = `select user_id as "userId", username, created_at as "createdAt", last_seen_at as "lastSeenAt" from end_sessions($1, $2)`
  const ended = await db.objects<EndedSession>('endSessions', text, columnsOf(keys))
  const userIds = ended.map(({ userId }) => userId)
  signalSessions(db, userIds)
  return ended
}

export async function removeStaleSessions(db: Database, bounds: Input<'removeStaleSessions'>): Promise<void> {
  const text = `delete from session where (user_id, secret_hash) in (
      select user_id, secret_hash from session where created_at < $1 or last_seen_at < $2 or last_seen_at > $3 limit $4
    )`
  const values = [bounds.createdBefore, bounds.lastSeenBefore, bounds.lastSeenAfter]
  await db.removeInBatches('removeStaleSessions', text, values)
}

function signalSessions(db: Database, userIds: readonly string[]): void {
  for (const userId of new Set(userIds)) db.changeSignals.send({ about: 'session', userId })
}

function columnsOf(keys: readonly SessionKey[]): [userIds: string[], secretHashes: string[]] {
  return [keys.map(({ userId }) => userId), keys.map(({ secretHash }) => secretHash)]
}
