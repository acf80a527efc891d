// Username and password -> user. An unknown user, a wrong password and a disabled user get one answer, and it costs
// the same work.
import { CarillonError } from '../errors.ts'
import type { Store, User } from '../store/store.ts'
import { preparePassword } from './password-policy.ts'
import type { Passwords } from './passwords.ts'
import { findableUsername } from './username.ts'

export type CheckedUser = User & {
  /** The hash that was checked: whoever issues a proof makes sure that it is still the one. */
  passwordHash: string
}

/** Throws INVALID_CREDENTIALS, or UNAVAILABLE when too many passwords wait to be checked. */
export async function checkCredentials(
  { store, passwords }: { store: Pick<Store, 'findCredentials'>; passwords: Passwords },
  presented: { username: string; password: string },
): Promise<CheckedUser> {
  const username = findableUsername(presented.username)
  const user = await store.findCredentials(username ?? '')
  const matches = await passwords.verify(preparePassword(presented.password), user?.passwordHash)
  if (user === undefined || !matches || user.disabledAt !== null)
    throw new CarillonError('INVALID_CREDENTIALS', 'The username or the password is wrong')
  return user
}
