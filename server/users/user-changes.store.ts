// Changes of a user that end proofs: disabling the user, a new password, a reset of the second factors.
import { lockUsers, run, send, type Write } from '../store/statements.ts'
import { type Rotating, rotating } from '../tokens/rotation.store.ts'
import { type Excepted, endProofs, type UserChange } from '../tokens/tokens.store.ts'

/** Disables a user: in one step it voids every link and ends all proofs. Repeating the call keeps the first `disabledAt`. */
export function* disableUser(change: UserChange): Write<'done' | 'absent'> {
  const { userId, at } = change
  yield* lockUsers()
  yield* send`
    update "user" set disabled_at = coalesce(disabled_at, ${at}), device_generation = device_generation + 1
    where id = ${userId}`
  return (yield* endLinksAndProofs(change)) ? 'done' : 'absent'
}

export type SetPassword = UserChange & { passwordHash: string }

/**
 * In one step it sets a password, enables the user, voids every link, clears `passwordReportedAt` and ends all proofs, except for the new one
 * of the sign-in that it rotates. If that is outdated, it changes nothing and returns 'outdated'.
 */
export const setPassword = rotating(function* (change: SetPassword & Rotating): Write<'done'> {
  yield* changePassword({ ...change, audit: undefined, exceptSignInId: change.rotation?.signInId })
  return 'done'
})

/** The caller has locked the user. */
export function* changePassword(change: SetPassword & Excepted): Write<void> {
  yield* send`
    update "user" set password_hash = ${change.passwordHash}, disabled_at = null, password_reported_at = null
    where id = ${change.userId}`
  yield* endLinksAndProofs(change)
}

function* endLinksAndProofs(change: UserChange & Excepted): Write<boolean> {
  yield* send`delete from one_time_link where user_id = ${change.userId}`
  return yield* endProofs(change)
}

/** Removes all factors, recovery codes and challenges, and ends all proofs, in one step. Returns how many factors there were. */
export function* resetFactors(change: UserChange): Write<number | 'absent'> {
  const { userId } = change
  yield* lockUsers()
  if (!(yield* endProofs(change))) return 'absent'
  const removed = yield* run`delete from factor where user_id = ${userId}`
  yield* send`delete from recovery_code where user_id = ${userId}`
  yield* send`delete from challenge where user_id = ${userId}`
  return removed
}
