// The user that a request's proof belongs to. Everything behind the guards knows the caller by this type alone.
import type { InboxState, Page, PageRequest } from '../store/store.ts'

export type Subject = {
  userId: string
  /** Null for a user without a username, and for a token that does not name one. */
  username: string | null
  proof: 'session' | 'access-token'
  /** Names the sign-in. */
  signInId: string
  /** When the user last proved a password or a factor, in milliseconds. */
  confirmedAt: number
  /** What a token is limited to; absent for a session and for a token that opens what a session opens. */
  scope?: 'inbox'
  /** When the proof ends at the latest, in milliseconds. */
  expiresAt: number
  /** The state of the user's inbox, if the look-up of the proof read it too. */
  inbox?: InboxState
  /** A page of it, if the route requested one with the look-up of the proof. */
  read?: { request: PageRequest; page: Page }
}

/** Which page of this user's inbox a route will read; undefined if it needs none. Called before the proof is verified. */
export type PageOf = (userId: string) => PageRequest | undefined
