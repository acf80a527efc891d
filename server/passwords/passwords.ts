// Hashes and verifies passwords with argon2id, a few at a time: each one occupies a thread of libuv's pool for 30 ms or more,
// and files and DNS need that pool too. The others wait in a short queue; if it is full, the attempt is refused.
import { CarillonError } from '../basics/errors.ts'
import { type Attempt, HashQueue } from './hash-queue.ts'
import { matchesImported, readHash } from './imported-hash.ts'

/** OWASP ASVS 5.0, 11.4.2: argon2id with t=2, m=19 MiB, p=1; the salt is 16 bytes, the result a PHC string. */
export const usualCost = { memoryCost: 19_456, timeCost: 2 }
const algorithm = { algorithm: 2, parallelism: 1, outputLen: 32 } as const

/** Native code, loaded for the first hash: 10 ms of a start that needs none. */
const argon2 = () =>
  import('@node-rs/argon2').catch((cause: unknown) => {
    const problem = `The package @node-rs/argon2 does not run on ${process.platform} on ${process.arch}`
    const remedy = 'If Carillon was copied from another machine, install it on this one.'
    throw new CarillonError('UNAVAILABLE', problem, { remedy, cause })
  })

/** Code points. A longer password is refused before it is hashed, never truncated. */
export const maxPasswordLength = 256

/** UTF-16 units. NFC makes one code point of at most four, of two units each: a longer text stays too long. */
const maxInput = maxPasswordLength * 4 * 2

/**
 * The one form in which a password is hashed and compared: RFC 8265, section 4 (OpaqueString). Twice changes nothing. Refuses nothing, so that a wrong password is only
 * ever wrong. Returns a text too long in any form unchanged, so that no client makes the service work on a megabyte.
 */
export function preparePassword(text: string): string {
  return text.length > maxInput ? text : text.replace(/\p{Zs}/gu, ' ').normalize('NFC')
}

/** Salt and hash of a random, unknown password. Verified for an unknown user, so that the response takes the same time. */
const unknownUserHash = '2xVo7B0E3Lerv+PMn0f7Iw$PxTJRLmiqL8uhxXXf7NY1ehvwpwq2FHzbBo36y4tEnM'

/** For the commands and the first start, which hash without a client. */
const operator: Attempt = { address: '', account: '' }
/** Well below the timeouts of clients and proxies. */
const maxWaitMs = 10_000
/** With this delay, 200 connections that retry at once use a fifth of the processor time that they use without it. */
const refusalDelayMs = 200

/** KiB of memory, and passes over them. */
export type HashCost = { memoryCost: number; timeCost: number }

/** `replacement`: our hash of the same password with today's cost, if it matched another one. */
export type Verification = { matches: boolean; replacement: string | null }

/** `cost`: lower in tests that are not about it. */
type Options = { threads: number; maxWaiting?: number; cost?: HashCost | undefined }

export class Passwords {
  readonly #queue: HashQueue
  readonly #cost: HashCost & typeof algorithm
  /** The beginning of our hashes. Every other hash is one of another system, or ours with an earlier cost. */
  readonly #ownPrefix: string

  /** `threads` is the size of libuv's pool; two of them stay free for files and DNS. */
  constructor({ threads, maxWaiting = 64, cost = usualCost }: Options) {
    this.#cost = { ...algorithm, ...cost }
    this.#ownPrefix = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${algorithm.parallelism}$`
    this.#queue = new HashQueue({ maxAtOnce: Math.max(1, threads - 2), maxWaiting, maxWaitMs, refusalDelayMs })
  }

  /** `password` as the client sent it. Throws UNAVAILABLE if too many wait already. */
  hash(password: string, attempt: Attempt = operator): Promise<string> {
    return this.#queue.run(attempt, async () => (await argon2()).hash(preparePassword(password), this.#cost))
  }

  /**
   * `passwordHash`: absent for an unknown user. Throws UNAVAILABLE like `hash`, TIMEOUT if
   * the client disconnects. `begin` is called when it is the attempt's turn; if it throws, nothing is hashed.
   */
  verify(
    password: string,
    passwordHash: string | undefined,
    attempt: Attempt = operator,
    begin?: () => Promise<unknown>,
  ): Promise<Verification> {
    return this.#queue.run(attempt, async () => {
      await begin?.()
      const { hash, verify } = await argon2()
      const prepared = preparePassword(password)
      if (passwordHash === undefined || passwordHash.startsWith(this.#ownPrefix)) {
        const matches = await verify(passwordHash ?? `${this.#ownPrefix}${unknownUserHash}`, prepared)
        return { matches: matches && passwordHash !== undefined, replacement: null }
      }
      const matches = await matchesOther(passwordHash, { password, prepared })
      return { matches, replacement: matches ? await hash(prepared, this.#cost) : null }
    })
  }
}

/** Another system hashed the password as it was sent; we, with an earlier cost, hashed the prepared one. */
async function matchesOther(passwordHash: string, { password, prepared }: { password: string; prepared: string }) {
  const other = readHash(passwordHash)
  const spellings = other.kind === 'argon2' ? new Set([password, prepared]) : [password]
  for (const spelling of spellings) if (await matchesImported(other, spelling)) return true
  return false
}
