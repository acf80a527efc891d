// How a row of the look-up of a session is read: both engines select these columns, with the version of the user's inbox.
import type { LiveSession } from '../store/store.ts'

export type SessionRow = [
  username: string,
  createdAt: number,
  lastSeenAt: number,
  signInId: string,
  confirmedAt: number,
  inboxVersion: number,
]

export function liveSessionOf(userId: string, row: SessionRow): LiveSession {
  const [username, createdAt, lastSeenAt, signInId, confirmedAt, inboxVersion] = row
  return { userId, username: username || null, createdAt, lastSeenAt, signInId, confirmedAt, inboxVersion }
}
