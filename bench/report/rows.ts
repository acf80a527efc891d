// Makes the rows of the results from the figures of the rounds.
import type { Loaded } from '../load/loader.ts'
import { median, ratios } from './rounds.ts'
import { asCount, asMs, asSpread, asUs, type Row } from './table.ts'

type Given = {
  what: string
  /** One of each round. */
  figures: readonly number[]
  as: (figure: number) => string
  /** Said beside the median. */
  more?: string
  floor?: { figures: readonly number[]; more?: string }
} & Target
/** The most or the least; of the ratio, if there is a floor, unless it `isAbsolute`. */
type Target = { max?: number; min?: number; isAbsolute?: boolean }

export function row({ what, figures, as, more, floor, ...target }: Given): Row {
  const ratio = floor && ratios(figures, floor.figures)
  const cell = (of: readonly number[], said?: string) => `${as(median(of))}${said === undefined ? '' : `, ${said}`}`
  return {
    what,
    measured: cell(figures, more),
    floor: floor === undefined ? '' : cell(floor.figures, floor.more),
    ratio: ratio === undefined ? '' : asSpread(ratio),
    ...judged(target, { figure: median(figures), ratio: ratio && median(ratio), as }),
    figures,
  }
}

type Judged = { figure: number; ratio: number | undefined; as: Given['as'] }

function judged({ max, min, isAbsolute = false }: Target, { figure, ratio, as }: Judged): Pick<Row, 'target' | 'met'> {
  const bound = max ?? min
  if (bound === undefined) return { target: '', met: undefined }
  const isOfRatio = ratio !== undefined && !isAbsolute
  const value = isOfRatio ? ratio : figure
  const text = isOfRatio ? bound.toFixed(2) : as(bound)
  return {
    target: `${max === undefined ? '>=' : '<='} ${text}`,
    met: max === undefined ? value >= bound : value <= bound,
  }
}

type LoadRow = Target & { what: string; of: readonly Loaded[]; floor?: readonly Loaded[] }

/** Compares requests per second. The processor time of a request, which two machines can compare, is beside the rate. */
export function rateRow({ what, of, floor, ...target }: LoadRow): Row {
  const ofFloor = floor && { floor: { figures: floor.map(rate), more: moreOf(floor) } }
  const made = row({ what, figures: of.map(rate), as: asRate, more: moreOf(of), ...ofFloor, ...target })
  if (floor === undefined) return made
  return { ...made, ratio: `${made.ratio}; CPU ${median(ratios(of.map(cpuUs), floor.map(cpuUs))).toFixed(2)}x` }
}

/** Compares the server's processor time for a request, since it has more threads than its floor. */
export function costRow({ what, of, floor, ...target }: LoadRow): Row {
  const said = (samples: readonly Loaded[]) => `${asRate(median(samples.map(rate)))}, p99 ${asMs(p99(samples))}`
  const ofFloor = floor && { floor: { figures: floor.map(cpuUs), more: said(floor) } }
  return row({ what, figures: of.map(cpuUs), as: asUs, more: said(of), ...ofFloor, ...target })
}

export function rate({ perSecond }: Pick<Loaded, 'perSecond'>): number {
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
  const parts = [
    `p99 ${asMs(p99(samples))}`,
    `core ${of(({ serverShare }) => serverShare).toFixed(2)}`,
    `CPU ${asUs(of(cpuUs))} each`,
    ...(database > 0 ? [`PostgreSQL ${asUs(database)} each`] : []),
  ]
  return parts.join(', ')
}

function asRate(perSecond: number): string {
  return `${asCount(perSecond)}/s`
}
