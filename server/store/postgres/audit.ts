// The audit log on PostgreSQL. A function that changes something records its own entries: record_audit in functions/audit.sql.
import type { AuditEntry } from '../store.ts'
import { auditText } from './audit-text.ts'
import type { Database } from './connection/connection.ts'

export async function recordAudit(db: Database, entries: readonly AuditEntry[]): Promise<void> {
  if (entries.length > 0) await db.one('recordAudit', 'select record_audit($1)', [auditText(entries)])
}
