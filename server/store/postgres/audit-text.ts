// How entries of the audit log reach a function of the database: as the JSON that record_audit takes (functions/audit.sql).
import type { AuditEntry } from '../store.ts'

/** Null for no entries. */
export function auditText(entries: readonly AuditEntry[] = []): string | null {
  return entries.length === 0 ? null : JSON.stringify(entries)
}
