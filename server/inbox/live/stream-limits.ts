// How many may stay at once: open streams and held polls, of one user and in all.
import { CarillonError, overloaded } from '../../errors.ts'

export type SeatLimits = { perUser: number; perProcess: number }

/** Seconds: those who were refused together do not come back together. */
const retryAfter = { least: 5, most: 15 }

export class StreamLimits {
  readonly #limits: SeatLimits
  readonly #random: () => number
  readonly #byUser = new Map<string, number>()
  #taken = 0
  #isClosed = false

  constructor(limits: SeatLimits, chance: () => number) {
    this.#limits = limits
    this.#random = chance
  }

  /** Answers how the seat is given up, which works once. Throws TOO_MANY_REQUESTS, or UNAVAILABLE once it is closed. */
  take(userId: string): () => void {
    if (this.#isClosed) throw stopping()
    const { perUser, perProcess } = this.#limits
    const mine = this.#byUser.get(userId) ?? 0
    if (mine >= perUser)
      throw this.#full(`You have ${perUser} streams open (CARILLON_STREAMS_PER_USER): close one, or share one`)
    if (this.#taken >= perProcess)
      throw this.#full(`This process has ${perProcess} streams open (CARILLON_STREAMS)`, 'overload')
    this.#byUser.set(userId, mine + 1)
    this.#taken++
    let isTaken = true
    return () => {
      if (isTaken) this.#giveUp(userId)
      isTaken = false
    }
  }

  /** Nobody comes in any more. */
  close(): void {
    this.#isClosed = true
  }

  #giveUp(userId: string): void {
    const left = (this.#byUser.get(userId) ?? 1) - 1
    if (left === 0) this.#byUser.delete(userId)
    else this.#byUser.set(userId, left)
    this.#taken--
  }

  #full(message: string, report?: 'overload'): CarillonError {
    const { least, most } = retryAfter
    return new CarillonError('TOO_MANY_REQUESTS', message, {
      retryAfter: least + Math.floor(this.#random() * (most - least)),
      ...(report && { report }),
    })
  }
}

export function stopping(): CarillonError {
  return overloaded('The service is stopping; try again in a moment')
}
