// One-time links to set a password: creates them, and sets the password of a user who has one. The token is the part of the URL after
// `#`, which browsers neither send nor log. E-mail is in forgotten.ts.
import { randomBytes } from 'node:crypto'
import { recorded } from '../audit/entry.ts'
import { CarillonError, conflict } from '../basics/errors.ts'
import { hashOf } from '../basics/secrets.ts'
import type { Attempt } from '../passwords/passwords.ts'
import { passwordFaults } from '../passwords/policy.ts'
import { refuseFaults } from '../users/profile.ts'
import { findCredentials, findUser as findStoredUser, type User } from '../users/users.store.ts'
import { endProofs, findUser, type UserDependencies, type UserKey } from '../users/users.ts'
import { addLink, findLink, type Link, type LinkPurpose, resetPassword as resetStoredPassword } from './links.store.ts'

/** `pageOf`: the page that a link leads to, without a fragment. */
export type LinkSettings = { lifetimeMs: number; pageOf: (purpose: LinkPurpose) => string }

/** 32 bytes as base64url. */
const tokenShape = /^[\w-]{43}$/

/** `email`: the address that the link is sent to. Throws NOT_FOUND, or CONFLICT for a user who cannot sign in with a password. */
export async function createLink(
  dependencies: UserDependencies,
  { lifetimeMs, pageOf }: LinkSettings,
  key: UserKey,
  { purpose, email }: { purpose: LinkPurpose; email?: string },
): Promise<{ url: string; expiresAt: number; user: User & { username: string } }> {
  const user = await findUser(dependencies, key)
  const { id: userId, username } = user
  if (username === null)
    throw conflict(
      'This user has no username and cannot sign in with a password',
      'Give the user one first: PATCH with { "username": "..." }, or carillon user rename.',
    )
  const token = randomBytes(32).toString('base64url')
  const at = dependencies.now()
  const expiresAt = at + lifetimeMs
  const detail = { purpose, ...(email !== undefined && { mailed: true }) }
  const entry = recorded(dependencies, { event: 'link-created', userId, username, detail })
  const link = { userId, purpose, tokenHash: hashOf(token), at, expiresAt, email: email ?? null, ...entry }
  if ((await dependencies.store.write(addLink, link)) === 'done')
    return { url: `${pageOf(purpose)}#${token}`, expiresAt, user: { ...user, username } }
  throw conflict(
    'This user is disabled and gets no link',
    'Enable the user first: PATCH with { "disabled": false }, or carillon user enable.',
  )
}

/** The same error for a used, expired, replaced, unknown and malformed token. */
export function linkInvalid(): CarillonError {
  const problem = 'This link is not valid: it was used, has expired, or was replaced by newer ones'
  return new CarillonError('LINK_INVALID', problem, { remedy: 'Request a new link.' })
}

/** Undefined for a token that sets no password now. Compares hashes of 32 random bytes, so its duration reveals nothing. */
export async function findLiveLink({ store, now }: UserDependencies, token: string): Promise<Link | undefined> {
  const link = tokenShape.test(token) ? await store.read(findLink, hashOf(token)) : undefined
  return link !== undefined && now() < link.expiresAt ? link : undefined
}

/**
 * Sets the password of the link's user and uses every link of the user up. Ends every session and token of the user. Throws INVALID_REQUEST
 * for a password that is not acceptable, which leaves the links as they are, and LINK_INVALID if it was used since. Returns the user before
 * and after it, with the generations of this change: if another change follows at once, no proof begins.
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
  if ((await endProofs(dependencies, resetStoredPassword, change, facts)) === 'refused') throw linkInvalid()
  const user = (await dependencies.store.read(findStoredUser, userId)) ?? before
  const raised = { credentialGeneration: credentialGeneration + 1, deviceGeneration: deviceGeneration + 1 }
  return { before, user: { ...user, ...raised } }
}
