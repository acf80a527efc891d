// The second factors of the store on PostgreSQL. Their laws are in functions/sign-in/factors.sql. A reset, which ends the
// proofs of the user, is in users.ts.
import { toFactor } from '../../operations.ts'
import type { Challenge, Factor, FactorOutcome, Input } from '../../store.ts'
import type { Database } from '../connection/connection.ts'
import { auditText } from './audit-text.ts'

export async function addFactor(
  db: Database,
  { userId, factor, maxFactors, recoveryCodeHashes, audit }: Input<'addFactor'>,
): Promise<'done' | 'first' | 'absent' | 'taken' | 'full'> {
  const values = [userId, JSON.stringify(factor), maxFactors, recoveryCodeHashes, auditText(audit)]
  const row = await db.one('addFactor', 'select add_factor($1, $2, $3, $4, $5)', values)
  return row?.[0] as 'done' | 'first' | 'absent' | 'taken' | 'full'
}

export async function factorsOf(
  db: Database,
  userId: string,
): Promise<{ factors: Factor[]; recoveryCodesLeft: number }> {
  const text = `select id, kind, label, created_at as "createdAt", confirmed_at as "confirmedAt",
      last_used_at as "lastUsedAt", sealed_secret as "sealedSecret", last_step as "lastStep",
      credential_id as "credentialId", public_key as "publicKey", sign_count as "signCount", transports,
      (select count(*) from recovery_code where user_id = $1 and used_at is null) as "recoveryCodesLeft"
    from factor where user_id = $1 order by id`
  type Found = Parameters<typeof toFactor>[0] & { recoveryCodesLeft: number }
  const rows = await db.objects<Found>('factorsOf', text, [userId])
  // A user without a factor has no recovery codes.
  return {
    factors: rows.map(({ recoveryCodesLeft: _, ...row }) => toFactor(row)),
    recoveryCodesLeft: rows[0]?.recoveryCodesLeft ?? 0,
  }
}

export async function confirmFactor(
  db: Database,
  { userId, factorId, step, at, recoveryCodeHashes, audit }: Input<'confirmFactor'>,
): Promise<'done' | 'first' | 'absent' | 'refused'> {
  const values = [userId, factorId, step, at, recoveryCodeHashes, auditText(audit)]
  const row = await db.one('confirmFactor', 'select confirm_factor($1, $2, $3, $4, $5, $6)', values)
  return row?.[0] as 'done' | 'first' | 'absent' | 'refused'
}

export async function removeFactor(
  db: Database,
  { userId, factorId, audit }: Input<'removeFactor'>,
): Promise<'done' | 'absent' | 'last'> {
  const values = [userId, factorId, auditText(audit)]
  const row = await db.one('removeFactor', 'select remove_factor_unless_last($1, $2, $3)', values)
  return row?.[0] as 'done' | 'absent' | 'last'
}

export async function useFactor(db: Database, use: Input<'useFactor'>): Promise<FactorOutcome> {
  const { userId, factorId, at, step = null, signCount = null, challenge, audit } = use
  const of = [challenge?.userId ?? null, challenge?.hash ?? null]
  const values = [userId, factorId, at, step, signCount, ...of, auditText(audit)]
  return (await db.one('useFactor', 'select use_factor($1, $2, $3, $4, $5, $6, $7, $8)', values))?.[0] as FactorOutcome
}

export async function useRecoveryCode(db: Database, use: Input<'useRecoveryCode'>): Promise<FactorOutcome> {
  const { userId, codeHash, at, challenge, audit } = use
  const values = [userId, codeHash, at, challenge?.userId ?? null, challenge?.hash ?? null, auditText(audit)]
  const row = await db.one('useRecoveryCode', 'select use_recovery_code($1, $2, $3, $4, $5, $6)', values)
  return row?.[0] as FactorOutcome
}

export async function replaceRecoveryCodes(
  db: Database,
  { userId, recoveryCodeHashes, at, audit }: Input<'replaceRecoveryCodes'>,
): Promise<'done' | 'refused'> {
  const values = [userId, recoveryCodeHashes, at, auditText(audit)]
  const row = await db.one('replaceRecoveryCodes', 'select replace_recovery_codes($1, $2, $3, $4)', values)
  return row?.[0] === true ? 'done' : 'refused'
}

export async function addChallenge(db: Database, challenge: Input<'addChallenge'>): Promise<void> {
  const { userId, hash, purpose, data, expiresAt, audit } = challenge
  const values = [userId, hash, purpose, data, expiresAt, auditText(audit)]
  await db.one('addChallenge', 'select add_challenge($1, $2, $3, $4, $5, $6)', values)
}

export async function findChallenge(
  db: Database,
  { userId, hash, at }: Input<'findChallenge'>,
): Promise<Challenge | undefined> {
  const text = 'select purpose, data from challenge where user_id = $1 and hash = $2 and expires_at > $3'
  return (await db.objects<Challenge>('findChallenge', text, [userId, hash, at]))[0]
}

export async function useChallenge(
  db: Database,
  { userId, hash, at }: Input<'useChallenge'>,
): Promise<Challenge | undefined> {
  const text = `delete from challenge where user_id = $1 and hash = $2 and expires_at > $3 returning purpose, data`
  return (await db.objects<Challenge>('useChallenge', text, [userId, hash, at]))[0]
}

export async function spendChallenge(
  db: Database,
  { userId, hash, expiresAt }: Input<'spendChallenge'>,
): Promise<boolean> {
  const row = await db.one('spendChallenge', 'select spend_challenge($1, $2, $3)', [userId, hash, expiresAt])
  return row?.[0] === true
}

export async function removeExpiredChallenges(db: Database, before: Input<'removeExpiredChallenges'>): Promise<void> {
  await db.change('removeExpiredChallenges', 'delete from challenge where expires_at < $1', [before])
}
