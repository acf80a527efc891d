// Revocations of access tokens, on PostgreSQL. The writes are in functions/sign-in/tokens.sql.
import type { Input, TokenRevocation } from '../../store.ts'
import type { Database } from '../connection/connection.ts'
import { audited, auditText } from './audit-text.ts'

export async function revokeTokens(db: Database, revocation: Input<'revokeTokens'>): Promise<void> {
  const { userId, signInId, at, expiresAt } = revocation
  const values = [userId, signInId, at, expiresAt, auditText(revocation.audit)]
  await db.one('revokeTokens', 'select cut_tokens($1, $2, $3, $4), record_audit($5)', values)
  db.changeSignals.send({ about: 'token-revocation' })
}

export async function revokeIssuedTokens(
  db: Database,
  { userId, at, revocationExpiresAt, audit }: Input<'revokeIssuedTokens'>,
): Promise<'done' | 'absent'> {
  const text = audited('revoke_issued_tokens($1, $2, $3)', { outcome: 'true', entries: '$4' })
  const row = await db.one('revokeIssuedTokens', text, [userId, at, revocationExpiresAt, auditText(audit)])
  if (row?.[0] !== true) return 'absent'
  db.changeSignals.send({ about: 'token-revocation' })
  return 'done'
}

export async function tokenRevocations(db: Database, now: number): Promise<TokenRevocation[]> {
  const text = `
    select user_id as "userId", nullif(sign_in_id, '') as "signInId", expires_at as "expiresAt",
      first_generation as "firstGeneration", except_sign_in_id as "exceptSignInId"
    from token_cutoff where expires_at > $1`
  return db.objects('tokenRevocations', text, [now])
}
