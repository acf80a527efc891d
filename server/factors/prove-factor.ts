// A right factor is used up with its challenge. Attempts have their own count (A9): a right
// password allows no more guesses of a code.
import type { FastifyRequest } from 'fastify'
import type { RequestSource } from '../audit/entry.ts'
import { invalidField, notAuthenticated, wrongSecondFactor } from '../basics/errors.ts'
import type { Guesser } from '../guessing/guesses.ts'
import type { SecondFactorBody } from './factors.schemas.ts'
import { factorsOf, type Use, useFactor, useRecoveryCode } from './factors.store.ts'
import {
  challengeEnded,
  type FactorNeeds,
  hashOfRecoveryCode,
  secretOf,
  stepOfCode,
} from './factors.ts'
import type { Assertion } from './passkeys/ceremonies.ts'
import { usePasskey } from './passkeys/passkeys.ts'

type PresentedFactor =
  | { method: 'totp' | 'recovery-code'; code: string }
  | { method: 'passkey'; passkey: Assertion }
/** `guesser`: others' guesses do not delay this user's known device or sign-in. */
type Proving = Omit<Use, 'at'> & {
  request: FastifyRequest
  source: RequestSource
  guesser: Guesser
}

export function presentedFactor(body: Omit<SecondFactorBody, 'challenge'>): PresentedFactor {
  const { code, recoveryCode, passkey } = body
  const given = [code, recoveryCode, passkey].filter((one) => one !== undefined)
  if (given.length !== 1)
    throw invalidField('code', 'or recoveryCode, or passkey: send exactly one of them')
  if (code !== undefined) return { method: 'totp', code }
  if (recoveryCode !== undefined) return { method: 'recovery-code', code: recoveryCode }
  return { method: 'passkey', passkey: passkey as Assertion }
}

/**
 * Throws INVALID_CREDENTIALS for a wrong or used code, FACTOR_UNREADABLE if an app could not be
 * checked, UNAUTHORIZED if the challenge or rotation has ended, TOO_MANY_REQUESTS before anything
 * is compared. For a passkey, throws as `usePasskey`.
 */
export async function proveFactor(
  needs: FactorNeeds,
  presented: PresentedFactor,
  proving: Proving,
): Promise<void> {
  if (presented.method === 'passkey') {
    await usePasskey(needs, presented.passkey, proving)
    return
  }
  const { request: _, source: __, guesser, ...of } = proving
  const { guesses, store, users } = needs
  const guess = await guesses.begin(guesses.of(guesser, 'second-factor'))
  const { method, code } = presented
  const use = { ...of, at: users.now() }
  const outcome =
    method === 'totp'
      ? await useCode(needs, code, use)
      : await store.write(useRecoveryCode, { ...use, codeHash: hashOfRecoveryCode(code) })
  // It says nothing about the guess.
  if (outcome === 'outdated') await guesses.succeed(guess)
  if (outcome === 'no-challenge') throw challengeEnded()
  if (outcome === 'outdated' || outcome === 'absent') throw notAuthenticated()
  if (outcome !== 'done') throw wrongSecondFactor()
  await guesses.succeed(guess)
}

async function useCode(needs: FactorNeeds, code: string, use: Use) {
  const { store } = needs
  let unreadable: unknown
  for (const factor of (await store.read(factorsOf, use.userId)).factors) {
    if (factor.kind !== 'totp' || factor.confirmedAt === null) continue
    // Another app may be readable.
    const secret = await secretOf(needs, factor).catch((error: unknown) => {
      unreadable = error
    })
    const step = secret && (await stepOfCode(secret, code, use.at))
    if (typeof step === 'number')
      return store.write(useFactor, { ...use, factorId: factor.id, step })
  }
  if (unreadable !== undefined) throw unreadable
  return 'refused'
}
