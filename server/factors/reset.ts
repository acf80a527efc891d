// Removes every second factor of a user who has lost them, or those of all users that a lost secret had sealed: for an operator.
import { recorded } from '../audit/entry.ts'
import { CarillonError, conflict } from '../basics/errors.ts'
import type { Sealing } from '../basics/secrets.ts'
import type { Store } from '../store/store.ts'
import { signingKeys } from '../tokens/signing-keys.store.ts'
import { resetFactors as resetStoredFactors } from '../users/user-changes.store.ts'
import type { User } from '../users/users.store.ts'
import { endProofs, type UserDependencies } from '../users/users.ts'
import { removeFactor, type SealedFactor } from './factors.store.ts'
import { factorsOf } from './re-sealing.ts'

/** Ends every session and token, because a lost phone may be signed in. Returns how many factors there were. Throws NOT_FOUND. */
export async function resetFactors(dependencies: UserDependencies, { id: userId, username }: User): Promise<number> {
  const facts = { event: 'factors-reset', userId, username } as const
  const removed = await endProofs(dependencies, resetStoredFactors, { userId }, facts)
  if (removed === 'absent') throw new CarillonError('NOT_FOUND', 'There is no user with this id')
  return removed
}

type Unreadable = Pick<SealedFactor, 'userId' | 'id'>

/** The factors that no secret of the service opens. Throws CONFLICT if it opens no signing key: then it is the wrong one, and not lost. */
export async function unreadableFactors(store: Store, sealing: Sealing): Promise<Unreadable[]> {
  const keys = (await store.read(signingKeys)).filter(({ retiredAt }) => retiredAt === null)
  const opened = await Promise.all(keys.map((key) => sealing.open('signing-keys', key.sealedPrivateJwk)))
  if (opened.length === 0 || opened.includes(undefined))
    throw conflict(
      'The secret that is set does not open the signing keys, so it may be a wrong one',
      'Set the right one. If it is lost, see "A secret that is lost" in docs/operations.md.',
    )
  const found: Unreadable[] = []
  for await (const batch of factorsOf(store, sealing))
    for (const { userId, id, sealedSecret } of batch)
      if ((await sealing.open('factors', sealedSecret)) === undefined) found.push({ userId, id })
  return found
}

/** Other factors stay, and so do sessions: nothing of the user is in other hands. With the last factor, the recovery codes end. */
export async function removeUnreadable(
  dependencies: Pick<UserDependencies, 'now' | 'source'> & { store: Store },
  factors: readonly Unreadable[],
): Promise<void> {
  for (const { userId, id: factorId } of factors) {
    const entry = recorded(dependencies, { event: 'factor-removed', userId, detail: { factorId } })
    await dependencies.store.write(removeFactor, { userId, factorId, ...entry })
  }
}
