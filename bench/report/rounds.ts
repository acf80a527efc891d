// Compares contenders on a noisy machine: they run in turns, so that a disturbance affects all of them. Their order changes in each round
// (A B, B A), because the first one is at a disadvantage. With a second checkout each contender of the one is followed by the same
// contender of the other. The order of the two changes, too.
import type { Bench } from './scenario.ts'

/** Share of one core. If other programs use more, the sample is taken again. */
const maxOtherProgramsShare = 0.15

/** Each contender's samples, in the order of the rounds. A disturbed one is taken once more. */
export async function inTurns<Name extends string, Sample>(
  { place, rounds, takesAgain, progress, turn }: Bench,
  contenders: Record<Name, () => Promise<Sample & { otherProgramsShare?: number }>>,
): Promise<Record<Name, Sample[]>> {
  const all = Object.entries(contenders) as [Name, (typeof contenders)[Name]][]
  const samples = Object.fromEntries(all.map(([name]) => [name, [] as Sample[]])) as Record<
    Name,
    Sample[]
  >
  for (let round = 1; round <= rounds; round++) {
    // The checkout that was first in the round before lets the other one go first.
    const wasFirst = round > 1 && round % 2 === place
    if (wasFirst) await turn()
    const isForward = round % 2 === 1
    for (const [name, take] of isForward ? all : all.toReversed()) {
      await turn()
      progress(`round ${round} of ${rounds}: ${name}`)
      let sample = await take()
      if (takesAgain && (sample.otherProgramsShare ?? 0) > maxOtherProgramsShare) {
        progress('other programs were busy; measuring again')
        sample = await take()
      }
      samples[name].push(sample)
    }
  }
  return samples
}

let lastTurn = Promise.resolve()

/**
 * Waits until no other run of a scenario works, so that those of two checkouts alternate. What the others have started stays, without
 * requests. Returns the function that lets the next one work.
 */
export async function takeTurn(): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const before = lastTurn
  lastTurn = promise
  await before
  return resolve
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  if (sorted.length % 2 === 1) return sorted[middle] as number
  return ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2
}

/** Divides round by round, since a disturbance slows both samples of a round. */
export function ratios(above: readonly number[], below: readonly number[]): number[] {
  return above.map((value, round) => value / (below[round] as number))
}
