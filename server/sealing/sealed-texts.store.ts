// What was sealed with another secret, and its replacement.
import { all, type Read, record, run, type Write } from '../store/statements/statements.ts'
import type { Input, SealedFactor } from '../store/store.ts'

export const sealedTextReads = { factorsSealedOtherwise }
export const sealedTextWrites = { resealFactors }

function* factorsSealedOtherwise({ prefix, after, limit }: Input<'factorsSealedOtherwise'>): Read<SealedFactor[]> {
  return yield* all<SealedFactor>`
    select user_id as "userId", id, sealed_secret as "sealedSecret" from factor
    where (user_id, id) > (${after.userId}, ${after.id}) and sealed_secret is not null
      and substr(sealed_secret, 1, length(cast(${prefix} as text))) <> ${prefix}
    order by user_id, id limit ${limit}`
}

function* resealFactors({ factors, audit }: Input<'resealFactors'>): Write<number> {
  let replaced = 0
  for (const { userId, id, from, to } of factors)
    replaced += yield* run`
      update factor set sealed_secret = ${to} where user_id = ${userId} and id = ${id} and sealed_secret = ${from}`
  if (replaced > 0) yield* record(audit)
  return replaced
}
