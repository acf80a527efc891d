// What the store announces after a commit.

/** Never contains a secret, nor a sent name that no user has. */
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
  /** A notice goes to this earlier verified address. Neither table nor log has it. */
  formerEmail?: string | null
  isLogged?: true
  address: string | null
  userAgent: string | null
  requestId: string | null
  signInId: string | null
  nameHash: string | null
  detail: Readonly<Record<string, string | number | boolean | object | null | undefined>> | null
  count: number
}

/** The change's transaction records the entries. `needsFresh`: stale sign-ins could not make it. */
export type Audited = { audit?: readonly AuditEntry[] | undefined; needsFresh?: boolean }

/** First key of a living process's advisory lock; `Store.holder` is the second. */
export const holderLock = 1_667_330_665

/** The listener reads the new state. `audit`: a command recorded an act. */
export type ChangeSignal =
  | { about: 'inbox' | 'session'; userId: string }
  | { about: 'token-revocation' | 'audit' | 'signing-key' | 'webhook' }
  | { about: 'anything'; awayMs?: number }

export type ChangeListener = (signal: ChangeSignal) => void

/** It runs after the commit, so it must not reject. */
export type RecordListener = (entries: readonly AuditEntry[]) => Promise<void>
