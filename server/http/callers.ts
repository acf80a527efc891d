// Who a guard can admit to a route. Everything behind the guards knows the caller by these types alone.
export type Subject = {
  userId: string
  /** Null for a user without a username, and for a token that does not name one. */
  username: string | null
  proof: 'session' | 'access-token'
  signInId: string
  /** When the user last proved a password or a factor, in milliseconds. */
  confirmedAt: number
  /** What a token is limited to; absent for a session and for a token that opens what a session opens. */
  scope?: 'inbox'
  /** When the proof ends at the latest, in milliseconds. */
  expiresAt: number
  /** The version of the user's inbox, if the look-up of the proof read it too. */
  inboxVersion?: number
}

/** A user on a long-lived route. `validUntil` checks the proof again: until when it is valid, null if it has ended. */
export type LongLivedCaller = Subject & { validUntil: () => Promise<number | null> }

/** An application, by its key. */
export type ProducerCaller = { id: string; application: string }
