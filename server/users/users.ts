// Adds, finds, changes, disables and erases users, and sets their passwords. Many users at once are in import.ts.
import { recorded, type Source, sourceOf } from '../audit/entry.ts'
import { CarillonError, faulting, invalidField, noSuchRoute, notAuthenticated, notFound } from '../basics/errors.ts'
import { newId } from '../basics/ids.ts'
import { randomGroups } from '../basics/secrets.ts'
import type { GuardedRequest, ProducerCaller, Subject } from '../http/operation.ts'
import type { Site } from '../http/site.ts'
import type { Attempt, Passwords } from '../passwords/passwords.ts'
import { type PasswordRules, passwordFaults } from '../passwords/policy.ts'
import type { Audited } from '../store/events.ts'
import type { Store, WriteOperation } from '../store/store.ts'
import type { TokenRevocations } from '../tokens/revocations.ts'
import type { Rotating } from '../tokens/rotation.store.ts'
import { erasedKey, type UserChange as StoredChange } from '../tokens/tokens.store.ts'
import type { Recogniser } from './erased-ids.ts'
import * as erasure from './erasure.store.ts'
import { type GivenProfile, profileAt, readEntry, readProfile, refuseFaults } from './profile.ts'
import * as changes from './user-changes.store.ts'
import { findableUsername, prepareUsername } from './username.ts'
import type { NewUser as NewUserBody, UserChange } from './users.schemas.ts'
import type { NewUser, User } from './users.store.ts'
import * as stored from './users.store.ts'

/** The name of the user whom the first start adds. */
export const firstUsername = 'operator'

export type UserDependencies = PasswordRules & {
  store: Store
  passwords: Passwords
  now: () => number
  /** Only its users are found, and new ones belong to it. Without one, all users are found, and new ones belong to none. */
  application?: string | undefined
  /** Who makes the changes, for the audit log; the service itself if it is absent. */
  source?: Source
  /** The revocations of this process, if it serves requests: it then refuses what was revoked as soon as the call resolves. */
  revocations?: Pick<TokenRevocations, 'refresh'>
  /** Remembers and recognises the external ids of erased users. */
  erased: Recogniser
}

/** Which user: by our own id, by the id in the application (a plain one, without an issuer), or by username. */
export type UserKey = { id: string } | { externalId: string } | { username: string }

/** `isGenerated`: the password is a passphrase of `makePassphrase`, which needs no check. */
type Wanted = Omit<NewUserBody, 'username'> & { username?: string; isGenerated?: boolean }

/** Without a password or a hash, the user cannot sign in yet. Throws INVALID_REQUEST with every fault, or CONFLICT. */
export async function addUser(dependencies: UserDependencies, wanted: Wanted): Promise<stored.AddedUser> {
  const { password, isGenerated, ...entry } = wanted
  const { checked, faults } = readEntry(entry)
  if (password !== undefined && entry.passwordHash !== undefined)
    faults.push({ field: 'passwordHash', reason: 'takes the place of password: send one of the two' })
  const { username, externalId, profile } = checked
  if (password !== undefined && !isGenerated)
    faults.push(...(await passwordFaults(dependencies, { username: username ?? '', password })))
  refuseFaults(faults)
  // An application waits for its own passwords only.
  const attempt = { account: dependencies.source?.actor ?? '' }
  const passwordHash =
    password === undefined ? checked.passwordHash : await dependencies.passwords.hash(password, attempt)
  return storeUser(dependencies, { username, externalId, passwordHash, ...profile })
}

type Stored = Pick<NewUser, 'username' | 'passwordHash'> & { externalId: string | null } & GivenProfile

/** Throws CONFLICT with the field that is taken. */
export async function storeUser(dependencies: UserDependencies, wanted: Stored): Promise<stored.AddedUser> {
  const { store, now, application = '' } = dependencies
  const { username, externalId } = wanted
  await refuseAddress(dependencies, username)
  const createdAt = now()
  const fields = profileAt(wanted, createdAt)
  const user = { id: newId(createdAt), createdAt, application, displayName: null, ...fields }
  const entry = { event: 'user-created', userId: user.id, username } as const
  const erased = await dependencies.erased()
  const outcome = await store.write(stored.addUser, { ...user, erased, ...recorded(dependencies, entry) })
  if (outcome === 'username-taken') throw taken('username', username)
  if (outcome === 'external-id-taken') throw taken('externalId', externalId)
  return outcome
}

/** A user signs in by a verified address, too: it must not become the username of another one. Throws CONFLICT. */
async function refuseAddress({ store }: Finding, username?: string | null, userId?: string): Promise<void> {
  if (!username?.includes('@')) return
  const owners = await store.read(stored.findUsersByEmail, { email: username, limit: 2, canSignIn: true })
  if (owners.some(({ id }) => id !== userId)) throw taken('username', username)
}

/** Does not say by whom, nor whether it is a name or an address: the caller may be an application, and the user another one's. */
function taken(field: 'username' | 'externalId', text: string | null | undefined): CarillonError {
  return new CarillonError('CONFLICT', `The ${field} ${text} is taken`, { details: [{ field, reason: 'is taken' }] })
}

/** Throws NOT_FOUND. */
export async function findUser(dependencies: Finding, key: UserKey): Promise<User> {
  const user = await lookUp(dependencies, key)
  if (user === undefined || !isInReach(dependencies, user)) throw noSuchUser(key)
  return user
}

type Finding = Pick<UserDependencies, 'store' | 'application'>

/** Whether a caller of the application, or of none, sees the user. */
export function isInReach({ application }: Finding, user: User): boolean {
  return !application || user.application === application
}

/** Undefined without such a user. One who is found by id or username may be out of reach. */
export async function lookUp({ store, application }: Finding, key: UserKey): Promise<User | undefined> {
  if ('id' in key) return store.read(stored.findUser, key.id)
  if ('externalId' in key) return store.read(stored.findUserByExternalId, { application, externalId: key.externalId })
  const username = findableUsername(key.username)
  return username === undefined ? undefined : store.read(stored.findUserByUsername, username)
}

function noSuchUser(key: UserKey): CarillonError {
  if ('username' in key) return notFound(`There is no user ${key.username}`)
  return notFound(`There is no user with this ${'id' in key ? 'id' : 'external id'}`)
}

/** Returns the user as it is afterwards. Throws INVALID_REQUEST, NOT_FOUND or CONFLICT. */
export async function changeUser(dependencies: UserDependencies, key: UserKey, change: UserChange): Promise<User> {
  const user = await findUser(dependencies, key)
  const { profile, faults } = readProfile(change)
  const username = faulting(faults, () => changedUsername(user, change.username))
  refuseFaults(faults)
  await storeChange(dependencies, { user, fields: { ...(username !== undefined && { username }), ...profile } })
  if (change.disabled !== undefined) await setDisabled(dependencies, { id: user.id }, change.disabled)
  return findUser(dependencies, { id: user.id })
}

/** `username` is prepared. `signInId`: the sign-in of the user who makes the change. */
type Edit = { user: User; fields: GivenProfile & { username?: string }; signInId?: string | null }

/** Throws CONFLICT if the username is taken. */
export async function storeChange(dependencies: UserDependencies, given: Edit): Promise<'done' | 'absent'> {
  const { user, fields } = given
  await refuseAddress(dependencies, fields.username, user.id)
  const { audit } = recordedChange(dependencies, given)
  if (audit === undefined) return 'done'
  const change = { userId: user.id, ...profileAt(fields, dependencies.now()), audit }
  const outcome = await dependencies.store.write(stored.updateUser, change)
  if (outcome === 'username-taken') throw taken('username', fields.username)
  return outcome
}

/** The entry names the fields, not their values; there is none if every value stays as it was. */
export function recordedChange(dependencies: UserDependencies, { user, fields, signInId = null }: Edit): Audited {
  const before = { ...user, emailVerified: user.emailVerifiedAt !== null }
  const changed = Object.entries(fields).filter(([name, value]) => before[name as keyof typeof fields] !== value)
  if (changed.length === 0) return {}
  const detail = { fields: changed.map(([name]) => name).join(',') }
  const { id: userId, username } = user
  const { audit } = recorded(dependencies, { event: 'user-changed', userId, username, signInId, detail })
  const formerEmail = user.emailVerifiedAt !== null && changed.some(([name]) => name === 'email') ? user.email : null
  return { audit: audit.map((entry) => ({ ...entry, formerEmail })) }
}

/** Undefined if the username stays as it is. */
function changedUsername(user: User, username: string | null | undefined): string | undefined {
  if (username === undefined || username === user.username) return undefined
  if (username === null) throw invalidField('username', 'cannot be removed: a user with a username keeps one')
  return prepareUsername(username)
}

/** Ends every session and token of the user. Throws INVALID_REQUEST or NOT_FOUND. */
export async function setPassword(
  dependencies: UserDependencies,
  { username, password, isGenerated }: { username: string; password: string; isGenerated?: boolean },
): Promise<void> {
  const user = await findUser(dependencies, { username })
  if (!isGenerated) refuseFaults(await passwordFaults(dependencies, { username: user.username ?? '', password }))
  await storePassword(dependencies, user, await dependencies.passwords.hash(password))
}

/** Sets the acceptable password that the user chose: the caller's sign-in is rotated. Throws UNAUTHORIZED if it is outdated. */
export async function changePassword(
  dependencies: UserDependencies,
  user: { id: string; username: string } & Rotating,
  { newPassword: password, attempt }: { newPassword: string; attempt: Omit<Attempt, 'account'> },
): Promise<void> {
  const passwordHash = await dependencies.passwords.hash(password, { ...attempt, account: user.username })
  const outcome = await storePassword(dependencies, user, passwordHash)
  if (outcome !== 'done') throw notAuthenticated()
}

/** Ends every session and token of the user, except for the new proof of the sign-in that it rotates. Enables the user. */
export function storePassword(
  dependencies: UserDependencies,
  { id: userId, username, rotation }: Pick<User, 'id' | 'username'> & Rotating,
  passwordHash: string,
): Promise<'done' | 'absent' | 'outdated'> {
  const facts = { event: 'password-changed', userId, username, signInId: rotation?.signInId ?? null } as const
  const change = { userId, passwordHash, rotation }
  return endProofs(dependencies, changes.setPassword, change, facts)
}

/** Disabling ends every session and token of the user and refuses every later sign-in; enabling ends that. Throws NOT_FOUND. */
export async function setDisabled(dependencies: UserDependencies, key: UserKey, isDisabled: boolean): Promise<User> {
  const user = await findUser(dependencies, key)
  const { id: userId, username } = user
  const facts = { event: isDisabled ? 'user-disabled' : 'user-enabled', userId, username } as const
  if (isDisabled) await endProofs(dependencies, changes.disableUser, { userId }, facts)
  else await dependencies.store.write(stored.enableUser, { userId, ...recorded(dependencies, facts) })
  return user
}

/** Erases the user with all data, and ends the user's streams. Throws NOT_FOUND. */
export async function deleteUser(dependencies: UserDependencies, key: UserKey): Promise<void> {
  const { id } = await findUser(dependencies, key)
  if ((await eraseUser(dependencies, id)) === 'absent') throw noSuchUser(key)
}

export async function eraseUser(dependencies: UserDependencies, userId: string): Promise<'done' | 'absent'> {
  const erased = await dependencies.erased()
  // Nothing of the entry leads to the user, except for somebody who has the id.
  const facts = { event: 'user-erased', detail: { user: erasedKey(userId) } } as const
  return endProofs(dependencies, erasure.deleteUser, { userId, erased }, facts)
}

/** Makes a change that ends sign-ins: this process refuses what was revoked as soon as the call resolves. */
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

/** 100 bits. */
export function makePassphrase(): string {
  return randomGroups({ groups: 4, of: 5 })
}

/** Throws UNAUTHORIZED if the caller's user was disabled or deleted since the proof began. */
export async function findEnabledUser(dependencies: { store: Store }, caller: Subject): Promise<User> {
  const user = await readerOf(dependencies, caller)
  if (user === undefined) throw notAuthenticated()
  return user
}

/** The enabled user of a proof or a challenge; undefined without one. */
export async function readerOf(
  { store }: { store: Store },
  proof?: { userId: string } | null,
): Promise<User | undefined> {
  const user = proof ? await store.read(stored.findUser, proof.userId) : undefined
  return user?.disabledAt === null ? user : undefined
}

/** The user whom the path names. Throws NOT_FOUND for an empty external id: `/api/users/external/` is not a route. */
export function userKey({ params: { id, externalId } }: Pick<GuardedRequest, 'params'>): UserKey {
  if (externalId === '') throw noSuchRoute()
  // A UUID may be sent in upper case (RFC 9562, section 4).
  return externalId === undefined ? { id: id.toLowerCase() } : { externalId }
}

/** What the routes of producers need to reach their users. */
export type UserNeeds = { users: UserDependencies; site: Pick<Site, 'trustedProxies'> }

/** The users that a producer reaches, and the changes that it requests, which the audit log ascribes to it. */
export function usersFor(needs: UserNeeds, request: GuardedRequest<ProducerCaller>): UserDependencies {
  const { id, application } = request.caller
  return { ...needs.users, application, source: { ...sourceOf(needs, request), actor: `producer:${id}` } }
}
