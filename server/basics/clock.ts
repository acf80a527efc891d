// The clock of lifetimes. If the wall clock is set back, time goes on with the monotonic clock, so
// nothing lives longer. Times for people use the wall clock.

export type TimeSources = {
  wall: () => number
  monotonic: () => number
}

const minReportedMs = 5_000
/** Clocks of one machine drift by a few millionths: without this, the time would run ahead. */
const maxDrift = 20e-6
/** Arithmetic with fractions must not lose a millisecond. */
const rounding = 0.01

export class Clock {
  readonly wall: () => number
  readonly #monotonic: () => number
  readonly #onSetBack: (aheadMs: number) => void
  #offset = Number.NEGATIVE_INFINITY
  #readAt = 0
  #isBehind = false

  constructor({ wall, monotonic }: TimeSources, onSetBack: (aheadMs: number) => void) {
    this.wall = wall
    this.#monotonic = monotonic
    this.#onSetBack = onSetBack
  }

  /** Returns milliseconds since 1970, never less than before. */
  now = (): number => {
    const monotonic = this.#monotonic()
    const wall = this.wall()
    const offset = this.#offset - (monotonic - this.#readAt) * maxDrift
    this.#readAt = monotonic
    this.#offset = Math.max(wall - monotonic, offset)
    const now = Math.max(wall, Math.floor(monotonic + this.#offset + rounding))
    const isBehind = now - wall > minReportedMs
    if (isBehind && !this.#isBehind) this.#onSetBack(now - wall)
    this.#isBehind = isBehind
    return now
  }
}

let lastTime = { at: Number.NaN, text: '' }

/** Many deliveries have the same time. */
export function iso(at: number): string {
  if (at !== lastTime.at) lastTime = { at, text: new Date(at).toISOString() }
  return lastTime.text
}

export function isoOrNull(at: number | null): string | null {
  return at === null ? null : iso(at)
}

/** Returns NaN for an invalid time, and after the year 9999, which `iso` would sort first. */
export function parseTime(text: string): number {
  const at = Date.parse(text)
  return at < 253_402_300_800_000 ? at : Number.NaN
}

export function displayTime(at: number, language: string): string {
  const format = {
    dateStyle: 'long',
    timeStyle: 'short',
    hourCycle: 'h23',
    timeZone: 'UTC',
  } as const
  return `${new Date(at).toLocaleString(language, format)} UTC`
}
