// Which timers of what is unread are due, and until when does one wait after a decision?
// (inbox/reminders.store.ts writes them.)
import type { ReminderChannel } from '../inbox/reminders.store.ts'
import { userDigits, userIdOfDigits, userKey } from '../inbox/user-key.ts'
import { all, get, inList, lock, type Read, send, type Write } from '../store/statements.ts'

const maxDue = 500

type Timer = { userId: string; channel: ReminderChannel }

/** The timer that has been due for longest is first. */
export function* dueReminders({
  channels,
  at,
}: {
  channels: readonly ReminderChannel[]
  at: number
}): Read<Timer[]> {
  const rows = yield* all<{ user: string; channel: ReminderChannel }>`
    select ${userDigits} as "user", channel from reminder where channel ${inList(channels)} and due_at <= ${at}
    order by due_at limit ${maxDue}`
  return rows.map(({ user, channel }) => ({ userId: userIdOfDigits(user), channel }))
}

export type DueTimer = { from: number; version: number; reach: number }

/**
 * Locks the inbox. Undefined if the timer is not due, or gone, such as after another process has
 * looked. `from`: the first sequence number to look at. `version`: the inbox had it then. `reach`: of
 * the inbox.
 */
export function* dueTimer({
  userId,
  channel,
  at,
}: Timer & { at: number }): Write<DueTimer | undefined> {
  const user = userKey(userId)
  const inbox = yield* lock<{ reach: number }>`select reach from inbox where user_id = ${user}`
  const timer = yield* get<{ from: number; version: number }>`
    select from_seq as "from", from_version as version from reminder
    where user_id = ${user} and channel = ${channel} and due_at <= ${at}`
  return timer && { ...timer, reach: inbox?.reach ?? 0 }
}

/** The earliest of what still waits decides; without any, the timer goes. */
export function* moveTimer(
  timer: Timer,
  { dueAt, from }: { dueAt: number; from: number },
): Write<void> {
  if (!Number.isFinite(dueAt)) return yield* removeTimer(timer)
  yield* send`
    update reminder set due_at = ${dueAt}, from_seq = ${from}
    where user_id = ${userKey(timer.userId)} and channel = ${timer.channel}`
}

export function* removeTimer({ userId, channel }: Timer): Write<void> {
  yield* send`delete from reminder where user_id = ${userKey(userId)} and channel = ${channel}`
}
