// Finds users by issuer and subject alone: an address can pass to another person, and not every
// provider verifies it (decision 0049).
import { auditEntry, type RequestSource } from '../audit/entry.ts'
import { type CarillonError, conflict, forbidden } from '../basics/errors.ts'
import { newId } from '../basics/ids.ts'
import type { Rotation } from '../users/access/rotation.store.ts'
import { readProfile } from '../users/profile.ts'
import type { ProviderNeeds } from './flow.ts'
import type { Identity, Provider } from './provider.ts'
import * as stored from './provider-accounts.store.ts'

export type SignedIn = { provider: Provider; identity: Identity; source: RequestSource }

/** The user may be disabled. Throws TOO_MANY_REQUESTS before it writes. */
export async function userOfAccount(
  { store, users, guesses }: ProviderNeeds,
  { provider, identity, source }: SignedIn,
) {
  const { createUsers, issuer, name } = provider.setting
  const { subject } = identity
  const at = users.now()
  const counted = await store.read(stored.userWith, { issuer, subject })
  if (counted !== undefined)
    await guesses.beginSignIn({ userId: counted.id, address: source.address }, 'provider')
  const known = await store.write(stored.useProviderAccount, { issuer, subject, at })
  if (known !== undefined || !createUsers) return known
  const id = newId(at)
  const profile = await newProfile(identity)
  const audit = [
    auditEntry(source, { event: 'user-created', at, userId: id, detail: { provider: name } }),
  ]
  return store.write(stored.addProviderUser, { issuer, subject, newId: id, ...profile, at, audit })
}

/** One error for unknown and disabled users. */
export function noActiveUser({ setting }: Provider): CarillonError {
  return forbidden(
    `Your account at ${setting.displayName} belongs to no active user here`,
    'Sign in in another way, and link the account then; or ask the operator.',
  )
}

/** Throws CONFLICT, or FORBIDDEN if the sign-in has ended. */
export async function linkAccount(
  { store, users }: ProviderNeeds,
  { provider, identity, source }: SignedIn,
  rotation: Rotation,
) {
  const { displayName, issuer, name } = provider.setting
  const { userId, signInId } = rotation
  const { subject } = identity
  const at = users.now()
  const { email } = await newProfile(identity)
  const audit = [
    auditEntry(source, {
      event: 'provider-linked',
      at,
      userId,
      signInId,
      detail: { provider: name },
    }),
  ]
  const change = { issuer, subject, userId, email, at, rotation, audit }
  const outcome = await store.write(stored.linkProviderAccount, change)
  if (outcome === 'absent' || outcome === 'outdated') throw signInEnded()
  if (outcome === 'taken')
    throw conflict(
      `This account at ${displayName} is linked to another user`,
      'Nothing was changed.',
    )
  if (outcome === 'has-another')
    throw conflict(
      `Another account at ${displayName} is linked to you already`,
      'Unlink that one first.',
    )
  return outcome
}

/** The proof of the flow has ended, not the request's. */
export function signInEnded(): CarillonError {
  const problem = 'The sign-in that began to link an account has ended'
  return forbidden(problem, 'Sign in and begin again.')
}

/** A faulty profile must not stop the sign-in. */
async function newProfile(
  identity: Identity,
): Promise<{ displayName: string | null; email: string | null }> {
  const { displayName = null, email = null } = readProfile(await identity.profile()).profile
  return { displayName, email }
}
