// The log lines of commands, which have no log: every service that runs writes them. What happens while no service runs has no line.
import type { AuditEntry } from '../store/events.ts'
import { reloader } from '../store/reloads.ts'
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

export function writeOperatorLines({ store, lines, now, note }: Dependencies): void {
  /** The entries that are written, by id, with their time; and those from before the start, which need no lines. */
  const written = new Map<string, number>()
  let isStart = true
  /** Where the next read begins, which can be late: the reads pause, and the store can fail. */
  let from = now() - notedWithinMs

  /** The entries in the order of their ids. An import has more than one page. */
  async function unwritten(since: number): Promise<AuditEntry[]> {
    const fresh: AuditEntry[] = []
    let before: string | undefined
    for (;;) {
      const found = await store.read(listAudit, { actor: 'operator', since, limit: maxAtOnce, before })
      const unknown = found.filter(({ id }) => !written.has(id))
      fresh.push(...unknown)
      if (isStart || found.length < maxAtOnce || unknown.length === 0) return fresh.toReversed()
      before = found.at(-1)?.id
    }
  }

  async function read(): Promise<void> {
    const next = now() - lateMs
    for (const entry of await unwritten(Math.min(from, next))) {
      if (!isStart) lines.write(entry)
      void note(entry)
      written.set(entry.id, entry.at)
    }
    isStart = false
    from = next
    for (const [id, at] of written) if (at < from) written.delete(id)
  }

  // The table has the entries if it cannot be read now.
  const readSoon = reloader(read, () => {})
  void readSoon()
  store.onChange(readSoon, ['audit'])
}
