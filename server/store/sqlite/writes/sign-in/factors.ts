// Adds, confirms, uses and removes second factors, recovery codes and challenges. Each write runs in the writer thread's transaction.
// A reset, which ends the proofs of the user, is in users.ts.
import type { Challenge, ChallengeKey, FactorOutcome, Input } from '../../../store.ts'
import type { WriteContext } from '../context.ts'
import { recordAudit } from './audit.ts'

type Sql = WriteContext['sql']

export function addFactor(
  context: WriteContext,
  { userId, factor, maxFactors, recoveryCodeHashes, audit }: Input<'addFactor'>,
): 'done' | 'first' | 'absent' | 'taken' | 'full' {
  const { sql } = context
  if (sql.get`select 1 from user where id = ${userId}` === undefined) return 'absent'
  const { credentialId = null, transports } = factor
  if (sql.get`select 1 from factor where user_id = ${userId} and credential_id = ${credentialId}`) return 'taken'
  const replaces = Number(factor.confirmedAt === null)
  const kept = sql.get`
    select count(*) as "count" from factor where user_id = ${userId} and (confirmed_at is not null or ${replaces} = 0)`
  if (Number(kept?.count) >= maxFactors) return 'full'
  if (replaces === 1) sql.run`delete from factor where user_id = ${userId} and confirmed_at is null`
  const isFirst = factor.confirmedAt !== null && !hasFactor(sql, userId)
  sql.run`
    insert into factor (user_id, id, kind, label, sealed_secret, credential_id, public_key, sign_count, transports, created_at,
      confirmed_at)
    values (${userId}, ${factor.id}, ${factor.kind}, ${factor.label}, ${factor.sealedSecret ?? null}, ${credentialId},
      ${factor.publicKey ?? null}, ${factor.signCount ?? null}, ${transports ? JSON.stringify(transports) : null},
      ${factor.createdAt}, ${factor.confirmedAt})`
  if (isFirst) storeRecoveryCodes(sql, { userId, recoveryCodeHashes, at: factor.createdAt })
  recordAudit(context, audit)
  return isFirst ? 'first' : 'done'
}

export function confirmFactor(
  context: WriteContext,
  { userId, factorId, step, at, recoveryCodeHashes, audit }: Input<'confirmFactor'>,
): 'done' | 'first' | 'absent' | 'refused' {
  const { sql } = context
  if (sql.get`select 1 from factor where user_id = ${userId} and id = ${factorId}` === undefined) return 'absent'
  const isFirst = !hasFactor(sql, userId)
  const { changes } = sql.run`
    update factor set confirmed_at = ${at}, last_step = ${step}, last_used_at = ${at}
    where user_id = ${userId} and id = ${factorId} and confirmed_at is null`
  if (changes === 0) return 'refused'
  if (isFirst) storeRecoveryCodes(sql, { userId, recoveryCodeHashes, at })
  recordAudit(context, audit)
  return isFirst ? 'first' : 'done'
}

export function removeFactor(
  context: WriteContext,
  { userId, factorId, audit }: Input<'removeFactor'>,
): 'done' | 'absent' | 'last' {
  const { sql } = context
  const factor = sql.get`
    select kind = 'passkey' and confirmed_at is not null as "signsIn" from factor
    where user_id = ${userId} and id = ${factorId}`
  if (factor === undefined) return 'absent'
  if (factor.signsIn === 1 && !hasOtherWay(sql, userId, factorId)) return 'last'
  sql.run`delete from factor where user_id = ${userId} and id = ${factorId}`
  if (!hasFactor(sql, userId)) sql.run`delete from recovery_code where user_id = ${userId}`
  recordAudit(context, audit)
  return 'done'
}

function hasOtherWay(sql: WriteContext['sql'], userId: string, factorId: string): boolean {
  const other = sql.get`
    select 1 from user u where u.id = ${userId} and (
      (u.username is not null and u.password_hash is not null)
      or exists (select 1 from factor f
        where f.user_id = u.id and f.id <> ${factorId} and f.kind = 'passkey' and f.confirmed_at is not null)
      or exists (select 1 from provider_account a where a.owner_id = u.id))`
  return other !== undefined
}

export function useFactor(context: WriteContext, use: Input<'useFactor'>): FactorOutcome {
  const { sql } = context
  const { userId, factorId, at, step = null, signCount = null, challenge, audit } = use
  if (!isOpen(sql, challenge, at)) return 'no-challenge'
  const { changes } = sql.run`
    update factor set last_used_at = ${at}, last_step = coalesce(${step}, last_step),
      sign_count = coalesce(${signCount}, sign_count)
    where user_id = ${userId} and id = ${factorId} and confirmed_at is not null
      and (kind = 'totp' and coalesce(last_step, -1) < ${step}
        or kind = 'passkey' and (sign_count < ${signCount} or sign_count = 0 and ${signCount} = 0))`
  return changes === 0 ? 'refused' : complete(context, { challenge, audit })
}

export function useRecoveryCode(context: WriteContext, use: Input<'useRecoveryCode'>): FactorOutcome {
  const { sql } = context
  const { userId, codeHash, at, challenge, audit } = use
  if (!isOpen(sql, challenge, at)) return 'no-challenge'
  const { changes } = sql.run`
    update recovery_code set used_at = ${at} where user_id = ${userId} and code_hash = ${codeHash} and used_at is null`
  return changes === 0 ? 'refused' : complete(context, { challenge, audit })
}

export function replaceRecoveryCodes(
  context: WriteContext,
  { audit, ...codes }: Input<'replaceRecoveryCodes'>,
): 'done' | 'refused' {
  if (!hasFactor(context.sql, codes.userId)) return 'refused'
  storeRecoveryCodes(context.sql, codes)
  recordAudit(context, audit)
  return 'done'
}

export function addChallenge(context: WriteContext, challenge: Input<'addChallenge'>): void {
  const { userId, hash, purpose, data, expiresAt } = challenge
  const { changes } = context.sql.run`
    insert into challenge (user_id, hash, purpose, data, expires_at)
    select ${userId}, ${hash}, ${purpose}, ${data}, ${expiresAt}
    where ${userId} = '' or exists (select 1 from user where id = ${userId})`
  if (changes === 1) recordAudit(context, challenge.audit)
}

export function useChallenge(
  { sql }: WriteContext,
  { userId, hash, at }: Input<'useChallenge'>,
): Challenge | undefined {
  const found = sql.get`
    delete from challenge where user_id = ${userId} and hash = ${hash} and expires_at > ${at} returning purpose, data`
  return found === undefined ? undefined : ({ ...found } as Challenge)
}

export function spendChallenge({ sql }: WriteContext, { userId, hash, expiresAt }: Input<'spendChallenge'>): boolean {
  const { changes } = sql.run`
    insert into challenge (user_id, hash, purpose, data, expires_at)
    select ${userId}, ${hash}, 'spent', '', ${expiresAt} where exists (select 1 from user where id = ${userId})
    on conflict do nothing`
  return changes > 0
}

export function removeExpiredChallenges({ sql }: WriteContext, before: Input<'removeExpiredChallenges'>): void {
  sql.run`delete from challenge where expires_at < ${before}`
}

function hasFactor(sql: Sql, userId: string): boolean {
  return sql.get`select 1 from factor where user_id = ${userId} and confirmed_at is not null limit 1` !== undefined
}

function storeRecoveryCodes(sql: Sql, { userId, recoveryCodeHashes, at }: Input<'replaceRecoveryCodes'>): void {
  sql.run`delete from recovery_code where user_id = ${userId}`
  for (const hash of recoveryCodeHashes)
    sql.run`insert into recovery_code (user_id, code_hash, created_at) values (${userId}, ${hash}, ${at})`
}

function isOpen(sql: Sql, challenge: ChallengeKey | undefined, at: number): boolean {
  if (challenge === undefined) return true
  const { userId, hash } = challenge
  return (
    sql.get`select 1 from challenge where user_id = ${userId} and hash = ${hash} and expires_at > ${at}` !== undefined
  )
}

function complete(
  context: WriteContext,
  { challenge, audit }: Pick<Input<'useFactor'>, 'challenge' | 'audit'>,
): 'done' {
  if (challenge !== undefined)
    context.sql.run`delete from challenge where user_id = ${challenge.userId} and hash = ${challenge.hash}`
  recordAudit(context, audit)
  return 'done'
}
