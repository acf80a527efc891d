// Takes back one delivery, or what a producer sent in some time.
import { iso } from '../basics/clock.ts'
import { type Found, foundColumns, removeAll } from '../inbox/marks.store.ts'
import { announce, lockInboxes } from '../inbox/retention.store.ts'
import { inUsers, userDigits, userIdOfDigits, userKey } from '../inbox/user-key.ts'
import { all, inList, type Read, type Write } from '../store/statements.ts'

/**
 * Notifications with ids from `fromId` on and before `beforeId`. `ending`: of one delivery's ids.
 * `producer`: an id or a name. '' means any. What was sent again or changed after `sentUntil`
 * stays; of one delivery, all that was changed stays. What the service itself sent stays.
 */
export type Sent = {
  fromId: string
  beforeId: string
  ending: string
  producer: string
  sentUntil: number
}
type SentOne = { id: string; user: string }

export function* findSent(
  { fromId, beforeId, ending, producer, sentUntil }: Sent,
  limit: number,
): Read<SentOne[]> {
  return yield* all<SentOne>`
    select n.id, ${userDigits} as "user"
    from notification n join producer p on p.number = n.producer
    where n.id >= ${fromId} and n.id < ${beforeId} and n.id like ${`%${ending}`} and ${producer} in ('', p.id, p.name)
      and (n.updated_at is null or ${ending} = '') and coalesce(n.updated_at, n.created_at) <= ${iso(sentUntil)}
    order by n.id limit ${limit}`
}

type Withdrawn = Pick<Sent, 'ending' | 'sentUntil'> & { some: readonly SentOne[]; at: number }

/** Withdraws those of `some` that are as they were sent. */
export function* withdrawSent({ some, ending, sentUntil, at }: Withdrawn): Write<void> {
  const userIds = [...new Set(some.map(({ user }) => userIdOfDigits(user)))]
  yield* lockInboxes(userIds)
  const users = inUsers(userIds)
  const rows = yield* all<Omit<Found, 'user'> & { user: string }>`
    select ${userDigits} as "user", ${foundColumns} from notification n join inbox i using (user_id)
    where n.user_id ${users} and i.user_id ${users} and n.id ${inList(some.map(({ id }) => id))}
      and (n.updated_at is null or ${ending} = '') and coalesce(n.updated_at, n.created_at) <= ${iso(sentUntil)}`
  const found = rows.map((row) => ({ ...row, user: userKey(userIdOfDigits(row.user)) }))
  yield* removeAll(found, { at, reason: 'withdrawn' })
  yield* announce([...new Set(found.map(({ user }) => user.id))])
}
