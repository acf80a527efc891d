// The sign-ins of one user, as the user sees them: sessions, and stateless sign-ins, of which the store keeps no row of their own.
import type { UserChange } from './user.ts'

/**
 * The sign-in that a revocation of every sign-in spares: the caller's. `exceptGeneration` is the credential generation that the
 * caller's token names, or undefined for a session. A counter and the stored session decide whether the sign-in is alive; no
 * clock does.
 */
export type Excepted = { exceptSignInId?: string | undefined; exceptGeneration?: number | undefined }

export interface SignIns {
  /**
   * Ends every sign-in of a user except one: in one step it raises the credential generation, ends the other sessions and
   * revokes the other tokens, issued ones included. If the excepted sign-in has
   * ended, or there is no such user, it changes nothing and returns 'refused'.
   */
  endOtherSignIns(change: UserChange & Excepted & { exceptSignInId: string }): Promise<'done' | 'refused'>
}
