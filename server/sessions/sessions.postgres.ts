// Finds a session on PostgreSQL.
import type { Database } from '../store/postgres/connection/connection.ts'
import { type LiveSession, liveSessionOf, type SessionKey, type SessionRow } from './session-row.ts'

const sessionText = `
  select s.username, s.created_at, s.last_seen_at, s.sign_in_id, coalesce(s.confirmed_at, s.created_at),
    coalesce(i.version, 0)
  from session s left join inbox i on i.user_id = $1
  where s.user_id = $1 and s.secret_hash = $2`

export async function findSession(db: Database, { userId, secretHash }: SessionKey): Promise<LiveSession | undefined> {
  const row = await db.one('session', sessionText, [userId, secretHash])
  return row && liveSessionOf(userId, row as unknown as SessionRow)
}
