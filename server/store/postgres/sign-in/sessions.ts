// The sessions of the store on PostgreSQL. Those that end or replace others are functions: functions/sign-in/sessions.sql.

import { liveSessionOf, type SessionRow } from '../../session-row.ts'
import type {
  EndedSession,
  Familiarity,
  Input,
  LiveSession,
  NewSession,
  RenewedSession,
  SessionKey,
  SessionSignIn,
} from '../../store.ts'
import type { Database } from '../connection/connection.ts'
import { auditText } from './audit-text.ts'

type Added = { revoked: { userId: string; signInId: string }[]; device?: Familiarity } | 'refused'
type Started = { ended: Pick<EndedSession, 'userId' | 'signInId' | 'hadTokens'>[]; device: Familiarity | null }

export async function addSession(db: Database, session: NewSession): Promise<Added> {
  const { userId, secretHash, checkedGeneration, at, replaces, revocationExpiresAt, audit } = session
  const { signInId, device, address, maxSessions, from } = session
  const where = JSON.stringify({ signInId, device, address, maxSessions, from })
  const ends = [...columnsOf(replaces), revocationExpiresAt]
  const values = [userId, secretHash, checkedGeneration, at, ...ends, where, auditText(audit)]
  const row = await db.one('addSession', 'select start_session($1, $2, $3, $4, $5, $6, $7, $8, $9)', values)
  const started = row?.[0] as Started | null
  if (started === null) return 'refused'
  signalEnds(db, started.ended)
  const revoked = started.ended.flatMap((one) =>
    one.hadTokens ? [{ userId: one.userId, signInId: one.signInId }] : [],
  )
  return { revoked, ...(started.device !== null && { device: started.device }) }
}

const sessionText = `
  select s.username, s.created_at, s.last_seen_at, s.sign_in_id, coalesce(s.confirmed_at, s.created_at),
    coalesce(i.version, 0)
  from session s left join inbox i on i.user_id = $1
  where s.user_id = $1 and s.secret_hash = $2`

export async function findSession(db: Database, { userId, secretHash }: SessionKey): Promise<LiveSession | undefined> {
  const row = await db.one('session', sessionText, [userId, secretHash])
  return row && liveSessionOf(userId, row as unknown as SessionRow)
}

export async function confirmSession(
  db: Database,
  { userId, secretHash, at, audit }: Input<'confirmSession'>,
): Promise<'done' | 'absent'> {
  const values = [userId, secretHash, at, auditText(audit)]
  const row = await db.one('confirmSession', 'select confirm_session($1, $2, $3, $4)', values)
  return row?.[0] === true ? 'done' : 'absent'
}

export async function renewSession(
  db: Database,
  { userId, secretHash, newHash, lastSeenAt }: Input<'renewSession'>,
): Promise<'done' | 'absent'> {
  const text = `update session set secret_hash = $3, old_hash_1 = secret_hash, old_hash_2 = old_hash_1, old_hash_3 = old_hash_2,
      secret_used_at = null, last_seen_at = $4
    where user_id = $1 and secret_hash = $2`
  const changed = await db.change('renewSession', text, [userId, secretHash, newHash, lastSeenAt])
  return changed === 0 ? 'absent' : 'done'
}

export async function findRenewedSession(
  db: Database,
  { userId, secretHash, signInId = null }: Input<'findRenewedSession'>,
): Promise<RenewedSession | undefined> {
  const text = `select secret_hash as "secretHash", sign_in_id as "signInId", created_at as "createdAt", last_seen_at as "lastSeenAt",
      secret_used_at as "secretUsedAt"
    from session where user_id = $1 and ($2 in (old_hash_1, old_hash_2, old_hash_3) or sign_in_id = $3)`
  return (await db.objects<RenewedSession>('findRenewedSession', text, [userId, secretHash, signInId]))[0]
}

export async function touchSession(db: Database, { userId, secretHash, at }: Input<'touchSession'>): Promise<void> {
  const text = `update session set last_seen_at = greatest(last_seen_at, $3), secret_used_at = coalesce(secret_used_at, $3)
    where user_id = $1 and secret_hash = $2`
  await db.change('touchSession', text, [userId, secretHash, at])
}

export async function signInOfSession(
  db: Database,
  { userId, secretHash }: Input<'signInOfSession'>,
): Promise<SessionSignIn | undefined> {
  const text = `select sign_in as "signInId", generation as "credentialGeneration", created as "createdAt",
      last_seen as "lastSeenAt"
    from sign_in_of_session($1, $2) where sign_in is not null`
  return (await db.objects<SessionSignIn>('signInOfSession', text, [userId, secretHash]))[0]
}

export async function endSessions(db: Database, end: Input<'endSessions'>): Promise<EndedSession[]> {
  const text = `select user_id as "userId", nullif(username, '') as username, created_at as "createdAt", last_seen_at as "lastSeenAt",
      sign_in_id as "signInId", had_tokens as "hadTokens",
      case when created_at > $6 and last_seen_at > $7 and last_seen_at <= $8 and $5::jsonb is not null
        then record_audit(jsonb_build_array(($5::jsonb -> secret_hash) || jsonb_build_object('signInId', sign_in_id))) end
    from ended_sessions($1, $2, $3, $4)`
  const { keys, at, revocationExpiresAt, audit } = end
  const live = end.live ?? { createdAfter: -1, lastSeenAfter: -1, lastSeenUntil: Number.MAX_SAFE_INTEGER }
  const entries = audit && JSON.stringify(Object.fromEntries(keys.map(({ secretHash }, n) => [secretHash, audit[n]])))
  const bounds = [live.createdAfter, live.lastSeenAfter, live.lastSeenUntil]
  const values = [...columnsOf(keys), at, revocationExpiresAt, entries ?? null, ...bounds]
  const rows = await db.objects<EndedSession & { case: unknown }>('endSessions', text, values)
  const ended = rows.map(({ case: _, ...session }) => session)
  signalEnds(db, ended)
  return ended
}

export async function removeStaleSessions(db: Database, bounds: Input<'removeStaleSessions'>): Promise<void> {
  const text = `delete from session where (user_id, secret_hash) in (
      select user_id, secret_hash from session where created_at < $1 or last_seen_at < $2 or last_seen_at > $3 limit $4
    )`
  const values = [bounds.createdBefore, bounds.lastSeenBefore, bounds.lastSeenAfter]
  await db.removeInBatches('removeStaleSessions', text, values)
}

function signalEnds(db: Database, ended: readonly Pick<EndedSession, 'userId' | 'hadTokens'>[]): void {
  for (const userId of new Set(ended.map((one) => one.userId))) db.changeSignals.send({ about: 'session', userId })
  if (ended.some(({ hadTokens }) => hadTokens)) db.changeSignals.send({ about: 'token-revocation' })
}

function columnsOf(keys: readonly SessionKey[]): [userIds: string[], secretHashes: string[]] {
  return [keys.map(({ userId }) => userId), keys.map(({ secretHash }) => secretHash)]
}
