// The sign-ins of one user, as the user sees them: sessions, and stateless sign-ins, of which the store keeps no row but their entry in
// the audit log; and the devices that the user signs in from.
import type { Audited } from '../audit/audit.promise.ts'
import type { UserChange } from '../users/user.promise.ts'

/**
 * The sign-in that a revocation of every sign-in spares: the caller's. `exceptGeneration` is the credential generation that the
 * caller's token names, or undefined for a session. A counter and the stored session decide whether the sign-in is alive; no
 * clock does.
 */
export type Excepted = { exceptSignInId?: string | undefined; exceptGeneration?: number | undefined }

/** A session that was created or last used outside of these bounds had expired. */
export type LiveBounds = { createdAfter: number; lastSeenAfter: number; lastSeenUntil: number }

/** Which sign-ins are alive: sessions within the bounds, and stateless sign-ins whose tokens can still be renewed. */
export type AliveSignIns = { sessions: LiveBounds; tokensSince: number }

/** `after`: the id of the last sign-in of the page before. `ownSignInId` comes first on the first page, and on no other. */
export type SignInQuery = { userId: string; ownSignInId: string; alive: AliveSignIns; after?: string; limit: number }

export type ListedSignIn = {
  signInId: string
  variant: 'stateful' | 'stateless'
  createdAt: number
  /** That of a stateless sign-in is the time of its last entry in the audit log. */
  lastSeenAt: number
  /** The label of a session's device, such as "Firefox on Linux". */
  device: string | null
  /** Only a stateless sign-in has it. */
  userAgent: string | null
  address: string | null
}

/**
 * `isKnown`: the device proved by other means that the user has signed in from it before. `keep`: how many are kept for a user.
 * `deviceGeneration`: that of the user when the proof was checked. If it was raised since, because the user disowned a sign-in,
 * set a password by a link or was disabled, the sign-in is refused.
 */
export type SeenDevice = { label: string; network: string; isKnown: boolean; keep: number; deviceGeneration?: number }
/** 'first': the user has no known device, and this is now the first. 'new': it is not known, and is not kept by this call. */
export type Familiarity = 'first' | 'known' | 'new'

export interface SignIns {
  /**
   * Ends every sign-in of a user except one: in one step it raises the credential generation, ends the other sessions and
   * revokes the other tokens, issued ones included. If the excepted sign-in has ended, or there is no such user, it changes
   * nothing and returns 'refused'.
   */
  endOtherSignIns(change: UserChange & Excepted & { exceptSignInId: string }): Promise<'done' | 'refused'>
  /**
   * Lists the sign-ins of a user that are alive, newest first: sessions, and stateless sign-ins of the audit log that no
   * revocation names, by id or by generation. The user's own comes first.
   */
  listSignIns(query: SignInQuery): Promise<ListedSignIn[]>
  /**
   * Ends one sign-in that is alive, with its tokens, and returns its variant. With `isOwn` it is the caller's stateless sign-in, which
   * is alive. With `disowned` the user did not sign in there: in the same step the password counts as reported, the device generation
   * rises, and only the device `disowned` stays known. A sign-in that is unknown, has ended or is another user's is absent, and nothing
   * changes; but one that has ended can be disowned as long as the audit log has it: who was there knows the password.
   */
  endSignIn(
    change: UserChange & { signInId: string; alive: AliveSignIns; isOwn: boolean; disowned?: SeenDevice },
  ): Promise<'stateful' | 'stateless' | 'absent'>
  /**
   * Says whether a user has signed in from a device before, and keeps it in the same step unless it is 'new'. Of the first
   * calls for a user at the same time, one is 'first'. At most `keep` devices are kept for a user, those that were seen last.
   * Changes nothing and returns 'absent' without such a user of this device generation.
   */
  noteDevice(note: { userId: string; device: SeenDevice; at: number } & Audited): Promise<Familiarity | 'absent'>
}
