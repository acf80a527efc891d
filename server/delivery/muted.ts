// What a user has muted is decided when a notification is delivered: it arrives archived and read, and does not come back when the mute ends.
import { all, digitsOf, get, givenUser, inUsers, rowsOf, send, userDigits, type Write } from '../store/statements.ts'
import type { Delivery } from './delivery.ts'

/** A notification that has just arrived. */
export type Arrived = { userId: string; id: string; seq: number }

/**
 * Archives those of `arrived` whose users have muted the category or everything, unless the category is mandatory in the producer's
 * application. Returns them.
 */
export function* archiveMuted(delivery: Delivery, arrived: readonly Arrived[]): Write<readonly Arrived[]> {
  const { category, application = '', createdAt, producerId } = delivery
  // What the service itself reports about the account.
  if (producerId === 'carillon' && category === 'security') return []
  const mandatory = yield* get`
    select 1 from category where application = ${application} and name = ${category} and mandatory = 1`
  if (mandatory !== undefined) return []
  const rows = yield* all<{ user: string }>`
    select ${userDigits} as "user" from preference
    where user_id ${inUsers(arrived.map(({ userId }) => userId))} and category in ('', ${category ?? ''})
      and muted_until > ${createdAt}`
  const users = new Set(rows.map(({ user }) => user))
  const muted = arrived.filter(({ userId }) => users.has(digitsOf(userId)))
  if (muted.length > 0) yield* archive(delivery, muted)
  return muted
}

function* archive({ category, createdAt }: Delivery, muted: readonly Arrived[]): Write<void> {
  const users = inUsers(muted.map(({ userId }) => userId))
  yield* send`
    update notification set read_at = ${createdAt}, away = 'archived', away_at = ${createdAt}
    from ${rowsOf(muted)} where user_id = ${givenUser} and seq = cast(given.value ->> 'seq' as bigint)`
  yield* send`
    update inbox set total = total - 1, unread = unread - 1, unseen = unseen - 1, archived = archived + 1
    where user_id ${users}`
  yield* send`
    update inbox_category set total = total - 1, unread = unread - 1, archived = archived + 1
    where user_id ${users} and category = ${category}`
}
