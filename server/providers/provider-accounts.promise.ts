// The accounts that users have at providers of OpenID Connect, found by issuer and subject and by nothing else: an e-mail address
// may belong to another person tomorrow.
import type { Audited } from '../audit/audit.promise.ts'
import type { User } from '../users/user.promise.ts'

/** `issuer` and `subject` as the ID token has them, compared byte by byte. */
export type ProviderAccountKey = { issuer: string; subject: string }
/** `email`: as the provider gave it when the account was linked, for display only. */
export type ProviderAccount = ProviderAccountKey & { email: string | null; createdAt: number; lastUsedAt: number }

export interface ProviderAccounts {
  /** Finds the user of an account and records the use. Of a disabled user, it records none. */
  useProviderAccount(use: ProviderAccountKey & { at: number }): Promise<User | undefined>
  /**
   * Creates a user with this account, in one step, with the e-mail address as a verified one. If the account belongs to a user, creates
   * none. Returns the user of the account. Of calls at the same time, one creates the user.
   */
  addProviderUser(
    add: ProviderAccountKey & { newId: string; displayName: string | null; email: string | null; at: number } & Audited,
  ): Promise<User>
  /**
   * Links an account to a user. If the account is linked to this user, changes nothing and returns 'done'. Changes nothing if the account
   * belongs to another user ('taken'), if the user has another account of this issuer ('has-another'), or if the user is absent,
   * is disabled or no longer has the credential generation that was checked ('refused').
   */
  linkProviderAccount(
    link: ProviderAccountKey & {
      userId: string
      checkedGeneration: number
      email: string | null
      at: number
    } & Audited,
  ): Promise<'done' | 'taken' | 'has-another' | 'refused'>
  /**
   * Removes the user's account of an issuer. Returns 'last' and changes nothing if the user has no other way to sign in: a username with
   * a password, a passkey, or an account of another issuer in `issuers`.
   */
  unlinkProviderAccount(
    unlink: { userId: string; issuer: string; issuers: readonly string[] } & Audited,
  ): Promise<'done' | 'absent' | 'last'>
  /** Lists the user's accounts, ordered by issuer. */
  providerAccounts(userId: string): Promise<ProviderAccount[]>
}
