// Tables of inboxes name the user by 16 bytes on SQLite (decision 0054).
import { onCitus, Part, type Write } from '../store/statements.ts'

export {
  digitsOf,
  type IdKey as UserKey,
  idBytes as userBytes,
  idKey as userKey,
  idOfDigits as userIdOfDigits,
  inIds as inUsers,
} from '../store/statements.ts'

export const userDigits = new Part('lower(hex(user_id))', "replace(user_id, '-', '')")

export const givenUser = new Part(
  "unhex(given.value ->> 'userId', '-')",
  "(given.value ->> 'userId')",
)

/** Citus locks inboxes in no fixed order, so writes to several take turns. */
export function* lockDeliveries(): Write<void> {
  yield* onCitus`
    select pg_advisory_xact_lock(hashtext('carillon deliveries')),
      set_config('citus.max_adaptive_executor_pool_size', '1', true)`
}
