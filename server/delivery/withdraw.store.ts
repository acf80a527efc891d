// Takes back what was sent, whatever key it has: one delivery, or what a producer sent in some time.
// No statement reads title, body, url or data.
import { iso } from '../basics/clock.ts'
import { type Found, foundColumns, removeAll } from '../inbox/marks.store.ts'
import { lockInboxes, maxAtOnce } from '../inbox/retention.store.ts'
import { inUsers, userDigits, userIdOfDigits, userKey } from '../inbox/user-key.ts'
import { all, get, inList, type Read, signal, type Write } from '../store/statements.ts'

/**
 * The first id, and the first one that is not meant. `ending`: of the ids; `producer`: both '' for
 * any. What was sent again or changed after `sentUntil` stays, and so does what the service itself
 * sent.
 */
export type Sent = {
  fromId: string
  beforeId: string
  ending: string
  producer: string
  sentUntil: number
}

export type SentCount = {
  notifications: number
  users: number
  read: number
  first: string | null
  last: string | null
}

export function* countSent({
  fromId,
  beforeId,
  ending,
  producer,
  sentUntil,
}: Sent): Read<SentCount> {
  const found = yield* get<SentCount>`
    select count(*) as notifications, count(distinct n.user_id) as users, count(n.read_at) as read, min(n.created_at) as first,
      max(n.created_at) as last
    from notification n join producer p on p.number = n.producer
    where n.id >= ${fromId} and n.id < ${beforeId} and n.id like ${`%${ending}`} and ${producer} in ('', p.id, p.name)
      and coalesce(n.updated_at, n.created_at) <= ${iso(sentUntil)}`
  return found ?? { notifications: 0, users: 0, read: 0, first: null, last: null }
}

/** Withdraws a few of them. Returns 0 if none was left. */
export function* withdrawSent({ at, ...sent }: Sent & { at: number }): Write<number> {
  const { fromId, beforeId, ending, producer, sentUntil } = sent
  const next = yield* all<{ id: string; user: string }>`
    select n.id, ${userDigits} as "user" from notification n join producer p on p.number = n.producer
    where n.id >= ${fromId} and n.id < ${beforeId} and n.id like ${`%${ending}`} and ${producer} in ('', p.id, p.name)
      and coalesce(n.updated_at, n.created_at) <= ${iso(sentUntil)}
    order by n.id limit ${maxAtOnce}`
  const userIds = [...new Set(next.map(({ user }) => userIdOfDigits(user)))]
  yield* lockInboxes(userIds)
  const users = inUsers(userIds)
  const rows = yield* all<Omit<Found, 'user'> & { user: string }>`
    select ${userDigits} as "user", ${foundColumns} from notification n join inbox i using (user_id)
    where n.user_id ${users} and i.user_id ${users} and n.id ${inList(next.map(({ id }) => id))}
      and coalesce(n.updated_at, n.created_at) <= ${iso(sentUntil)}`
  for (const [user, found] of Map.groupBy(rows, (row) => row.user)) {
    const userId = userIdOfDigits(user)
    const ofUser = found.map((one) => ({ ...one, user: userKey(userId) }))
    yield* removeAll(ofUser, { at, reason: 'withdrawn' })
    yield* signal({ about: 'inbox', userId })
  }
  return next.length
}
