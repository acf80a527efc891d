// Finds a session, with the version of its user's inbox, in one statement of each engine, because every request with a cookie does.
import type { ReadForms } from '../store/operations.ts'
import type { Database } from '../store/postgres/connection/connection.ts'
import type { Reader } from '../store/sqlite/reader.ts'
import { userBytes } from '../store/statements.ts'

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

type SessionRow = [
  username: string,
  createdAt: number,
  lastSeenAt: number,
  signInId: string,
  confirmedAt: number,
  inboxVersion: number,
]

function liveSessionOf(userId: string, row: SessionRow): LiveSession {
  const [username, createdAt, lastSeenAt, signInId, confirmedAt, inboxVersion] = row
  return { userId, username: username || null, createdAt, lastSeenAt, signInId, confirmedAt, inboxVersion }
}

/** The columns of a SessionRow. */
const columns = `s.username, s.created_at, s.last_seen_at, s.sign_in_id, coalesce(s.confirmed_at, s.created_at),
    coalesce(i.version, 0)`

export const sessionWithInbox = `
  select ${columns}
  from session s left join inbox i on i.user_id = ?
  where s.user_id = ? and s.secret_hash = ?`

async function findOnSqlite(reader: Reader, key: SessionKey): Promise<LiveSession | undefined> {
  const { userId, secretHash } = key
  const row = reader.kept<SessionRow>(key, sessionWithInbox, () => [userBytes(userId), userId, secretHash])
  return row && liveSessionOf(userId, row)
}

const sessionText = `
  select ${columns}
  from session s left join inbox i on i.user_id = $1
  where s.user_id = $1 and s.secret_hash = $2`

async function findOnPostgres(db: Database, { userId, secretHash }: SessionKey): Promise<LiveSession | undefined> {
  const row = await db.one('session', sessionText, [userId, secretHash])
  return row && liveSessionOf(userId, row as unknown as SessionRow)
}

/** Finds a session whose user is not disabled. The caller checks if it has expired. */
export const findSession: ReadForms<SessionKey, LiveSession | undefined> = {
  name: 'findSession',
  sqlite: findOnSqlite,
  postgres: findOnPostgres,
}
