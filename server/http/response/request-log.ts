// What the log says of refused and failed requests, and how often? Overload, repeated failures and refused origins are counted, and a line
// at a time has the counts, so that no client can fill the log or hide other events in it (SECURITY.md, L1).
import type { IncomingMessage } from 'node:http'
import type { CarillonError } from '../../basics/errors.ts'
import type { AddressRanges } from '../../basics/ip-addresses.ts'
import type { Log } from '../../basics/log.ts'
import { LogWindow } from '../../basics/log-window.ts'
import { addressOf, comesFromTrustedProxy } from '../request/address.ts'

export type FailedRequest = { requestId: string; method: string; route: string | undefined }

const countedForMs = 1_000
const inFullForMs = 60_000
/** Lines with a stack in each `inFullForMs`: of the same failure on one route, and of all failures. */
const maxInFull = { same: 5, all: 20 }
/** Reasons, and origins: a client can send any number of made-up ones. */
const maxReasons = 8
const maxOriginLength = 200
const originsForMs = 60_000

export class RequestLog {
  readonly #log: Log
  readonly #overload = new Map<string, number>()
  readonly #repeated = new Map<string, number>()
  readonly #inFull = new Map<string, number>()
  readonly #second = new LogWindow(countedForMs, () => this.#report())
  readonly #minute = new LogWindow(inFullForMs, () => this.#inFull.clear())
  readonly #origins = new Map<string, number>()
  readonly #originsPeriod = new LogWindow(originsForMs, () => this.#reportOrigins())
  #isPeriodOpen = false
  #isProxyReported = false

  constructor(log: Log) {
    this.#log = log
  }

  /** `failure` is what was thrown; `error` is what the client receives. */
  note(error: CarillonError, failure: unknown, request: FailedRequest): void {
    const { report, status, message } = error
    if (report === 'overload') this.#count(this.#overload, message)
    else if (report === 'nothing' || status < 500) return
    else if (this.#isInFull(`${request.route} ${message} ${(failure as Error)?.message}`))
      this.#log.error({ event: 'failure', ...request, err: failure }, message)
    else this.#count(this.#repeated, message)
  }

  /**
   * Counts a request of a page whose origin is not in the setting: the browser shows its developer only a network failure. The first one is
   * logged at once, others a minute later.
   */
  noteOrigin(origin: string): void {
    addTo(this.#origins, origin.slice(0, maxOriginLength))
    if (!this.#isPeriodOpen) this.#reportOrigins()
  }

  /**
   * Logs the first request with a forwarding header of a peer that is not a trusted proxy, and no more. Behind such a proxy every
   * client has one address, so that a hundred wrong passwords of one client delay the sign-ins of all others.
   */
  noteForwarded(request: IncomingMessage, trustedProxies: AddressRanges): void {
    if (this.#isProxyReported || comesFromTrustedProxy(request, trustedProxies)) return
    this.#isProxyReported = true
    this.#log.warn(
      { event: 'proxy-not-trusted', address: addressOf(request, trustedProxies) },
      'a forwarding header came from an address that is not in CARILLON_TRUSTED_PROXIES; if that is your proxy, add it: otherwise all clients behind it count as one',
    )
  }

  end(): void {
    for (const period of [this.#second, this.#minute, this.#originsPeriod]) period.end()
  }

  #isInFull(failure: string): boolean {
    this.#minute.begin()
    const all = this.#inFull.values().reduce((sum, count) => sum + count, 0)
    const same = this.#inFull.get(failure) ?? 0
    if (all >= maxInFull.all || same >= maxInFull.same) return false
    this.#inFull.set(failure, same + 1)
    return true
  }

  #count(counts: Map<string, number>, reason: string): void {
    this.#second.begin()
    addTo(counts, reason)
  }

  #reportOrigins(): void {
    this.#isPeriodOpen = this.#origins.size > 0
    if (!this.#isPeriodOpen) return
    this.#log.warn(
      { event: 'origin-refused', origins: Object.fromEntries(this.#origins) },
      'pages of an origin that is not in CARILLON_ALLOWED_ORIGINS called the service; add the origin if they may',
    )
    this.#origins.clear()
    this.#originsPeriod.begin()
  }

  #report(): void {
    for (const [event, counts] of Object.entries({ overload: this.#overload, 'failure-repeated': this.#repeated })) {
      if (counts.size === 0) continue
      const count = counts.values().reduce((sum, one) => sum + one, 0)
      this.#log.warn({ event, count, reasons: Object.fromEntries(counts) }, messages[event])
      counts.clear()
    }
  }
}

function addTo(counts: Map<string, number>, reason: string): void {
  const kept = counts.has(reason) || counts.size < maxReasons ? reason : 'other'
  counts.set(kept, (counts.get(kept) ?? 0) + 1)
}

const messages: Record<string, string> = {
  overload: 'requests refused because of overload',
  'failure-repeated': 'requests failed again with an error that is already in the log',
}
