// Adds and changes users. import.ts has many at once; access/ has what lets a user sign in.
import { recorded } from '../audit/entry.ts'
import { CarillonError, faulting, invalidField } from '../basics/errors.ts'
import { newId } from '../basics/ids.ts'
import { passwordFaults } from '../passwords/policy.ts'
import type { Audited } from '../store/events.ts'
import { endOfPassword, setDisabled } from './access/access.ts'
import {
  type Finding,
  findChangeable,
  findUser,
  type UserDependencies,
  type UserKey,
} from './find-user.ts'
import { type GivenProfile, profileAt, readEntry, readProfile, refuseFaults } from './profile.ts'
import { prepareUsername } from './username.ts'
import type { NewUser as NewUserBody, UserChange } from './users.schemas.ts'
import type { NewUser, Role, User } from './users.store.ts'
import * as stored from './users.store.ts'

export const firstUsername = 'operator'

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
  // An application waits only for its own passwords.
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

/** Throws CONFLICT: a verified address must not become another's username. */
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

/** The caller may be an application, and the user another's. */
function taken(field: 'username' | 'externalId', text: string | null | undefined): CarillonError {
  return new CarillonError('CONFLICT', `The ${field} ${text} is taken`, {
    details: [{ field, reason: 'is taken' }],
  })
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
  // The audit log does not record this preference.
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
