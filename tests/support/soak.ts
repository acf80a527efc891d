import { test } from 'node:test'

export const isSoak = process.env.SOAK !== undefined

/** A second proof, or a case of the second ring of tests/e2e, runs in `npm run soak` only. */
export const soakTest: typeof test = isSoak ? test : Object.assign(() => Promise.resolve(), test)

/** One of `every` cases, beginning with another one at each `turn`; the soak tries all. */
export function inTurns<T>(
  cases: readonly T[],
  { every, turn = 0 }: { every: number; turn?: number },
): T[] {
  return cases.filter((_, index) => isSoak || (index + turn) % every === 0)
}
