// Each change locks the user's row: only one of two calls adds the first factor. With a `rotation`
// it rotates the caller's sign-in.

import { record } from '../audit/audit.store.ts'
import type { SecondFactorKind } from '../basics/errors.ts'
import type { Audited } from '../store/events.ts'
import { all, exists, get, lock, type Read, run, send, type Write } from '../store/statements.ts'
import { type Rotating, rotating } from '../users/access/rotation.store.ts'
import { lockUser } from '../users/users.store.ts'

export type Factor = {
  id: string
  kind: 'totp' | 'passkey'
  label: string
  createdAt: number
  /** Null until an app's first code: the factor does not count. */
  confirmedAt: number | null
  lastUsedAt: number | null
  /** The service's secret encrypts it. */
  sealedSecret: string | null
  /** The highest time step of an accepted code (RFC 6238, section 5.2). */
  lastStep: number | null
  /** Base64url; the public key is COSE. */
  credentialId: string | null
  publicKey: string | null
  signCount: number | null
  transports: readonly string[] | null
}

export type NewFactor = Pick<Factor, 'id' | 'kind' | 'label' | 'createdAt' | 'confirmedAt'> &
  Partial<Pick<Factor, 'sealedSecret' | 'credentialId' | 'publicKey' | 'signCount' | 'transports'>>

export type ChallengeKey = { userId: string; hash: string }

export type Challenge = { purpose: string; data: string }

/** The passkey's challenge was not stored before: its use is recorded until `expiresAt`. */
export type SpentChallenge = { hash: string; expiresAt: number }

/** Using the factor also uses up the challenge or `spent`. */
export type Use = {
  userId: string
  at: number
  challenge?: ChallengeKey | undefined
  spent?: SpentChallenge
} & Rotating &
  Audited

type WithRecoveryCodes = { recoveryCodeHashes: readonly string[] }

/** The hash of a needed link of purpose `factor`: the change uses it up, or changes nothing. */
type WithLink = { linkHash?: string | undefined }

/** A mailed link is valid while its address is the user's verified one. */
function* useLink({
  userId,
  linkHash,
  at,
}: WithLink & { userId: string; at: number }): Write<boolean> {
  if (linkHash === undefined) return true
  const used = yield* run`
    delete from one_time_link where user_id = ${userId} and purpose = 'factor' and token_hash = ${linkHash} and expires_at > ${at}
      and (email is null or email = (
        select u.email from "user" u where u.id = ${userId} and u.email_verified_at is not null))`
  return used > 0
}

type UseOutcome = 'done' | 'refused' | 'no-challenge' | 'spent'

type AddFactor = {
  userId: string
  factor: NewFactor
  maxFactors: number
  spent?: SpentChallenge
} & WithRecoveryCodes &
  WithLink &
  Rotating &
  Audited
type Added = 'done' | 'first'

/**
 * If it is the first confirmed one, `recoveryCodeHashes` replace the user's recovery codes. An
 * unconfirmed one replaces other unconfirmed ones. Changes nothing if it returns 'taken' (the user
 * has the credential), 'full' (at `maxFactors`), 'spent' (`spent` was used before) or 'no-link'
 * (the needed link is missing). Of simultaneous calls, one adds the first factor.
 */
export const addFactor = rotating(function* (
  add: AddFactor,
): Write<Added | 'taken' | 'full' | 'spent' | 'no-link'> {
  const { userId, factor, maxFactors, recoveryCodeHashes } = add
  if (!(yield* spend(add))) return 'spent'
  const { credentialId = null, transports } = factor
  const kept = yield* all<{ credentialId: string | null; isConfirmed: boolean }>`
    select credential_id as "credentialId", confirmed_at is not null as "isConfirmed" from factor where user_id = ${userId}`
  if (credentialId !== null && kept.some((one) => one.credentialId === credentialId)) return 'taken'
  const confirmed = kept.filter((one) => one.isConfirmed)
  const isConfirmed = factor.confirmedAt !== null
  if ((isConfirmed ? kept : confirmed).length >= maxFactors) return 'full'
  if (!(yield* useLink({ ...add, at: factor.createdAt }))) return 'no-link'
  if (!isConfirmed)
    yield* send`delete from factor where user_id = ${userId} and confirmed_at is null`
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

/** Ordered by id. */
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
  return { factors, recoveryCodesLeft: rows[0]?.recoveryCodesLeft ?? 0 }
}

/** Empty without a confirmed factor. */
export function* offeredFactors(userId: string): Read<SecondFactorKind[]> {
  const { factors, recoveryCodesLeft } = yield* factorsOf(userId)
  const confirmed = factors.filter(({ confirmedAt }) => confirmedAt !== null)
  const kinds = new Set<SecondFactorKind>(confirmed.map(({ kind }) => kind))
  if (kinds.size > 0 && recoveryCodesLeft > 0) kinds.add('recovery-code')
  return [...kinds]
}

type ConfirmFactor = {
  userId: string
  factorId: string
  step: number
  at: number
} & WithRecoveryCodes &
  WithLink &
  Rotating &
  Audited

/** Handles recovery codes and link as `addFactor`. Returns 'refused' for a confirmed factor. */
export const confirmFactor = rotating(function* (
  confirm: ConfirmFactor,
): Write<Added | 'absent' | 'refused' | 'no-link'> {
  const { userId, factorId, step, at, recoveryCodeHashes } = confirm
  const factor = yield* get<{ isConfirmed: boolean }>`
    select confirmed_at is not null as "isConfirmed" from factor where user_id = ${userId} and id = ${factorId}`
  if (factor === undefined) return 'absent'
  if (factor.isConfirmed) return 'refused'
  if (!(yield* useLink(confirm))) return 'no-link'
  const isFirst = !(yield* hasFactor(userId))
  yield* send`
    update factor set confirmed_at = ${at}, last_step = ${step}, last_used_at = ${at}
    where user_id = ${userId} and id = ${factorId}`
  if (isFirst) yield* storeRecoveryCodes({ userId, recoveryCodeHashes, at })
  return isFirst ? 'first' : 'done'
})

type RemoveFactor = {
  userId: string
  factorId: string
  demanded?: 'required' | 'passkey' | undefined
} & Rotating &
  Audited

/**
 * Removing the last confirmed factor ends the recovery codes. Returns 'unconfirmed' if the factor
 * did not count; then it neither rotates nor records. Changes nothing if it returns 'last' (a
 * passkey without which the user could not sign in) or 'demanded' (the last of those `demanded`).
 */
export const removeFactor = rotating(function* (
  remove: RemoveFactor,
): Write<'done' | 'unconfirmed' | 'absent' | 'last' | 'demanded'> {
  const { userId, factorId, demanded } = remove
  const factor = yield* get<{ isPasskey: boolean; isConfirmed: boolean }>`
    select kind = 'passkey' as "isPasskey", confirmed_at is not null as "isConfirmed" from factor
    where user_id = ${userId} and id = ${factorId}`
  if (factor === undefined) return 'absent'
  if (factor.isPasskey && factor.isConfirmed && !(yield* canSignIn(userId, factorId))) return 'last'
  if (demanded !== undefined && factor.isConfirmed) {
    const needsPasskey = demanded === 'passkey' && factor.isPasskey
    const hasOther = yield* exists`
      select 1 from factor where user_id = ${userId} and id <> ${factorId} and confirmed_at is not null
        and (kind = 'passkey' or ${Number(needsPasskey)} = 0)`
    if (!hasOther) return 'demanded'
  }
  yield* send`delete from factor where user_id = ${userId} and id = ${factorId}`
  if (!(yield* hasFactor(userId))) yield* send`delete from recovery_code where user_id = ${userId}`
  return factor.isConfirmed ? 'done' : 'unconfirmed'
})

/** By a password, a passkey other than `factorId`, or a provider. */
export function* canSignIn(userId: string, factorId = ''): Write<boolean> {
  const hasAccount =
    yield* exists`select 1 from provider_account where owner_id = ${userId} limit 1`
  return hasAccount || (yield* hasPasswordOrPasskey(userId, factorId))
}

/** A password, or a passkey other than `factorId`. */
export function* hasPasswordOrPasskey(userId: string, factorId = ''): Write<boolean> {
  return yield* exists`
    select 1 from "user" u where u.id = ${userId} and (
      (u.username is not null and u.password_hash is not null)
      or exists (select 1 from factor f
        where f.user_id = ${userId} and f.id <> ${factorId} and f.kind = 'passkey' and f.confirmed_at is not null))`
}

type UseFactor = Use & { factorId: string; step?: number; signCount?: number }

/**
 * Uses a confirmed factor once: a later time step, or a passkey whose counter (if any) rose.
 * Otherwise returns 'refused', 'no-challenge' if the challenge has ended, or 'spent' if `spent` was
 * used. Then it only uses up the `spent` of a passkey. Of simultaneous uses, one succeeds.
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

export const useRecoveryCode = rotating(function* (
  use: Use & { codeHash: string },
): Write<UseOutcome> {
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

function* spend({ userId, spent }: Pick<Use, 'userId' | 'spent'>): Write<boolean> {
  return (
    spent === undefined || (yield* addChallenge({ userId, purpose: 'spent', data: '', ...spent }))
  )
}

type ReplaceRecoveryCodes = { userId: string; at: number } & WithRecoveryCodes & Rotating & Audited

/** Without a confirmed factor, returns 'refused' and changes nothing. */
export const replaceRecoveryCodes = rotating(function* (
  replace: ReplaceRecoveryCodes,
): Write<'done' | 'refused'> {
  if (!(yield* hasFactor(replace.userId))) return 'refused'
  yield* storeRecoveryCodes(replace)
  return 'done'
})

function* hasFactor(userId: string): Read<boolean> {
  return yield* exists`select 1 from factor where user_id = ${userId} and confirmed_at is not null limit 1`
}

function* storeRecoveryCodes({
  userId,
  recoveryCodeHashes,
  at,
}: ReplaceRecoveryCodes): Write<void> {
  yield* send`delete from recovery_code where user_id = ${userId}`
  for (const hash of recoveryCodeHashes)
    yield* send`insert into recovery_code (user_id, code_hash, created_at) values (${userId}, ${hash}, ${at})`
}

/**
 * Records the use of a challenge that was not stored. Returns false, and changes nothing, if the
 * use is recorded or the user unknown. Of simultaneous calls, one succeeds.
 */
export function* addChallenge(
  add: ChallengeKey & Challenge & { expiresAt: number } & Audited,
): Write<boolean> {
  const { userId, hash, purpose, data, expiresAt, audit } = add
  if (!(yield* lockUser(userId))) return false
  const added = yield* run`
    insert into challenge (user_id, hash, purpose, data, expires_at)
    values (${userId}, ${hash}, ${purpose}, ${data}, ${expiresAt}) on conflict (user_id, hash) do nothing`
  if (added > 0) yield* record(audit)
  return added > 0
}

export function* findChallenge({
  userId,
  hash,
  at,
}: ChallengeKey & { at: number }): Read<Challenge | undefined> {
  return yield* get<Challenge>`
    select purpose, data from challenge where user_id = ${userId} and hash = ${hash} and expires_at > ${at}`
}

/** Undefined if the challenge is unknown, used or expired at `at`. */
export function* useChallenge({
  userId,
  hash,
  at,
}: ChallengeKey & { at: number }): Write<Challenge | undefined> {
  return yield* get<Challenge>`
    delete from challenge where user_id = ${userId} and hash = ${hash} and expires_at > ${at} returning purpose, data`
}

export function* removeExpiredChallenges(before: number): Write<void> {
  yield* send`delete from challenge where expires_at < ${before}`
}

export type SealedFactor = { userId: string; id: string; sealedSecret: string }
type FactorsSealedOtherwise = {
  prefix: string
  after: { userId: string; id: string }
  limit: number
}
type ResealFactors = {
  factors: readonly { userId: string; id: string; from: string; to: string }[]
} & Audited

/** At most `limit` after `after`, by user and id. Reads the whole table. */
export function* factorsSealedOtherwise({
  prefix,
  after,
  limit,
}: FactorsSealedOtherwise): Read<SealedFactor[]> {
  return yield* all<SealedFactor>`
    select user_id as "userId", id, sealed_secret as "sealedSecret" from factor
    where (user_id, id) > (${after.userId}, ${after.id}) and sealed_secret is not null
      and substr(sealed_secret, 1, length(cast(${prefix} as text))) <> ${prefix}
    order by user_id, id limit ${limit}`
}

/** Replaces a secret that is still `from`. Returns how many. */
export function* resealFactors({ factors, audit }: ResealFactors): Write<number> {
  let replaced = 0
  for (const { userId, id, from, to } of factors)
    replaced += yield* run`
      update factor set sealed_secret = ${to} where user_id = ${userId} and id = ${id} and sealed_secret = ${from}`
  if (replaced > 0) yield* record(audit)
  return replaced
}
