// How are things compared fairly on a machine that is never quite still? In turns, A B A B, so that what disturbs one
// disturbs all; each is divided by what stood beside it in its own round, and the median of those ratios counts.

/** Each contender's samples, in the order of the rounds. */
export type Samples<Name extends string, Sample> = Record<Name, Sample[]>

export type Turns<Name extends string, Sample> = {
  rounds: number
  contenders: Record<Name, () => Promise<Sample>>
  /** A sample of which it says so is taken again, as often as there are rounds at most. */
  isDisturbed?: (sample: Sample) => boolean
  tell: (text: string) => void
}

export async function inTurns<Name extends string, Sample>(turns: Turns<Name, Sample>): Promise<Samples<Name, Sample>> {
  const { rounds, contenders, isDisturbed = () => false, tell } = turns
  const names = Object.keys(contenders) as Name[]
  const samples = Object.fromEntries(names.map((name) => [name, [] as Sample[]])) as Samples<Name, Sample>
  const again = Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>
  for (let round = 1; round <= rounds; round++)
    for (const name of names) {
      tell(`round ${round} of ${rounds}: ${name}`)
      let sample = await contenders[name]()
      while (isDisturbed(sample) && again[name]++ < rounds) {
        tell('other processes were busy meanwhile; again')
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

export type Spread = { median: number; least: number; most: number }

export function spread(values: readonly number[]): Spread {
  return { median: median(values), least: Math.min(...values), most: Math.max(...values) }
}

/** Round by round, not median by median: what slowed a round slowed both. */
export function ratios(above: readonly number[], below: readonly number[]): Spread {
  return spread(above.map((value, round) => value / (below[round] as number)))
}
