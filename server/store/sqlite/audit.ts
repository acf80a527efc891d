// Adds entries to the audit log, in the transaction of what they record.
import type { AuditEntry } from '../store.ts'
import type { WriteContext } from './context.ts'

/** A user who is erased meanwhile is not named: a refusal is stored after its response (U2). */
export function recordAudit({ sql }: WriteContext, entries: readonly AuditEntry[] = []): void {
  for (const { id, userId, at, event, actor, detail, ...more } of entries) {
    const text = detail === null ? null : JSON.stringify(detail)
    sql.run`
      insert into audit (user_id, id, at, event, actor, address, user_agent, request_id, sign_in_id, name_hash, detail, count)
      values (coalesce((select id from "user" where id = ${userId}), ''), ${id}, ${at}, ${event}, ${actor}, ${more.address}, ${more.userAgent}, ${more.requestId},
        ${more.signInId}, ${more.nameHash}, ${text}, ${more.count})`
  }
}
