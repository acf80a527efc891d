// Finds a session, with the version of its user's inbox.
import { liveSessionOf, type SessionRow } from '../../../session-row.ts'
import type { Input, LiveSession, RenewedSession, SessionKey } from '../../../store.ts'
import type { Reader } from '../../connection.ts'

export const sessionWithInbox = `
  select s.username, s.created_at, s.last_seen_at, s.sign_in_id, coalesce(s.confirmed_at, s.created_at),
    coalesce(i.version, 0)
  from session s left join inbox i on i.user_number = (select number from user where id = s.user_id) and i.category = ''
  where s.user_id = ? and s.secret_hash = ?`

export async function findSession(
  reader: Reader,
  { userId, secretHash }: SessionKey,
): Promise<LiveSession | undefined> {
  const row = reader.one<SessionRow>(sessionWithInbox, userId, secretHash)
  return row && liveSessionOf(userId, row)
}

export const renewedSession = `
  select secret_hash, sign_in_id, created_at, last_seen_at, secret_used_at from session
  where user_id = ? and (? in (old_hash_1, old_hash_2, old_hash_3) or sign_in_id = ?)`

type RenewedRow = [secretHash: string, signInId: string, createdAt: number, lastSeenAt: number, usedAt: number | null]

export async function findRenewedSession(
  reader: Reader,
  { userId, secretHash: oldHash, signInId: wanted = null }: Input<'findRenewedSession'>,
): Promise<RenewedSession | undefined> {
  const row = reader.one<RenewedRow>(renewedSession, userId, oldHash, wanted)
  if (row === undefined) return undefined
  const [secretHash, signInId, createdAt, lastSeenAt, secretUsedAt] = row
  return { secretHash, signInId, createdAt, lastSeenAt, secretUsedAt }
}
