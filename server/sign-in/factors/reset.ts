// Removes every second factor of a user who has lost them: for an operator.
import { CarillonError } from '../../errors.ts'
import type { Store, User } from '../../store/store.ts'
import { recorded } from '../audit/entry.ts'
import { revocationNow, revokeTokensAgain, type UserDependencies } from '../users/users.ts'

/** Ends every session and token, because a lost phone may be signed in. Returns how many factors there were. Throws NOT_FOUND. */
export async function resetFactors(
  dependencies: UserDependencies & { store: Pick<Store, 'resetFactors'> },
  { id, username }: User,
): Promise<number> {
  const entry = recorded(dependencies, { event: 'factors-reset', userId: id, username })
  const removed = await dependencies.store.resetFactors({ userId: id, ...revocationNow(dependencies), ...entry })
  if (removed === 'absent') throw new CarillonError('NOT_FOUND', 'There is no user with this id')
  await revokeTokensAgain(dependencies, { id })
  return removed
}
