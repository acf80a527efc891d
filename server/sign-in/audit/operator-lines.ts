// The log lines of commands. A command is a process of its own and has no log, so every service that runs writes the lines of what
// operators did, when the store signals it. What happened while none ran is in the table alone.
import type { Log } from '../../log/log.ts'
import type { Store } from '../../store/store.ts'
import { writeLine } from './log-line.ts'

/** An entry may be visible a little later than its time: a change waits for its commit, and clocks differ. */
const lateMs = 60_000
const maxAtOnce = 1_000

type Dependencies = { store: Pick<Store, 'listAudit' | 'onChange'>; log: Log; now: () => number }

export class OperatorLines {
  readonly #dependencies: Dependencies
  /** The entries that are written, by id, with their time; and those from before the start. */
  readonly #written = new Map<string, number>()
  #reading: Promise<void>
  #isDue = false

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.#reading = this.#read(() => {})
    dependencies.store.onChange(({ about }) => {
      if (about === 'audit' || about === 'anything') this.#readSoon()
    })
  }

  /** Signals during a read cause one more read. */
  #readSoon(): void {
    if (this.#isDue) return
    this.#isDue = true
    this.#reading = this.#reading.then(() => {
      this.#isDue = false
      return this.#read((entry) => writeLine(this.#dependencies.log, entry))
    })
  }

  async #read(write: (entry: Parameters<typeof writeLine>[1]) => void): Promise<void> {
    const { store, now } = this.#dependencies
    const since = now() - lateMs
    try {
      const found = await store.listAudit({ actor: 'operator', since, limit: maxAtOnce })
      for (const entry of found.toReversed()) {
        if (!this.#written.has(entry.id)) write(entry)
        this.#written.set(entry.id, entry.at)
      }
    } catch {
      // The next signal reads again; the table has the entries.
    }
    for (const [id, at] of this.#written) if (at < since) this.#written.delete(id)
  }
}
