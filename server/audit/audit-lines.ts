// An import has thousands of entries: the log gets the first, then one line a second with a count.
import type { Log } from '../basics/log.ts'
import { LogWindow } from '../basics/log-window.ts'
import type { AuditEntry } from '../store/events.ts'
import type { Store } from '../store/store.ts'
import type { EventName } from './events.ts'

const imported: ReadonlySet<string> = new Set<EventName>([
  'user-created',
  'user-changed',
  'user-disabled',
  'user-enabled',
  'password-changed',
])
const maxAtOnce = 12

export class AuditLines {
  readonly #log: Log
  readonly #second = new LogWindow(1_000, () => this.#writeCounts())
  readonly #counts = new Map<string, Pick<AuditEntry, 'event' | 'actor' | 'count'>>()
  #atOnce = 0

  constructor(log: Log) {
    this.#log = log
  }

  listen(store: Store): void {
    store.onRecorded(async (entries) => {
      for (const entry of entries) if (!entry.isLogged) this.write(entry)
    })
  }

  write(entry: AuditEntry): void {
    const { event, actor, count } = entry
    const isLimited = actor !== 'user' && imported.has(event)
    if (isLimited) this.#second.begin()
    if (!isLimited || this.#atOnce++ < maxAtOnce) writeLine(this.#log, entry)
    else {
      const key = `${event} ${actor}`
      this.#counts.set(key, { event, actor, count: count + (this.#counts.get(key)?.count ?? 0) })
    }
  }

  end(): void {
    this.#second.end()
  }

  #writeCounts(): void {
    if (this.#counts.size === 0) this.#atOnce = 0
    else this.#second.begin()
    for (const { event, actor, count } of this.#counts.values())
      this.#log.info({ event, actor, count }, messageOf(event))
    this.#counts.clear()
  }
}

/** No detail replaces another field. */
export function writeLine(log: Log, entry: AuditEntry, { isCount = entry.count > 1 } = {}): void {
  const { id: auditId, at: _, formerEmail: __, event, address, detail, count, ...more } = entry
  const facts = { ...more, auditId, ...(isCount && { count }) }
  const others = Object.entries({ ...detail, settings: null, ...facts }).filter(
    ([, value]) => value !== null && value !== undefined,
  )
  // fail2ban finds event and address before clients' texts.
  log.info(
    { event, ...(address !== null && { address }), ...Object.fromEntries(others) },
    messageOf(event),
  )
}

function messageOf(event: string): string {
  return event.replaceAll(/(?<!\bsign)-/g, ' ')
}
