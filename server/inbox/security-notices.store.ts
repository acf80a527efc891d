// The service's own security notices (mail/notices.ts): for a day nothing deletes, archives or snoozes one, so that a thief who has a sign-in
// cannot hide them from the user. No producer reaches them, because they have no key.
import { iso } from '../basics/clock.ts'
import { all, get, Part, type UserKey, type Write } from '../store/statements.ts'
import { type Found, foundColumns, isUnreadNow } from './notification-state.ts'

const heldForMs = 24 * 3_600_000

/** Whether the notification `n` is such a notice. A producer's notification has its number, whatever its category is. */
const isNotice = new Part("n.producer is null and n.category = 'security'")

/** A notice with an earlier `created_at` is held no more. In ISO 8601. */
const heldSince = (at: number) => iso(at - heldForMs)

export function* isHeld({ user, seq, category }: Found, at: number): Write<boolean> {
  if (category !== 'security') return false
  const found = yield* get`
    select 1 as is_there from notification n
    where n.user_id = ${user} and n.seq = ${seq} and ${isNotice} and n.created_at > ${heldSince(at)}`
  return found !== undefined
}

/** The notices of a user that are held. */
export function* findHeld(user: UserKey, at: number): Write<Found[]> {
  const rows = yield* all<Omit<Found, 'user'>>`
    select ${foundColumns} from notification n join inbox i on i.user_id = n.user_id
    where n.user_id = ${user} and ${isNotice} and n.created_at > ${heldSince(at)}`
  return rows.map((row) => ({ ...row, user }))
}

/** Those of them that are read. */
export function* findHeldRead(user: UserKey, at: number): Write<Found[]> {
  const read: Found[] = []
  for (const held of yield* findHeld(user, at)) {
    if (!(yield* isUnreadNow(held))) read.push(held)
  }
  return read
}
