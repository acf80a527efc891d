// After refusals for good on two days, nothing is mailed to an address: its bit in `inbox.reach`
// and all its mail timers go. If the server refuses many within an hour, none is stopped: it may
// refuse this service.
import { record } from '../audit/audit.store.ts'
import { decideAgain, reachBits } from '../inbox/reminders.store.ts'
import { userKey } from '../inbox/user-key.ts'
import type { Audited } from '../store/events.ts'
import { exists, get, lock, Part, type Read, send, type Write } from '../store/statements.ts'
import { lockUser } from '../users/users.store.ts'

const hourMs = 3_600_000
export const maxRefused = 20

const isStopped = new Part(`mail_refused_at is not null and (reach & ${reachBits.address}) = 0`)

export function* isMailRefused(userId: string): Read<boolean> {
  return yield* exists`select 1 from inbox where user_id = ${userKey(userId)} and mail_refused_at is not null`
}

/** `email`: the refused address. `audit`: recorded if its mails are stopped. */
type Refusal = { userId: string; email: string; at: number } & Audited

/**
 * Returns 'stopped' if the server also refused the address on an earlier day (UTC), and accepted no
 * mail in between. Returns 'many', and undoes the hour's stops, if it refused more than
 * `maxRefused` users within an hour.
 */
export function* noteRefusal({
  userId,
  email,
  at,
  audit,
}: Refusal): Write<'noted' | 'stopped' | 'many'> {
  if (!(yield* lockUser(userId))) return 'noted'
  const isOwn = yield* exists`
    select 1 from "user" where id = ${userId} and email = ${email} and email_verified_at is not null`
  if (!isOwn) return 'noted'
  const user = userKey(userId)
  const inbox = yield* lock<{ reach: number; refusedAt: number | null }>`
    select reach, mail_refused_at as "refusedAt" from inbox where user_id = ${user}`
  yield* send`update inbox set mail_refused_at = ${at} where user_id = ${user}`
  const recent = yield* get<{ count: number }>`
    select count(*) as count from inbox where mail_refused_at > ${at - hourMs}`
  if ((recent?.count ?? 0) > maxRefused) {
    yield* send`
      update inbox set reach = reach + ${reachBits.address} where mail_refused_at > ${at - hourMs} and ${isStopped}`
    return 'many'
  }
  const isReached = ((inbox?.reach ?? 0) & reachBits.address) > 0
  if (!isReached || inbox?.refusedAt == null || dayOf(inbox.refusedAt) === dayOf(at)) return 'noted'
  yield* send`update inbox set reach = reach - ${reachBits.address} where user_id = ${user}`
  yield* decideAgain(userId)
  yield* record(audit)
  return 'stopped'
}

function dayOf(at: number): number {
  return Math.floor(at / (24 * hourMs))
}

export function* forgetRefusal(userId: string): Write<void> {
  yield* send`update inbox set mail_refused_at = null where user_id = ${userKey(userId)} and not (${isStopped})`
}
