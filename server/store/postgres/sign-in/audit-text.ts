// How entries of the audit log reach a function of the database: as the JSON that record_audit takes (functions/audit.sql).
import type { AuditEntry } from '../../store.ts'

/** Calls a function and, if its outcome is the one given, records the entries of parameter `$n`, in one statement. */
export function audited(call: string, { outcome, entries }: { outcome: string; entries: `$${number}` }): string {
  return `select outcome, case when outcome = ${outcome} then record_audit(${entries}) end from (select ${call} as outcome) called`
}

/** Null for no entries. */
export function auditText(entries: readonly AuditEntry[] = []): string | null {
  return entries.length === 0 ? null : JSON.stringify(entries)
}
