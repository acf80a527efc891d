// The sign-ins of a user, on PostgreSQL. The writes are in functions/sign-ins.sql.
import type { Input } from '../store.ts'
import { auditText } from './audit-text.ts'
import type { Database } from './connection/connection.ts'
import { signalEndOfProofs } from './end-of-proofs.ts'

export async function endOtherSignIns(db: Database, change: Input<'endOtherSignIns'>): Promise<'done' | 'refused'> {
  const { userId, at, revocationExpiresAt, exceptSignInId, exceptGeneration = null } = change
  const values = [userId, at, revocationExpiresAt, exceptSignInId, exceptGeneration, auditText(change.audit)]
  const row = await db.one('endOtherSignIns', 'select end_other_sign_ins($1, $2, $3, $4, $5, $6)', values)
  const outcome = row?.[0] as 'done' | 'refused'
  if (outcome === 'done') signalEndOfProofs(db, userId)
  return outcome
}
