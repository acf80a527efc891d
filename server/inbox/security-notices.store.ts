// The service's own security notices (mail/notices.ts): for a day nothing deletes, archives or snoozes one, so that a thief who has a sign-in
// cannot hide them from the user. No producer reaches them, because they have no key.
import { iso } from '../basics/clock.ts'
import { all, type UserKey, type Write } from '../store/statements.ts'
import { type Found, foundColumns } from './notification-state.ts'

const heldForMs = 24 * 3_600_000

export function* isHeld({ user, seq, category }: Found, at: number): Write<boolean> {
  if (category !== 'security') return false
  return (yield* findHeld(user, at)).some((held) => held.seq === seq)
}

/** The notices of a user that are held. A producer's notification has its number, whatever its category is. */
export function* findHeld(user: UserKey, at: number): Write<Found[]> {
  const rows = yield* all<Omit<Found, 'user'>>`
    select ${foundColumns} from notification n join inbox i on i.user_id = n.user_id
    where n.user_id = ${user} and n.producer is null and n.category = 'security' and n.created_at > ${iso(at - heldForMs)}`
  return rows.map((row) => ({ ...row, user }))
}
