// Stops mails to an address that the mail server refuses for good (refusals.store.ts).
import { recordLogged } from '../audit/audit.store.ts'
import { auditEntry, serviceSource } from '../audit/entry.ts'
import type { Log } from '../basics/log.ts'
import { LogWindow } from '../basics/log-window.ts'
import type { Store } from '../store/store.ts'
import { findUser } from '../users/users.store.ts'
import { forgetRefusal, isMailRefused, maxRefused, noteRefusal } from './refusals.store.ts'

const hourMs = 3_600_000

export class Refusals {
  readonly #store: Store
  readonly #now: () => number
  readonly #log: Log
  /** One entry and one line an hour. */
  readonly #many = new LogWindow(hourMs, () => {})

  constructor({ store, now, log }: { store: Store; now: () => number; log: Log }) {
    this.#store = store
    this.#now = now
    this.#log = log
  }

  async note(userId: string, email: string, error: unknown): Promise<void> {
    if (userId === '' || !refusesRecipient(error)) return
    const at = this.#now()
    const stopped = auditEntry(serviceSource, { event: 'mail-stopped', at, userId })
    const outcome = await this.#store.write(noteRefusal, { userId, email, at, audit: [stopped] })
    if (outcome !== 'many' || this.#many.isOpen) return
    this.#many.begin()
    this.#log.warn(
      { event: 'mails-refused', limit: maxRefused },
      'the mail server refuses many addresses for good',
    )
    await this.#store.write(recordLogged, [
      auditEntry(serviceSource, { event: 'mails-refused', at }),
    ])
  }

  /** `email`: a former address says nothing of the present one. */
  async accepted(userId: string, email: string): Promise<void> {
    if (userId === '' || !(await this.#store.read(isMailRefused, userId))) return
    const user = await this.#store.read(findUser, userId)
    if (user?.email === email) await this.#store.write(forgetRefusal, userId)
  }
}

/** RFC 5321, section 4.2.1: 5yz is about the address after RCPT, about the mail after DATA. */
function refusesRecipient(error: unknown): boolean {
  const { responseCode = 0, command } = error as { responseCode?: number; command?: string }
  return responseCode >= 500 && command === 'RCPT TO'
}
