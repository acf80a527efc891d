// Who is calling, whichever proof said so. Everything behind the guards knows the caller by this alone.
import type { InboxState } from '../store/store.ts'

export type Subject = {
  userId: string
  username: string
  proof: 'session' | 'access-token'
  /** When the proof ends at the latest, in milliseconds. */
  expiresAt: number
  /** The caller's inbox, where the proof's own look-up read it on the way. */
  inbox?: InboxState
}
