// What the service keeps of one user, for the export (export.routes.ts). No hash, key or sealed text is read.
import { factorsOf } from '../../factors/factors.store.ts'
import { notificationText } from '../../inbox/notification-json.ts'
import { providerAccounts } from '../../providers/provider-accounts.store.ts'
import { all, type Read, userKey } from '../../store/statements.ts'

/** The rows of a user beside the user, the inbox and the audit log, by the type of their lines. */
export function* recordsOf(userId: string): Read<Record<string, object[]>> {
  const { factors } = yield* factorsOf(userId)
  return {
    session: yield* all`
      select sign_in_id as id, device, address, created_at as "createdAt", last_seen_at as "lastSeenAt",
        confirmed_at as "confirmedAt" from session where user_id = ${userId} order by sign_in_id`,
    device: yield* all`
      select label, network, first_seen_at as "firstSeenAt", last_seen_at as "lastSeenAt"
      from known_device where user_id = ${userId} order by first_seen_at, label, network`,
    factor: factors.map(({ id, kind, label, createdAt, confirmedAt, lastUsedAt }) => {
      return { id, kind, label, createdAt, confirmedAt, lastUsedAt }
    }),
    'provider-account': yield* providerAccounts(userId),
    preference: yield* all`
      select nullif(category, '') as category, muted_until as "mutedUntil"
      from preference p where user_id = ${userKey(userId)} order by p.category`,
  }
}

/** At most 256 KB: a notification has at most 45 KB. And so few that a read from a cold disk delays no other read for long. */
const pageSize = 5

/** Up to five notifications as JSON text, in the order of their sequence numbers, starting after `seq`. */
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
