// One-time links set a password or a first factor. Their token is a fragment: no browser sends it.
import { recorded } from '../audit/entry.ts'
import { conflict, linkInvalid } from '../basics/errors.ts'
import { hashOf, randomText } from '../basics/secrets.ts'
import type { Attempt } from '../passwords/passwords.ts'
import { passwordFaults } from '../passwords/policy.ts'
import { endProofs } from '../users/access/access.ts'
import { findChangeable, type UserDependencies, type UserKey } from '../users/find-user.ts'
import { refuseFaults } from '../users/profile.ts'
import { findCredentials, findUser as findStoredUser, type User } from '../users/users.store.ts'
import {
  addLink,
  findLink,
  type Link,
  type LinkPurpose,
  resetPassword as resetStoredPassword,
} from './links.store.ts'

/** `lifetimes`: milliseconds. `pageOf`: the page of a link, up to the token in its fragment. */
export type LinkSettings = {
  lifetimes: Record<LinkPurpose, number>
  pageOf: (purpose: LinkPurpose) => string
}

type Wanted = {
  purpose: LinkPurpose
  /** In seconds. */
  lifetime?: number | undefined
  returnTo?: string | undefined
  email?: string
  mailedTo?: string | undefined
}

const tokenShape = /^[\w-]{43}$/

export async function createLink(
  dependencies: UserDependencies,
  { lifetimes, pageOf }: LinkSettings,
  key: UserKey,
  { purpose, lifetime, returnTo, email, mailedTo }: Wanted,
): Promise<{ url: string; expiresAt: number; user: User }> {
  const user = await findChangeable(dependencies, key)
  const { id: userId, username } = user
  if (username === null && purpose !== 'factor')
    throw conflict(
      'This user has no username and cannot sign in with a password',
      'Give the user one first: PATCH with { "username": "..." }, or carillon user rename.',
    )
  if (mailedTo !== undefined && mailedTo !== user.email)
    throw conflict(
      'mailedTo is not the e-mail address of this user',
      'Send the link to the address on record, or change that first: PATCH with { "email": "..." }.',
    )
  const token = randomText()
  const at = dependencies.now()
  const expiresAt = at + (lifetime === undefined ? lifetimes[purpose] : lifetime * 1_000)
  const detail = {
    purpose,
    ...(email && { mailed: true }),
    ...(mailedTo && { mailed: 'as the application says' }),
  }
  const link = {
    userId,
    purpose,
    tokenHash: hashOf(token),
    at,
    expiresAt,
    email: email ?? mailedTo ?? null,
    returnTo,
    ...recorded(dependencies, { event: 'link-created', userId, username, detail }),
  }
  const outcome = await dependencies.store.write(addLink, link)
  if (outcome === 'done') return { url: `${pageOf(purpose)}${token}`, expiresAt, user }
  if (outcome === 'not-first') throw notFirst()
  throw conflict(
    'This user is disabled and gets no link',
    'Enable the user first: PATCH with { "disabled": false }, or carillon user enable.',
  )
}

/** An invitation must not lead into an account with an owner. */
function notFirst() {
  return conflict(
    'This user can sign in already, and an invitation is for a first password',
    'Use a link of the purpose reset.',
  )
}

/** The duration reveals nothing, because the call compares hashes of 32 random bytes. */
export async function findLiveLink(
  { store, now }: UserDependencies,
  token: string,
): Promise<Link | undefined> {
  const link = tokenShape.test(token) ? await store.read(findLink, hashOf(token)) : undefined
  return link !== undefined && now() < link.expiresAt ? link : undefined
}

/**
 * Ends every session and token of the user. Throws INVALID_REQUEST for the password, which leaves
 * the links, LINK_INVALID, or CONFLICT for an invitation of one who can sign in. Returns this
 * change's generations: after another change, no proof begins.
 */
export async function resetPassword(
  dependencies: UserDependencies,
  { userId, purpose }: Link,
  { token, newPassword, attempt }: { token: string; newPassword: string; attempt: Attempt },
): Promise<{ before: User; user: User }> {
  const before = await dependencies.store.read(findStoredUser, userId)
  if (before === undefined) throw linkInvalid()
  const { username, credentialGeneration, deviceGeneration } = before
  const wanted = { username: username ?? '', password: newPassword, field: 'newPassword' }
  refuseFaults(await passwordFaults(dependencies, wanted))
  const passwordHash = await dependencies.passwords.hash(newPassword, attempt)
  const isFirst = (await dependencies.store.read(findCredentials, username ?? '')) === undefined
  const facts = { event: 'password-reset', userId, username, detail: { purpose, isFirst } } as const
  const change = { userId, tokenHash: hashOf(token), passwordHash }
  const outcome = await endProofs(dependencies, resetStoredPassword, change, facts)
  if (outcome === 'refused') throw linkInvalid()
  if (outcome === 'not-first') throw notFirst()
  const user = (await dependencies.store.read(findStoredUser, userId)) ?? before
  const raised = {
    credentialGeneration: credentialGeneration + 1,
    deviceGeneration: deviceGeneration + 1,
  }
  return { before, user: { ...user, ...raised } }
}
