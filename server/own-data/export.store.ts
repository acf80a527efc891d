// Reads no hash, key or sealed text.
import { factorsOf } from '../factors/factors.store.ts'
import { notificationText } from '../inbox/notification-json.ts'
import { userKey } from '../inbox/user-key.ts'
import { providerAccounts } from '../providers/provider-accounts.store.ts'
import { all, type Read } from '../store/statements.ts'

export function* recordsOf(userId: string): Read<Record<string, object[]>> {
  const { factors } = yield* factorsOf(userId)
  return {
    session: yield* all`
      select sign_in_id as id, device, address, created_at as "createdAt", last_seen_at as "lastSeenAt",
        confirmed_at as "confirmedAt", factor from session where user_id = ${userId} order by sign_in_id`,
    device: yield* all`
      select label, network, first_seen_at as "firstSeenAt", last_seen_at as "lastSeenAt"
      from known_device where user_id = ${userId} order by first_seen_at, label, network`,
    factor: factors.map(({ id, kind, label, createdAt, confirmedAt, lastUsedAt }) => {
      return { id, kind, label, createdAt, confirmedAt, lastUsedAt }
    }),
    'mail-refusal': yield* all`
      select mail_refused_at as "refusedAt" from inbox
      where user_id = ${userKey(userId)} and mail_refused_at is not null`,
    'push-subscription': yield* all`
      select device, url, created_at as "createdAt", last_used_at as "lastUsedAt"
      from push_subscription where owner_id = ${userId} and endpoint <> '' order by created_at, id`,
    'provider-account': yield* providerAccounts(userId),
    preference: yield* all`
      select nullif(category, '') as category, muted_until as "mutedUntil", mail, push, hours
      from preference p where user_id = ${userKey(userId)} order by p.category`,
  }
}

/** Other reads then wait little, even on a cold disk. */
const pageSize = 5

export function* notificationsAfter({
  userId,
  seq,
}: {
  userId: string
  seq: number
}): Read<{ seq: number; text: string }[]> {
  return yield* all`
    select n.seq, ${notificationText} as text from notification n
    where n.user_id = ${userKey(userId)} and n.seq > ${seq} order by n.seq limit ${pageSize}`
}
