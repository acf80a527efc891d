// An unknown user, a wrong password and a disabled user get the same response, after the same work.
import { recorded } from '../audit/entry.ts'
import { CarillonError, invalidCredentials } from '../basics/errors.ts'
import { forgetGuesses } from '../guessing/guesses.store.ts'
import { type Guesses, guessPrefixOf } from '../guessing/guesses.ts'
import type { Passwords } from '../passwords/passwords.ts'
import type { Store } from '../store/store.ts'
import { generatedPasswordDays } from './access/access.ts'
import { findUser, type UserDependencies, type UserKey } from './find-user.ts'
import { findableUsername } from './username.ts'
import {
  type Credentials,
  findCredentials,
  findUsersByEmail,
  rehashPassword,
  type User,
} from './users.store.ts'

/** `name`: the client's text if it is no username. */
export type Account = { name: string; user: Credentials | undefined }

/**
 * A username can be another user's verified address. It then names the address's owner, unless
 * `isKnown` says that the other signed in on this device: no application may take over sign-ins by
 * such a name.
 */
export async function findAccount(
  { store }: { store: Store },
  username: string,
  isKnown: (user: User) => boolean,
): Promise<Account> {
  const findable = findableUsername(username)
  const user = await store.read(findCredentials, findable ?? '')
  if (!username.includes('@')) return { name: findable ?? username, user }
  // All spellings of an address share one count of guesses, even if no user has it.
  const name = findableUsername(username.trim()) ?? username.trim().toLowerCase()
  // Time must not reveal whether there is such a user.
  const [owner, another] = await store.read(findUsersByEmail, {
    email: username.trim(),
    limit: 2,
    canSignIn: true,
  })
  const ofAddress = await store.read(
    findCredentials,
    another === undefined ? (owner?.username ?? '') : '',
  )
  const isOfDevice = user !== undefined && ofAddress !== undefined && isKnown(user)
  const found = isOfDevice ? user : (ofAddress ?? user)
  return { name: found?.username ?? name, user: found }
}

/** `from`: replaces `address` for a known device or sign-in. */
type Presented = {
  password: string
  device: string | undefined
  address?: string
  from?: string
  signal: AbortSignal
}

/**
 * Replaces another system's hash. Throws INVALID_CREDENTIALS (also for a generated password that
 * has ended), TOO_MANY_REQUESTS or UNAVAILABLE.
 */
export async function checkCredentials(
  {
    users,
    guesses,
  }: { users: { store: Store; passwords: Passwords; now: () => number }; guesses: Guesses },
  { name, user }: Account,
  presented: Presented,
): Promise<Credentials> {
  const { store, passwords } = users
  const { password, device, address, from, signal } = presented
  const guess = guesses.of(
    { account: user?.id ?? { unknownName: name }, address, device },
    'password',
  )
  await guesses.refuseIfDelayed(guess)
  if (from && user) await guesses.beginConfirmation(user.id)
  // Right passwords that wait must not look like failures to each other.
  const attempt = { account: name, device: user && device, address: address ?? from, signal }
  const begin = () => guesses.begin(guess)
  const { matches, replacement } = await passwords.verify(
    password,
    user?.passwordHash,
    attempt,
    begin,
  )
  if (user === undefined || !matches || user.disabledAt !== null) throw invalidCredentials()
  await guesses.succeed(guess)
  if (user.passwordEndsAt !== null && users.now() >= user.passwordEndsAt) throw passwordEnded()
  if (replacement === null) return user
  const change = {
    userId: user.id,
    checkedPasswordHash: user.passwordHash,
    passwordHash: replacement,
  }
  if ((await store.write(rehashPassword, change)) === 'done')
    return { ...user, passwordHash: replacement }
  // The hash was replaced meanwhile: check that.
  return checkCredentials(
    { users, guesses },
    { name, user: await store.read(findCredentials, name) },
    presented,
  )
}

/** Only a client with the password reads this. */
function passwordEnded(): CarillonError {
  const problem = `This password was generated, and has ended after ${generatedPasswordDays} days`
  const remedy = 'The operator sets another one: carillon user password NAME.'
  const details = [{ field: 'password', reason: 'has ended' }]
  return new CarillonError('INVALID_CREDENTIALS', problem, { remedy, details })
}

export async function unlock(
  users: UserDependencies,
  key: UserKey,
): Promise<{ user: User; hadFailures: boolean }> {
  const user = await findUser(users, key)
  const entry = recorded(users, {
    event: 'account-unlocked',
    userId: user.id,
    username: user.username,
  })
  const prefix = guessPrefixOf(user.id)
  await users.store.write(forgetGuesses, { prefix: `${prefix}sign-in` })
  const outcome = await users.store.write(forgetGuesses, { prefix, ...entry })
  return { user, hadFailures: outcome === 'done' }
}
