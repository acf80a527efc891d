// Which failed requests are logged, and how often? Overload and repeated failures are counted, in one line a second, so that no client
// can fill the log or hide other events in it (SECURITY.md, L1).
import type { CarillonError } from '../../basics/errors.ts'
import type { Log } from '../../basics/log.ts'
import { LogWindow } from '../../basics/log-window.ts'

export type FailedRequest = { requestId: string; method: string; route: string | undefined }

const countedForMs = 1_000
const inFullForMs = 60_000
/** Lines with a stack in each `inFullForMs`: of the same failure on one route, and of all failures. */
const maxInFull = { same: 5, all: 20 }
const maxReasons = 8

export class FailureLog {
  readonly #log: Log
  readonly #overload = new Map<string, number>()
  readonly #repeated = new Map<string, number>()
  readonly #inFull = new Map<string, number>()
  readonly #second = new LogWindow(countedForMs, () => this.#report())
  readonly #minute = new LogWindow(inFullForMs, () => this.#inFull.clear())

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

  end(): void {
    this.#second.end()
    this.#minute.end()
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
    const kept = counts.has(reason) || counts.size < maxReasons ? reason : 'other'
    counts.set(kept, (counts.get(kept) ?? 0) + 1)
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

const messages: Record<string, string> = {
  overload: 'requests refused because of overload',
  'failure-repeated': 'requests failed again with an error that is already in the log',
}
