// Which accounts are being guessed? The first refusal of a delayed account is recorded in the audit log, and then one an hour on each
// node, so that an operator sees the attack and an attacker does not fill the log.
import { recordAudit } from '../audit/audit.store.ts'
import { auditEntry, serviceSource } from '../audit/entry.ts'
import { BoundedCache } from '../basics/bounded-cache.ts'
import { iso } from '../basics/clock.ts'
import type { Store } from '../store/store.ts'

export type DelayedAccount = { userId: string; kind: string; until: number }

const recordedEveryMs = 3_600_000
const maxAccounts = 10_000

export class DelayedAccounts {
  readonly #store: Store
  readonly #recordedAt = new BoundedCache<number>(maxAccounts)

  constructor(store: Store) {
    this.#store = store
  }

  /** The refusal does not wait for it: the time of a response must not show that there is such a user. */
  record({ userId, kind, until }: DelayedAccount, at: number): void {
    const last = this.#recordedAt.get(`${userId} ${kind}`)
    if (last !== undefined && at < last + recordedEveryMs) return
    this.#recordedAt.set(`${userId} ${kind}`, at, 1)
    const detail = { kind, until: iso(until) }
    const entry = auditEntry(serviceSource, { event: 'account-delayed', at, userId, detail })
    // A store that fails says so at every other request.
    this.#store.write(recordAudit, [entry]).catch(() => this.#recordedAt.delete(`${userId} ${kind}`))
  }
}
