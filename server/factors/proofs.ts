// Is this the user's second factor? A right one is used up, together with the challenge that it answers. Every attempt is a guess that is
// counted (A9), in a count of its own: a right password allows no more guesses of a code.
import type { Source } from '../audit/entry.ts'
import { CarillonError, wrongSecondFactor } from '../basics/errors.ts'
import {
  type ChallengeKey,
  type FactorOutcome,
  factorsOf,
  useFactor,
  useRecoveryCode as useStoredRecoveryCode,
} from './factors.store.ts'
import { type FactorDependencies, secretOf } from './factors.ts'
import { type Assertion, provePasskey, usePasskey } from './passkeys/passkeys.ts'
import type { RelyingParty } from './passkeys/relying-party.ts'
import { hashOfRecoveryCode } from './recovery-codes.ts'
import { stepOfCode } from './totp.ts'

export type FactorMethod = 'totp' | 'recovery-code' | 'passkey'
export type PresentedCode = { code: string } | { recoveryCode: string }
type Proving = {
  userId: string
  address: string
  /** A known device of this user: the guesses of others do not delay it. It proves no factor. */
  device: string | undefined
  challenge?: ChallengeKey | undefined
}
type PasskeyProving = { relyingParty: RelyingParty; source: Source }

/**
 * Throws INVALID_CREDENTIALS for a wrong code and one that was used, FACTOR_UNREADABLE if an app could not be checked, UNAUTHORIZED if the
 * challenge has ended, and TOO_MANY_REQUESTS, before anything is compared, after too many failures.
 */
export async function proveByCode(
  dependencies: FactorDependencies,
  presented: PresentedCode,
  proving: Proving,
): Promise<FactorMethod> {
  const { userId, address, device } = proving
  const guess = await dependencies.guesses.begin({ account: userId, address, device }, 'second-factor')
  const isTotp = 'code' in presented
  const outcome = isTotp
    ? await useCode(dependencies, presented.code, proving)
    : await useRecoveryCode(dependencies, presented.recoveryCode, proving)
  if (outcome === 'no-challenge') throw challengeEnded()
  if (outcome === 'refused') throw wrongSecondFactor()
  await guess.succeed()
  return isTotp ? 'totp' : 'recovery-code'
}

/** Throws as `provePasskey` and `usePasskey` do, and UNAUTHORIZED if the challenge has ended. The guesses of others never delay it. */
export async function proveByPasskey(
  dependencies: FactorDependencies,
  passkey: Assertion,
  { userId, address, challenge, relyingParty, source }: Omit<Proving, 'device'> & PasskeyProving,
): Promise<FactorMethod> {
  const proven = await provePasskey(dependencies, passkey, { relyingParty, userId, address })
  const outcome = await usePasskey(dependencies, proven, { secondFactor: challenge, source })
  if (outcome === 'no-challenge') throw challengeEnded()
  return 'passkey'
}

/** The same error for a challenge that was used, has expired, or never was: one that was ended by a new password included. */
export function challengeEnded(): CarillonError {
  return new CarillonError('UNAUTHORIZED', 'The challenge was used, or is older than 5 minutes', {
    remedy: 'Sign in again.',
  })
}

async function useCode(dependencies: FactorDependencies, code: string, { userId, challenge }: Proving) {
  const { store, now } = dependencies
  const at = now()
  let unreadable: unknown
  for (const factor of (await store.read(factorsOf, userId)).factors) {
    if (factor.kind !== 'totp' || factor.confirmedAt === null) continue
    // Another app of the user may be readable.
    const secret = await secretOf(dependencies, factor).catch((error: unknown) => {
      unreadable = error
    })
    const step = secret && (await stepOfCode(secret, code, at))
    if (typeof step === 'number') return store.write(useFactor, { userId, factorId: factor.id, at, step, challenge })
  }
  if (unreadable !== undefined) throw unreadable
  return 'refused' satisfies FactorOutcome
}

function useRecoveryCode({ store, now }: FactorDependencies, code: string, { userId, challenge }: Proving) {
  return store.write(useStoredRecoveryCode, { userId, codeHash: hashOfRecoveryCode(code), at: now(), challenge })
}
