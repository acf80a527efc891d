// The second factors of a user.
import type { SecondFactorKind } from '../../errors.ts'
import type { Store } from '../../store/store.ts'

type UserFactors = Awaited<ReturnType<Store['factorsOf']>>

/** What completes a sign-in of this user; none without a confirmed factor. */
export function offeredFactors({ factors, recoveryCodesLeft }: UserFactors): SecondFactorKind[] {
  const kinds = new Set<SecondFactorKind>()
  for (const { kind, confirmedAt } of factors) if (confirmedAt !== null) kinds.add(kind)
  if (kinds.size > 0 && recoveryCodesLeft > 0) kinds.add('recovery-code')
  return [...kinds]
}
