// For a day nothing removes, archives or snoozes the service's security notices, so a thief with a
// sign-in cannot hide one. They have no key, so no producer changes them.
import { iso } from '../basics/clock.ts'
import { exists, Part, type Write } from '../store/statements.ts'
import type { UserKey } from './user-key.ts'

const heldForMs = 24 * 3_600_000

export const heldSince = (at: number) => iso(at - heldForMs)

/** Whatever its category, a producer's notification has its number. */
export const ofService = new Part("producer is null and coalesce(category, '') = 'security'")

type Place = { user: UserKey; seq: number; category: string | null }

export function* isHeld({ user, seq, category }: Place, at: number): Write<boolean> {
  if (category !== 'security') return false
  return yield* exists`
    select 1 from notification where user_id = ${user} and seq = ${seq} and ${ofService} and created_at > ${heldSince(at)}`
}
