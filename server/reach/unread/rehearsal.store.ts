import { ofService } from '../../inbox/security-notices.store.ts'
import { userKey } from '../../inbox/user-key.ts'
import { all, get, type Read } from '../../store/statements.ts'

/** Times are ISO 8601. `sentAt`: when it last became the newest. */
export type Arrived = {
  id: string
  category: string | null
  sentAt: string
  readAt: string | null
  archivedAt: string | null
  snoozedUntil: string | null
  expiresAt: string | null
}

const maxArrived = 10_000

/** What arrived since a time, oldest first, without the service's notices; the newest 10,000. */
export function* arrivedSince({
  userId,
  since,
}: {
  userId: string
  since: string
}): Read<Arrived[]> {
  const newestFirst = yield* all<Arrived>`
    select id, category, case when count > 1 then coalesce(updated_at, created_at) else created_at end as "sentAt",
      read_at as "readAt", archived_at as "archivedAt", snoozed_until as "snoozedUntil", expires_at as "expiresAt"
    from notification
    where user_id = ${userKey(userId)} and not (${ofService}) and (created_at >= ${since} or count > 1 and updated_at >= ${since})
    order by seq desc limit ${maxArrived}`
  return newestFirst.reverse()
}

export function* countUsers(): Read<number> {
  return (yield* get<{ count: number }>`select count(*) as count from "user"`)?.count ?? 0
}
