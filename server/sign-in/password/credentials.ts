// Username and password -> user. Unknown user, wrong password, disabled user: the same response, after the same work.
import { invalidCredentials } from '../../errors.ts'
import type { Credentials, Store } from '../../store/store.ts'
import type { Guesses } from '../guessing/guesses.ts'
import { findableUsername } from '../users/username.ts'
import type { Passwords } from './passwords.ts'

/** A proof is issued only if the user still has the credential generation that was read with the password hash. */
export type CheckedUser = Credentials

/** `name` is the prepared username, or the text that the client sent if no user can have that name. */
export type Account = { name: string; user: CheckedUser | undefined }

/**
 * Throws UNAVAILABLE, before it reads the store, if too many attempts of this address or account wait in the queue. One that
 * presents a device token is compared with those on known devices: whether the token is valid is known only after the store was read.
 */
export async function findAccount(
  { store, passwords }: { store: Pick<Store, 'findCredentials'>; passwords: Passwords },
  username: string,
  { address, hasDeviceToken }: { address: string; hasDeviceToken: boolean },
): Promise<Account> {
  const findable = findableUsername(username)
  const name = findable ?? username
  await passwords.refuseIfFull({ address, account: queueAccount(name, hasDeviceToken) })
  return { name, user: await store.findCredentials(findable ?? '') }
}

/** The prefix keeps apart a known device of a user and a client that sends whatever text as its username. */
function queueAccount(name: string, isOnKnownDevice: boolean): string {
  return `${isOnKnownDevice ? 'known device of' : 'name'} ${name}`
}

/** `device`: the id of a known device of the user. */
type Presented = { password: string; device: string | undefined; address: string; signal: AbortSignal }

type Dependencies = { store: Pick<Store, 'findCredentials' | 'rehashPassword'>; passwords: Passwords; guesses: Guesses }

/**
 * Replaces a hash of another system by ours. Throws INVALID_CREDENTIALS; TOO_MANY_REQUESTS, before anything is hashed, after too many
 * failures; or UNAVAILABLE if too many passwords wait. `signal` aborts if the client disconnects.
 */
export async function checkCredentials(
  { store, passwords, guesses }: Dependencies,
  { name, user }: Account,
  presented: Presented,
): Promise<CheckedUser> {
  const { password, device, address, signal } = presented
  const guess = guesses.of({ account: user?.id ?? { unknownName: name }, address, device }, 'password')
  await guess.refuseIfDelayed()
  // Counted at its turn and not before: of many right passwords that wait together, none must look like a failure to the others.
  // In the queue, too, a known device does not wait behind those who guess the password of its user.
  const attempt = { account: queueAccount(name, device !== undefined), address, signal }
  const { matches, replacement } = await passwords.verify(password, user?.passwordHash, attempt, () => guess.begin())
  if (user === undefined || !matches || user.disabledAt !== null) throw invalidCredentials()
  await guess.succeed()
  if (replacement === null) return user
  const change = { userId: user.id, checkedPasswordHash: user.passwordHash, passwordHash: replacement }
  if ((await store.rehashPassword(change)) === 'done') return { ...user, passwordHash: replacement }
  // Another sign-in replaced the hash at the same moment, or the password was changed: check the hash that is stored now.
  const account = { name, user: await store.findCredentials(name) }
  return checkCredentials({ store, passwords, guesses }, account, presented)
}
