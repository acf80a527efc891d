// The clock of everything that has a lifetime. It never goes back: if the wall clock is set back, the time continues with the monotonic clock from
// the latest time seen before, so nothing lives longer. Times for people (a notification's createdAt) use the wall clock.

export type TimeSources = {
  /** Milliseconds since 1970, of this machine or the database server. It may jump. */
  wall: () => number
  /** Milliseconds since an arbitrary moment. It never goes back. */
  monotonic: () => number
}

/** Smaller corrections are normal, and are not reported. */
const minReportedMs = 5_000
/** Two clocks of one machine drift apart by a few millionths. Without this correction the time would slowly run ahead of a correct wall clock. */
const maxDrift = 20e-6
/** The wall clock has whole milliseconds; adding and subtracting fractions must not lose one. */
const rounding = 0.01

export class Clock {
  readonly wall: () => number
  readonly #monotonic: () => number
  readonly #onSetBack: (aheadMs: number) => void
  /** How far the time is ahead of the monotonic clock. */
  #offset = Number.NEGATIVE_INFINITY
  #readAt = 0
  #isBehind = false

  /** `onSetBack` is called once each time that the wall clock is set back, with the difference in milliseconds. */
  constructor({ wall, monotonic }: TimeSources, onSetBack: (aheadMs: number) => void) {
    this.wall = wall
    this.#monotonic = monotonic
    this.#onSetBack = onSetBack
  }

  /** Milliseconds since 1970, never less than before. */
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

/** Times as they are sent and stored: ISO 8601 in UTC with milliseconds. `at` in milliseconds since 1970. Many deliveries have the same time. */
export function iso(at: number): string {
  if (at !== lastTime.at) lastTime = { at, text: new Date(at).toISOString() }
  return lastTime.text
}

/** In milliseconds; NaN for text that is no time, and after the year 9999, because `iso` would sort below every other time. */
export function parseTime(text: string): number {
  const at = Date.parse(text)
  return at < 253_402_300_800_000 ? at : Number.NaN
}

/** 1 January 2026 at 09:30 UTC, in the form of this language. */
export function displayTime(at: number, language: string): string {
  const format = { dateStyle: 'long', timeStyle: 'short', hourCycle: 'h23', timeZone: 'UTC' } as const
  return `${new Date(at).toLocaleString(language, format)} UTC`
}
