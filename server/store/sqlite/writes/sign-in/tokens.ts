// Revokes access tokens. Each write runs in the writer thread's transaction.
import { type Input, issuedSignIns } from '../../../store.ts'
import type { WriteContext } from '../context.ts'
import { recordAudit } from './audit.ts'

const dayMs = 24 * 3_600_000

/** Without a `signInId` it adds the row of every sign-in of the user; the caller sets its generation. */
type Revocation = Omit<Input<'revokeTokens'>, 'signInId'> & { signInId: string | null }

export function revokeTokens(context: WriteContext, revocation: Revocation): void {
  const { sql, signal } = context
  endSessionOf(context, revocation)
  // Expired rows are kept for another day: if the clock is set back in between, the tokens of that time are valid again.
  sql.run`delete from token_cutoff where expires_at <= ${revocation.at - dayMs}`
  sql.run`
    insert into token_cutoff (user_id, sign_in_id, expires_at)
    values (${revocation.userId}, ${revocation.signInId ?? ''}, ${revocation.expiresAt})
    on conflict (user_id, sign_in_id) do update set expires_at = max(expires_at, excluded.expires_at)`
  recordAudit(context, revocation.audit)
  signal({ about: 'token-revocation' })
}

function endSessionOf({ sql, signal }: WriteContext, { userId, signInId }: Revocation): void {
  if (signInId === null) return
  const { changes } = sql.run`delete from session where user_id = ${userId} and sign_in_id = ${signInId}`
  if (changes > 0) signal({ about: 'session', userId })
}

export function revokeIssuedTokens(context: WriteContext, change: Input<'revokeIssuedTokens'>): 'done' | 'absent' {
  const { userId, at, revocationExpiresAt } = change
  const { changes } = context.sql.run`
    update user set issued_generation = issued_generation + 1 where id = ${userId}`
  if (changes === 0) return 'absent'
  const { audit } = change
  revokeTokens(context, { userId, signInId: issuedSignIns, at, expiresAt: revocationExpiresAt, audit })
  context.sql.run`
    update token_cutoff set first_generation = (select issued_generation from user where id = ${userId})
    where user_id = ${userId} and sign_in_id = ${issuedSignIns}`
  return 'done'
}
