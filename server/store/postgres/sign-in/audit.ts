// The audit log on PostgreSQL. A function that changes something records its own entries: record_audit in functions/audit.sql.
import { firstIdAt } from '../../../ids.ts'
import type { AuditEntry, AuditQuery } from '../../store.ts'
import type { Database } from '../connection/connection.ts'
import { auditText } from './audit-text.ts'

export async function recordAudit(db: Database, entries: readonly AuditEntry[]): Promise<void> {
  if (entries.length > 0) await db.one('recordAudit', 'select record_audit($1)', [auditText(entries)])
}

const columns = `id, at, event, actor, nullif(user_id, '') as "userId", address, user_agent as "userAgent",
  request_id as "requestId", sign_in_id as "signInId", name_hash as "nameHash", detail, count`

type Entry = Omit<AuditEntry, 'detail'> & { detail: string | null }

export async function listAudit(db: Database, query: AuditQuery): Promise<AuditEntry[]> {
  const { userId, actor = null, since = 0, before = 'g', limit } = query
  const values = [firstIdAt(since), before, actor, limit]
  const bounds = 'id >= $1 and id < $2 and ($3::text is null or actor = $3) order by id desc limit $4'
  const rows =
    userId === undefined
      ? await db.objects<Entry>('audit', `select ${columns} from audit where ${bounds}`, values)
      : await db.objects<Entry>('auditOfUser', `select ${columns} from audit where user_id = $5 and ${bounds}`, [
          ...values,
          userId,
        ])
  return rows.map(toEntry)
}

export async function lastSettingsEntry(db: Database): Promise<AuditEntry | undefined> {
  const text = `select ${columns} from audit where event = 'settings-changed' order by id desc limit 1`
  return (await db.objects<Entry>('lastSettingsEntry', text, [])).map(toEntry)[0]
}

export async function removeOldAudit(db: Database, before: number): Promise<number> {
  // Two statements, because Citus locks no rows of a subquery that reads every node.
  const text = 'select max(id) from (select id from audit where id < $1 order by id limit 1000) oldest'
  const row = await db.one('oldestAudit', text, [firstIdAt(before)])
  return db.change('removeOldAudit', 'delete from audit where id <= $1', [row?.[0] ?? ''])
}

function toEntry({ detail, ...entry }: Entry): AuditEntry {
  return { ...entry, detail: detail === null ? null : JSON.parse(detail) }
}
