// A row as both engines read it -> what the store answers. The columns come in the order of the statements' lists.
import type {
  Change,
  EndedSession,
  InboxState,
  LiveSession,
  Producer,
  SigningKey,
  TokenRevocation,
  User,
} from './store.ts'

export type Row = readonly (string | number | boolean | null)[]

export const columns = {
  user: 'id, username, display_name, created_at, disabled_at, credential_generation',
  inbox: 'version, first_seq, last_seq, total, unread, read_through',
  tokenRevocation: 'user_id, sign_in_id, not_before, expires_at, first_generation',
  signingKey: 'kid, public_jwk, sealed_private_jwk, created_at',
  producer: 'id, name, secret_hash, scopes, created_at, expires_at, revoked_at, last_used_at',
  endedSession: 'user_id, username, created_at, last_seen_at',
  /** Of a session `s` alone. */
  sessionAlone: 's.user_id, s.username, s.created_at, s.last_seen_at',
  /** Of a session `s` and its user's inbox `i`, which may be missing. */
  session: `s.user_id, s.username, s.created_at, s.last_seen_at,
      coalesce(i.version, 0), coalesce(i.first_seq, 1), coalesce(i.last_seq, 0),
      coalesce(i.total, 0), coalesce(i.unread, 0), coalesce(i.read_through, 0)`,
} as const

export function toUser(row: Row): User {
  return {
    id: row[0] as string,
    username: row[1] as string,
    displayName: row[2] as string | null,
    createdAt: row[3] as number,
    disabledAt: row[4] as number | null,
    credentialGeneration: row[5] as number,
  }
}

/** A user, and behind his columns the password hash. */
export function toCredentials(row: Row): User & { passwordHash: string } {
  return { ...toUser(row), passwordHash: row[6] as string }
}

export function toSession(row: Row): LiveSession {
  return {
    userId: row[0] as string,
    username: row[1] as string,
    createdAt: row[2] as number,
    lastSeenAt: row[3] as number,
    inbox: toInbox(row, 4),
  }
}

export function toEndedSession(row: Row): EndedSession {
  return {
    userId: row[0] as string,
    username: row[1] as string,
    createdAt: row[2] as number,
    lastSeenAt: row[3] as number,
  }
}

export function toTokenRevocation(row: Row): TokenRevocation {
  return {
    userId: row[0] as string,
    signInId: row[1] === '' ? null : (row[1] as string),
    notBefore: row[2] as number,
    expiresAt: row[3] as number,
    firstGeneration: row[4] as number,
  }
}

export function toSigningKey(row: Row): SigningKey {
  return {
    kid: row[0] as string,
    publicJwk: row[1] as string,
    sealedPrivateJwk: row[2] as string,
    createdAt: row[3] as number,
  }
}

export function toProducer(row: Row): Producer {
  return {
    id: row[0] as string,
    name: row[1] as string,
    secretHash: row[2] as string,
    scopes: (row[3] as string).split(',').filter((scope) => scope !== ''),
    createdAt: row[4] as number,
    expiresAt: row[5] as number | null,
    revokedAt: row[6] as number | null,
    lastUsedAt: row[7] as number | null,
  }
}

/** The columns of an inbox, which begin at `at`. */
export function toInbox(row: Row, at = 0): InboxState {
  return {
    version: row[at] as number,
    firstSeq: row[at + 1] as number,
    lastSeq: row[at + 2] as number,
    total: row[at + 3] as number,
    unread: row[at + 4] as number,
    readThrough: row[at + 5] as number,
  }
}

export function toChange(row: Row): Change {
  const [version, type, notification] = row as readonly [number, 'arrived' | 'replaced' | 'read', string]
  return { version, type, notification }
}

export function toReadAll(row: Row): Change {
  const [version, throughId, at] = row as readonly [number, string, string]
  return { version, type: 'read-all', throughId, at }
}

/** The first of several kinds of changes, each in order, in the order of all. */
export function firstOf(changes: readonly Change[], limit: number): { changes: Change[]; more: boolean } {
  const sorted = changes.toSorted((a, b) => a.version - b.version)
  return { changes: sorted.slice(0, limit), more: sorted.length > limit }
}
