// What the store announces after a commit.

/** Never contains a secret, or the name that a client sent if no user has it. */
export type AuditEntry = {
  id: string
  at: number
  event: string
  /**
   * `user`, `producer:<id>`, `operator` (command line), `operator:<user id>` (/operator),
   * `provider:<name>`, `service`.
   */
  actor: string
  userId: string | null
  /** Only the log line has it. */
  username?: string | null
  /** The verified address before a change: a notice goes there. Neither table nor log has it. */
  formerEmail?: string | null
  /** The log has its line already. */
  isLogged?: true
  address: string | null
  userAgent: string | null
  requestId: string | null
  signInId: string | null
  nameHash: string | null
  detail: Readonly<Record<string, string | number | boolean | object | null | undefined>> | null
  count: number
}

/**
 * The store records the entries in the transaction of the change. `needsFresh`: a stale sign-in
 * could not make this change.
 */
export type Audited = { audit?: readonly AuditEntry[] | undefined; needsFresh?: boolean }

/** First key of the advisory lock of a living process; the second is `Store.holder`. */
export const holderLock = 1_667_330_665

/**
 * The listener reads the new state. `audit`: a command recorded an act. `awayMs`: the database was
 * out of reach for so long, and is back.
 */
export type ChangeSignal =
  | { about: 'inbox' | 'session'; userId: string }
  | { about: 'token-revocation' | 'audit' | 'signing-key' | 'webhook' }
  | { about: 'anything'; awayMs?: number }

export type ChangeListener = (signal: ChangeSignal) => void

/** Gets the entries after the commit. It must not reject, because the write is done. */
export type RecordListener = (entries: readonly AuditEntry[]) => Promise<void>
