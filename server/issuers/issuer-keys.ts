// Caches one issuer's keys for a day. Unknown key ids and an unreachable issuer cause limited
// requests. jose counts neither failed requests nor time by our clock.
import { type CryptoKey, createRemoteJWKSet, customFetch, errors } from 'jose'
import { CarillonError, overloaded } from '../basics/errors.ts'
import type { IssuerSetting } from '../config/issuers.ts'
import { readKeySet } from './key-set.ts'
import type { ReadForeignToken } from './read-foreign-token.ts'

const maxAgeMs = 10 * 60_000
const maxStaleMs = 24 * 3_600_000
const maxAttempts = 3
const attemptEveryMs = 10_000
const maxWaiting = 1_000
const logEveryMs = 60_000

type Dependencies = {
  issuer: IssuerSetting
  now: () => number
  onFailure: (issuer: string, error: unknown) => void
}

export class IssuerKeys {
  readonly #dependencies: Dependencies
  readonly #keys: ReturnType<typeof createRemoteJWKSet>
  #readAt = Number.NEGATIVE_INFINITY
  #failure: unknown
  #loggedAt = Number.NEGATIVE_INFINITY
  #restedAt = Number.NEGATIVE_INFINITY
  #waiting = 0

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    // With a cool-down of 0, `#read` alone decides if jose reads for an unknown key id.
    this.#keys = createRemoteJWKSet(new URL('https://issuer.invalid'), {
      cacheMaxAge: Number.POSITIVE_INFINITY,
      cooldownDuration: 0,
      [customFetch]: () => this.#read(),
    })
  }

  async prefetch(): Promise<void> {
    await this.#keys.reload().catch(() => {})
  }

  /** Throws UNAVAILABLE if the keys cannot be known now. */
  async find(header: ReadForeignToken['header']): Promise<CryptoKey | null> {
    if (this.#waiting >= maxWaiting)
      throw overloaded('Too many tokens wait for the keys of their issuer')
    this.#waiting++
    try {
      if (this.#age() >= maxAgeMs) {
        const reading = this.prefetch()
        // After a failed read, tokens no longer wait for the next.
        if (this.#failure === undefined || this.#age() >= maxStaleMs) await reading
        if (this.#age() >= maxStaleMs) throw this.#unavailable()
      }
      return await this.#keys(header)
    } catch (error) {
      if (error instanceof errors.JWKSMultipleMatchingKeys) return null
      const isUnknown = error instanceof errors.JWKSNoMatchingKey || error === noAttempt
      if (isUnknown && this.#failure === undefined) return null
      throw this.#unavailable()
    } finally {
      this.#waiting--
    }
  }

  #age(): number {
    return this.#dependencies.now() - this.#readAt
  }

  async #read(): Promise<Response> {
    const { issuer, now, onFailure } = this.#dependencies
    const at = now()
    if (this.#restedAt > at + (maxAttempts - 1) * attemptEveryMs) throw noAttempt
    this.#restedAt = Math.max(this.#restedAt, at) + attemptEveryMs
    try {
      const set = await readKeySet(issuer)
      this.#readAt = now()
      this.#failure = undefined
      return Response.json(set)
    } catch (error) {
      this.#failure = error
      if (now() >= this.#loggedAt + logEveryMs) {
        this.#loggedAt = now()
        onFailure(issuer.issuer, error)
      }
      throw error
    }
  }

  /** Clients must not fill the log. */
  #unavailable(): CarillonError {
    return new CarillonError(
      'UNAVAILABLE',
      'The keys of the issuer of this token cannot be read now',
      {
        remedy: 'Try again in a moment; the log of the service has the reason.',
        cause: this.#failure,
        retryAfter: attemptEveryMs / 1000,
        report: 'nothing',
      },
    )
  }
}

const noAttempt = new Error('the attempts are used up')
