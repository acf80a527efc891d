// Hashes and verifies passwords with argon2id, a few at a time: each owns a thread of the pool for 30 ms and more, and
// the rest of the house needs that pool too. Beyond a short queue the answer is "not now".
import { hash, verify } from '@node-rs/argon2'
import { overloaded } from '../errors.ts'

/** OWASP ASVS 5.0, 11.4.2: argon2id with t=2, m=19 MiB, p=1; the salt is 16 bytes, the result a PHC string. */
const cost = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32 } as const

/** The hash of a random password that nobody knows. Verified for a stranger, so that he costs as much as a friend. */
const strangersHash =
  '$argon2id$v=19$m=19456,t=2,p=1$2xVo7B0E3Lerv+PMn0f7Iw$PxTJRLmiqL8uhxXXf7NY1ehvwpwq2FHzbBo36y4tEnM'

export class Passwords {
  readonly #mostAtOnce: number
  readonly #mostWaiting: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  /** `threads` is the size of libuv's pool; two of them are left for files and names. */
  constructor({ threads, mostWaiting = 64 }: { threads: number; mostWaiting?: number }) {
    this.#mostAtOnce = Math.max(1, threads - 2)
    this.#mostWaiting = mostWaiting
  }

  /** Throws UNAVAILABLE where too many wait already. */
  hash(password: string): Promise<string> {
    return this.#inTurn(() => hash(password, cost))
  }

  /** Whether it is the password; `passwordHash` is undefined for a stranger. Throws UNAVAILABLE like `hash`. */
  verify(password: string, passwordHash: string | undefined): Promise<boolean> {
    return this.#inTurn(async () => {
      const matches = await verify(passwordHash ?? strangersHash, password)
      return matches && passwordHash !== undefined
    })
  }

  async #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running >= this.#mostAtOnce) await this.#turn()
    else this.#running++
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next !== undefined) next()
      else this.#running--
    }
  }

  #turn(): Promise<void> {
    if (this.#waiting.length >= this.#mostWaiting) throw overloaded('Too many sign-ins at once; try again in a moment')
    return new Promise((resolve) => this.#waiting.push(resolve))
  }
}
