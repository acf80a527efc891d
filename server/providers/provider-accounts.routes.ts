// Whose account at a provider is it? Users are found by issuer and subject and by nothing else: an e-mail address can be given to another
// person, and not every provider verifies it (decision 0049). And the routes of a user: list, link and unlink.
import { auditEntry, type RequestSource, recorded, sourceOf } from '../audit/entry.ts'
import { iso } from '../basics/clock.ts'
import { type CarillonError, conflict, forbidden, notFound } from '../basics/errors.ts'
import { newId } from '../basics/ids.ts'
import { forUser } from '../http/operation.ts'
import { sendData } from '../http/response/send.ts'
import { readReturnTo } from '../pages/places.ts'
import { changeCredential, sendProof } from '../sessions/own-sign-in.ts'
import { TokenResponse } from '../sessions/sessions.schemas.ts'
import type { Rotation } from '../tokens/rotation.store.ts'
import { readProfile } from '../users/profile.ts'
import { findEnabledUser } from '../users/users.ts'
import { begin, type ProviderNeeds, providerOf } from './flow.ts'
import type { Identity, Provider } from './provider.ts'
import * as stored from './provider-accounts.store.ts'
import { ProviderAccountsResponse, ProviderLinkBody, ProviderLinkResponse } from './providers.schemas.ts'

type Needs = Pick<ProviderNeeds, 'store' | 'users'>
export type SignedIn = { provider: Provider; identity: Identity; source: RequestSource }

/**
 * The user who signs in, created if the provider's setting says so; may be disabled. Undefined for an unknown account. Throws
 * TOO_MANY_REQUESTS, and writes nothing, after too many sign-ins.
 */
export async function userOfAccount(
  { store, users, guesses }: Pick<ProviderNeeds, 'store' | 'users' | 'guesses'>,
  { provider, identity, source }: SignedIn,
) {
  const { createUsers, issuer, name } = provider.setting
  const { subject } = identity
  const at = users.now()
  const counted = await store.read(stored.userWith, { issuer, subject })
  if (counted !== undefined) await guesses.beginSignIn({ userId: counted.id, address: source.address }, 'provider')
  const known = await store.write(stored.useProviderAccount, { issuer, subject, at })
  if (known !== undefined || !createUsers) return known
  const id = newId(at)
  const profile = await newProfile(identity)
  const audit = [auditEntry(source, { event: 'user-created', at, userId: id, detail: { provider: name } })]
  return store.write(stored.addProviderUser, { issuer, subject, newId: id, ...profile, at, audit })
}

/** An unknown user and a disabled one get the same response. */
export function noActiveUser({ setting }: Provider): CarillonError {
  return forbidden(
    `Your account at ${setting.displayName} belongs to no active user here`,
    'Sign in in another way, and link the account then; or ask the operator.',
  )
}

/**
 * 'unchanged' if the account is linked to this user already. Throws CONFLICT if it is linked to another one, or another one of this provider
 * to the user; FORBIDDEN if the user's sign-in has ended.
 */
export async function linkAccount(
  { store, users }: Needs,
  { provider, identity, source }: SignedIn,
  rotation: Rotation,
) {
  const { displayName, issuer, name } = provider.setting
  const { userId, signInId } = rotation
  const { subject } = identity
  const at = users.now()
  const { email } = await newProfile(identity)
  const audit = [auditEntry(source, { event: 'provider-linked', at, userId, signInId, detail: { provider: name } })]
  const change = { issuer, subject, userId, email, at, rotation, audit }
  const outcome = await store.write(stored.linkProviderAccount, change)
  if (outcome === 'absent' || outcome === 'outdated') throw signInEnded()
  if (outcome === 'taken')
    throw conflict(`This account at ${displayName} is linked to another user`, 'Nothing was changed.')
  if (outcome === 'has-another')
    throw conflict(`Another account at ${displayName} is linked to you already`, 'Unlink that one first.')
  return outcome
}

/** FORBIDDEN, because the proof is not that of the request: it is in the flow that began before. */
export function signInEnded(): CarillonError {
  const problem = 'The sign-in that began to link an account has ended'
  return forbidden(problem, 'Sign in and begin again.')
}

/** A name or an address that Carillon would not accept is left out: it must not stop the sign-in. */
async function newProfile(identity: Identity): Promise<{ displayName: string | null; email: string | null }> {
  const { displayName = null, email = null } = readProfile(await identity.profile()).profile
  return { displayName, email }
}

export const list = forUser({
  summary: 'The accounts at providers with which the signed-in user can sign in',
  responses: { 200: ProviderAccountsResponse },
  async handle({ store, providers }: Pick<ProviderNeeds, 'store' | 'providers'>, { caller }, reply) {
    const settings = new Map([...providers.values()].map(({ setting }) => [setting.issuer, setting]))
    const accounts = await store.read(stored.providerAccounts, caller.userId)
    const items = accounts.map(({ issuer, email, createdAt, lastUsedAt }) => {
      const { name = null, displayName = issuer } = settings.get(issuer) ?? {}
      return { provider: name, displayName, email, createdAt: iso(createdAt), lastUsedAt: iso(lastUsedAt) }
    })
    return sendData(reply, { items })
  },
})

export const link = forUser({
  summary: 'Begin to link an account at a provider: the page sends its browser to the URL in the response',
  body: ProviderLinkBody,
  responses: { 201: ProviderLinkResponse },
  /** A POST of the page, and not a link, so that no other site can begin it for an account of its own. */
  async handle(dependencies: ProviderNeeds, request, reply) {
    const { caller } = request
    const provider = providerOf(dependencies, request)
    const returnTo = readReturnTo(dependencies, 'returnTo', request.body.returnTo)
    const { credentialGeneration: generation } = await findEnabledUser(dependencies, caller)
    const begun = { provider, variant: 'stateful', returnTo, linking: { caller, generation } } as const
    const url = await begin(dependencies, begun, { request, reply })
    return sendData(reply.code(201), { url })
  },
})

export const unlink = forUser({
  summary:
    'Unlink an account at a provider; refused if the user has no other way to sign in. A new cookie for a session, 200 and a new token for a token',
  responses: { 200: TokenResponse, 204: 'none' },
  refusals: ['CONFLICT', 'TOO_MANY_REQUESTS'],
  async handle(dependencies: ProviderNeeds, request, reply) {
    const { userId, signInId } = request.caller
    const { users, providers } = dependencies
    const { issuer, name, displayName } = providerOf(dependencies, request).setting
    const facts = { event: 'provider-unlinked', userId, signInId, detail: { provider: name } } as const
    const entry = recorded({ ...users, source: sourceOf(dependencies, request) }, facts)
    const issuers = [...providers.values()].map(({ setting }) => setting.issuer)
    const change = { userId, issuer, issuers, ...entry }
    const { unlinkProviderAccount } = stored
    const { outcome, proof } = await changeCredential(dependencies, { request, reply }, unlinkProviderAccount, change)
    if (outcome === 'absent') throw notFound(`No account at ${displayName} is linked to you`)
    const remedy = 'Set up another way first, such as a passkey.'
    if (outcome === 'last') throw conflict(`Your account at ${displayName} is your only way to sign in`, remedy)
    return sendProof(reply, proof)
  },
})
