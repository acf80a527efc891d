// One-time links: whoever has one may set the password of its user, once. An application or an operator passes them on, or the service
// sends them by e-mail.
import type { Audited } from '../audit/audit.promise.ts'

/** `invite` for the first password of a user, `reset` for another one. Both do the same. */
export type LinkPurpose = 'invite' | 'reset'

export type NewLink = {
  userId: string
  purpose: LinkPurpose
  /** SHA-256 of the token. The token itself is not stored. */
  tokenHash: string
  at: number
  expiresAt: number
  /** The address that the link is sent to, which its use verifies; null if it is passed on in another way. */
  email: string | null
} & Audited

export type Link = Pick<NewLink, 'userId' | 'purpose' | 'expiresAt' | 'email'>

export interface Links {
  /**
   * Adds a link. The user's last three links of a purpose stay, in the order in which they were added; older ones are void from then on.
   * Returns 'absent' without such a user and for a disabled one.
   */
  addLink(link: NewLink): Promise<'done' | 'absent'>
  /** Finds a link by its hash. The caller checks if it has expired. */
  findLink(tokenHash: string): Promise<Link | undefined>
  /**
   * Uses a link: sets the password as `setPassword` does, which voids every link of the user, and raises the device generation, in one
   * step. If the link was sent to the address that the user still has, the address is verified from then on. Of calls at the same
   * time, also on other processes, one succeeds. If the user has no such link, it has expired at `at`, or the user is disabled, it
   * changes nothing and returns 'refused'.
   */
  resetPassword(
    change: {
      userId: string
      tokenHash: string
      passwordHash: string
      at: number
      revocationExpiresAt: number
    } & Audited,
  ): Promise<'done' | 'refused'>
  /** Removes the links that had expired at `at`. */
  removeExpiredLinks(at: number): Promise<void>
}
