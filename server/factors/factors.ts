// The secrets of authenticator apps and recovery codes, and what these have in common with passkeys. The routes that change factors are in
// factors.routes.ts; how a factor is proved is in second-factor.routes.ts.
import type { SignInLog } from '../audit/sign-in-log.ts'
import { CarillonError, conflict, notFound } from '../basics/errors.ts'
import { hashOf, randomGroups, type Sealing } from '../basics/secrets.ts'
import type { SessionNeeds } from '../sessions/finish-sign-in.ts'
import { resetFactors as resetStoredFactors } from '../users/user-changes.store.ts'
import type { User } from '../users/users.store.ts'
import { endProofs, type UserDependencies } from '../users/users.ts'
import type { Factor } from './factors.store.ts'

/** What a sign-in with factors needs. */
export type FactorNeeds = SessionNeeds & { signInLog: SignInLog }

/** Each TOTP factor makes a guess as much more likely to be right. */
export const maxFactors = 10

export function tooManyFactors(): CarillonError {
  return conflict(`A user has at most ${maxFactors} second factors`, 'Remove one first: DELETE /api/me/factors/:id.')
}

/** One error for every challenge that is not valid: it was used, has expired, was ended by a new password, or never existed. */
export function challengeEnded(): CarillonError {
  const problem = 'The challenge was used, or is older than 5 minutes'
  return new CarillonError('UNAUTHORIZED', problem, { remedy: 'Sign in again.' })
}

// Codes of an authenticator app (TOTP, RFC 6238): SHA-1, six digits, 30 seconds, which is what every app supports. The two packages are
// loaded with the first use, because most users have no factor.

/** The secret as base32, the address that an app reads, and its picture (SVG). `issuer` and `account` are what the app displays. */
export async function newTotp({ issuer, account }: { issuer: string; account: string }) {
  const [{ Secret, TOTP }, { renderSVG }] = await Promise.all([import('otpauth'), import('uqr')])
  const secret = new Secret({ size: 20 })
  const uri = new TOTP({ issuer, label: account, secret }).toString()
  // Readers need a border of four modules (ISO/IEC 18004).
  return { secret: secret.base32, uri, qr: renderSVG(uri, { border: 4 }) }
}

/** The time step whose code this is, among that of `at` and one on each side; undefined if it is the code of none. */
export async function stepOfCode(secret: string, code: string, at: number): Promise<number | undefined> {
  const { Secret, TOTP } = await import('otpauth')
  const totp = new TOTP({ secret: Secret.fromBase32(secret) })
  const token = code.replaceAll(' ', '')
  // Compares in constant time. The clock of a phone may be one step ahead or behind (RFC 6238, section 5.2).
  const delta = /^\d{6}$/.test(token) ? totp.validate({ token, timestamp: at, window: 1 }) : null
  return delta === null ? undefined : totp.counter({ timestamp: at }) + delta
}

/** The secret of the factor as base32. Throws FACTOR_UNREADABLE if it was sealed with a secret that the service no longer has. */
export async function secretOf({ sealing }: { sealing: Sealing }, factor: Factor): Promise<string> {
  const opened = await sealing.open('factors', factor.sealedSecret ?? '')
  const { factorId, secret } = JSON.parse(opened ?? '{}') as { factorId?: string; secret?: string }
  // A sealed secret that was copied into the row of another factor opens nothing.
  if (secret !== undefined && factorId === factor.id) return secret
  const problem = 'This service can no longer check the codes of your authenticator app'
  const remedy =
    'Use a passkey or a recovery code, or ask the operator of this service to remove the app from your account.'
  throw new CarillonError('FACTOR_UNREADABLE', problem, { remedy })
}

/**
 * Recovery codes, such as `3kfm-xw7p-a2hq-vt5n-8gcd-r6yz`: what a user writes down for the day on which the phone is lost. Each has 120
 * random bits, so a plain hash of it is enough (OWASP ASVS 5.0, 6.5.2: at least 112), and works once.
 */
export function newRecoveryCodes(): { codes: string[]; recoveryCodeHashes: string[] } {
  const codes = Array.from({ length: 10 }, () => randomGroups({ groups: 6, of: 4 }))
  return { codes, recoveryCodeHashes: codes.map(hashOfRecoveryCode) }
}

/** Upper case, blanks and other hyphens do not matter: people type it from paper. */
export function hashOfRecoveryCode(code: string): string {
  return hashOf(code.toLowerCase().replaceAll(/[\s\p{Pd}]/gu, ''))
}

/** For an operator. Ends every session and token: a lost phone may be signed in. Returns how many factors there were. Throws NOT_FOUND. */
export async function resetFactors(dependencies: UserDependencies, { id: userId, username }: User): Promise<number> {
  const facts = { event: 'factors-reset', userId, username } as const
  const removed = await endProofs(dependencies, resetStoredFactors, { userId }, facts)
  if (removed === 'absent') throw notFound('There is no user with this id')
  return removed
}
