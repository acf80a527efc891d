// The passkeys of a user: adding one, and proving one, as the only proof of a sign-in, as a second factor, or to confirm a sign-in. The
// cryptography is in ceremonies.ts.
import { recordAudit } from '../../audit/audit.store.ts'
import { auditEntry, type Source } from '../../audit/entry.ts'
import { CarillonError, notAuthenticated } from '../../basics/errors.ts'
import { newId } from '../../basics/ids.ts'
import type { Sealing } from '../../basics/secrets.ts'
import type { Guess, Guesses } from '../../guessing/guesses.ts'
import type { Audited } from '../../store/events.ts'
import type { Store } from '../../store/store.ts'
import { findUser, type User } from '../../users/users.store.ts'
import type { ChallengeKey, Factor, FactorOutcome } from '../factors.store.ts'
import * as stored from '../factors.store.ts'
import { maxFactors, newRecoveryCodes, tooManyFactors } from '../factors.ts'
import {
  type Assertion,
  type Credential,
  type Purpose,
  type Registration,
  type RelyingParty,
  readChallenge,
  readClientData,
  refusal,
  refuseUnverified,
  type SpentChallenge,
  verifyAssertion,
  verifyRegistration,
} from './ceremonies.ts'

export type PasskeyNeeds = { store: Store; sealing: Sealing; guesses: Guesses; users: { now: () => number } }

/** A user who proved a passkey, of which nothing is recorded yet. */
export type ProvenPasskey = { user: User; factorId: string; signCount: number; challenge: SpentChallenge; guess: Guess }

type Addition = { userId: string; label?: string | undefined; relyingParty: RelyingParty; source: Source }

/**
 * Adds what the browser created. `codes` are recovery codes for the first factor. Throws UNPROCESSABLE with the reason if it is not a new
 * passkey for this user and this service, and CONFLICT if the user has it already or has too many factors.
 */
export async function addPasskey(
  dependencies: PasskeyNeeds,
  response: Registration,
  { userId, label = 'Passkey', relyingParty, source }: Addition,
): Promise<{ factor: Factor; outcome: 'done' | 'first'; codes: readonly string[] }> {
  const challenge = readClientData(response.response.clientDataJSON, 'create', relyingParty)
  const given = refuseStrange(dependencies, challenge, { ceremony: 'create', userId })
  const credential = await verifyRegistration(response, { relyingParty, challenge })
  await spend(dependencies, userId, given)
  const at = dependencies.users.now()
  const factor = { id: newId(at), kind: 'passkey', label, createdAt: at, confirmedAt: at, ...credential } as const
  const { codes, hashes } = newRecoveryCodes()
  const detail = { factorId: factor.id, kind: factor.kind }
  const audit = [auditEntry(source, { event: 'factor-added', at, userId, detail })]
  const change = { userId, factor, maxFactors, recoveryCodeHashes: hashes, audit }
  const outcome = await dependencies.store.write(stored.addFactor, change)
  if (outcome === 'full') throw tooManyFactors()
  if (outcome === 'taken') throw new CarillonError('CONFLICT', 'You have this passkey already')
  if (outcome === 'absent') throw notAuthenticated()
  return { factor: { ...factor, lastUsedAt: null, sealedSecret: null, lastStep: null }, outcome, codes }
}

/**
 * Checks what the browser returned, without a change. `userId`: whose passkey it must be; without it, that of the user whom the passkey
 * names. Throws UNPROCESSABLE for what depends on no account, TOO_MANY_REQUESTS after many failures of this address, and INVALID_CREDENTIALS, one and the same error, for an unknown passkey or
 * user, a passkey of another user, a wrong signature, and a disabled user.
 */
export async function provePasskey(
  dependencies: PasskeyNeeds,
  response: Assertion,
  { relyingParty, userId, address }: { relyingParty: RelyingParty; userId?: string | undefined; address: string },
): Promise<ProvenPasskey> {
  const { store, guesses } = dependencies
  const challenge = readClientData(response.response.clientDataJSON, 'get', relyingParty)
  const given = refuseStrange(dependencies, challenge, { ceremony: 'get' })
  await refuseUnverified(response, relyingParty)
  const guess = await guesses.begin({ address }, 'passkey')
  const owner = userId ?? namedUser(response)
  // A passkey of another user must not complete the sign-in of this one.
  if (owner === undefined || (namedUser(response) ?? owner) !== owner) throw wrongPasskey()
  const [user, factors] = await Promise.all([store.read(findUser, owner), store.read(stored.factorsOf, owner)])
  const credential = passkeysIn(factors).find(({ credentialId }) => credentialId === response.id)
  if (user === undefined || user.disabledAt !== null || credential === undefined) throw wrongPasskey()
  const signCount = await verifyAssertion(response, { relyingParty, challenge, credential })
  if (signCount === undefined) throw wrongPasskey()
  return { user, factorId: credential.factorId, signCount, challenge: given, guess }
}

type Use = {
  /** That of the sign-in that waits for a second factor. */
  secondFactor?: ChallengeKey | undefined
  source: Source
} & Audited

/**
 * Records the use: the challenge is used up, and the counter is stored. Throws UNPROCESSABLE if the challenge was used before, and
 * INVALID_CREDENTIALS if the counter did not rise: then two authenticators have the same key, and one of them is a copy (WebAuthn Level 3,
 * section 6.1.1). 'no-challenge' as of `useFactor`.
 */
export async function usePasskey(
  dependencies: PasskeyNeeds,
  { user, factorId, signCount, challenge, guess }: ProvenPasskey,
  { secondFactor, audit, source }: Use,
): Promise<Exclude<FactorOutcome, 'refused'>> {
  const { store, users } = dependencies
  const { id: userId } = user
  const at = users.now()
  await spend(dependencies, userId, challenge)
  const outcome = await store.write(stored.useFactor, {
    userId,
    factorId,
    at,
    signCount,
    challenge: secondFactor,
    audit,
  })
  if (outcome !== 'refused') {
    await guess.succeed()
    return outcome
  }
  const detail = { factorId, signCount }
  await store.write(recordAudit, [auditEntry(source, { event: 'passkey-copied', at, userId, detail })])
  const problem = 'The counter of this passkey did not rise, so there may be a copy of it'
  throw new CarillonError('INVALID_CREDENTIALS', problem, { remedy: 'Sign in another way and remove the passkey.' })
}

/** The same error for everything that depends on an account. */
function wrongPasskey(): CarillonError {
  return new CarillonError('INVALID_CREDENTIALS', 'The passkey is not one of an active user, or its signature is wrong')
}

function refuseStrange({ sealing, users }: PasskeyNeeds, challenge: string, purpose: Purpose): SpentChallenge {
  const given = readChallenge(sealing, purpose, { challenge, at: users.now() })
  if (given === undefined)
    throw refusal('The challenge is not one of this service, or older than 5 minutes', 'Request new options.')
  return given
}

/** After everything else is known to be right, so that only a user with a passkey can write to the store. */
async function spend({ store }: PasskeyNeeds, userId: string, challenge: SpentChallenge): Promise<void> {
  if (!(await store.write(stored.spendChallenge, { userId, ...challenge })))
    throw refusal('The challenge was used already', 'Request new options.')
}

/** The user whom a passkey names; undefined if it names nobody, as a browser may do if it knew the user. */
export function namedUser({ response: { userHandle } }: Assertion): string | undefined {
  const named = userHandle ? Buffer.from(userHandle, 'base64url').toString() : ''
  return userIdShape.test(named) ? named : undefined
}

const userIdShape = /^[0-9a-f-]{36}$/

export function passkeysIn({ factors }: { factors: readonly Factor[] }): (Credential & { factorId: string })[] {
  return factors.flatMap(({ id: factorId, credentialId, publicKey, signCount, transports }) =>
    credentialId === null || publicKey === null
      ? []
      : [{ factorId, credentialId, publicKey, signCount: signCount ?? 0, transports: transports ?? [] }],
  )
}
