// What a write announces after its commit: change signals, and the entries that it added to the audit log.

/** Never contains a secret, or the text that a client sent as a username of no known user. */
export type AuditEntry = {
  /** A UUIDv7, which orders the log. */
  id: string
  at: number
  /** What happened, such as `sign-in` or `password-changed`: server/audit/events.ts. */
  event: string
  /** `user`, `producer:<id>`, `operator` (the command line), `provider:<name>` or `service`. */
  actor: string
  /** The user that it is about; null if it is about no known user. */
  userId: string | null
  /** For the log line; the table has the id only. */
  username?: string | null
  /** The verified e-mail address before a change, for the notice that goes there; neither the table nor the log has it. */
  formerEmail?: string | null
  address: string | null
  userAgent: string | null
  requestId: string | null
  /** The sign-in that it is about. */
  signInId: string | null
  /** Keyed hash of the name that a client sent, if no user has it. */
  nameHash: string | null
  /** Further facts, such as the ids of a key or a factor. */
  detail: Readonly<Record<string, string | number | boolean | object | null | undefined>> | null
  /** How many refusals this entry stands for; 1 for everything else. */
  count: number
}

/**
 * The entries of a change are recorded in the same step, if the change takes effect. `needsFresh`: a stale sign-in could not make this
 * change, although the event alone does not say so.
 */
export type Audited = { audit?: readonly AuditEntry[] | undefined; needsFresh?: boolean }

/**
 * A hint that something changed; it carries no data, and a listener reads the new state. `audit`: a command recorded what an operator did.
 * `awayMs`: for how long the database could not be reached, if it is back now.
 */
export type ChangeSignal =
  | { about: 'inbox' | 'session'; userId: string }
  | { about: 'token-revocation' | 'audit' | 'signing-key' }
  | { about: 'anything'; awayMs?: number }

export type ChangeListener = (signal: ChangeSignal) => void

/** Gets the entries of one write, after its commit. It must not reject: the write is done. */
export type RecordListener = (entries: readonly AuditEntry[]) => Promise<void>
