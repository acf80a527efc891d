// The cached keys of one issuer: when are they read again? An unknown key id and an unreachable issuer cause a limited number of
// requests, whatever clients send, and keys that were read before stay usable for a day while the issuer cannot be reached.
import { type CryptoKey, errors } from 'jose'
import { CarillonError, overloaded } from '../../errors.ts'
import type { KeySet } from './key-set.ts'
import type { ReadForeignToken } from './read-foreign-token.ts'

const maxAgeMs = 10 * 60_000
/** While the issuer cannot be reached, a key that it withdrew is accepted no longer than this. */
const maxStaleMs = 24 * 3_600_000
/** How many attempts may follow each other at once, and how often there is another one. */
const maxAttempts = 3
const attemptEveryMs = 10_000
const maxWaiting = 1_000
const logEveryMs = 60_000

type Dependencies = {
  read: () => Promise<KeySet>
  /** In milliseconds; never goes back. */
  now: () => number
  /** Called at most once a minute. */
  onFailure: (error: unknown) => void
}

export class IssuerKeys {
  readonly #dependencies: Dependencies
  #keys: KeySet | undefined
  #readAt = 0
  #failure: unknown
  #loggedAt = Number.NEGATIVE_INFINITY
  #attempts = maxAttempts
  #attemptsAt: number
  #reading: Promise<void> | undefined
  #waiting = 0

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.#attemptsAt = dependencies.now()
  }

  /** Reads the keys before the first token needs them. Throws nothing. */
  async prefetch(): Promise<void> {
    await this.#readAgain()
  }

  /** The key that verifies such a token; null if the issuer has none. Throws UNAVAILABLE if that cannot be known now. */
  async find(header: ReadForeignToken['header']): Promise<CryptoKey | null> {
    if (this.#keys !== undefined && this.#dependencies.now() >= this.#readAt + maxAgeMs) {
      const reading = this.#readAgain()
      // Once a read has failed, tokens no longer wait for the next one, and the keys that are there stay in use.
      if (this.#failure === undefined) await this.#wait(reading)
    }
    if (this.#dependencies.now() >= this.#readAt + maxStaleMs) this.#keys = undefined
    const known = await this.#select(header)
    if (known !== undefined) return known
    await this.#wait(this.#readAgain())
    const found = await this.#select(header)
    if (found !== undefined) return found
    if (this.#keys === undefined || this.#failure !== undefined) throw this.#unavailable()
    return null
  }

  /** Null if several keys fit, so that the token has to say which; undefined if none does. */
  async #select(header: ReadForeignToken['header']): Promise<CryptoKey | null | undefined> {
    return this.#keys?.(header).catch((error: unknown) => {
      if (error instanceof errors.JWKSNoMatchingKey) return undefined
      if (error instanceof errors.JWKSMultipleMatchingKeys) return null
      throw error
    })
  }

  /** Joins a running read. Does nothing if the attempts are used up. */
  #readAgain(): Promise<void> {
    if (this.#reading === undefined && this.#hasAttempt())
      this.#reading = this.#read().finally(() => {
        this.#reading = undefined
      })
    return this.#reading ?? Promise.resolve()
  }

  #hasAttempt(): boolean {
    const at = this.#dependencies.now()
    this.#attempts = Math.min(maxAttempts, this.#attempts + (at - this.#attemptsAt) / attemptEveryMs)
    this.#attemptsAt = at
    if (this.#attempts < 1) return false
    this.#attempts--
    return true
  }

  async #read(): Promise<void> {
    try {
      this.#keys = await this.#dependencies.read()
      this.#readAt = this.#dependencies.now()
      this.#failure = undefined
    } catch (error) {
      this.#failure = error
      const at = this.#dependencies.now()
      if (at < this.#loggedAt + logEveryMs) return
      this.#loggedAt = at
      this.#dependencies.onFailure(error)
    }
  }

  async #wait(reading: Promise<void>): Promise<void> {
    if (this.#waiting >= maxWaiting) throw overloaded('Too many tokens wait for the keys of their issuer')
    this.#waiting++
    try {
      await reading
    } finally {
      this.#waiting--
    }
  }

  /** The log has the reason, and no client can fill it. */
  #unavailable(): CarillonError {
    return new CarillonError('UNAVAILABLE', 'The keys of the issuer of this token cannot be read now', {
      remedy: 'Try again in a moment; the log of the service has the reason.',
      cause: this.#failure,
      retryAfter: attemptEveryMs / 1000,
      report: 'nothing',
    })
  }
}
