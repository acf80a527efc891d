// Logs that pages of another origin call the service: the browser shows their developer only a network failure, and the log
// names the setting. One line a minute, whatever clients send (SECURITY.md, L1).
import type { FastifyRequest } from 'fastify'
import type { Log } from '../../../basics/log.ts'
import { LogWindow } from '../../../basics/log-window.ts'
import { comesFromOtherSite } from '../checks.ts'

const periodMs = 60_000
/** A client can send any number of made-up origins. */
const maxOrigins = 8
const maxLength = 200

export class RefusedOrigins {
  readonly #log: Log
  readonly #counts = new Map<string, number>()
  readonly #period = new LogWindow(periodMs, () => this.#report())
  #isPeriodOpen = false

  constructor(log: Log) {
    this.#log = log
  }

  /** Counts a request of a page whose origin is not in the setting. The first one is logged at once, others a minute later. */
  noteFrom(request: FastifyRequest, allowed: readonly string[]): void {
    const { origin = '' } = request.raw.headers
    if (!comesFromOtherSite(request, allowed)) return
    const text = origin.slice(0, maxLength)
    const kept = this.#counts.has(text) || this.#counts.size < maxOrigins ? text : 'other'
    this.#counts.set(kept, (this.#counts.get(kept) ?? 0) + 1)
    if (!this.#isPeriodOpen) this.#report()
  }

  end(): void {
    this.#period.end()
  }

  #report(): void {
    this.#isPeriodOpen = this.#counts.size > 0
    if (!this.#isPeriodOpen) return
    this.#log.warn(
      { event: 'origin-refused', origins: Object.fromEntries(this.#counts) },
      'pages of an origin that is not in CARILLON_ALLOWED_ORIGINS called the service; add the origin if they may',
    )
    this.#counts.clear()
    this.#period.begin()
  }
}
