// Compares contenders on a noisy machine: they run in turns (A B A B), so that a disturbance affects all of them. Each sample
// is divided by the sample of the same round, and the median of these ratios is the result. With a second checkout each contender of
// the one is followed by the same contender of the other (turnstile.ts).
import type { Bench } from './scenario.ts'

/** Each contender's samples, in the order of the rounds. */
export type Samples<Name extends string, Sample> = Record<Name, Sample[]>

export type Turns<Name extends string, Sample> = {
  contenders: Record<Name, () => Promise<Sample>>
  /** If it returns true, the sample is taken again, at most `rounds` times per contender. */
  isDisturbed?: (sample: Sample) => boolean
}

export async function inTurns<Name extends string, Sample>(
  { rounds, progress, turn }: Pick<Bench, 'rounds' | 'progress' | 'turn'>,
  { contenders, isDisturbed = () => false }: Turns<Name, Sample>,
): Promise<Samples<Name, Sample>> {
  const names = Object.keys(contenders) as Name[]
  const samples = Object.fromEntries(names.map((name) => [name, [] as Sample[]])) as Samples<Name, Sample>
  const again = Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>
  for (let round = 1; round <= rounds; round++)
    for (const name of names) {
      await turn()
      progress(`round ${round} of ${rounds}: ${name}`)
      let sample = await contenders[name]()
      while (isDisturbed(sample) && again[name]++ < rounds) {
        progress('other programs were busy; measuring again')
        sample = await contenders[name]()
      }
      samples[name].push(sample)
    }
  return samples
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  if (sorted.length % 2 === 1) return sorted[middle] as number
  return ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2
}

export type Spread = { median: number; min: number; max: number }

export function spread(values: readonly number[]): Spread {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) }
}

/** Divides round by round, since a disturbance slows both samples of a round. */
export function ratios(above: readonly number[], below: readonly number[]): Spread {
  return spread(above.map((value, round) => value / (below[round] as number)))
}
