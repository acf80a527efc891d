// Second factors, recovery codes and challenges. A change of factors locks the user's row, so that one of two calls adds the first factor. A
// use needs no such lock: it is one conditional update. A reset, which ends the proofs of the user, is with the users.
import { toFactor } from '../store/operations.ts'
import { all, get, lock, type Read, record, run, send, type Write } from '../store/statements/statements.ts'
import type { Challenge, ChallengeKey, Factor, FactorOutcome, Input } from '../store/store.ts'
import { lockUser } from '../store/user-lock.ts'

export const factorReads = { factorsOf, findChallenge }
export const factorWrites = {
  addFactor,
  confirmFactor,
  removeFactor,
  useFactor,
  useRecoveryCode,
  replaceRecoveryCodes,
  addChallenge,
  useChallenge,
  spendChallenge,
  removeExpiredChallenges,
}

function* addFactor({
  userId,
  factor,
  maxFactors,
  recoveryCodeHashes,
  audit,
}: Input<'addFactor'>): Write<'done' | 'first' | 'absent' | 'taken' | 'full'> {
  if (!(yield* lockUser(userId))) return 'absent'
  const { credentialId = null, transports } = factor
  const kept = yield* all<{ credentialId: string | null; isConfirmed: boolean }>`
    select credential_id as "credentialId", confirmed_at is not null as "isConfirmed" from factor where user_id = ${userId}`
  if (credentialId !== null && kept.some((one) => one.credentialId === credentialId)) return 'taken'
  const confirmed = kept.filter((one) => one.isConfirmed)
  const isConfirmed = factor.confirmedAt !== null
  if ((isConfirmed ? kept : confirmed).length >= maxFactors) return 'full'
  if (!isConfirmed) yield* send`delete from factor where user_id = ${userId} and confirmed_at is null`
  yield* send`
    insert into factor (user_id, id, kind, label, sealed_secret, credential_id, public_key, sign_count, transports, created_at,
      confirmed_at)
    values (${userId}, ${factor.id}, ${factor.kind}, ${factor.label}, ${factor.sealedSecret ?? null}, ${credentialId},
      ${factor.publicKey ?? null}, ${factor.signCount ?? null}, ${transports ? JSON.stringify(transports) : null},
      ${factor.createdAt}, ${factor.confirmedAt})`
  const isFirst = isConfirmed && confirmed.length === 0
  if (isFirst) yield* storeRecoveryCodes({ userId, recoveryCodeHashes, at: factor.createdAt })
  yield* record(audit)
  return isFirst ? 'first' : 'done'
}

function* factorsOf(userId: string): Read<{ factors: Factor[]; recoveryCodesLeft: number }> {
  const rows = yield* all<Parameters<typeof toFactor>[0] & { recoveryCodesLeft: number }>`
    select id, kind, label, created_at as "createdAt", confirmed_at as "confirmedAt", last_used_at as "lastUsedAt",
      sealed_secret as "sealedSecret", last_step as "lastStep", credential_id as "credentialId", public_key as "publicKey",
      sign_count as "signCount", transports,
      (select count(*) from recovery_code where user_id = ${userId} and used_at is null) as "recoveryCodesLeft"
    from factor where user_id = ${userId} order by id`
  // A user without a factor has no recovery codes.
  return {
    factors: rows.map(({ recoveryCodesLeft: _, ...row }) => toFactor(row)),
    recoveryCodesLeft: rows[0]?.recoveryCodesLeft ?? 0,
  }
}

function* confirmFactor({
  userId,
  factorId,
  step,
  at,
  recoveryCodeHashes,
  audit,
}: Input<'confirmFactor'>): Write<'done' | 'first' | 'absent' | 'refused'> {
  yield* lockUser(userId)
  const factor = yield* get<{ isConfirmed: boolean }>`
    select confirmed_at is not null as "isConfirmed" from factor where user_id = ${userId} and id = ${factorId}`
  if (factor === undefined) return 'absent'
  if (factor.isConfirmed) return 'refused'
  const isFirst = !(yield* hasFactor(userId))
  yield* send`
    update factor set confirmed_at = ${at}, last_step = ${step}, last_used_at = ${at}
    where user_id = ${userId} and id = ${factorId}`
  if (isFirst) yield* storeRecoveryCodes({ userId, recoveryCodeHashes, at })
  yield* record(audit)
  return isFirst ? 'first' : 'done'
}

function* removeFactor({ userId, factorId, audit }: Input<'removeFactor'>): Write<'done' | 'absent' | 'last'> {
  yield* lockUser(userId)
  const factor = yield* get<{ signsIn: boolean }>`
    select kind = 'passkey' and confirmed_at is not null as "signsIn" from factor
    where user_id = ${userId} and id = ${factorId}`
  if (factor === undefined) return 'absent'
  if (factor.signsIn && !(yield* hasOtherWay(userId, factorId))) return 'last'
  yield* send`delete from factor where user_id = ${userId} and id = ${factorId}`
  if (!(yield* hasFactor(userId))) yield* send`delete from recovery_code where user_id = ${userId}`
  yield* record(audit)
  return 'done'
}

/** A way to sign in without the factor: a password, another passkey, or an account at a provider. */
function* hasOtherWay(userId: string, factorId: string): Read<boolean> {
  const other = yield* get`
    select 1 from "user" u where u.id = ${userId} and (
      (u.username is not null and u.password_hash is not null)
      or exists (select 1 from factor f
        where f.user_id = ${userId} and f.id <> ${factorId} and f.kind = 'passkey' and f.confirmed_at is not null)
      or exists (select 1 from provider_account a where a.owner_id = ${userId}))`
  return other !== undefined
}

function* useFactor(use: Input<'useFactor'>): Write<FactorOutcome> {
  const { userId, factorId, at, step = null, signCount = null, challenge } = use
  if (!(yield* isOpen(challenge, at))) return 'no-challenge'
  const changed = yield* run`
    update factor set last_used_at = ${at}, last_step = coalesce(${step}, last_step),
      sign_count = coalesce(${signCount}, sign_count)
    where user_id = ${userId} and id = ${factorId} and confirmed_at is not null
      and (kind = 'totp' and coalesce(last_step, -1) < ${step}
        or kind = 'passkey' and (sign_count < ${signCount} or sign_count = 0 and cast(${signCount} as bigint) = 0))`
  return changed === 0 ? 'refused' : yield* complete(use)
}

function* useRecoveryCode(use: Input<'useRecoveryCode'>): Write<FactorOutcome> {
  const { userId, codeHash, at, challenge } = use
  if (!(yield* isOpen(challenge, at))) return 'no-challenge'
  const changed = yield* run`
    update recovery_code set used_at = ${at} where user_id = ${userId} and code_hash = ${codeHash} and used_at is null`
  return changed === 0 ? 'refused' : yield* complete(use)
}

/** A second use of the same challenge waits for the first one, and then finds none. */
function* isOpen(challenge: ChallengeKey | undefined, at: number): Write<boolean> {
  if (challenge === undefined) return true
  const { userId, hash } = challenge
  const open = yield* lock`
    select 1 from challenge where user_id = ${userId} and hash = ${hash} and expires_at > ${at}`
  return open !== undefined
}

function* complete({ challenge, audit }: Pick<Input<'useFactor'>, 'challenge' | 'audit'>): Write<'done'> {
  if (challenge !== undefined)
    yield* send`delete from challenge where user_id = ${challenge.userId} and hash = ${challenge.hash}`
  yield* record(audit)
  return 'done'
}

function* replaceRecoveryCodes(replace: Input<'replaceRecoveryCodes'>): Write<'done' | 'refused'> {
  yield* lockUser(replace.userId)
  if (!(yield* hasFactor(replace.userId))) return 'refused'
  yield* storeRecoveryCodes(replace)
  yield* record(replace.audit)
  return 'done'
}

function* hasFactor(userId: string): Read<boolean> {
  const factor = yield* get`select 1 from factor where user_id = ${userId} and confirmed_at is not null limit 1`
  return factor !== undefined
}

function* storeRecoveryCodes({ userId, recoveryCodeHashes, at }: Input<'replaceRecoveryCodes'>): Write<void> {
  yield* send`delete from recovery_code where user_id = ${userId}`
  for (const hash of recoveryCodeHashes)
    yield* send`insert into recovery_code (user_id, code_hash, created_at) values (${userId}, ${hash}, ${at})`
}

function* addChallenge({ userId, hash, purpose, data, expiresAt, audit }: Input<'addChallenge'>): Write<void> {
  if (userId !== '' && !(yield* lockUser(userId))) return
  yield* send`
    insert into challenge (user_id, hash, purpose, data, expires_at)
    values (${userId}, ${hash}, ${purpose}, ${data}, ${expiresAt})`
  yield* record(audit)
}

function* findChallenge({ userId, hash, at }: Input<'findChallenge'>): Read<Challenge | undefined> {
  return yield* get<Challenge>`
    select purpose, data from challenge where user_id = ${userId} and hash = ${hash} and expires_at > ${at}`
}

function* useChallenge({ userId, hash, at }: Input<'useChallenge'>): Write<Challenge | undefined> {
  return yield* get<Challenge>`
    delete from challenge where user_id = ${userId} and hash = ${hash} and expires_at > ${at} returning purpose, data`
}

/** A second use of the same challenge waits for the first one at the insert, and then finds its row. */
function* spendChallenge({ userId, hash, expiresAt }: Input<'spendChallenge'>): Write<boolean> {
  if (!(yield* lockUser(userId))) return false
  const added = yield* run`
    insert into challenge (user_id, hash, purpose, data, expires_at)
    values (${userId}, ${hash}, 'spent', '', ${expiresAt}) on conflict (user_id, hash) do nothing`
  return added > 0
}

function* removeExpiredChallenges(before: number): Write<void> {
  yield* send`delete from challenge where expires_at < ${before}`
}
