// Checks signatures in order. Failed ones use up a small allowance, and then checks wait.
import { type KeyObject, verify } from 'node:crypto'
import { overloaded } from '../basics/errors.ts'
import { yieldToEventLoop } from '../basics/event-loop.ts'

/** At 110 us, about 900 failed checks a second. */
const allowedShare = 0.1
/** It is full again after 0.2 s. */
const maxAllowanceMs = 20
const maxWaiting = 1_000
const waitMs = 1

/** Another thread may have delayed it. */
const maxChargeMs = 1

export type Signature = { key: KeyObject; signed: string; signature: string }
type IsSigned<Checked> = (signature: Checked) => boolean | Promise<boolean>
type Check<Checked, Result> = (
  isSigned: (signature: Checked) => Promise<boolean>,
) => Promise<Result>

export class SignatureChecks<Checked = Signature> {
  readonly #isSigned: IsSigned<Checked>
  readonly #now: () => number
  readonly #waiting: (() => Promise<void>)[] = []
  #allowanceMs = maxAllowanceMs
  #creditedAt: number
  #isRunning = false

  constructor(isSigned: IsSigned<Checked>, now: () => number = () => performance.now()) {
    this.#isSigned = isSigned
    this.#now = now
    this.#creditedAt = now()
  }

  enqueue<Result>(check: Check<Checked, Result>): Promise<Result> {
    if (this.#waiting.length >= maxWaiting)
      throw overloaded('Too many tokens wait for a signature check')
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    this.#waiting.push(() => check((signature) => this.#check(signature)).then(resolve, reject))
    if (!this.#isRunning) void this.#run()
    return promise
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      while (!this.#hasAllowance()) await new Promise((resolve) => setTimeout(resolve, waitMs))
      await yieldToEventLoop()
      await next()
    }
    this.#isRunning = false
  }

  #hasAllowance(): boolean {
    const now = this.#now()
    this.#allowanceMs = Math.min(
      maxAllowanceMs,
      this.#allowanceMs + (now - this.#creditedAt) * allowedShare,
    )
    this.#creditedAt = now
    return this.#allowanceMs > 0
  }

  async #check(signature: Checked): Promise<boolean> {
    const from = this.#now()
    const isSigned = await this.#isSigned(signature)
    if (!isSigned) this.#allowanceMs -= Math.min(this.#now() - from, maxChargeMs)
    return isSigned
  }
}

/** libuv's pool costs a third more, and argon2 needs it. */
export function isSignedByUs({ key, signed, signature }: Signature): boolean {
  return verify(null, Buffer.from(signed), key, Buffer.from(signature, 'base64url'))
}
