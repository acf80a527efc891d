// The audit log: what happened to sign-ins, users, keys and settings, who did it and from where. Rows are only added, until they are
// older than the retention or their user is erased.

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
  detail: Readonly<Record<string, string | number | boolean | object | null>> | null
  /** How many refusals this entry stands for; 1 for everything else. */
  count: number
}

/** The entries of a change are recorded in the same step, if the change takes effect. */
export type Audited = { audit?: readonly AuditEntry[] | undefined }

/** Which entries: of this user, of this actor, not older than `since`, before the entry `before`. */
export type AuditQuery = { userId?: string; actor?: string; since?: number; before?: string; limit: number }

export interface Audit {
  /** Adds entries that belong to no other change of the store, such as refusals. An entry about an unknown user is one about no user. */
  recordAudit(entries: readonly AuditEntry[]): Promise<void>
  /** Lists entries by id, newest first, at most `limit` of them. */
  listAudit(query: AuditQuery): Promise<AuditEntry[]>
  /** The newest entry with the event `settings-changed`. */
  lastSettingsEntry(): Promise<AuditEntry | undefined>
  /** Removes at most 1,000 entries that are older than `before`. Returns how many it removed. */
  removeOldAudit(before: number): Promise<number>
}
