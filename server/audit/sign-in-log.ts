// Records refused sign-ins, which anybody can cause: a limited number, and counts (L1, L2, A16).
import { counts } from '../basics/counts.ts'
import { type CarillonError, messageOf } from '../basics/errors.ts'
import type { Log } from '../basics/log.ts'
import { LogWindow } from '../basics/log-window.ts'
import type { AuditEntry } from '../store/events.ts'
import type { Store } from '../store/store.ts'
import { recordLogged } from './audit.store.ts'
import { writeLine } from './audit-lines.ts'
import { auditEntry, type Facts, type Source } from './entry.ts'
import type { EventName } from './events.ts'

type RefusedSource = Partial<Source> & { address: string; requestId: string; route?: string }
type Method = keyof typeof counts.signIns
export type Refusal = {
  code: string
  method: Method
  variant?: 'stateful' | 'stateless' | undefined
  event?: EventName
}
export type NamedAccount = {
  name: string
  user: { id: string; username: string | null } | undefined
}
type Attempt = { account: NamedAccount; method: Method; variant?: Refusal['variant'] }
type Named = { userId: string; username: string | null } | { nameHash: string }
type Pair = {
  account: Named
  address: string
  event: EventName
  inMinute: number
  unlogged: number
}

const minuteMs = 60_000
const secondMs = 1_000
/** These allow at most 95,000 rows a day. */
const maxLines = { samePerMinute: 10, atOnce: 12 }
const maxPairs = 1_000
const maxCounts = 5
const maxWaiting = 1_000
const retryMs = 1_000

type Options = { log: Log; nameHash: (name: string) => string; store: Store; now: () => number }

export class SignInLog {
  readonly #options: Options
  readonly #pairs = new Map<string, Pair>()
  readonly #minute = new LogWindow(minuteMs, () => this.#writeCounts())
  readonly #second = new LogWindow(secondMs, () => {
    if (--this.#lines > 0) this.#second.begin()
  })
  #lines = 0
  #others = 0
  #rows: AuditEntry[] = []
  #storing: Promise<void> | undefined

  constructor(options: Options) {
    this.#options = options
  }

  refused(source: RefusedSource, { name, user }: NamedAccount, refusal: Refusal): void {
    const { event = 'sign-in-refused', code, variant, method } = refusal
    counts.signIns[method][code === 'TOO_MANY_REQUESTS' ? 'delayed' : 'refused']++
    const { address, route } = source
    this.#minute.begin()
    const named =
      user === undefined
        ? { nameHash: this.#options.nameHash(name) }
        : { userId: user.id, username: user.username }
    const pair = this.#pairOf(named, { address, event })
    if (pair === undefined) this.#others++
    else if (pair.inMinute++ >= maxLines.samePerMinute || this.#lines >= maxLines.atOnce)
      pair.unlogged++
    else {
      this.#lines++
      this.#second.begin()
      this.#record(source, { event, ...named, detail: { code, variant, route } })
    }
  }

  noted(error: unknown, source: RefusedSource, { account, ...attempt }: Attempt): unknown {
    const code = refusalCode(error)
    if (code !== undefined) this.refused(source, account, { code, ...attempt })
    return error
  }

  end(): void {
    this.#minute.end()
  }

  async stored(): Promise<void> {
    await this.#storing
    await this.#storeRows().catch(() => {})
  }

  #record(source: Partial<Source>, facts: Facts, count?: number): void {
    const from = { actor: 'user', address: null, userAgent: null, requestId: null, ...source }
    const entry = {
      ...auditEntry(from, { ...facts, at: this.#options.now() }),
      ...(count !== undefined && { count }),
    }
    writeLine(this.#options.log, entry, { isCount: count !== undefined })
    if (this.#rows.length >= maxWaiting) return
    this.#rows.push(entry)
    this.#storing ??= this.#storeSoon()
  }

  async #storeSoon(): Promise<void> {
    try {
      while (this.#rows.length > 0) await this.#storeRows()
      this.#storing = undefined
    } catch (error) {
      const facts = { event: 'audit-not-stored', reason: messageOf(error) }
      this.#options.log.warn(facts, 'refusals could not be stored in the audit log; retrying')
      const again = () => {
        this.#storing = this.#storeSoon()
      }
      setTimeout(again, retryMs).unref()
    }
  }

  async #storeRows(): Promise<void> {
    const rows = this.#rows
    if (rows.length === 0) return
    this.#rows = []
    try {
      await this.#options.store.write(recordLogged, rows)
    } catch (error) {
      this.#rows = [...rows, ...this.#rows].slice(0, maxWaiting)
      throw error
    }
  }

  #pairOf(account: Named, { address, event }: Pick<Pair, 'address' | 'event'>): Pair | undefined {
    const key = `${'userId' in account ? account.userId : account.nameHash} ${address} ${event}`
    const known = this.#pairs.get(key)
    if (known !== undefined || this.#pairs.size >= maxPairs) return known
    const pair = { account, address, event, inMinute: 0, unlogged: 0 }
    this.#pairs.set(key, pair)
    return pair
  }

  #writeCounts(): void {
    const counted = [...this.#pairs.values()].filter(({ unlogged }) => unlogged > 0)
    counted.sort((a, b) => b.unlogged - a.unlogged)
    for (const { account, address, event, unlogged } of counted.slice(0, maxCounts))
      this.#record({ address }, { event, ...account }, unlogged)
    const rest = counted.slice(maxCounts)
    const count = rest.reduce((sum, { unlogged }) => sum + unlogged, this.#others)
    const addresses = new Set(rest.map(({ address }) => address)).size
    if (count > 0) this.#record({}, { event: 'sign-in-refused', detail: { addresses } }, count)
    this.#pairs.clear()
    this.#others = 0
  }
}

export function refusalCode(error: unknown): string | undefined {
  const { code, status = 500 } = error as Partial<CarillonError>
  return status >= 500 || code === 'TIMEOUT' || code === 'SECOND_FACTOR_REQUIRED' ? undefined : code
}
