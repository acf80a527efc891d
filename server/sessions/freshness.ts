// Is a sign-in recent enough to change how the user signs in? A browser that was left open, or a stolen cookie, must not be enough to
// add or remove a factor (OWASP ASVS 5.0, 7.5.1). POST /api/me/confirm renews it.
import { CarillonError } from '../basics/errors.ts'
import type { Subject } from '../http/callers.ts'

export const freshForMs = 10 * 60_000

/** Throws FRESH_SIGN_IN_REQUIRED if the user proved a password or a factor more than ten minutes ago. */
export function refuseStale({ confirmedAt }: Subject, now: number): void {
  if (now - confirmedAt <= freshForMs) return
  throw new CarillonError('FRESH_SIGN_IN_REQUIRED', 'This needs a sign-in that is not older than 10 minutes', {
    remedy: 'Confirm it with a second factor, or with the password if there is none: POST /api/me/confirm.',
  })
}
