// Revocations of access tokens: of one sign-in, of all sign-ins of a user, or of the tokens that were issued for a user.
import type { Audited } from '../audit/audit.promise.ts'
import type { UserChange } from '../users/user.promise.ts'

export type TokenRevocation = {
  userId: string
  /** One sign-in, null for every sign-in of the user, or `issuedSignIns` for the tokens that were issued for the user. */
  signInId: string | null
  /**
   * Revokes the sign-ins with a lower credential generation (the issued tokens with a lower issued generation), whatever the
   * clocks say; 0 in a row of one sign-in.
   */
  firstGeneration: number
  /** In a row of every sign-in: the one sign-in that it spares, whatever the generation of its tokens. */
  exceptSignInId: string | null
  /** From this moment on every token that the row revokes has expired, and the row may be removed. */
  expiresAt: number
}

/** What a caller of the store can revoke, the tokens of one sign-in; the rest follows from a change of the user. */
export type NewRevocation = { userId: string; signInId: string; at: number; expiresAt: number }

/** Used in place of a sign-in for all tokens that were issued for a user. */
export const issuedSignIns = 'issued'

export interface Tokens {
  /**
   * Revokes the access tokens of one sign-in, and ends the session that the sign-in belongs to, in one step. Of two revocations of the
   * same sign-in the one that expires later counts.
   */
  revokeTokens(revocation: NewRevocation & Audited): Promise<void>
  /**
   * Revokes the tokens that were issued for a user, and no other: in one step it raises the issued generation and revokes
   * the lower ones.
   */
  revokeIssuedTokens(change: UserChange): Promise<'done' | 'absent'>
  /**
   * Lists the revocations that have not expired at `now`. A row is kept for a day after it expired, because the clock may
   * be set back.
   */
  tokenRevocations(now: number): Promise<TokenRevocation[]>
}
