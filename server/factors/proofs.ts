// Is this the user's second factor? A right one is used up, together with the challenge that it answers. Every attempt is a guess that is
// counted (A9), in a count of its own: a right password allows no more guesses of a code.
import type { FastifyRequest } from 'fastify'
import type { RequestSource } from '../audit/entry.ts'
import { invalidField, wrongSecondFactor } from '../basics/errors.ts'
import type { SecondFactorBody } from './factors.schemas.ts'
import { type FactorOutcome, factorsOf, type Use, useFactor, useRecoveryCode } from './factors.store.ts'
import { challengeEnded, type FactorNeeds, hashOfRecoveryCode, secretOf, stepOfCode } from './factors.ts'
import { type Assertion, relyingPartyFor } from './passkeys/ceremonies.ts'
import { usePasskey } from './passkeys/passkeys.ts'

type PresentedFactor = { method: 'totp' | 'recovery-code'; code: string } | { method: 'passkey'; passkey: Assertion }
/** `device`: a known one of this user: the guesses of others do not delay it. It proves no factor. */
type Proving = Omit<Use, 'at'> & { source: RequestSource; device: string | undefined }

/** Throws INVALID_REQUEST unless there is exactly one. */
export function presentedFactor({ code, recoveryCode, passkey }: Omit<SecondFactorBody, 'challenge'>): PresentedFactor {
  const given = [code, recoveryCode, passkey].filter((one) => one !== undefined)
  if (given.length !== 1) throw invalidField('code', 'or recoveryCode, or passkey: send exactly one of them')
  if (code !== undefined) return { method: 'totp', code }
  if (recoveryCode !== undefined) return { method: 'recovery-code', code: recoveryCode }
  return { method: 'passkey', passkey: passkey as Assertion }
}

/**
 * Throws INVALID_CREDENTIALS for a wrong code and one that was used, FACTOR_UNREADABLE if an app could not be checked, UNAUTHORIZED if the
 * challenge has ended, and TOO_MANY_REQUESTS, before anything is compared, after too many failures. For a passkey, throws as
 * `usePasskey`: the guesses of others never delay it.
 */
export async function proveFactor(
  dependencies: FactorNeeds,
  presented: PresentedFactor,
  { source, device, ...of }: Proving,
  request: FastifyRequest,
): Promise<void> {
  if (presented.method === 'passkey') {
    const relyingParty = relyingPartyFor(dependencies, request)
    await usePasskey(dependencies, presented.passkey, { ...of, relyingParty, source })
    return
  }
  const { guesses, store, users } = dependencies
  const guess = await guesses.begin(
    guesses.of({ account: of.userId, address: source.address, device }, 'second-factor'),
  )
  const { method, code } = presented
  const use = { ...of, at: users.now() }
  const outcome =
    method === 'totp'
      ? await useCode(dependencies, code, use)
      : await store.write(useRecoveryCode, { ...use, codeHash: hashOfRecoveryCode(code) })
  if (outcome === 'no-challenge') throw challengeEnded()
  if (outcome === 'refused') throw wrongSecondFactor()
  await guesses.succeed(guess)
}

async function useCode(dependencies: FactorNeeds, code: string, use: Use): Promise<FactorOutcome> {
  const { store } = dependencies
  let unreadable: unknown
  for (const factor of (await store.read(factorsOf, use.userId)).factors) {
    if (factor.kind !== 'totp' || factor.confirmedAt === null) continue
    // Another app of the user may be readable.
    const secret = await secretOf(dependencies, factor).catch((error: unknown) => {
      unreadable = error
    })
    const step = secret && (await stepOfCode(secret, code, use.at))
    if (typeof step === 'number') return store.write(useFactor, { ...use, factorId: factor.id, step })
  }
  if (unreadable !== undefined) throw unreadable
  return 'refused'
}
