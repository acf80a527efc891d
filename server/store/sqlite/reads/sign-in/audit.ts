// Reads the audit log, newest entries first.
import { firstIdAt } from '../../../../ids.ts'
import type { AuditEntry, AuditQuery } from '../../../store.ts'
import type { Reader } from '../../connection.ts'

const columns = `id, at, event, actor, nullif(user_id, '') as "userId", address, user_agent as "userAgent",
  request_id as "requestId", sign_in_id as "signInId", name_hash as "nameHash", detail, count`

export const auditEntries = `select ${columns} from audit
  where id >= ?1 and id < ?2 and (?3 is null or actor = ?3) order by id desc limit ?4`

export const auditEntriesOfUser = `select ${columns} from audit
  where user_id = ?5 and id >= ?1 and id < ?2 and (?3 is null or actor = ?3) order by id desc limit ?4`

export const newestSettingsEntry = `select ${columns} from audit
  where event = 'settings-changed' order by id desc limit 1`

type Row = Omit<AuditEntry, 'detail'> & { detail: string | null }

export async function listAudit(reader: Reader, query: AuditQuery): Promise<AuditEntry[]> {
  const { userId, actor = null, since = 0, before = 'g', limit } = query
  const values = [firstIdAt(since), before, actor, limit] as const
  const rows =
    userId === undefined
      ? reader.objects<Row>(auditEntries, ...values)
      : reader.objects<Row>(auditEntriesOfUser, ...values, userId)
  return rows.map(toEntry)
}

export async function lastSettingsEntry(reader: Reader): Promise<AuditEntry | undefined> {
  return reader.objects<Row>(newestSettingsEntry).map(toEntry)[0]
}

function toEntry({ detail, ...entry }: Row): AuditEntry {
  return { ...entry, detail: detail === null ? null : JSON.parse(detail) }
}
