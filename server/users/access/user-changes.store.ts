// Changes of a user that end proofs.
import { run, send, type Write } from '../../store/statements.ts'
import {
  type Excepted,
  endProofs,
  endSubscriptions,
  type UserChange,
} from '../../tokens/tokens.store.ts'
import { lockUsers } from '../users.store.ts'
import { isLastOperator } from './roles.store.ts'
import { type Rotating, rotating } from './rotation.store.ts'

/**
 * Disables a user, voids every link and ends all proofs. Repeating keeps the first `disabledAt`.
 * Returns 'last-operator', and changes nothing, for that one.
 */
export function* disableUser(change: UserChange): Write<'done' | 'absent' | 'last-operator'> {
  const { userId, at } = change
  yield* lockUsers()
  if (yield* isLastOperator(userId)) return 'last-operator'
  yield* send`
    update "user" set disabled_at = coalesce(disabled_at, ${at}), device_generation = device_generation + 1
    where id = ${userId}`
  return (yield* endLinksAndProofs(change)) ? 'done' : 'absent'
}

/** The user can sign in again. */
export function* endSignInsOf(change: UserChange): Write<'done' | 'absent'> {
  yield* lockUsers()
  if (!(yield* endProofs(change))) return 'absent'
  yield* send`delete from challenge where user_id = ${change.userId}`
  return 'done'
}

export type SetPassword = UserChange & { passwordHash: string; passwordEndsAt?: number | null }

/**
 * Sets a password, enables the user, voids every link, clears `passwordReportedAt`, and ends all
 * proofs but the rotated one, also the push subscriptions of that, since a copy may have added
 * some. Returns 'outdated', and changes nothing, if it is outdated.
 */
export const setPassword = rotating(function* (change: SetPassword & Rotating): Write<'done'> {
  const own = change.rotation?.signInId
  yield* changePassword({ ...change, audit: undefined, exceptSignInId: own })
  if (own !== undefined) yield* endSubscriptions(change.userId, own)
  return 'done'
})

export function* changePassword(change: SetPassword & Excepted): Write<void> {
  yield* send`
    update "user" set password_hash = ${change.passwordHash}, disabled_at = null, password_reported_at = null,
      password_ends_at = ${change.passwordEndsAt ?? null}
    where id = ${change.userId}`
  yield* endLinksAndProofs(change)
}

function* endLinksAndProofs(change: UserChange & Excepted): Write<boolean> {
  yield* send`delete from one_time_link where user_id = ${change.userId}`
  return yield* endProofs(change)
}

/** Removes all factors, and ends all proofs. Returns how many factors there were. */
export function* resetFactors(change: UserChange): Write<number | 'absent'> {
  const { userId } = change
  yield* lockUsers()
  if (!(yield* endProofs(change))) return 'absent'
  const removed = yield* run`delete from factor where user_id = ${userId}`
  yield* send`delete from recovery_code where user_id = ${userId}`
  yield* send`delete from challenge where user_id = ${userId}`
  return removed
}
