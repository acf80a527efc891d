// The passkeys of a user: adding one, and proving one. The cryptography is in ceremonies.ts.
import type { FastifyRequest } from 'fastify'
import { recordAudit } from '../../audit/audit.store.ts'
import { auditEntry, type RequestSource } from '../../audit/entry.ts'
import { CarillonError, conflict, notAuthenticated } from '../../basics/errors.ts'
import { isIdShaped, newId } from '../../basics/ids.ts'
import type { Guesser } from '../../guessing/guesses.ts'
import type { Guarded, Subject } from '../../http/operation.ts'
import { changeCredential } from '../../sessions/own-sign-in.ts'
import { findUser, type User } from '../../users/users.store.ts'
import type { Factor } from '../factors.store.ts'
import * as stored from '../factors.store.ts'
import { challengeEnded, type FactorNeeds, maxFactors, newRecoveryCodes, tooManyFactors } from '../factors.ts'
import type { Assertion, Purpose, Registration } from './ceremonies.ts'
import * as ceremonies from './ceremonies.ts'

type Addition = { userId: string; label?: string | undefined; source: RequestSource }

/**
 * Adds what the browser created. `codes` are recovery codes for the first factor. Throws UNPROCESSABLE with the reason if it is not a new
 * passkey for this user and this service, and CONFLICT if the user has it already or has too many factors.
 */
export async function addPasskey(
  dependencies: FactorNeeds,
  response: Registration,
  { userId, label = 'Passkey', source }: Addition,
  exchange: Guarded<Subject>,
) {
  const relyingParty = ceremonies.relyingPartyFor(dependencies, exchange.request)
  const challenge = ceremonies.readClientData(response.response.clientDataJSON, 'create', relyingParty)
  const spent = refuseStrange(dependencies, challenge, { ceremony: 'create', userId })
  const credential = await ceremonies.verifyRegistration(response, { relyingParty, challenge })
  const at = dependencies.users.now()
  const factor = { id: newId(at), kind: 'passkey', label, createdAt: at, confirmedAt: at, ...credential } as const
  const { codes, recoveryCodeHashes } = newRecoveryCodes()
  const detail = { factorId: factor.id, kind: factor.kind }
  const audit = [auditEntry(source, { event: 'factor-added', at, userId, detail })]
  const change = { userId, factor, maxFactors, spent, recoveryCodeHashes, audit }
  const { outcome, proof } = await changeCredential(dependencies, exchange, stored.addFactor, change)
  if (outcome === 'spent') throw challengeSpent()
  if (outcome === 'full') throw tooManyFactors()
  if (outcome === 'taken') throw conflict('You have this passkey already')
  if (outcome === 'absent') throw notAuthenticated()
  return { factor: { ...factor, lastUsedAt: null, sealedSecret: null, lastStep: null }, outcome, codes, proof }
}

/** `userId`: whose passkey it must be; without it, the passkey says who signs in. `challenge`: of the sign-in that waits for it. */
type Use = Partial<Omit<stored.Use, 'at'>> & {
  request: Pick<FastifyRequest, 'headers'>
  source: RequestSource
  guesser: Guesser
}

/**
 * Checks what the browser returned, uses the challenge up, and stores the counter. Returns the user. Throws UNPROCESSABLE for what depends
 * on no account, and for a challenge that was used before; TOO_MANY_REQUESTS after many failures of this address; UNAUTHORIZED if the
 * `challenge` or the `rotation` of `Use` has ended; and one and the same INVALID_CREDENTIALS for everything that depends on an account.
 */
export async function usePasskey(dependencies: FactorNeeds, response: Assertion, given: Use): Promise<User> {
  const { request, userId: expected, challenge: secondFactor, source, rotation, audit, guesser } = given
  const { store, guesses, users } = dependencies
  const relyingParty = ceremonies.relyingPartyFor(dependencies, request)
  const challenge = ceremonies.readClientData(response.response.clientDataJSON, 'get', relyingParty)
  const spent = refuseStrange(dependencies, challenge, { ceremony: 'get' })
  await ceremonies.refuseUnverified(response, relyingParty)
  // The guesses of others never delay the user of a passkey, so those of an address count by the address alone.
  const { address } = guesser
  const guess = await guesses.begin(guesses.of(address === undefined ? guesser : { address }, 'passkey'))
  const userId = expected ?? namedUser(response)
  // A passkey of another user must not complete the sign-in of this one.
  if (userId === undefined || (namedUser(response) ?? userId) !== userId) throw wrongPasskey()
  const [user, factors] = await Promise.all([store.read(findUser, userId), store.read(stored.factorsOf, userId)])
  const credential = passkeysIn(factors).find(({ credentialId }) => credentialId === response.id)
  if (user === undefined || user.disabledAt !== null || credential === undefined) throw wrongPasskey()
  const signCount = await ceremonies.verifyAssertion(response, { relyingParty, challenge, credential })
  if (signCount === undefined) throw wrongPasskey()
  await guesses.succeed(guess)
  // A second factor belongs to a sign-in that was counted at its first step.
  if (expected === undefined) await guesses.beginSignIn({ userId, address: source.address }, 'passkey')
  const factorId = credential.id
  const at = users.now()
  const use = { userId, factorId, at, signCount, challenge: secondFactor, spent, rotation, audit }
  const outcome = await store.write(stored.useFactor, use)
  if (outcome === 'spent') throw challengeSpent()
  if (outcome === 'refused') {
    const detail = { factorId, signCount }
    await store.write(recordAudit, [auditEntry(source, { event: 'passkey-copied', at, userId, detail })])
    // Two authenticators have the same key, and one of them is a copy (WebAuthn Level 3, section 6.1.1).
    const problem = 'The counter of this passkey did not rise, so there may be a copy of it'
    throw new CarillonError('INVALID_CREDENTIALS', problem, { remedy: 'Sign in another way and remove the passkey.' })
  }
  if (outcome === 'no-challenge') throw challengeEnded()
  if (outcome !== 'done') throw notAuthenticated()
  return user
}

/** The same error for everything that depends on an account. */
function wrongPasskey(): CarillonError {
  return new CarillonError('INVALID_CREDENTIALS', 'The passkey is not one of an active user, or its signature is wrong')
}

function refuseStrange({ sealing, users }: FactorNeeds, challenge: string, purpose: Purpose): stored.SpentChallenge {
  const given = ceremonies.readChallenge(sealing, purpose, { challenge, at: users.now() })
  if (given !== undefined) return given
  throw ceremonies.refusal('The challenge is not one of this service, or older than 5 minutes', 'Request new options.')
}

/** It is used up after everything else is known to be right, so that only a user with a passkey can write to the store. */
function challengeSpent(): CarillonError {
  return ceremonies.refusal('The challenge was used already', 'Request new options.')
}

/** The user whom a passkey names; undefined if it names nobody, as a browser may do if it knew the user. */
export function namedUser({ response: { userHandle } }: Assertion): string | undefined {
  const named = userHandle ? Buffer.from(userHandle, 'base64url').toString() : ''
  return isIdShaped(named) ? named : undefined
}

type Passkey = Factor & { credentialId: string; publicKey: string; transports: readonly string[] }

export function passkeysIn({ factors }: { factors: readonly Factor[] }): Passkey[] {
  return factors.filter((factor): factor is Passkey => factor.kind === 'passkey')
}
