// What was sealed with another secret, and its replacement.
import type { Audited } from '../store/events.ts'
import { all, type Read, record, run, type Write } from '../store/statements.ts'

export type SealedFactor = { userId: string; id: string; sealedSecret: string }
type FactorsSealedOtherwise = { prefix: string; after: { userId: string; id: string }; limit: number }
type ResealFactors = { factors: readonly { userId: string; id: string; from: string; to: string }[] } & Audited

/**
 * Lists factors whose sealed secret does not begin with `prefix`, ordered by user and id, at most `limit` of them, starting after
 * `after`. It reads the whole table.
 */
export function* factorsSealedOtherwise({ prefix, after, limit }: FactorsSealedOtherwise): Read<SealedFactor[]> {
  return yield* all<SealedFactor>`
    select user_id as "userId", id, sealed_secret as "sealedSecret" from factor
    where (user_id, id) > (${after.userId}, ${after.id}) and sealed_secret is not null
      and substr(sealed_secret, 1, length(cast(${prefix} as text))) <> ${prefix}
    order by user_id, id limit ${limit}`
}

/** Replaces sealed secrets, each only if it is still `from`. Returns how many it replaced. */
export function* resealFactors({ factors, audit }: ResealFactors): Write<number> {
  let replaced = 0
  for (const { userId, id, from, to } of factors)
    replaced += yield* run`
      update factor set sealed_secret = ${to} where user_id = ${userId} and id = ${id} and sealed_secret = ${from}`
  if (replaced > 0) yield* record(audit)
  return replaced
}
