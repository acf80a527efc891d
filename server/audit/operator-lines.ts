// Commands have no log: every running service writes their lines.
import type { AuditEntry } from '../store/events.ts'
import { reloader } from '../store/reloads.ts'
import type { Store } from '../store/store.ts'
import { listAudit } from './audit.store.ts'
import type { AuditLines } from './audit-lines.ts'

/** Commits take time, and clocks differ. */
const lateMs = 60_000
const maxAtOnce = 1_000
/** A start notifies of younger entries. For 24 hours, an entry is not delivered twice. */
const notedWithinMs = 23 * 3_600_000

type Dependencies = {
  store: Store
  lines: AuditLines
  now: () => number
  /** Entries from before the start may have been noted already. */
  note: (entry: AuditEntry) => Promise<void>
}

export function writeOperatorLines({ store, lines, now, note }: Dependencies): void {
  const written = new Map<string, number>()
  let isStart = true
  let from = now() - notedWithinMs

  async function unwritten(since: number): Promise<AuditEntry[]> {
    const fresh: AuditEntry[] = []
    let before: string | undefined
    for (;;) {
      const found = await store.read(listAudit, {
        actor: 'operator',
        since,
        limit: maxAtOnce,
        before,
      })
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

  const readSoon = reloader(read, () => {})
  void readSoon()
  store.onChange(readSoon, ['audit'])
}
