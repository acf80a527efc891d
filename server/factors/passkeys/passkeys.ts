import type { FastifyRequest } from 'fastify'
import { record } from '../../audit/audit.store.ts'
import { auditEntry, type RequestSource } from '../../audit/entry.ts'
import { CarillonError, conflict, linkInvalid, notAuthenticated } from '../../basics/errors.ts'
import { isIdShaped, newId } from '../../basics/ids.ts'
import type { Guesser } from '../../guessing/guesses.ts'
import type { Guarded, Subject } from '../../http/operation.ts'
import { changeCredential } from '../../sessions/own-sign-in.ts'
import { findUser, type User } from '../../users/users.store.ts'
import type { Factor } from '../factors.store.ts'
import * as stored from '../factors.store.ts'
import {
  challengeEnded,
  type FactorNeeds,
  linkHashFor,
  maxFactors,
  newRecoveryCodes,
  tooManyFactors,
} from '../factors.ts'
import { authenticatorName } from './authenticator-names.ts'
import type { Assertion, Purpose, Registration } from './ceremonies.ts'
import * as ceremonies from './ceremonies.ts'

/** `suggestedLabel` is used if neither user nor authenticator gives a name. */
type Addition = {
  userId: string
  label?: string | undefined
  suggestedLabel?: string | undefined
  link?: string | undefined
  source: RequestSource
}

/**
 * `codes`: for a first factor. Throws UNPROCESSABLE unless the passkey is new and made for this
 * user and service, CONFLICT if the user has it or too many factors, LINK_INVALID without a needed
 * link.
 */
export async function addPasskey(
  dependencies: FactorNeeds,
  response: Registration,
  { userId, source, link, ...labels }: Addition,
  exchange: Guarded<Subject>,
) {
  const linkHash = linkHashFor(exchange.request.caller, link)
  const relyingParty = ceremonies.relyingPartyFor(dependencies, exchange.request)
  const challenge = ceremonies.readClientData(
    response.response.clientDataJSON,
    'create',
    relyingParty,
  )
  const spent = refuseStrange(dependencies, challenge, { ceremony: 'create', userId })
  const { aaguid, ...credential } = await ceremonies.verifyRegistration(response, {
    relyingParty,
    challenge,
  })
  const label = labels.label ?? authenticatorName(aaguid) ?? labels.suggestedLabel ?? 'Passkey'
  const at = dependencies.users.now()
  const added = {
    id: newId(at),
    kind: 'passkey',
    label,
    createdAt: at,
    confirmedAt: at,
    ...credential,
  } as const
  const { codes, recoveryCodeHashes } = newRecoveryCodes()
  const detail = { factorId: added.id, kind: added.kind }
  const audit = [auditEntry(source, { event: 'factor-added', at, userId, detail })]
  const change = { userId, factor: added, maxFactors, spent, recoveryCodeHashes, linkHash, audit }
  const { outcome, proof } = await changeCredential(
    dependencies,
    exchange,
    stored.addFactor,
    change,
    'phr',
  )
  if (outcome === 'spent') throw challengeSpent()
  if (outcome === 'no-link') throw linkInvalid()
  if (outcome === 'full') throw tooManyFactors()
  if (outcome === 'taken') throw conflict('You have this passkey already')
  if (outcome === 'absent') throw notAuthenticated()
  return {
    factor: { ...added, lastUsedAt: null, sealedSecret: null, lastStep: null },
    outcome,
    codes,
    proof,
  }
}

/** `userId`: without it, the passkey says who signs in. `challenge`: the waiting sign-in's. */
type Use = Partial<Omit<stored.Use, 'at'>> & {
  request: Pick<FastifyRequest, 'headers'>
  source: RequestSource
  guesser: Guesser
}

/**
 * Uses the challenge up. Throws UNPROCESSABLE for what depends on no account, TOO_MANY_REQUESTS
 * after many failures of this address, UNAUTHORIZED if the `challenge` or `rotation` has ended, and
 * one INVALID_CREDENTIALS for all that depends on an account.
 */
export async function usePasskey(
  dependencies: FactorNeeds,
  response: Assertion,
  given: Use,
): Promise<User> {
  const {
    request,
    userId: expected,
    challenge: secondFactor,
    source,
    rotation,
    audit,
    guesser,
  } = given
  const { store, guesses, users } = dependencies
  const relyingParty = ceremonies.relyingPartyFor(dependencies, request)
  const challenge = ceremonies.readClientData(response.response.clientDataJSON, 'get', relyingParty)
  const spent = refuseStrange(dependencies, challenge, { ceremony: 'get' })
  await ceremonies.refuseUnverified(response, relyingParty)
  // Only the address is counted, so that others' guesses delay no user of a passkey.
  const { address } = guesser
  const guess = await guesses.begin(
    guesses.of(address === undefined ? guesser : { address }, 'passkey'),
  )
  const userId = expected ?? namedUser(response)
  // Another user's passkey must not complete this sign-in.
  if (userId === undefined || (namedUser(response) ?? userId) !== userId) throw wrongPasskey()
  const [user, factors] = await Promise.all([
    store.read(findUser, userId),
    store.read(stored.factorsOf, userId),
  ])
  const credential = passkeysIn(factors).find(({ credentialId }) => credentialId === response.id)
  if (user === undefined || user.disabledAt !== null || credential === undefined)
    throw wrongPasskey()
  const signCount = await ceremonies.verifyAssertion(response, {
    relyingParty,
    challenge,
    credential,
  })
  if (signCount === undefined) throw wrongPasskey()
  await guesses.succeed(guess)
  // A second factor belongs to a sign-in that was counted at its first step.
  if (expected === undefined)
    await guesses.beginSignIn({ userId, address: source.address }, 'passkey')
  const factorId = credential.id
  const at = users.now()
  const use = { userId, factorId, at, signCount, challenge: secondFactor, spent, rotation, audit }
  const outcome = await store.write(stored.useFactor, use)
  if (outcome === 'spent') throw challengeSpent()
  if (outcome === 'refused') {
    const detail = { factorId, signCount }
    await store.write(record, [auditEntry(source, { event: 'passkey-copied', at, userId, detail })])
    // Two authenticators have one key, and one is a copy (WebAuthn Level 3, section 6.1.1).
    const problem = 'The counter of this passkey did not rise, so there may be a copy of it'
    throw new CarillonError('INVALID_CREDENTIALS', problem, {
      remedy: 'Sign in another way and remove the passkey.',
    })
  }
  if (outcome === 'no-challenge') throw challengeEnded()
  if (outcome !== 'done') throw notAuthenticated()
  return user
}

/** One error for all that depends on an account. */
function wrongPasskey(): CarillonError {
  return new CarillonError(
    'INVALID_CREDENTIALS',
    'The passkey is not one of an active user, or its signature is wrong',
  )
}

function refuseStrange(
  { sealing, users }: FactorNeeds,
  challenge: string,
  purpose: Purpose,
): stored.SpentChallenge {
  const given = ceremonies.readChallenge(sealing, purpose, { challenge, at: users.now() })
  if (given !== undefined) return given
  throw ceremonies.refusal(
    'The challenge is not one of this service, or older than 5 minutes',
    'Request new options.',
  )
}

/** The challenge is used up last, so only a user with a passkey writes to the store. */
function challengeSpent(): CarillonError {
  return ceremonies.refusal('The challenge was used already', 'Request new options.')
}

export function namedUser({ response: { userHandle } }: Assertion): string | undefined {
  const named = userHandle ? Buffer.from(userHandle, 'base64url').toString() : ''
  return isIdShaped(named) ? named : undefined
}

/** An application's user may have no name here. */
export function passkeyNames({ id, username, email, displayName }: User): {
  name: string
  displayName: string
} {
  const name = username ?? email ?? displayName ?? id
  return { name, displayName: displayName ?? name }
}

/**
 * All passkeys of a user: password managers hide unlisted ones (WebAuthn Level 3, section 5.1.10).
 * Null if the service can have none.
 */
export function knownPasskeys(
  needs: FactorNeeds,
  request: Pick<FastifyRequest, 'headers'>,
  { user, factors }: { user: User; factors: readonly Factor[] },
) {
  if (!ceremonies.canHavePasskeys(needs, request)) return null
  const { id: rpId } = ceremonies.relyingPartyFor(needs, request)
  const userId = Buffer.from(user.id).toString('base64url')
  const credentialIds = passkeysIn({ factors }).map(({ credentialId }) => credentialId)
  return { rpId, userId, ...passkeyNames(user), credentialIds }
}

type Passkey = Factor & { credentialId: string; publicKey: string; transports: readonly string[] }

export function passkeysIn({ factors }: { factors: readonly Factor[] }): Passkey[] {
  return factors.filter((factor): factor is Passkey => factor.kind === 'passkey')
}
