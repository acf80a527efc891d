// The log lines of commands. A command is a process of its own and has no log, so every service that runs writes the lines of what
// operators did, when the store signals it. What happened while none ran is in the table alone.
import type { AuditEntry } from '../store/events.ts'
import type { Store } from '../store/store.ts'
import { listAudit } from './audit.store.ts'
import type { AuditLines } from './audit-lines.ts'

/** An entry may be visible a little later than its time: a change waits for its commit, and clocks differ. */
const lateMs = 60_000
const maxAtOnce = 1_000
/** How old an entry may be that users are notified of at a start. Deliveries of the same entry are recognised for 24 hours. */
const notedWithinMs = 23 * 3_600_000

type Dependencies = {
  store: Store
  lines: AuditLines
  now: () => number
  /** Gets each entry, also those of the last 23 hours before the start, which may have been noted before. */
  note: (entry: AuditEntry) => Promise<void>
}

export class OperatorLines {
  readonly #dependencies: Dependencies
  /** The entries that are written, by id, with their time; and those from before the start. */
  readonly #written = new Map<string, number>()
  #reading: Promise<void>
  #isDue = false

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.#reading = this.#read(() => {}, notedWithinMs)
    dependencies.store.onChange(() => this.#readSoon(), ['audit'])
  }

  /** Signals during a read cause one more read. */
  #readSoon(): void {
    if (this.#isDue) return
    this.#isDue = true
    this.#reading = this.#reading.then(() => {
      this.#isDue = false
      return this.#read((entry) => this.#dependencies.lines.write(entry))
    })
  }

  async #read(write: (entry: AuditEntry) => void, withinMs = lateMs): Promise<void> {
    const { store, now } = this.#dependencies
    const since = now() - withinMs
    try {
      const fresh: AuditEntry[] = []
      let before = {}
      for (;;) {
        const found = await store.read(listAudit, { actor: 'operator', since, limit: maxAtOnce, ...before })
        const unknown = found.filter(({ id }) => !this.#written.has(id))
        fresh.push(...unknown)
        // An import has more at once. What happened before the start needs no lines.
        if (found.length < maxAtOnce || unknown.length === 0 || withinMs > lateMs) break
        before = { before: found.at(-1)?.id }
      }
      for (const entry of fresh.toReversed()) {
        write(entry)
        void this.#dependencies.note(entry)
        this.#written.set(entry.id, entry.at)
      }
    } catch {
      // The next signal reads again; the table has the entries.
    }
    for (const [id, at] of this.#written) if (at < since) this.#written.delete(id)
  }
}
