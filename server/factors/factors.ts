// What an authenticator app and recovery codes have in common with passkeys. The routes that change factors are in factors.routes.ts; how a
// factor is proved is in proofs.ts.
import { CarillonError, conflict } from '../basics/errors.ts'
import { hashOf, randomGroups, type Sealing } from '../basics/secrets.ts'
import type { Factor } from './factors.store.ts'

/** Each TOTP factor makes a guess as much more likely to be right. */
export const maxFactors = 10

export function tooManyFactors(): CarillonError {
  return conflict(`A user has at most ${maxFactors} second factors`, 'Remove one first: DELETE /api/me/factors/:id.')
}

/** One error for every challenge that is not valid: it was used, has expired, was ended by a new password, or never existed. */
export function challengeEnded(): CarillonError {
  return new CarillonError('UNAUTHORIZED', 'The challenge was used, or is older than 5 minutes', {
    remedy: 'Sign in again.',
  })
}

/** The secret of the factor as base32. Throws FACTOR_UNREADABLE if it was sealed with a secret that the service no longer has. */
export async function secretOf({ sealing }: { sealing: Sealing }, factor: Factor): Promise<string> {
  const opened = await sealing.open('factors', factor.sealedSecret ?? '')
  const { factorId, secret } = JSON.parse(opened ?? '{}') as { factorId?: string; secret?: string }
  // A sealed secret that was copied into the row of another factor opens nothing.
  if (secret !== undefined && factorId === factor.id) return secret
  throw new CarillonError('FACTOR_UNREADABLE', 'This service can no longer check the codes of your authenticator app', {
    remedy:
      'Use a passkey or a recovery code, or ask the operator of this service to remove the app from your account.',
  })
}

/**
 * Recovery codes, such as `3kfm-xw7p-a2hq-vt5n-8gcd-r6yz`: what a user writes down for the day on which the phone is lost. Each has 120
 * random bits, so a plain hash of it is enough (OWASP ASVS 5.0, 6.5.2: at least 112), and works once.
 */
export function newRecoveryCodes(): { codes: string[]; hashes: string[] } {
  const codes = Array.from({ length: 10 }, () => randomGroups({ groups: 6, of: 4 }))
  return { codes, hashes: codes.map(hashOfRecoveryCode) }
}

/** Upper case, blanks and other hyphens do not matter: people type it from paper. */
export function hashOfRecoveryCode(code: string): string {
  return hashOf(code.toLowerCase().replaceAll(/[\s\p{Pd}]/gu, ''))
}
