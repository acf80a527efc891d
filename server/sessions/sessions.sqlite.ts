// Finds a session, with the version of its user's inbox.

import type { Reader } from '../store/sqlite/reader.ts'
import { userKey } from '../store/sqlite/user-key.ts'
import { type LiveSession, liveSessionOf, type SessionKey, type SessionRow } from './session-row.ts'

export const sessionWithInbox = `
  select s.username, s.created_at, s.last_seen_at, s.sign_in_id, coalesce(s.confirmed_at, s.created_at),
    coalesce(i.version, 0)
  from session s left join inbox i on i.user_id = ?
  where s.user_id = ? and s.secret_hash = ?`

export async function findSession(
  reader: Reader,
  { userId, secretHash }: SessionKey,
): Promise<LiveSession | undefined> {
  const row = reader.one<SessionRow>(sessionWithInbox, userKey(userId), userId, secretHash)
  return row && liveSessionOf(userId, row)
}
