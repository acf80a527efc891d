// Username and password -> user. Unknown user, wrong password, disabled user: the same response, after the same work.
import { recorded } from '../audit/entry.ts'
import { invalidCredentials } from '../basics/errors.ts'
import { forgetGuesses } from '../guessing/guesses.store.ts'
import { type Guesses, guessPrefixOf } from '../guessing/guesses.ts'
import type { Passwords } from '../passwords/passwords.ts'
import type { Store } from '../store/store.ts'
import { findableUsername } from './username.ts'
import { type Credentials, findCredentials, findUsersByEmail, rehashPassword, type User } from './users.store.ts'
import { findUser, type UserDependencies, type UserKey } from './users.ts'

/** `name` is the prepared username, or the text that the client sent if no user can have that name. */
export type Account = { name: string; user: Credentials | undefined }

/**
 * A name can be the username of one user and the verified address of another. Then it names the owner of the address, unless `isKnown` says
 * that the other user has signed in on this device: an application or an operator must not take a user's sign-ins by such a username.
 */
export async function findAccount(
  { store }: { store: Store },
  username: string,
  isKnown: (user: User) => boolean,
): Promise<Account> {
  const findable = findableUsername(username)
  const user = await store.read(findCredentials, findable ?? '')
  if (!username.includes('@')) return { name: findable ?? username, user }
  // Every spelling of an address has one count of guesses, also if no user has the address.
  const name = findableUsername(username.trim()) ?? username.trim().toLowerCase()
  // Each text that may be an address causes the same reads, so that the time does not say whether there is such a user.
  const [owner, another] = await store.read(findUsersByEmail, { email: username.trim(), limit: 2, canSignIn: true })
  const ofAddress = await store.read(findCredentials, another === undefined ? (owner?.username ?? '') : '')
  const isOfDevice = user !== undefined && ofAddress !== undefined && isKnown(user)
  const found = isOfDevice ? user : (ofAddress ?? user)
  // The name of the account: both names of a user share the places in the queue, and the hash is read again by this one.
  return { name: found?.username ?? name, user: found }
}

/** `device`: the id of a known device of the user, or of the sign-in of the user who presents it, and then `from` is in place of `address`. */
type Presented = { password: string; device: string | undefined; address?: string; from?: string; signal: AbortSignal }

/** Replaces a hash of another system by ours. Throws INVALID_CREDENTIALS, TOO_MANY_REQUESTS, or UNAVAILABLE if too many wait. */
export async function checkCredentials(
  { users, guesses }: { users: { store: Store; passwords: Passwords }; guesses: Guesses },
  { name, user }: Account,
  presented: Presented,
): Promise<Credentials> {
  const { store, passwords } = users
  const { password, device, address, from, signal } = presented
  const guess = guesses.of({ account: user?.id ?? { unknownName: name }, address, device }, 'password')
  await guesses.refuseIfDelayed(guess)
  if (from && user) await guesses.beginConfirmation(user.id)
  // Counted at its turn and not before: of many right passwords that wait together, none must look like a failure to the others.
  const attempt = { account: name, device: user && device, address: address ?? from, signal }
  const begin = () => guesses.begin(guess)
  const { matches, replacement } = await passwords.verify(password, user?.passwordHash, attempt, begin)
  if (user === undefined || !matches || user.disabledAt !== null) throw invalidCredentials()
  await guesses.succeed(guess)
  if (replacement === null) return user
  const change = { userId: user.id, checkedPasswordHash: user.passwordHash, passwordHash: replacement }
  if ((await store.write(rehashPassword, change)) === 'done') return { ...user, passwordHash: replacement }
  // Another sign-in replaced the hash at the same moment, or the password was changed: check the hash that is stored now.
  return checkCredentials({ users, guesses }, { name, user: await store.read(findCredentials, name) }, presented)
}

/** Forgets every failure of the user, so that no guess is delayed. `hadFailures`: whether there were any. Throws NOT_FOUND. */
export async function unlock(users: UserDependencies, key: UserKey): Promise<{ user: User; hadFailures: boolean }> {
  const user = await findUser(users, key)
  const entry = recorded(users, { event: 'account-unlocked', userId: user.id, username: user.username })
  // Right sign-ins are no failures.
  const prefix = guessPrefixOf(user.id)
  await users.store.write(forgetGuesses, { prefix: `${prefix}sign-in` })
  const outcome = await users.store.write(forgetGuesses, { prefix, ...entry })
  return { user, hadFailures: outcome === 'done' }
}
