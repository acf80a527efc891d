// Keeps authenticator apps and recovery codes.
import { iso, isoOrNull } from '../basics/clock.ts'
import { CarillonError, conflict, invalidField, notFound } from '../basics/errors.ts'
import { hashOf, randomGroups, type Sealing } from '../basics/secrets.ts'
import type { Guesses } from '../guessing/guesses.ts'
import type { Subject } from '../http/operation.ts'
import type { SignInsNeeds } from '../sessions/own-sign-in.ts'
import type { FactorPolicy } from '../tokens/factor-policy.ts'
import { endProofs } from '../users/access/access.ts'
import { resetFactors as resetStoredFactors } from '../users/access/user-changes.store.ts'
import type { UserDependencies } from '../users/find-user.ts'
import type { User } from '../users/users.store.ts'
import type { Factor } from './factors.store.ts'

export type FactorNeeds = SignInsNeeds & {
  sealing: Sealing
  guesses: Guesses
  policy: FactorPolicy
}

/**
 * After a password alone, a sign-in that only sets a factor up needs a link: a thief may have the
 * password. Undefined if no link is needed. Throws INVALID_REQUEST if it is missing.
 */
export function linkHashFor(
  { scope, factor }: Subject,
  link: string | undefined,
): string | undefined {
  if (scope !== 'setup' || factor !== undefined) return undefined
  if (link !== undefined) return hashOf(link)
  const reason =
    'is missing: POST /api/me/factors/link sends one, or the operator makes one: carillon user link NAME --purpose factor'
  throw invalidField('link', reason)
}

/** Each app makes a guess more likely to be right. */
export const maxFactors = 10

export function tooManyFactors(): CarillonError {
  return conflict(
    `A user has at most ${maxFactors} second factors`,
    'Remove one first: DELETE /api/me/factors/:id.',
  )
}

export function challengeEnded(): CarillonError {
  const problem = 'The challenge was used, or is older than 5 minutes'
  return new CarillonError('UNAUTHORIZED', problem, { remedy: 'Sign in again.' })
}

// RFC 6238 with SHA-1, six digits, 30 seconds: every app supports it. The first use loads packages.

export async function newTotp({ issuer, account }: { issuer: string; account: string }) {
  const [{ Secret, TOTP }, { renderSVG }] = await Promise.all([import('otpauth'), import('uqr')])
  const secret = new Secret({ size: 20 })
  const uri = new TOTP({ issuer, label: account, secret }).toString()
  // Readers need a border of four modules (ISO/IEC 18004).
  return { secret: secret.base32, uri, qr: renderSVG(uri, { border: 4 }) }
}

/** The time step of `at` or a neighbour; undefined if none has the code. */
export async function stepOfCode(
  secret: string,
  code: string,
  at: number,
): Promise<number | undefined> {
  const { Secret, TOTP } = await import('otpauth')
  const totp = new TOTP({ secret: Secret.fromBase32(secret) })
  const token = code.replaceAll(' ', '')
  // Compares in constant time. A phone's clock may be one step off (RFC 6238, section 5.2).
  const delta = /^\d{6}$/.test(token) ? totp.validate({ token, timestamp: at, window: 1 }) : null
  return delta === null ? undefined : totp.counter({ timestamp: at }) + delta
}

/** Returns base32. Throws FACTOR_UNREADABLE if the service lost the secret that sealed it. */
export async function secretOf({ sealing }: { sealing: Sealing }, factor: Factor): Promise<string> {
  const opened = await sealing.open('factors', factor.sealedSecret ?? '')
  const { factorId, secret } = JSON.parse(opened ?? '{}') as { factorId?: string; secret?: string }
  // A sealed secret copied into another factor's row is refused.
  if (secret !== undefined && factorId === factor.id) return secret
  const problem = 'This service can no longer check the codes of your authenticator app'
  const remedy =
    'Use a passkey or a recovery code, or ask the operator of this service to remove the app from your account.'
  throw new CarillonError('FACTOR_UNREADABLE', problem, { remedy })
}

/**
 * Makes codes such as `3kfm-xw7p-a2hq-vt5n-8gcd-r6yz`. A plain hash is enough for 120 random bits
 * (OWASP ASVS 5.0, 6.5.2: at least 112).
 */
export function newRecoveryCodes(): { codes: string[]; recoveryCodeHashes: string[] } {
  const codes = Array.from({ length: 10 }, () => randomGroups({ groups: 6, of: 4 }))
  return { codes, recoveryCodeHashes: codes.map(hashOfRecoveryCode) }
}

/** People type the code from paper. */
export function hashOfRecoveryCode(code: string): string {
  return hashOf(code.toLowerCase().replaceAll(/[\s\p{Pd}]/gu, ''))
}

/** A lost phone may be signed in, so every session and token ends. Throws NOT_FOUND. */
export async function resetFactors(
  dependencies: UserDependencies,
  { id: userId, username }: User,
): Promise<number> {
  const facts = { event: 'factors-reset', userId, username } as const
  const removed = await endProofs(dependencies, resetStoredFactors, { userId }, facts)
  if (removed === 'absent') throw notFound('There is no user with this id')
  return removed
}

export function displayAdded(factor: Factor, outcome: 'done' | 'first', codes: readonly string[]) {
  return { ...displayFactor(factor), ...(outcome === 'first' && { recoveryCodes: codes }) }
}

export function displayFactor({ id, kind, label, confirmedAt, createdAt, lastUsedAt }: Factor) {
  return {
    id,
    kind,
    label,
    confirmed: confirmedAt !== null,
    createdAt: iso(createdAt),
    lastUsedAt: isoOrNull(lastUsedAt),
  }
}
