// The role of a user, and the rule that the last operator stays one.
import { record } from '../../audit/audit.store.ts'
import type { Audited } from '../../store/events.ts'
import { all, get, lockAll, type Read, send, type Write } from '../../store/statements.ts'
import { lockUser, type Role, type User, userColumns } from '../users.store.ts'

export function* listOperators(): Read<User[]> {
  return yield* all`select ${userColumns} from "user" u where u.role is not null order by u.id`
}

/** Locks all operators: of two calls, one finds the last. */
export function* isLastOperator(userId: string): Write<boolean> {
  const user = yield* get<{ role: Role | null }>`select role from "user" where id = ${userId}`
  if (!user?.role) return false
  const enabled = yield* lockAll<{ id: string }>`
    select id from "user" where role = 'operator' and disabled_at is null order by id`
  return enabled.length === 1 && enabled[0]?.id === userId
}

/**
 * Voids the user's links: an application's link must not lead to an operator. Returns
 * 'last-operator', and changes nothing, if none would be left.
 */
export function* setRole(
  change: { userId: string; role: Role | null } & Audited,
): Write<'done' | 'absent' | 'last-operator'> {
  const { userId, role } = change
  if (role === null && (yield* isLastOperator(userId))) return 'last-operator'
  if (!(yield* lockUser(userId))) return 'absent'
  yield* send`update "user" set role = ${role} where id = ${userId}`
  yield* send`delete from one_time_link where user_id = ${userId}`
  yield* record(change.audit)
  return 'done'
}
