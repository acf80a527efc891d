// How a row of the look-up of a session is read: both engines select these columns, with the version of the user's inbox.

/** A session is stored under its user, so that a look-up touches only rows of that user. */
export type SessionKey = { userId: string; secretHash: string }

export type LiveSession = {
  userId: string
  username: string | null
  /** Names the sign-in in lists, in tokens and in the audit log. */
  signInId: string
  /** When the user last proved a password or a factor. */
  confirmedAt: number
  createdAt: number
  lastSeenAt: number
  /** The version of the user's inbox as the same read saw it. */
  inboxVersion: number
}

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
