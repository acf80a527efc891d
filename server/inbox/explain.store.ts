// What the rows say of one notification, for `carillon explain`.
import { get, Part, type Read, userKey } from '../store/statements.ts'
import type { OneNotification } from './inbox-state.ts'
import { anyPlaceSql, readAtByAnyMarkSql } from './read-at.ts'

/** Times are ISO 8601. `readAloneAt`: `readAt`, unless a read-all read it. `away` is null if an archive-read archived it. */
export type Explained = Sent & { [Name in Times | 'senderId' | 'senderName' | 'away']: string | null }
type Sent = { seq: number; sentAt: string; count: number; seenThrough: number }
type Times = 'replacedAt' | 'readAt' | 'readAloneAt' | 'archivedAt' | 'snoozedUntil' | 'expiresAt'
type Removal = { removedAt: string; reason: string }

const columnsFor = (user: string, { archivedAt, snoozedUntil } = anyPlaceSql(user)) => `
  n.seq, n.created_at as "sentAt", p.id as "senderId", p.name as "senderName", n.updated_at as "replacedAt", n.count,
  i.seen_through as "seenThrough", ${readAtByAnyMarkSql(user)} as "readAt", n.read_at as "readAloneAt", ${archivedAt} as "archivedAt",
  ${snoozedUntil} as "snoozedUntil", n.away, n.expires_at as "expiresAt"`
const columns = new Part(columnsFor('n.user_id'), columnsFor('$1'))

/** Undefined for an unknown id, another user's, and one of whose removal nothing is kept. */
export function* explainNotification({ userId, id }: OneNotification): Read<Explained | Removal | undefined> {
  const found = yield* get<Explained>`
    select ${columns} from notification n join inbox i on i.user_id = n.user_id left join producer p on p.number = n.producer
    where n.user_id = ${userKey(userId)} and n.id = ${id}`
  const removal = get<Removal>`
    select at as "removedAt", reason from removal where user_id = ${userKey(userId)} and id = ${id}`
  return found ?? (yield* removal)
}
