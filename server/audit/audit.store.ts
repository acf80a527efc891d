// Reads and shortens the audit log. An operation that changes something records its own entries.
import { firstIdAt } from '../basics/ids.ts'
import type { AuditEntry } from '../store/events.ts'
import {
  addToAuditLog,
  all,
  exists,
  get,
  lockUser,
  Part,
  type Read,
  record,
  run,
  type Write,
} from '../store/statements.ts'

/** Which entries: of this user, of this actor, not older than `since`, before the entry `before`. */
export type AuditQuery = { userId?: string; actor?: string; since?: number; before?: string | undefined; limit: number }

/** Adds entries that belong to no other change of the store, such as refusals. An entry about an unknown user is one about no user. */
export function* recordAudit(entries: readonly AuditEntry[]): Write<void> {
  yield* record(entries)
}

type OfSignIn = { userId: string; signInId: string; event: string }

/** Adds an entry about a sign-in, unless the log has one of this event about it. */
export function* recordOnce(entry: AuditEntry & OfSignIn): Write<void> {
  if ((yield* lockUser(entry.userId)) && !(yield* isRecorded(entry))) yield* record([entry])
}

/** Whether the log has an entry of this event about a sign-in, whose id has the time of its beginning. */
export function* isRecorded({ userId, signInId, event }: OfSignIn): Read<boolean> {
  return yield* exists`
    select 1 from audit where user_id = ${userId} and id >= ${signInId.slice(0, 13)}
      and sign_in_id = ${signInId} and event = ${event} limit 1`
}

/** Adds entries whose log lines are written already: no listener gets them. */
export function* recordLogged(entries: readonly AuditEntry[]): Write<void> {
  yield* addToAuditLog(entries)
}

const columns = new Part(`id, at, event, actor, nullif(user_id, '') as "userId", address, user_agent as "userAgent",
  request_id as "requestId", sign_in_id as "signInId", name_hash as "nameHash", detail, count`)

type Row = Omit<AuditEntry, 'detail'> & { detail: string | null }

/** Lists entries by id, newest first, at most `limit` of them. */
export function* listAudit(query: AuditQuery): Read<AuditEntry[]> {
  const { userId, actor = null, since = 0, before = 'g', limit } = query
  const rows =
    userId === undefined
      ? yield* all<Row>`
          select ${columns} from audit
          where id >= ${firstIdAt(since)} and id < ${before} and (cast(${actor} as text) is null or actor = ${actor})
          order by id desc limit ${limit}`
      : yield* all<Row>`
          select ${columns} from audit
          where user_id = ${userId} and id >= ${firstIdAt(since)} and id < ${before}
            and (cast(${actor} as text) is null or actor = ${actor})
          order by id desc limit ${limit}`
  return rows.map(toEntry)
}

/** The newest entry with the event `settings-changed`. */
export function* lastSettingsEntry(): Read<AuditEntry | undefined> {
  const row = yield* get<Row>`
    select ${columns} from audit where event = 'settings-changed' order by id desc limit 1`
  return row && toEntry(row)
}

function toEntry({ detail, ...entry }: Row): AuditEntry {
  return { ...entry, detail: detail === null ? null : JSON.parse(detail) }
}

/** Removes at most 1,000 entries that are older than `before`. Returns how many it removed. */
export function* removeOldAudit(before: number): Write<number> {
  // Two statements, because Citus locks no rows of a subquery that reads every node.
  const oldest = yield* get<{ last: string | null }>`
    select max(id) as last from (select id from audit where id < ${firstIdAt(before)} order by id limit 1000) oldest`
  return oldest?.last ? yield* run`delete from audit where id <= ${oldest.last}` : 0
}
