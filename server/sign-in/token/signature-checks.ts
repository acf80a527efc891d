// Checks signatures of tokens, in the order in which they came, without letting forged ones take the processor from other
// requests: a check that fails is paid from a small allowance, one that succeeds is free. While the allowance is used up,
// checks wait. A token that was verified before needs no check, so its requests never wait here.
import { type KeyObject, verify } from 'node:crypto'
import { overloaded } from '../../errors.ts'
import { yieldToEventLoop } from '../../event-loop.ts'

/** How much of the event loop failing checks may take: about 900 a second, at 110 us each. */
const allowedShare = 0.1
/** Before the first of them waits: about 180. It is earned again within a fifth of a second. */
const maxAllowanceMs = 20
/** About a second of failing checks. */
const maxWaiting = 1_000
const waitMs = 1

export type Signature = { key: KeyObject; signed: string; signature: string }

export class SignatureChecks {
  readonly #now: () => number
  readonly #waiting: (() => void)[] = []
  #allowanceMs = maxAllowanceMs
  #earnedAt: number
  #isRunning = false

  /** `now` is in milliseconds and never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
    this.#earnedAt = now()
  }

  /**
   * Runs `check` in its turn. It calls back with the signature to check, unless an earlier turn has answered the question.
   * Throws UNAVAILABLE if too many wait.
   */
  inTurn<Result>(check: (isSigned: (signature: Signature) => boolean) => Result): Promise<Result> {
    if (this.#waiting.length >= maxWaiting)
      throw overloaded('Too many tokens wait for the check of their signature; try again in a moment')
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    this.#waiting.push(() => {
      try {
        resolve(check((signature) => this.#check(signature)))
      } catch (error) {
        reject(error)
      }
    })
    if (!this.#isRunning) void this.#run()
    return promise
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      while (!this.#mayGoOn()) await new Promise((resolve) => setTimeout(resolve, waitMs))
      await yieldToEventLoop()
      next()
    }
    this.#isRunning = false
  }

  #mayGoOn(): boolean {
    const now = this.#now()
    this.#allowanceMs = Math.min(maxAllowanceMs, this.#allowanceMs + (now - this.#earnedAt) * allowedShare)
    this.#earnedAt = now
    return this.#allowanceMs > 0
  }

  #check({ key, signed, signature }: Signature): boolean {
    const from = this.#now()
    // In the event loop: by a thread of the pool it would cost a third more, and argon2 wants that pool.
    const isSigned = verify(null, Buffer.from(signed), key, Buffer.from(signature, 'base64url'))
    if (!isSigned) this.#allowanceMs -= this.#now() - from
    return isSigned
  }
}
