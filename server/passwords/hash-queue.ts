// A bounded queue of password hashes in which networks and accounts take turns. Neither many attempts from one network nor many addresses
// that attack one account can block the sign-in of others (A12). Known devices wait apart from all others, so that no
// flood of strangers keeps users out who signed in before (A21; docs/decisions/0039-limits-on-guesses.md).
import { CarillonError, overloaded } from '../basics/errors.ts'
import { type Attempt, Turns } from './turns.ts'

/** `refusalDelayMs` delays each refusal, so that a client that retries at once uses little processor time. */
export type Limits = { maxAtOnce: number; maxWaiting: number; maxWaitMs: number; refusalDelayMs: number }

export class HashQueue {
  readonly #limits: Limits
  readonly #known = new Turns()
  readonly #others = new Turns()
  readonly #knownNow = new Set<string>()
  #wasKnown = false
  #running = 0

  constructor(limits: Limits) {
    this.#limits = limits
  }

  get waiting(): number {
    return this.#known.waiting + this.#others.waiting
  }

  /**
   * A full queue throws UNAVAILABLE for the oldest attempt of the largest group, and for one of a known device last. A quarter of the places
   * is for known devices alone. Throws UNAVAILABLE after `maxWaitMs`, too, and TIMEOUT if `signal` aborts before `work` begins.
   */
  async run<Result>(attempt: Attempt, work: () => Promise<Result>): Promise<Result> {
    if (attempt.signal?.aborted) throw clientLeft()
    if (this.#running < this.#limits.maxAtOnce) this.#running++
    else await this.#wait(attempt)
    try {
      return await work()
    } finally {
      this.#startNext()
    }
  }

  async #wait(attempt: Attempt): Promise<void> {
    const { known, signal } = attempt
    const isKnown = known !== undefined && !this.#knownNow.has(known)
    const turns = isKnown ? this.#known : this.#others
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiter = turns.add(attempt, { start: resolve, refuse: reject })
    if (isKnown) this.#knownNow.add(known)
    this.#refuseBeyondLimits()
    const refuse = (error: CarillonError) => turns.remove(waiter) && reject(error)
    const leave = () => refuse(clientLeft())
    signal?.addEventListener('abort', leave)
    const timer = setTimeout(() => refuse(tooMany()), this.#limits.maxWaitMs).unref()
    try {
      await promise
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', leave)
      if (isKnown) this.#knownNow.delete(known)
    }
  }

  #refuseBeyondLimits(): void {
    const { maxWaiting, refusalDelayMs } = this.#limits
    const isFull = this.waiting > maxWaiting || this.#others.waiting > maxWaiting - Math.floor(maxWaiting / 4)
    const refused = isFull ? (this.#others.takeFromLargest() ?? this.#known.takeFromLargest()) : undefined
    if (refusalDelayMs === 0) refused?.refuse(tooMany())
    else if (refused !== undefined) setTimeout(() => refused.refuse(tooMany()), refusalDelayMs)
  }

  /** Every second turn is that of a known device, if one waits. */
  #startNext(): void {
    const [one, other] = this.#wasKnown ? [this.#others, this.#known] : [this.#known, this.#others]
    const turns = one.waiting > 0 ? one : other
    const next = turns.takeNext()
    this.#wasKnown = next !== undefined && turns === this.#known
    if (next === undefined) this.#running--
    else next.start()
  }
}

function tooMany(): CarillonError {
  return overloaded('Too many sign-ins at once')
}

/** No client receives it; the code keeps it out of the logged failures. */
function clientLeft(): CarillonError {
  return new CarillonError('TIMEOUT', 'The client closed the connection before its password was checked')
}
