// Adds and disables users and sets their passwords, by the rules for names and passwords.
import { randomBytes } from 'node:crypto'
import { CarillonError } from '../../errors.ts'
import { newId } from '../../ids.ts'
import type { Store, User } from '../../store/store.ts'
import { loadBlockList } from '../password/block-list.ts'
import type { Passwords } from '../password/passwords.ts'
import { checkPassword, preparePassword } from '../password/policy.ts'
import { revocationKeptForMs } from '../token/access-token.ts'
import { prepareUsername } from './username.ts'

type Dependencies = {
  store: Pick<Store, 'addUser' | 'findUserByUsername' | 'setPassword' | 'disableUser' | 'revokeTokens'>
  passwords: Passwords
  passwordMinLength: number
  now: () => number
}

/** `isGenerated`: the password is a passphrase of `makePassphrase`, which needs no check. */
type Wanted = { username: string; password: string; isGenerated?: boolean }

/** Throws INVALID_REQUEST (name or password not acceptable) or CONFLICT (name taken). */
export async function addUser(dependencies: Dependencies, wanted: Wanted): Promise<User & { username: string }> {
  const username = prepareUsername(wanted.username)
  const passwordHash = await hashNewPassword(dependencies, { ...wanted, username })
  const createdAt = dependencies.now()
  const none = { displayName: null, externalId: null, issuer: '', locale: null, email: null }
  const user = { id: newId(createdAt), username, createdAt, ...none }
  const outcome = await dependencies.store.addUser({ ...user, passwordHash })
  if (outcome !== 'added') throw new CarillonError('CONFLICT', `There is a user ${username} already`)
  return { ...user, disabledAt: null, credentialGeneration: 0, issuedGeneration: 0 }
}

/** Ends every session and token of the user. Throws INVALID_REQUEST or NOT_FOUND. */
export async function setPassword(dependencies: Dependencies, wanted: Wanted): Promise<void> {
  const user = await findByName(dependencies, wanted.username)
  const passwordHash = await hashNewPassword(dependencies, { ...wanted, username: user.username ?? '' })
  await dependencies.store.setPassword({ userId: user.id, passwordHash, ...revocationNow(dependencies) })
  await revokeTokensAgain(dependencies, user)
}

/** Ends every session and token of the user and refuses every later sign-in. Throws NOT_FOUND. */
export async function disableUser(dependencies: Dependencies, username: string): Promise<void> {
  const user = await findByName(dependencies, username)
  await dependencies.store.disableUser({ userId: user.id, ...revocationNow(dependencies) })
  await revokeTokensAgain(dependencies, user)
}

/** Twenty characters of 32 in groups of five: 100 bits, easy to read out and to type. */
export function makePassphrase(): string {
  const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789'
  const characters = Array.from(randomBytes(20), (byte) => alphabet[byte % 32]).join('')
  return (characters.match(/.{5}/g) ?? []).join('-')
}

async function hashNewPassword({ passwords, passwordMinLength }: Dependencies, wanted: Wanted): Promise<string> {
  const password = preparePassword(wanted.password)
  // The service itself generates one at its first start, and must not load the block list for it.
  if (!wanted.isGenerated)
    checkPassword(password, { username: wanted.username, minLength: passwordMinLength, blocked: await loadBlockList() })
  return passwords.hash(password)
}

async function findByName({ store }: Dependencies, username: string): Promise<User> {
  const user = await store.findUserByUsername(prepareUsername(username))
  if (user === undefined) throw new CarillonError('NOT_FOUND', `There is no user ${username}`)
  return user
}

// For tokens without a credential generation, which nodes of the version before issue. A sign-in that read the old
// password may issue such a token after the moment of the first revocation and before its commit.
async function revokeTokensAgain(dependencies: Dependencies, { id }: User): Promise<void> {
  const { at, revocationExpiresAt } = revocationNow(dependencies)
  const revocation = { userId: id, signInId: null, notBefore: at, expiresAt: revocationExpiresAt }
  await dependencies.store.revokeTokens(revocation)
}

function revocationNow({ now }: Dependencies): { at: number; revocationExpiresAt: number } {
  const at = now()
  return { at, revocationExpiresAt: at + revocationKeptForMs }
}
