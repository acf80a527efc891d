// Makes users and changes what they sign in with: the rules between a person's input and the store.
import { randomBytes } from 'node:crypto'
import { CarillonError } from '../../errors.ts'
import { newId } from '../../ids.ts'
import type { Store, User } from '../../store/store.ts'
import type { Passwords } from '../password/passwords.ts'
import { checkPassword, preparePassword } from '../password/policy.ts'
import { revocationKeptForMs } from '../token/access-token.ts'
import { prepareUsername } from './username.ts'

type Parts = {
  store: Pick<Store, 'addUser' | 'findCredentials' | 'setPassword' | 'disableUser' | 'revokeTokens'>
  passwords: Passwords
  passwordMinLength: number
  now: () => number
}

/** Throws INVALID_REQUEST (name or password unfit) or CONFLICT (name taken). */
export async function addUser(parts: Parts, wanted: { username: string; password: string }): Promise<User> {
  const username = prepareUsername(wanted.username)
  const passwordHash = await hashNewPassword(parts, { username, password: wanted.password })
  const createdAt = parts.now()
  const user = { id: newId(createdAt), username, displayName: null, createdAt }
  const outcome = await parts.store.addUser({ ...user, passwordHash })
  if (outcome === 'taken') throw new CarillonError('CONFLICT', `There is a user ${username} already`)
  return { ...user, disabledAt: null, credentialGeneration: 0 }
}

/** Every session and token of the user ends. Throws INVALID_REQUEST or NOT_FOUND. */
export async function setPassword(parts: Parts, wanted: { username: string; password: string }): Promise<void> {
  const user = await findByName(parts, wanted.username)
  const passwordHash = await hashNewPassword(parts, { username: user.username, password: wanted.password })
  await parts.store.setPassword({ userId: user.id, passwordHash, ...cutNow(parts) })
  await cutAgain(parts, user)
}

/** Every session and token of the user ends, and no sign-in succeeds any more. Throws NOT_FOUND. */
export async function disableUser(parts: Parts, username: string): Promise<void> {
  const user = await findByName(parts, username)
  await parts.store.disableUser({ userId: user.id, ...cutNow(parts) })
  await cutAgain(parts, user)
}

/** Twenty characters of 32 in groups of five: 100 bits, easily read out and typed. */
export function makePassphrase(): string {
  const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789'
  const characters = Array.from(randomBytes(20), (byte) => alphabet[byte % 32]).join('')
  return (characters.match(/.{5}/g) ?? []).join('-')
}

async function hashNewPassword(parts: Parts, wanted: { username: string; password: string }): Promise<string> {
  const password = preparePassword(wanted.password)
  checkPassword(password, { username: wanted.username, minLength: parts.passwordMinLength })
  return parts.passwords.hash(password)
}

async function findByName(parts: Parts, username: string): Promise<User> {
  const user = await parts.store.findCredentials(prepareUsername(username))
  if (user === undefined) throw new CarillonError('NOT_FOUND', `There is no user ${username}`)
  return user
}

/**
 * For tokens without a credential generation, which nodes of the version before issue: a sign-in between the moment of the
 * first revocation and its commit read the old password, and is later than that moment.
 */
async function cutAgain(parts: Parts, { id }: User): Promise<void> {
  const { at, revocationExpiresAt } = cutNow(parts)
  await parts.store.revokeTokens({ userId: id, signInId: null, notBefore: at, expiresAt: revocationExpiresAt })
}

function cutNow({ now }: Parts): { at: number; revocationExpiresAt: number } {
  const at = now()
  return { at, revocationExpiresAt: at + revocationKeptForMs }
}
