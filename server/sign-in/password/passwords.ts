// Hashes and verifies passwords with argon2id, a few at a time: each owns a thread of the pool for 30 ms and more, and
// the rest of the house needs that pool too. Beyond a short queue the answer is "not now".
import { hash, verify } from '@node-rs/argon2'
import { type Turn, Turns } from './hash-queue.ts'

/** OWASP ASVS 5.0, 11.4.2: argon2id with t=2, m=19 MiB, p=1; the salt is 16 bytes, the result a PHC string. */
const cost = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32 } as const

/** The hash of a random password that nobody knows. Verified for a stranger, so that he costs as much as a friend. */
const strangersHash =
  '$argon2id$v=19$m=19456,t=2,p=1$2xVo7B0E3Lerv+PMn0f7Iw$PxTJRLmiqL8uhxXXf7NY1ehvwpwq2FHzbBo36y4tEnM'

/** The commands and the first start hash for the operator. */
const operator: Turn = { address: '', account: '' }
/** Long before a client or a proxy gives up. */
const maxWaitMs = 10_000
/** 200 connections that try again at once take a fifth of the processor that they took without it. */
const refusalDelayMs = 200

export class Passwords {
  readonly #turns: Turns

  /** `threads` is the size of libuv's pool; two of them are left for files and names. */
  constructor({ threads, maxWaiting = 64 }: { threads: number; maxWaiting?: number }) {
    this.#turns = new Turns({ maxAtOnce: Math.max(1, threads - 2), maxWaiting, maxWaitMs, refusalDelayMs })
  }

  /** Throws UNAVAILABLE if too many wait already. */
  hash(password: string): Promise<string> {
    return this.#turns.take(operator, () => hash(password, cost))
  }

  /** Throws UNAVAILABLE if `verify` would refuse this turn at once. To be called before the store is read for it. */
  refuseIfFull(turn: Turn): Promise<void> {
    return this.#turns.refuseIfFull(turn)
  }

  /**
   * Whether it is the password; `passwordHash` is undefined for an unknown user. Throws UNAVAILABLE like `hash`, and TIMEOUT if
   * the client leaves before it is its turn.
   */
  verify(password: string, passwordHash: string | undefined, turn: Turn = operator): Promise<boolean> {
    return this.#turns.take(turn, async () => {
      const matches = await verify(passwordHash ?? strangersHash, password)
      return matches && passwordHash !== undefined
    })
  }
}
