// Texts that other tables hold sealed, for a change of the secret that seals them: the secrets of second factors. The signing keys:
// signing-keys.ts.
import type { Audited } from '../audit/audit.promise.ts'

export type SealedFactor = { userId: string; id: string; sealedSecret: string }

export interface SealedTexts {
  /**
   * Lists factors whose sealed secret does not begin with `prefix`, ordered by user and id, at most `limit` of them, starting after
   * `after`. It reads the whole table.
   */
  factorsSealedOtherwise(query: {
    prefix: string
    after: { userId: string; id: string }
    limit: number
  }): Promise<SealedFactor[]>
  /** Replaces sealed secrets, each only if it is still `from`. Returns how many it replaced. */
  resealFactors(
    change: { factors: readonly { userId: string; id: string; from: string; to: string }[] } & Audited,
  ): Promise<number>
}
