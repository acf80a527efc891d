// Second factors, recovery codes and challenges, and what was sealed with another secret. Each change locks the user's row, so that one of two
// calls adds the first factor, and rotates the sign-in of its caller, if it has a `rotation` (rotation.store.ts).
import type { SecondFactorKind } from '../basics/errors.ts'
import type { Audited } from '../store/events.ts'
import { all, exists, get, lock, lockUser, type Read, record, run, send, type Write } from '../store/statements.ts'
import { type Rotating, rotating } from '../tokens/rotation.store.ts'

export type Factor = {
  /** A UUIDv7, which orders the factors of a user. */
  id: string
  kind: 'totp' | 'passkey'
  label: string
  createdAt: number
  /** The factor counts from this moment on; null for a TOTP secret of which no code was received yet. */
  confirmedAt: number | null
  lastUsedAt: number | null
  /** The secret of a TOTP factor, encrypted under the service's secret. */
  sealedSecret: string | null
  /** The highest time step of which a code was accepted (RFC 6238, section 5.2). */
  lastStep: number | null
  /** The id and the public key (COSE) of a passkey, as base64url. */
  credentialId: string | null
  publicKey: string | null
  signCount: number | null
  transports: readonly string[] | null
}

export type NewFactor = Pick<Factor, 'id' | 'kind' | 'label' | 'createdAt' | 'confirmedAt'> &
  Partial<Pick<Factor, 'sealedSecret' | 'credentialId' | 'publicKey' | 'signCount' | 'transports'>>

export type ChallengeKey = { userId: string; hash: string }

/** `data` is JSON text. It contains no secret. */
export type Challenge = { purpose: string; data: string }

/** The challenge that a passkey signed. It was not stored when it was given: its use is recorded until `expiresAt`. */
export type SpentChallenge = { hash: string; expiresAt: number }

/** The use of a factor or a recovery code. If a challenge is given, the same step uses it up, and so it does with `spent`. */
export type Use = {
  userId: string
  at: number
  challenge?: ChallengeKey | undefined
  spent?: SpentChallenge
} & Rotating &
  Audited

/** Hashes of the recovery codes that a user gets with the first factor. */
type WithRecoveryCodes = { recoveryCodeHashes: readonly string[] }

type UseOutcome = 'done' | 'refused' | 'no-challenge' | 'spent'

type AddFactor = { userId: string; factor: NewFactor; maxFactors: number; spent?: SpentChallenge } & WithRecoveryCodes &
  Rotating &
  Audited
type Added = 'done' | 'first'

/**
 * Adds a factor. If it is confirmed and the first one that is, `recoveryCodeHashes` replace the user's recovery codes. One that is not
 * confirmed replaces those of the user that were not confirmed either. Returns 'taken' if the user has the credential already, and
 * 'full' if the user has `maxFactors`, and 'spent' if `spent` was used before; then it changes nothing. Of calls at the same time, one adds
 * the first factor.
 */
export const addFactor = rotating(function* (add: AddFactor): Write<Added | 'taken' | 'full' | 'spent'> {
  const { userId, factor, maxFactors, recoveryCodeHashes } = add
  if (!(yield* spend(add))) return 'spent'
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
  return isFirst ? 'first' : 'done'
})

/** Lists all factors of a user in the order of their ids, and counts the recovery codes that were not used. */
export function* factorsOf(userId: string): Read<{ factors: Factor[]; recoveryCodesLeft: number }> {
  type Row = Omit<Factor, 'transports'> & { transports: string | null; recoveryCodesLeft: number }
  const rows = yield* all<Row>`
    select id, kind, label, created_at as "createdAt", confirmed_at as "confirmedAt", last_used_at as "lastUsedAt",
      sealed_secret as "sealedSecret", last_step as "lastStep", credential_id as "credentialId", public_key as "publicKey",
      sign_count as "signCount", transports,
      (select count(*) from recovery_code where user_id = ${userId} and used_at is null) as "recoveryCodesLeft"
    from factor where user_id = ${userId} order by id`
  const factors = rows.map(({ recoveryCodesLeft: _, transports, ...row }) => {
    return { ...row, transports: JSON.parse(transports ?? 'null') }
  })
  // A user without a factor has no recovery codes.
  return { factors, recoveryCodesLeft: rows[0]?.recoveryCodesLeft ?? 0 }
}

/** What completes a sign-in of this user; nothing without a confirmed factor. */
export function* offeredFactors(userId: string): Read<SecondFactorKind[]> {
  const { factors, recoveryCodesLeft } = yield* factorsOf(userId)
  const confirmed = factors.filter(({ confirmedAt }) => confirmedAt !== null)
  const kinds = new Set<SecondFactorKind>(confirmed.map(({ kind }) => kind))
  if (kinds.size > 0 && recoveryCodesLeft > 0) kinds.add('recovery-code')
  return [...kinds]
}

type ConfirmFactor = { userId: string; factorId: string; step: number; at: number } & WithRecoveryCodes &
  Rotating &
  Audited

/** Confirms a factor by the code of a time step. As `addFactor` for the recovery codes. Returns 'refused' if it is confirmed already. */
export const confirmFactor = rotating(function* (confirm: ConfirmFactor): Write<Added | 'absent' | 'refused'> {
  const { userId, factorId, step, at, recoveryCodeHashes } = confirm
  const factor = yield* get<{ isConfirmed: boolean }>`
    select confirmed_at is not null as "isConfirmed" from factor where user_id = ${userId} and id = ${factorId}`
  if (factor === undefined) return 'absent'
  if (factor.isConfirmed) return 'refused'
  const isFirst = !(yield* hasFactor(userId))
  yield* send`
    update factor set confirmed_at = ${at}, last_step = ${step}, last_used_at = ${at}
    where user_id = ${userId} and id = ${factorId}`
  if (isFirst) yield* storeRecoveryCodes({ userId, recoveryCodeHashes, at })
  return isFirst ? 'first' : 'done'
})

type RemoveFactor = { userId: string; factorId: string } & Rotating & Audited

/**
 * Removes a factor. With the last confirmed one, the recovery codes end. Returns 'unconfirmed' if it did not count, and rotates and records
 * nothing then. Returns 'last' and changes nothing if it is a passkey, and the user could not sign in without it: no password, no other passkey, no
 * account at a provider.
 */
export const removeFactor = rotating(function* (
  remove: RemoveFactor,
): Write<'done' | 'unconfirmed' | 'absent' | 'last'> {
  const { userId, factorId } = remove
  const factor = yield* get<{ isPasskey: boolean; isConfirmed: boolean }>`
    select kind = 'passkey' as "isPasskey", confirmed_at is not null as "isConfirmed" from factor
    where user_id = ${userId} and id = ${factorId}`
  if (factor === undefined) return 'absent'
  if (factor.isPasskey && factor.isConfirmed && !(yield* canSignIn(userId, factorId))) return 'last'
  yield* send`delete from factor where user_id = ${userId} and id = ${factorId}`
  if (!(yield* hasFactor(userId))) yield* send`delete from recovery_code where user_id = ${userId}`
  return factor.isConfirmed ? 'done' : 'unconfirmed'
})

/** Whether the user can sign in with a password, a passkey other than `factorId`, or an account at a provider. */
export function* canSignIn(userId: string, factorId = ''): Write<boolean> {
  const hasAccount = yield* exists`select 1 from provider_account where owner_id = ${userId} limit 1`
  return hasAccount || (yield* hasPasswordOrPasskey(userId, factorId))
}

/** Whether the user can sign in with a password, or with a passkey other than `factorId`. */
export function* hasPasswordOrPasskey(userId: string, factorId = ''): Write<boolean> {
  return yield* exists`
    select 1 from "user" u where u.id = ${userId} and (
      (u.username is not null and u.password_hash is not null)
      or exists (select 1 from factor f
        where f.user_id = ${userId} and f.id <> ${factorId} and f.kind = 'passkey' and f.confirmed_at is not null))`
}

type UseFactor = Use & { factorId: string; step?: number; signCount?: number }

/**
 * Uses a confirmed factor once: a code of a time step that is later than each one before, or a passkey whose counter rose (or that has
 * none). Returns 'refused' otherwise, 'no-challenge' if the challenge is unknown, used or expired, and 'spent' if `spent` was used before;
 * then it changes nothing, except that a passkey uses `spent` up. Of uses of the same code, step or challenge at the same time, one succeeds.
 */
export const useFactor = rotating(function* (use: UseFactor): Write<UseOutcome> {
  const { userId, factorId, at, step = null, signCount = null } = use
  const change = run`
    update factor set last_used_at = ${at}, last_step = coalesce(${step}, last_step),
      sign_count = coalesce(${signCount}, sign_count)
    where user_id = ${userId} and id = ${factorId} and confirmed_at is not null
      and (kind = 'totp' and coalesce(last_step, -1) < ${step}
        or kind = 'passkey' and (sign_count < ${signCount} or sign_count = 0 and cast(${signCount} as bigint) = 0))`
  return yield* useUp(use, change)
})

/** Uses a recovery code once. As `useFactor`. */
export const useRecoveryCode = rotating(function* (use: Use & { codeHash: string }): Write<UseOutcome> {
  const { userId, codeHash, at } = use
  const change = run`
    update recovery_code set used_at = ${at} where user_id = ${userId} and code_hash = ${codeHash} and used_at is null`
  return yield* useUp(use, change)
})

function* useUp(use: Use, change: Write<number>): Write<UseOutcome> {
  const { at, challenge } = use
  if (!(yield* spend(use))) return 'spent'
  if (challenge !== undefined) {
    const open = yield* lock`
      select 1 from challenge where user_id = ${challenge.userId} and hash = ${challenge.hash} and expires_at > ${at}`
    if (open === undefined) return 'no-challenge'
  }
  if ((yield* change) === 0) return 'refused'
  if (challenge !== undefined)
    yield* send`delete from challenge where user_id = ${challenge.userId} and hash = ${challenge.hash}`
  return 'done'
}

/** Uses a challenge up. False if it was used before. */
function* spend({ userId, spent }: Pick<Use, 'userId' | 'spent'>): Write<boolean> {
  return spent === undefined || (yield* addChallenge({ userId, purpose: 'spent', data: '', ...spent }))
}

type ReplaceRecoveryCodes = { userId: string; at: number } & WithRecoveryCodes & Rotating & Audited

/** Replaces every recovery code of a user. Returns 'refused', and changes nothing, without a confirmed factor. */
export const replaceRecoveryCodes = rotating(function* (replace: ReplaceRecoveryCodes): Write<'done' | 'refused'> {
  if (!(yield* hasFactor(replace.userId))) return 'refused'
  yield* storeRecoveryCodes(replace)
  return 'done'
})

function* hasFactor(userId: string): Read<boolean> {
  return yield* exists`select 1 from factor where user_id = ${userId} and confirmed_at is not null limit 1`
}

function* storeRecoveryCodes({ userId, recoveryCodeHashes, at }: ReplaceRecoveryCodes): Write<void> {
  yield* send`delete from recovery_code where user_id = ${userId}`
  for (const hash of recoveryCodeHashes)
    yield* send`insert into recovery_code (user_id, code_hash, created_at) values (${userId}, ${hash}, ${at})`
}

/**
 * Adds a challenge; of one that was not stored when it was given, it records the use, until it has expired. False, and nothing changed,
 * if the challenge is there already, or for an unknown user. Of calls at the same time, one succeeds; the others wait for it at the insert.
 */
export function* addChallenge(add: ChallengeKey & Challenge & { expiresAt: number } & Audited): Write<boolean> {
  const { userId, hash, purpose, data, expiresAt, audit } = add
  if (!(yield* lockUser(userId))) return false
  const added = yield* run`
    insert into challenge (user_id, hash, purpose, data, expires_at)
    values (${userId}, ${hash}, ${purpose}, ${data}, ${expiresAt}) on conflict (user_id, hash) do nothing`
  if (added > 0) yield* record(audit)
  return added > 0
}

/** Finds a challenge that has not expired at `at`. */
export function* findChallenge({ userId, hash, at }: ChallengeKey & { at: number }): Read<Challenge | undefined> {
  return yield* get<Challenge>`
    select purpose, data from challenge where user_id = ${userId} and hash = ${hash} and expires_at > ${at}`
}

/** Uses up a challenge that allows nothing but what it says itself. Undefined if it is unknown, used or expired at `at`. */
export function* useChallenge({ userId, hash, at }: ChallengeKey & { at: number }): Write<Challenge | undefined> {
  return yield* get<Challenge>`
    delete from challenge where user_id = ${userId} and hash = ${hash} and expires_at > ${at} returning purpose, data`
}

/** Removes the challenges that expired before `before`. */
export function* removeExpiredChallenges(before: number): Write<void> {
  yield* send`delete from challenge where expires_at < ${before}`
}

export type SealedFactor = { userId: string; id: string; sealedSecret: string }
type FactorsSealedOtherwise = { prefix: string; after: { userId: string; id: string }; limit: number }
type ResealFactors = { factors: readonly { userId: string; id: string; from: string; to: string }[] } & Audited

/** Lists at most `limit` factors whose sealed secret does not begin with `prefix`, by user and id, after `after`. Reads the whole table. */
export function* factorsSealedOtherwise({ prefix, after, limit }: FactorsSealedOtherwise): Read<SealedFactor[]> {
  return yield* all<SealedFactor>`
    select user_id as "userId", id, sealed_secret as "sealedSecret" from factor
    where (user_id, id) > (${after.userId}, ${after.id}) and sealed_secret is not null
      and substr(sealed_secret, 1, length(cast(${prefix} as text))) <> ${prefix}
    order by user_id, id limit ${limit}`
}

/** Replaces sealed secrets, each only if it is still `from`. Returns how many it replaced. */
export function* resealFactors({ factors, audit }: ResealFactors): Write<number> {
  let replaced = 0
  for (const { userId, id, from, to } of factors)
    replaced += yield* run`
      update factor set sealed_secret = ${to} where user_id = ${userId} and id = ${id} and sealed_secret = ${from}`
  if (replaced > 0) yield* record(audit)
  return replaced
}
