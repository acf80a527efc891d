// Makes the rows of the results from the samples of the rounds.
import type { Loaded } from '../load/load.ts'
import { median, ratios } from './rounds.ts'
import { asCount, asMs, asSpread, asUs, type Row } from './table.ts'

/** One sample of each round. The target is the most or the least; of the ratio, if there is a floor, unless it `isAbsolute`. */
type Given<Sample> = {
  what: string
  of: readonly Sample[]
  floor?: readonly Sample[]
  max?: number
  min?: number
  isAbsolute?: boolean
}
/** What a row shows of its samples: a figure of each, its form, and what is said beside the median. */
type Shown<Sample> = {
  figure(sample: Sample): number
  as(figure: number): string
  more?(samples: readonly Sample[]): string | undefined
}

export function row<Sample>(given: Given<Sample> & Shown<Sample>): Row {
  const { what, of, floor, figure, as, more, max, min, isAbsolute = false } = given
  const figures = of.map(figure)
  const ratio = floor && ratios(figures, floor.map(figure))
  const cell = (samples: readonly Sample[]) =>
    [as(median(samples.map(figure))), more?.(samples) ?? []].flat().join(', ')
  const bound = max ?? min
  const isOfRatio = ratio !== undefined && !isAbsolute
  const value = median(isOfRatio ? ratio : figures)
  const isMet = (limit: number) => (max === undefined ? value >= limit : value <= limit)
  const target = `${max === undefined ? '>=' : '<='} ${isOfRatio ? bound?.toFixed(2) : as(bound ?? 0)}`
  return {
    what,
    measured: cell(of),
    floor: floor === undefined ? '' : cell(floor),
    ratio: ratio === undefined ? '' : asSpread(ratio),
    target: bound === undefined ? '' : target,
    met: bound === undefined ? undefined : isMet(bound),
    figures,
    shares: ratio,
  }
}

/** Compares requests per second. The processor time of a request, which two machines can compare, is beside the rate. */
export function rateRow(given: Given<Loaded>): Row {
  const made = row({ ...given, figure: rate, as: asRate, more: moreOf })
  if (given.floor === undefined) return made
  const cpu = median(ratios(given.of.map(cpuUs), given.floor.map(cpuUs)))
  return { ...made, ratio: `${made.ratio}; CPU ${cpu.toFixed(2)}x` }
}

/** Compares the server's processor time for a request, since it has more threads than its floor. */
export function costRow(given: Given<Loaded>): Row {
  const more = (samples: readonly Loaded[]) =>
    `${asRate(median(samples.map(rate)))}, p99 ${asMs(p99(samples))}`
  return row({ ...given, figure: cpuUs, as: asUs, more })
}

/** Compares the time of a request, of loads that send one at a time. */
export function timeRow(given: Given<Loaded>): Row {
  return row({ ...given, figure: (sample) => 1_000 / rate(sample), as: asMs })
}

/** The p99 itself has to be at most `max`, whatever it is without other work at the same time: the floor. */
export function p99Row(given: Given<Loaded>): Row {
  return row({ ...given, figure: ({ p99Ms }) => p99Ms, as: asMs, isAbsolute: true })
}

export function rate({ perSecond }: Loaded): number {
  return perSecond
}

/** The server's processor time for a request, all threads, in microseconds. */
function cpuUs({ serverShare, perSecond }: Loaded): number {
  return (serverShare / perSecond) * 1e6
}

function p99(samples: readonly Loaded[]): number {
  return median(samples.map(({ p99Ms }) => p99Ms))
}

/** "core": the share of one core that the server used with all its threads. */
function moreOf(samples: readonly Loaded[]): string {
  const of = (pick: (sample: Loaded) => number) => median(samples.map(pick))
  const database = of(({ databaseShare, perSecond }) => (databaseShare / perSecond) * 1e6)
  const core = of(({ serverShare }) => serverShare).toFixed(2)
  const ofDatabase = database > 0 ? `, PostgreSQL ${asUs(database)} each` : ''
  return `p99 ${asMs(p99(samples))}, core ${core}, CPU ${asUs(of(cpuUs))} each${ofDatabase}`
}

export function asRate(perSecond: number): string {
  return `${asCount(perSecond)}/s`
}
