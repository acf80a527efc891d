// The keys that sign access tokens, with the private part sealed. Which of them signs, and which are only accepted, follows from
// their times: sign-in/token/key-schedule.ts.
import type { Audited } from '../audit/audit.promise.ts'

export type SigningKey = {
  kid: string
  publicJwk: string
  /** '' once the key is retired. */
  sealedPrivateJwk: string
  createdAt: number
  /** Nodes sign with the key from this moment, until another one starts. */
  startsAt: number
  /** Set when the last token of the key had expired; null until then. */
  retiredAt: number | null
}

export type Resealed = { kid: string; from: string; to: string }

export interface SigningKeys {
  /** Lists all keys, also retired ones, in the order of their creation. */
  signingKeys(): Promise<SigningKey[]>
  /**
   * Adds a key, if `after` is still the key that starts last; `after` is null if there is no key yet. Otherwise it changes
   * nothing and returns 'refused'. Of calls at the same time that name the same key, one adds.
   */
  addSigningKey(change: { key: NewSigningKey; after: string | null } & Audited): Promise<'added' | 'refused'>
  /** Removes a key and adds another one in the same step. If the key is absent, it changes nothing. */
  dropSigningKey(change: { kid: string; key: NewSigningKey } & Audited): Promise<'done' | 'absent'>
  /** Marks keys as retired and removes their private parts. Repeating the call keeps the first `retiredAt`. */
  retireSigningKeys(change: { kids: readonly string[]; at: number }): Promise<void>
  /** Replaces sealed private parts, each only if it is still `from`. Returns how many it replaced. */
  resealSigningKeys(change: { keys: readonly Resealed[] } & Audited): Promise<number>
}

export type NewSigningKey = Omit<SigningKey, 'retiredAt'>
