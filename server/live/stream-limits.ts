import { counts } from '../basics/counts.ts'
import { CarillonError, overloaded } from '../basics/errors.ts'

export type MaxStreams = { perUser: number; perProcess: number }

/** Refused clients must not return together. */
const minRetryAfter = 5
const retryAfterSpread = 10

export class StreamLimits {
  readonly #max: MaxStreams
  readonly #random: () => number
  readonly #openByUser = new Map<string, number>()
  #open = 0
  isClosed = false

  constructor(max: MaxStreams, random: () => number) {
    this.#max = max
    this.#random = random
  }

  get open(): number {
    return this.#open
  }

  get most(): { userId: string; streams: number }[] {
    return [...this.#openByUser]
      .map(([userId, streams]) => ({ userId, streams }))
      .filter(({ streams }) => streams > 1)
      .sort((one, other) => other.streams - one.streams)
      .slice(0, 20)
  }

  /** Throws TOO_MANY_REQUESTS, or UNAVAILABLE after `close`. */
  take(userId: string): void {
    if (this.isClosed) throw stopping()
    const { perUser, perProcess } = this.#max
    const ofUser = this.#openByUser.get(userId) ?? 0
    if (ofUser >= perUser)
      throw this.#full(
        `You have ${perUser} streams open (CARILLON_STREAMS_PER_USER): close one, or share one`,
      )
    if (this.#open >= perProcess)
      throw this.#full(`This process has ${perProcess} streams open (CARILLON_STREAMS)`, 'overload')
    this.#count(userId, 1)
    counts.streams.opened++
  }

  release(userId: string): void {
    this.#count(userId, -1)
  }

  close(): void {
    this.isClosed = true
  }

  #count(userId: string, difference: 1 | -1): void {
    const open = (this.#openByUser.get(userId) ?? 0) + difference
    if (open === 0) this.#openByUser.delete(userId)
    else this.#openByUser.set(userId, open)
    this.#open += difference
  }

  #full(message: string, report: CarillonError['report'] = 'failure'): CarillonError {
    counts.streams.refused++
    const retryAfter = minRetryAfter + Math.floor(this.#random() * retryAfterSpread)
    return new CarillonError('TOO_MANY_REQUESTS', message, { retryAfter, report })
  }
}

export function stopping(): CarillonError {
  return overloaded('The service is stopping')
}
