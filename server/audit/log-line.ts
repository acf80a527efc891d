// How an entry of the audit log becomes a line of the service's log. compose.ts has the lines of changes written,
// after their commit, and refusals (sign-in-log.ts) write their own.
import type { Log } from '../basics/log.ts'
import type { AuditEntry } from '../store/events.ts'

/** Fields without a value are left out, and so is the list of all settings. Of the details, none takes the place of another field. */
export function writeLine(log: Log, entry: AuditEntry, { isCount = entry.count > 1 } = {}): void {
  const { id: auditId, at: _, formerEmail: __, event, address, detail, count, ...more } = entry
  const facts = { ...more, auditId, ...(isCount && { count }) }
  const others = Object.entries({ ...detail, settings: null, ...facts }).filter(
    ([, value]) => value !== null && value !== undefined,
  )
  // The event comes first and the address second: a filter of lines such as fail2ban finds them before any text of a client.
  log.info({ event, ...(address !== null && { address }), ...Object.fromEntries(others) }, messageOf(event))
}

/** `sign-in-refused`: "sign-in refused". */
export function messageOf(event: string): string {
  return event.replaceAll(/(?<!\bsign)-/g, ' ')
}
