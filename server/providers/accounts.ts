// Whose account at a provider is it? Users are found by issuer and subject and by nothing else: an e-mail address can be given to another
// person, and not every provider verifies it (decision 0049).
import { auditEntry, type Source } from '../audit/entry.ts'
import { CarillonError, conflict } from '../basics/errors.ts'
import { newId } from '../basics/ids.ts'
import type { Store } from '../store/store.ts'
import { readProfile } from '../users/profile.ts'
import type { User } from '../users/users.store.ts'
import type { Linking } from './flow.ts'
import type { Identity, Provider } from './provider.ts'
import * as stored from './provider-accounts.store.ts'

/** By name, in the order of the setting. */
export type Providers = ReadonlyMap<string, Provider>
type Needs = { store: Store; users: { now: () => number } }
type SignedIn = { provider: Provider; identity: Identity; source: Source }

/** The user who signs in, created if the provider's setting says so; may be disabled. Undefined for an unknown account. */
export async function userOfAccount(
  { store, users }: Needs,
  { provider, identity, source }: SignedIn,
): Promise<User | undefined> {
  const { createUsers, issuer, name } = provider.setting
  const { subject } = identity
  const at = users.now()
  const known = await store.write(stored.useProviderAccount, { issuer, subject, at })
  if (known !== undefined || !createUsers) return known
  const id = newId(at)
  const profile = await newProfile(identity)
  const audit = [auditEntry(source, { event: 'user-created', at, userId: id, detail: { provider: name } })]
  return store.write(stored.addProviderUser, { issuer, subject, newId: id, ...profile, at, audit })
}

/** The same for an unknown and for a disabled user. */
export function noActiveUser({ setting }: Provider): CarillonError {
  return new CarillonError('FORBIDDEN', `Your account at ${setting.displayName} belongs to no active user here`, {
    remedy: 'Sign in in another way, and link the account then; or ask the operator.',
  })
}

/** Throws CONFLICT if the account, or another one of this provider, is linked already; FORBIDDEN if the user's sign-in has ended. */
export async function linkAccount(
  { store, users }: Needs,
  { provider, identity, source }: SignedIn,
  linking: Linking,
): Promise<void> {
  const { displayName, issuer, name } = provider.setting
  const { userId, generation: checkedGeneration, signInId } = linking
  const { subject } = identity
  const at = users.now()
  const { email } = await newProfile(identity)
  const audit = [auditEntry(source, { event: 'provider-linked', at, userId, signInId, detail: { provider: name } })]
  const change = { issuer, subject, userId, checkedGeneration, email, at, audit }
  const outcome = await store.write(stored.linkProviderAccount, change)
  if (outcome === 'refused') throw signInEnded()
  if (outcome === 'taken')
    throw conflict(`This account at ${displayName} is linked to another user`, 'Nothing was changed.')
  if (outcome === 'has-another')
    throw conflict(`Another account at ${displayName} is linked to you already`, 'Unlink that one first.')
}

/** FORBIDDEN, because the proof is not that of the request: it is in the flow that began before. */
export function signInEnded(): CarillonError {
  return new CarillonError('FORBIDDEN', 'The sign-in that began to link an account has ended', {
    remedy: 'Sign in and begin again.',
  })
}

/** A name or an address that Carillon would not accept is left out: it must not stop the sign-in. */
async function newProfile(identity: Identity): Promise<{ displayName: string | null; email: string | null }> {
  const { displayName = null, email = null } = readProfile(await identity.profile()).profile
  return { displayName, email }
}
