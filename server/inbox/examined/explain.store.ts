import { iso } from '../../basics/clock.ts'
import { all, get, type Read } from '../../store/statements.ts'
import type { OneNotification } from '../inbox-state.ts'
import { userKey } from '../user-key.ts'

export type Explained = Sent & { [Name in Times | 'senderId' | 'senderName']: string | null }
type Sent = {
  seq: number
  sentAt: string
  count: number
  seenThrough: number
  bulk: 'read' | 'archive' | null
}
type Times = 'replacedAt' | 'readAt' | 'archivedAt' | 'snoozedUntil' | 'expiresAt'
export type Removal = { removedAt: string; reason: string }

/** Undefined also for a removal that is no longer listed. */
export function* explainNotification({
  userId,
  id,
}: OneNotification): Read<Explained | Removal | undefined> {
  const found = yield* get<Explained>`
    select n.seq, n.created_at as "sentAt", p.id as "senderId", p.name as "senderName", n.updated_at as "replacedAt", n.count,
      i.seen_through as "seenThrough", n.read_at as "readAt", n.archived_at as "archivedAt", n.snoozed_until as "snoozedUntil",
      n.expires_at as "expiresAt", b.kind as bulk
    from notification n join inbox i on i.user_id = n.user_id left join producer p on p.number = n.producer
    left join bulk b on b.user_id = n.user_id and b.act = n.bulk_version and b.version = n.bulk_version
    where n.user_id = ${userKey(userId)} and n.id = ${id}`
  const removal = get<Removal>`
    select at as "removedAt", reason from removal where user_id = ${userKey(userId)} and id = ${id}`
  return found ?? (yield* removal)
}

export function isMutedOnArrival({ archivedAt, sentAt, replacedAt }: Explained): boolean {
  return archivedAt !== null && (archivedAt === sentAt || archivedAt === replacedAt)
}

/** `key` and `producer` (an id or a name) are '' for any. */
type SentTo = {
  userId: string
  key: string
  producer: string
  since: number
  limit: number
}

/** Newest first, removed ones included. A removed one has no key. */
export function* sentTo({ userId, key, producer, since, limit }: SentTo): Read<string[]> {
  const user = userKey(userId)
  const rows = yield* all<{ id: string }>`
    select sent.id from (
      select id, key, producer, coalesce(updated_at, created_at) as at from notification where user_id = ${user}
      union all select id, '', producer, at from removal where user_id = ${user}
    ) sent left join producer p on p.number = sent.producer
    where ${key} in ('', sent.key) and ${producer} in ('', p.id, p.name) and sent.at >= ${iso(since)}
    order by sent.at desc limit ${limit}`
  return rows.map(({ id }) => id)
}
