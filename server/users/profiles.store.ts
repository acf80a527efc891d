// What a change of a profile makes of the values before it.
import type { User } from './user-rows.store.ts'

/**
 * An absent field keeps its value; null clears it. An address that another one replaces takes its proof with it. The time at which
 * an address was first verified stays.
 */
export type Profile = Partial<Pick<User, 'displayName' | 'locale' | 'email' | 'emailVerifiedAt'>>

/** An absent field keeps its value. A new address has no proof unless one is given with it; the time of the first proof of an address stays. */
export function profileAfter(before: Required<Profile>, given: Profile): Required<Profile> {
  const { displayName = before.displayName, locale = before.locale, email = before.email } = given
  return { displayName, locale, email, emailVerifiedAt: proofAfter(before, email, given.emailVerifiedAt) }
}

function proofAfter(before: Required<Profile>, email: string | null, given: number | null | undefined): number | null {
  if (email === null || given === null) return null
  if (email !== before.email) return given ?? null
  return before.emailVerifiedAt ?? given ?? null
}

/** When the address of a new user was proved; null if it was not. */
export function proofOf({ email = null, emailVerifiedAt = null }: Profile): number | null {
  return email === null ? null : emailVerifiedAt
}
