// Logs refused and failed requests. One line counts frequent ones: no client fills the log (L1).
import type { IncomingMessage } from 'node:http'
import type { CarillonError, ProofRefusal } from '../../basics/errors.ts'
import type { AddressRanges } from '../../basics/ip-addresses.ts'
import type { Log } from '../../basics/log.ts'
import { LogWindow } from '../../basics/log-window.ts'
import { addressOf, comesFromTrustedProxy } from '../request/address.ts'

type FailedRequest = { requestId: string; method: string; route: string | undefined }

const minuteMs = 60_000
const maxInFull = { same: 5, all: 20 }
/** A client can invent any number of origins. */
const maxReasons = 8
const maxOriginLength = 200

const messages = {
  overload: 'requests refused because of overload',
  'failure-repeated': 'requests failed again with an error that is already in the log',
}

type Counts = Map<string, number>

export class RequestLog {
  readonly #log: Log
  readonly #counted = { overload: new Map() as Counts, 'failure-repeated': new Map() as Counts }
  readonly #inFull: Counts = new Map()
  readonly #origins: Counts = new Map()
  readonly #second = new LogWindow(1_000, () => this.#reportCounted())
  readonly #minute = new LogWindow(minuteMs, () => this.#inFull.clear())
  readonly #originsMinute = new LogWindow(minuteMs, () => this.#reportOrigins())
  readonly #refusals: Counts = new Map()
  readonly #refusalsMinute = new LogWindow(minuteMs, () => this.#reportRefusals())
  #isProxyReported = false

  constructor(log: Log) {
    this.#log = log
  }

  note(error: CarillonError, failure: unknown, request: FailedRequest): void {
    const { report, status, message } = error
    if (report === 'overload') this.#count('overload', message)
    else if (report === 'nothing' || status < 500) return
    else if (this.#isInFull(`${request.route} ${message} ${(failure as Error)?.message}`))
      this.#log.error({ event: report, ...request, err: failure }, message)
    else this.#count('failure-repeated', message)
  }

  /** A page of such an origin sees only a network failure. */
  noteOrigin(origin: string): void {
    addTo(this.#origins, origin.slice(0, maxOriginLength))
    if (!this.#originsMinute.isOpen) this.#reportOrigins()
  }

  noteRefusal(reason: ProofRefusal): void {
    addTo(this.#refusals, reason)
    this.#refusalsMinute.begin()
  }

  /** Reports a forwarding peer that is no trusted proxy: all clients behind it count as one. */
  noteForwarded(request: IncomingMessage, trustedProxies: AddressRanges): void {
    if (this.#isProxyReported || comesFromTrustedProxy(request, trustedProxies)) return
    this.#isProxyReported = true
    this.#log.warn(
      { event: 'proxy-not-trusted', address: addressOf(request, trustedProxies) },
      'a forwarding header came from an address that is not in CARILLON_TRUSTED_PROXIES; if that is your proxy, add it: otherwise all clients behind it count as one',
    )
  }

  end(): void {
    for (const period of [this.#second, this.#minute, this.#originsMinute, this.#refusalsMinute])
      period.end()
  }

  #isInFull(failure: string): boolean {
    this.#minute.begin()
    const all = this.#inFull.values().reduce((sum, count) => sum + count, 0)
    const same = this.#inFull.get(failure) ?? 0
    if (all >= maxInFull.all || same >= maxInFull.same) return false
    this.#inFull.set(failure, same + 1)
    return true
  }

  #count(event: keyof typeof messages, reason: string): void {
    this.#second.begin()
    addTo(this.#counted[event], reason)
  }

  #reportOrigins(): void {
    if (this.#origins.size === 0) return
    this.#log.warn(
      { event: 'origin-refused', origins: Object.fromEntries(this.#origins) },
      'pages of an origin that is not in CARILLON_ALLOWED_ORIGINS called the service; add the origin if they may',
    )
    this.#origins.clear()
    this.#originsMinute.begin()
  }

  #reportRefusals(): void {
    const count = totalOf(this.#refusals)
    const reasons = Object.fromEntries(this.#refusals)
    this.#log.warn(
      { event: 'proof-refused', count, reasons },
      'tokens, keys or sessions were refused, or lacked a scope',
    )
    this.#refusals.clear()
  }

  #reportCounted(): void {
    for (const event of ['overload', 'failure-repeated'] as const) {
      const counts = this.#counted[event]
      const count = totalOf(counts)
      if (count > 0)
        this.#log.warn({ event, count, reasons: Object.fromEntries(counts) }, messages[event])
      counts.clear()
    }
  }
}

function totalOf(counts: Counts): number {
  return counts.values().reduce((sum, one) => sum + one, 0)
}

function addTo(counts: Counts, reason: string): void {
  const kept = counts.has(reason) || counts.size < maxReasons ? reason : 'other'
  counts.set(kept, (counts.get(kept) ?? 0) + 1)
}
