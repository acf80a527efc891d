// What lets a user sign in, and what ends that.
import { recorded } from '../../audit/entry.ts'
import { conflict, notAuthenticated } from '../../basics/errors.ts'
import { randomGroups } from '../../basics/secrets.ts'
import type { Attempt } from '../../passwords/passwords.ts'
import { passwordFaults } from '../../passwords/policy.ts'
import type { WriteOperation } from '../../store/store.ts'
import { erasedKey, type UserChange as StoredChange } from '../../tokens/tokens.store.ts'
import * as erasure from '../erasure/erasure.store.ts'
import {
  findChangeable,
  findUser,
  noSuchUser,
  type UserDependencies,
  type UserKey,
} from '../find-user.ts'
import { refuseFaults } from '../profile.ts'
import type { Role, User } from '../users.store.ts'
import * as stored from '../users.store.ts'
import { setRole as setStoredRole } from './roles.store.ts'
import type { Rotating } from './rotation.store.ts'
import * as changes from './user-changes.store.ts'

export const generatedPasswordDays = 7

export async function setPassword(
  dependencies: UserDependencies,
  {
    username,
    password,
    isGenerated,
  }: { username: string; password: string; isGenerated?: boolean },
): Promise<void> {
  const user = await findUser(dependencies, { username })
  if (!isGenerated)
    refuseFaults(await passwordFaults(dependencies, { username: user.username ?? '', password }))
  const passwordHash = await dependencies.passwords.hash(password)
  const passwordEndsAt = endOfPassword(dependencies, isGenerated)
  await storePassword(dependencies, { ...user, passwordEndsAt }, passwordHash)
}

/** A terminal's history may have a displayed password (OWASP ASVS 5.0, 6.4.1). */
export function endOfPassword({ now }: UserDependencies, isGenerated = false): number | null {
  return isGenerated ? now() + generatedPasswordDays * 86_400_000 : null
}

/** Rotates the caller's sign-in. Throws UNAUTHORIZED if it is outdated. */
export async function changePassword(
  dependencies: UserDependencies,
  user: { id: string; username: string } & Rotating,
  { newPassword: password, attempt }: { newPassword: string; attempt: Omit<Attempt, 'account'> },
): Promise<void> {
  const passwordHash = await dependencies.passwords.hash(password, {
    ...attempt,
    account: user.username,
  })
  const outcome = await storePassword(dependencies, user, passwordHash)
  if (outcome !== 'done') throw notAuthenticated()
}

/** Enables the user, and ends all proofs but the new one. */
export function storePassword(
  dependencies: UserDependencies,
  {
    id: userId,
    username,
    rotation,
    passwordEndsAt = null,
  }: Pick<User, 'id' | 'username'> & Partial<Pick<User, 'passwordEndsAt'>> & Rotating,
  passwordHash: string,
): Promise<'done' | 'absent' | 'outdated'> {
  const facts = {
    event: 'password-changed',
    userId,
    username,
    signInId: rotation?.signInId ?? null,
  } as const
  const change = { userId, passwordHash, passwordEndsAt, rotation }
  return endProofs(dependencies, changes.setPassword, change, facts)
}

export async function setDisabled(
  dependencies: UserDependencies,
  key: UserKey,
  isDisabled: boolean,
): Promise<User> {
  const user = await findChangeable(dependencies, key)
  const { id: userId, username } = user
  const facts = { event: isDisabled ? 'user-disabled' : 'user-enabled', userId, username } as const
  if (isDisabled)
    refuseLastOperator(await endProofs(dependencies, changes.disableUser, { userId }, facts))
  else
    await dependencies.store.write(stored.enableUser, { userId, ...recorded(dependencies, facts) })
  return user
}

export async function signOutUser(dependencies: UserDependencies, key: UserKey): Promise<User> {
  const user = await findChangeable(dependencies, key)
  const { id: userId, username } = user
  const facts = { event: 'user-signed-out', userId, username } as const
  const outcome = await endProofs(dependencies, changes.endSignInsOf, { userId }, facts)
  if (outcome === 'absent') throw noSuchUser(key)
  return user
}

/** Throws CONFLICT for the last operator, or a user who cannot sign in. */
export async function setRole(
  dependencies: UserDependencies,
  key: UserKey,
  role: Role | null,
): Promise<User> {
  const user = await findUser(dependencies, key)
  const { id: userId, username, disabledAt } = user
  if (role !== null && (username === null || disabledAt !== null))
    throw conflict(
      'An operator signs in with a username, and this user has none or is disabled',
      'Name another user, or first: carillon user rename, carillon user enable.',
    )
  const entry = recorded(dependencies, {
    event: 'role-changed',
    userId,
    username,
    detail: { role: role ?? 'none' },
  })
  const outcome = refuseLastOperator(
    await dependencies.store.write(setStoredRole, { userId, role, ...entry }),
  )
  if (outcome === 'absent') throw noSuchUser(key)
  return user
}

function refuseLastOperator<Outcome extends string>(
  outcome: Outcome,
): Exclude<Outcome, 'last-operator'> {
  if (outcome !== 'last-operator') return outcome as Exclude<Outcome, 'last-operator'>
  throw conflict(
    'This is the last operator: without one, nobody could open the page /operator',
    'Give another user the role first: carillon user role NAME operator.',
  )
}

/** Throws CONFLICT for the last operator. */
export async function deleteUser(dependencies: UserDependencies, key: UserKey): Promise<void> {
  const { id } = await findChangeable(dependencies, key)
  if ((await eraseUser(dependencies, id)) === 'absent') throw noSuchUser(key)
}

export async function eraseUser(
  dependencies: UserDependencies,
  userId: string,
): Promise<'done' | 'absent'> {
  const erased = await dependencies.erased()
  // Without the id, no one finds the user.
  const facts = { event: 'user-erased', detail: { user: erasedKey(userId) } } as const
  return refuseLastOperator(
    await endProofs(dependencies, erasure.deleteUser, { userId, erased }, facts),
  )
}

/** When the call resolves, this process refuses what was revoked. */
export async function endProofs<Change, Outcome>(
  dependencies: UserDependencies,
  operation: WriteOperation<Change & Omit<StoredChange, 'userId'>, Outcome>,
  change: Change,
  facts: Parameters<typeof recorded>[1],
): Promise<Outcome> {
  const at = dependencies.now()
  const ending = { at, ...recorded(dependencies, facts) }
  const outcome = await dependencies.store.write(operation, { ...change, ...ending })
  await dependencies.revocations?.refresh()
  return outcome
}

/** A passphrase has 100 bits. */
export function makePassphrase(): string {
  return randomGroups({ groups: 4, of: 5 })
}
