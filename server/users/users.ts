// Adds, finds, changes and erases users, and sets their passwords. import.ts has many at once.
import { record } from '../audit/audit.store.ts'
import { recorded, type Source, sourceOf } from '../audit/entry.ts'
import {
  CarillonError,
  conflict,
  faulting,
  invalidField,
  noSuchRoute,
  notAuthenticated,
  notFound,
} from '../basics/errors.ts'
import { newId } from '../basics/ids.ts'
import { randomGroups } from '../basics/secrets.ts'
import type { GuardedRequest, ProducerCaller, Subject } from '../http/operation.ts'
import type { Site } from '../http/site.ts'
import type { Attempt, Passwords } from '../passwords/passwords.ts'
import { type PasswordRules, passwordFaults } from '../passwords/policy.ts'
import type { Audited } from '../store/events.ts'
import type { Store, WriteOperation } from '../store/store.ts'
import type { TokenRevocations } from '../tokens/revocations.ts'
import { erasedKey, type UserChange as StoredChange } from '../tokens/tokens.store.ts'
import type { Recogniser } from './erasure/erased-ids.ts'
import * as erasure from './erasure/erasure.store.ts'
import { type GivenProfile, profileAt, readEntry, readProfile, refuseFaults } from './profile.ts'
import { listOperators, setRole as setStoredRole } from './roles.store.ts'
import type { Rotating } from './rotation.store.ts'
import * as changes from './user-changes.store.ts'
import { findableUsername, prepareUsername } from './username.ts'
import type { NewUser as NewUserBody, UserChange } from './users.schemas.ts'
import type { NewUser, Role, User } from './users.store.ts'
import * as stored from './users.store.ts'

/** The user of a generated password chooses another one before it ends. */
export const generatedPasswordDays = 7

export const firstUsername = 'operator'

export type UserDependencies = PasswordRules & {
  store: Store
  passwords: Passwords
  now: () => number
  /** Only its users are found; without it, all are. */
  application?: string | undefined
  source?: Source
  /** This process refuses what was revoked as soon as the call resolves. */
  revocations?: Pick<TokenRevocations, 'refresh'>
  erased: Recogniser
}

export type UserKey = { id: string } | { externalId: string } | { username: string }

/** A passphrase is not checked, and ends after seven days. */
type Wanted = Omit<NewUserBody, 'username'> & {
  username?: string
  isGenerated?: boolean
  role?: Role
}

export async function addUser(
  dependencies: UserDependencies,
  wanted: Wanted,
): Promise<stored.AddedUser> {
  const { password, isGenerated, role = null, ...entry } = wanted
  const { checked, faults } = readEntry(entry)
  if (password !== undefined && entry.passwordHash !== undefined)
    faults.push({
      field: 'passwordHash',
      reason: 'takes the place of password: send one of the two',
    })
  const { username, externalId, profile } = checked
  if (password !== undefined && !isGenerated)
    faults.push(...(await passwordFaults(dependencies, { username: username ?? '', password })))
  refuseFaults(faults)
  // An application waits for its own passwords only.
  const attempt = { account: dependencies.source?.actor ?? '' }
  const passwordHash =
    password === undefined
      ? checked.passwordHash
      : await dependencies.passwords.hash(password, attempt)
  return storeUser(dependencies, {
    username,
    externalId,
    passwordHash,
    passwordEndsAt: endOfPassword(dependencies, isGenerated),
    role,
    ...profile,
  })
}

type Stored = Pick<NewUser, 'username' | 'passwordHash' | 'passwordEndsAt' | 'role'> & {
  externalId: string | null
} & GivenProfile

export async function storeUser(
  dependencies: UserDependencies,
  wanted: Stored,
): Promise<stored.AddedUser> {
  const { store, now, application = '' } = dependencies
  const { username, externalId } = wanted
  await refuseAddress(dependencies, username)
  const createdAt = now()
  const fields = profileAt(wanted, createdAt)
  const user = { id: newId(createdAt), createdAt, application, displayName: null, ...fields }
  const entry = { event: 'user-created', userId: user.id, username } as const
  const erased = await dependencies.erased()
  const outcome = await store.write(stored.addUser, {
    ...user,
    erased,
    ...recorded(dependencies, entry),
  })
  if (outcome === 'username-taken') throw taken('username', username)
  if (outcome === 'external-id-taken') throw taken('externalId', externalId)
  return outcome
}

/** A verified address must not become another's username. Throws CONFLICT. */
async function refuseAddress(
  { store }: Finding,
  username?: string | null,
  userId?: string,
): Promise<void> {
  if (!username?.includes('@')) return
  const owners = await store.read(stored.findUsersByEmail, {
    email: username,
    limit: 2,
    canSignIn: true,
  })
  if (owners.some(({ id }) => id !== userId)) throw taken('username', username)
}

/** The caller may be an application, and the user another one's. */
function taken(field: 'username' | 'externalId', text: string | null | undefined): CarillonError {
  return new CarillonError('CONFLICT', `The ${field} ${text} is taken`, {
    details: [{ field, reason: 'is taken' }],
  })
}

export async function findUser(dependencies: Finding, key: UserKey): Promise<User> {
  const user = await lookUp(dependencies, key)
  if (user === undefined || !isInReach(dependencies, user)) throw noSuchUser(key)
  return user
}

/**
 * A key finds no user with a role: its holder could become an operator. The audit log has each
 * attempt.
 */
export async function findChangeable(dependencies: UserDependencies, key: UserKey): Promise<User> {
  const user = await findUser(dependencies, key)
  if (user.role === null || !isByKey(dependencies)) return user
  const facts = { event: 'key-refused', userId: user.id, username: user.username } as const
  await dependencies.store.write(record, recorded(dependencies, facts).audit)
  throw noSuchUser(key)
}

function isByKey({ source }: UserDependencies): boolean {
  return source?.actor.startsWith('producer:') ?? false
}

export async function refuseOperators(
  dependencies: UserDependencies,
  entries: readonly { externalId: string | null }[],
): Promise<void> {
  if (!isByKey(dependencies)) return
  const { store, application = '' } = dependencies
  const named = new Set(entries.map(({ externalId }) => externalId))
  for (const operator of await store.read(listOperators))
    if (
      operator.application === application &&
      operator.issuer === '' &&
      named.has(operator.externalId)
    )
      await findChangeable(dependencies, { id: operator.id })
}

type Finding = Pick<UserDependencies, 'store' | 'application'>

export function isInReach({ application }: Finding, user: User): boolean {
  return !application || user.application === application
}

export async function lookUp(
  { store, application }: Finding,
  key: UserKey,
): Promise<User | undefined> {
  if ('id' in key) return store.read(stored.findUser, key.id)
  if ('externalId' in key)
    return store.read(stored.findUserByExternalId, { application, externalId: key.externalId })
  const username = findableUsername(key.username)
  return username === undefined ? undefined : store.read(stored.findUserByUsername, username)
}

function noSuchUser(key: UserKey): CarillonError {
  if ('username' in key) return notFound(`There is no user ${key.username}`)
  return notFound(`There is no user with this ${'id' in key ? 'id' : 'external id'}`)
}

export async function changeUser(
  dependencies: UserDependencies,
  key: UserKey,
  change: UserChange,
): Promise<User> {
  const user = await findChangeable(dependencies, key)
  const { profile, faults } = readProfile(change)
  const username = faulting(faults, () => changedUsername(user, change.username))
  refuseFaults(faults)
  await storeChange(dependencies, {
    user,
    fields: { ...(username !== undefined && { username }), ...profile },
  })
  if (change.disabled !== undefined)
    await setDisabled(dependencies, { id: user.id }, change.disabled)
  return findUser(dependencies, { id: user.id })
}

type Edit = { user: User; fields: GivenProfile & { username?: string }; signInId?: string | null }

export async function storeChange(
  dependencies: UserDependencies,
  given: Edit,
): Promise<'done' | 'absent'> {
  const { user, fields } = given
  await refuseAddress(dependencies, fields.username, user.id)
  const { audit } = recordedChange(dependencies, given)
  if (audit === undefined && fields.timeZone === undefined) return 'done'
  const change = { userId: user.id, ...profileAt(fields, dependencies.now()), audit }
  const outcome = await dependencies.store.write(stored.updateUser, change)
  if (outcome === 'username-taken') throw taken('username', fields.username)
  return outcome
}

export function recordedChange(dependencies: UserDependencies, given: Edit): Audited {
  const { user, signInId = null } = given
  // The audit log records no preferences, of which it is one.
  const { timeZone: _, ...fields } = given.fields
  const before = { ...user, emailVerified: user.emailVerifiedAt !== null }
  const changed = Object.entries(fields).filter(
    ([name, value]) => before[name as keyof typeof fields] !== value,
  )
  if (changed.length === 0) return {}
  const detail = { fields: changed.map(([name]) => name).join(',') }
  const { id: userId, username } = user
  const { audit } = recorded(dependencies, {
    event: 'user-changed',
    userId,
    username,
    signInId,
    detail,
  })
  const formerEmail =
    user.emailVerifiedAt !== null && changed.some(([name]) => name === 'email') ? user.email : null
  return { audit: audit.map((entry) => ({ ...entry, formerEmail })) }
}

function changedUsername(user: User, username: string | null | undefined): string | undefined {
  if (username === undefined || username === user.username) return undefined
  if (username === null)
    throw invalidField('username', 'cannot be removed: a user with a username keeps one')
  return prepareUsername(username)
}

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

/** A displayed password may be in a terminal's history (OWASP ASVS 5.0, 6.4.1). */
function endOfPassword({ now }: UserDependencies, isGenerated = false): number | null {
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

/** Ends all proofs but the new one. Enables the user. */
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

/** Throws CONFLICT for a user who cannot sign in and the last operator. */
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
  // Nobody finds the user without the id.
  const facts = { event: 'user-erased', detail: { user: erasedKey(userId) } } as const
  return refuseLastOperator(
    await endProofs(dependencies, erasure.deleteUser, { userId, erased }, facts),
  )
}

/** This process refuses what was revoked as soon as the call resolves. */
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

/** Throws UNAUTHORIZED if the user was disabled or deleted. */
export async function findEnabledUser(
  dependencies: { store: Store },
  caller: Subject,
): Promise<User> {
  const user = await readerOf(dependencies, caller)
  if (user === undefined) throw notAuthenticated()
  return user
}

export async function readerOf(
  { store }: { store: Store },
  proof?: { userId: string } | null,
): Promise<User | undefined> {
  const user = proof ? await store.read(stored.findUser, proof.userId) : undefined
  return user?.disabledAt === null ? user : undefined
}

/** `/api/users/external/` is not a route. */
export function userKey({ params: { id, externalId } }: Pick<GuardedRequest, 'params'>): UserKey {
  if (externalId === '') throw noSuchRoute()
  // RFC 9562, section 4: also in upper case.
  return externalId === undefined ? { id: id.toLowerCase() } : { externalId }
}

export type UserNeeds = { users: UserDependencies; site: Pick<Site, 'trustedProxies'> }

export function usersFor(
  needs: UserNeeds,
  request: GuardedRequest<ProducerCaller>,
): UserDependencies {
  const { id, application } = request.caller
  return {
    ...needs.users,
    application,
    source: { ...sourceOf(needs, request), actor: `producer:${id}` },
  }
}
