// Writes of many rows take turns: a burst would leave no connection to others.
import { overloaded, unavailable } from '../../../basics/errors.ts'

type Waiting = { weight: number; begin: () => void }
/** `maxWaiting` counts weights. */
type Limits = { maxAtOnce: number; maxWaiting: number; waitTimeoutMs: number }

/** Under half of the connections. As much may wait as on SQLite, for less than a client waits. */
const usual: Limits = { maxAtOnce: 4, maxWaiting: 30_000, waitTimeoutMs: 6_000 }

export class LargeWrites {
  readonly #limits: Limits
  readonly #waiting = new Set<Waiting>()
  #weightWaiting = 0
  #running = 0

  constructor(limits: Limits = usual) {
    this.#limits = limits
  }

  get size(): number {
    return this.#waiting.size
  }

  /** Throws UNAVAILABLE, with nothing done, if too many wait or it waited too long. */
  async run<Result>(weight: number, write: () => Promise<Result>): Promise<Result> {
    if (this.#running < this.#limits.maxAtOnce) this.#running++
    else await this.#turn(weight)
    try {
      return await write()
    } finally {
      this.#endTurn()
    }
  }

  #turn(weight: number): Promise<void> {
    if (this.#weightWaiting + weight > this.#limits.maxWaiting)
      throw overloaded('Too many large deliveries are waiting for the store')
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const timer = setTimeout(() => {
      this.#take(waiting)
      reject(unavailable('Too many large deliveries are waiting for the store; nothing was done'))
    }, this.#limits.waitTimeoutMs).unref()
    const waiting = {
      weight,
      begin: () => {
        clearTimeout(timer)
        resolve()
      },
    }
    this.#waiting.add(waiting)
    this.#weightWaiting += weight
    return promise
  }

  #endTurn(): void {
    const [next] = this.#waiting
    if (next === undefined) this.#running--
    else {
      this.#take(next)
      next.begin()
    }
  }

  #take(waiting: Waiting): void {
    this.#waiting.delete(waiting)
    this.#weightWaiting -= waiting.weight
  }
}
