// Second factors: what a user can prove beside the password, the recovery codes for a lost one, and the challenges of sign-ins that
// wait for a factor.
import type { Audited } from '../audit/audit.promise.ts'

export type FactorKind = 'totp' | 'passkey'

export type Factor = {
  /** A UUIDv7, which orders the factors of a user. */
  id: string
  kind: FactorKind
  /** How the user calls it. */
  label: string
  createdAt: number
  /** The factor counts from this moment on; null for a TOTP secret of which no code was received yet. */
  confirmedAt: number | null
  lastUsedAt: number | null
  /** The secret of a TOTP factor, encrypted under the service's secret. */
  sealedSecret: string | null
  /** The highest time step of which a code was accepted (RFC 6238, section 5.2). */
  lastStep: number | null
  /** The id and the public key (COSE) of a passkey, as base64url. */
  credentialId: string | null
  publicKey: string | null
  signCount: number | null
  transports: readonly string[] | null
}

export type NewFactor = Pick<Factor, 'id' | 'kind' | 'label' | 'createdAt' | 'confirmedAt'> &
  Partial<Pick<Factor, 'sealedSecret' | 'credentialId' | 'publicKey' | 'signCount' | 'transports'>>

/** `userId` is '' before it is known who signs in. */
export type ChallengeKey = { userId: string; hash: string }
/** `data` is JSON text. It contains no secret. */
export type Challenge = { purpose: string; data: string }
/** Hashes of the recovery codes that a user gets with the first factor. */
type WithRecoveryCodes = { recoveryCodeHashes: readonly string[] }
/** With a challenge, which it uses up in the same step. */
type Use = { userId: string; at: number; challenge?: ChallengeKey | undefined } & Audited

export interface Factors {
  /**
   * Adds a factor. If it is confirmed and the first one that is, `recoveryCodeHashes` replace the user's recovery codes. One that is not
   * confirmed replaces those of the user that were not confirmed either. Returns 'taken' if the user has the credential already, and
   * 'full' if the user has `maxFactors`; then it changes nothing. Of calls at the same time, one adds the first factor.
   */
  addFactor(
    add: { userId: string; factor: NewFactor; maxFactors: number } & WithRecoveryCodes & Audited,
  ): Promise<'done' | 'first' | 'absent' | 'taken' | 'full'>
  /** Lists all factors of a user in the order of their ids, and counts the recovery codes that were not used. */
  factorsOf(userId: string): Promise<{ factors: Factor[]; recoveryCodesLeft: number }>
  /** Confirms a factor by the code of a time step. As `addFactor` for the recovery codes. Returns 'refused' if it is confirmed already. */
  confirmFactor(
    confirm: { userId: string; factorId: string; step: number; at: number } & WithRecoveryCodes & Audited,
  ): Promise<'done' | 'first' | 'absent' | 'refused'>
  /**
   * Removes a factor. With the last confirmed one, the recovery codes end. Returns 'last' and changes nothing if it is a passkey,
   * and the user could not sign in without it: no password, no other passkey, no account at a provider.
   */
  removeFactor(remove: { userId: string; factorId: string } & Audited): Promise<'done' | 'absent' | 'last'>
  /**
   * Uses a confirmed factor once: a code of a time step that is later than each one before, or a passkey whose counter rose (or that has
   * none). Returns 'refused' otherwise, and 'no-challenge' if the challenge is unknown, used or expired; then it changes nothing. Of uses
   * of the same code, step or challenge at the same time, one succeeds.
   */
  useFactor(use: Use & { factorId: string; step?: number; signCount?: number }): Promise<FactorOutcome>
  /** Uses a recovery code once. As `useFactor`. */
  useRecoveryCode(use: Use & { codeHash: string }): Promise<FactorOutcome>
  /** Replaces every recovery code of a user. Returns 'refused', and changes nothing, without a confirmed factor. */
  replaceRecoveryCodes(
    replace: { userId: string; at: number } & WithRecoveryCodes & Audited,
  ): Promise<'done' | 'refused'>
  /**
   * Removes all factors, recovery codes and challenges of a user. In the same step it raises the credential generation, ends every session
   * and revokes every token. Returns how many factors there were.
   */
  resetFactors(
    change: { userId: string; at: number; revocationExpiresAt: number } & Audited,
  ): Promise<number | 'absent'>
  /** Adds a challenge. For an unknown user it does nothing. */
  addChallenge(challenge: ChallengeKey & Challenge & { expiresAt: number } & Audited): Promise<void>
  /** Finds a challenge that has not expired at `at`. */
  findChallenge(wanted: ChallengeKey & { at: number }): Promise<Challenge | undefined>
  /** Uses up a challenge that allows nothing but what it says itself. Undefined if it is unknown, used or expired at `at`. */
  useChallenge(use: ChallengeKey & { at: number }): Promise<Challenge | undefined>
  /**
   * Records the use of a challenge that was not stored when it was given, until it has expired. False, and nothing changed, if its use is
   * recorded already, or for an unknown user. Of calls at the same time, one succeeds.
   */
  spendChallenge(spend: ChallengeKey & { expiresAt: number }): Promise<boolean>
  /** Removes the challenges that expired before `before`. */
  removeExpiredChallenges(before: number): Promise<void>
}

export type FactorOutcome = 'done' | 'refused' | 'no-challenge'
