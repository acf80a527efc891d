// Changes of a user that end proofs: disabling the user, a new password, a reset of the second factors.
import { get, record, run, send, type Write } from '../store/statements/statements.ts'
import type { Input } from '../store/store.ts'
import { lockUser, lockUsers } from '../store/user-lock.ts'
import { endProofs, isExceptionAlive } from '../tokens/proofs.store.ts'

export const userChangeWrites = { disableUser, setPassword, resetFactors }

/** A user whose credential generation was raised. */
type Raised = { generation: number }

function* disableUser(change: Input<'disableUser'>): Write<'done' | 'absent'> {
  const { userId, at } = change
  yield* lockUsers()
  const user = yield* get<Raised>`
    update "user" set disabled_at = coalesce(disabled_at, ${at}), credential_generation = credential_generation + 1,
      device_generation = device_generation + 1
    where id = ${userId} returning credential_generation as generation`
  if (user === undefined) return 'absent'
  yield* endLinksAndProofs(change, user)
  return 'done'
}

function* setPassword(change: Input<'setPassword'>): Write<'done' | 'absent' | 'refused'> {
  const isThere = yield* lockUser(change.userId)
  if (!(yield* isExceptionAlive(change))) return 'refused'
  if (!isThere) return 'absent'
  yield* changePassword(change)
  return 'done'
}

/** The caller has locked the user. */
export function* changePassword(change: Input<'setPassword'>): Write<void> {
  const user = yield* get<Raised>`
    update "user" set password_hash = ${change.passwordHash}, disabled_at = null, password_reported_at = null,
      credential_generation = credential_generation + 1
    where id = ${change.userId} returning credential_generation as generation`
  yield* endLinksAndProofs(change, user as Raised)
}

/** Ends what a user has who was disabled or has a new password; with the entries that say so. */
function* endLinksAndProofs(change: Input<'disableUser'> | Input<'setPassword'>, user: Raised): Write<void> {
  yield* send`delete from one_time_link where user_id = ${change.userId}`
  yield* endProofs({ ...change, ...user })
  yield* record(change.audit)
}

function* resetFactors(change: Input<'resetFactors'>): Write<number | 'absent'> {
  const { userId } = change
  yield* lockUsers()
  const user = yield* get<Raised>`
    update "user" set credential_generation = credential_generation + 1
    where id = ${userId} returning credential_generation as generation`
  if (user === undefined) return 'absent'
  const removed = yield* run`delete from factor where user_id = ${userId}`
  yield* send`delete from recovery_code where user_id = ${userId}`
  yield* send`delete from challenge where user_id = ${userId}`
  yield* endProofs({ ...change, ...user })
  yield* record(change.audit)
  return removed
}
