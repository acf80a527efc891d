// Username and password -> user. An unknown user, a wrong password and a disabled user get one answer, and it costs
// the same work.
import { CarillonError } from '../../errors.ts'
import type { Store, User } from '../../store/store.ts'
import { findableUsername } from '../users/username.ts'
import type { Passwords } from './passwords.ts'
import { preparePassword } from './policy.ts'

export type CheckedUser = User & {
  /** The hash that was checked: whoever issues a proof makes sure that it is still the one. */
  passwordHash: string
}

/** `name` is the username as it is looked up, or as the client sent it if no user can have it. */
export type Account = { name: string; user: CheckedUser | undefined }

/** Throws UNAVAILABLE, without a read of the store, if too many of this address or account wait for their passwords. */
export async function findAccount(
  { store, passwords }: { store: Pick<Store, 'findCredentials'>; passwords: Passwords },
  username: string,
  address: string,
): Promise<Account> {
  const findable = findableUsername(username)
  const name = findable ?? username
  await passwords.refuseIfFull({ address, account: name })
  return { name, user: await store.findCredentials(findable ?? '') }
}

/**
 * Throws INVALID_CREDENTIALS, or UNAVAILABLE when too many passwords wait to be checked. `address` and the account say whose
 * turn it is; `signal` aborts if the client leaves.
 */
export async function checkCredentials(
  { passwords }: { passwords: Passwords },
  { name, user }: Account,
  presented: { password: string; address: string; signal: AbortSignal },
): Promise<CheckedUser> {
  const { address, signal } = presented
  const turn = { account: name, address, signal }
  const matches = await passwords.verify(preparePassword(presented.password), user?.passwordHash, turn)
  if (user === undefined || !matches || user.disabledAt !== null)
    throw new CarillonError('INVALID_CREDENTIALS', 'The username or the password is wrong')
  return user
}
