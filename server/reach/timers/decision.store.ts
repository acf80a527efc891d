// Which timers are due, and what of an inbox is sent, by the present rules?
import { afterQuiet, type Hours } from '../../inbox/mail-rules.ts'
import { byState } from '../../inbox/marks.store.ts'
import type { ReminderChannel } from '../../inbox/reminders.store.ts'
import { ofService } from '../../inbox/security-notices.store.ts'
import { userDigits, userIdOfDigits, userKey } from '../../inbox/user-key.ts'
import {
  all,
  get,
  inList,
  inNumbers,
  lock,
  type Read,
  send,
  type Write,
} from '../../store/statements.ts'

const maxDue = 500
/** The rest waits for the next decision. */
export const maxRead = 1_000

type Timer = { userId: string; channel: ReminderChannel }

/** Longest due first. */
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

export type Look = { userId: string; at: number; rowId: string }

export type DueTimer = { from: number; version: number; reach: number; seenThrough: number }

/**
 * Locks the inbox. Undefined if it is not due, or another process took it. `from`: the first number
 * to look at. `version`: the inbox had it then. `reach`, `seenThrough`: of the inbox.
 */
export function* dueTimer({
  userId,
  channel,
  at,
}: Timer & { at: number }): Write<DueTimer | undefined> {
  const user = userKey(userId)
  const inbox = yield* lock<{ reach: number; seenThrough: number }>`
    select reach, seen_through as "seenThrough" from inbox where user_id = ${user}`
  const timer = yield* get<{ from: number; version: number }>`
    select from_seq as "from", from_version as version from reminder
    where user_id = ${user} and channel = ${channel} and due_at <= ${at}`
  return timer && { reach: 0, seenThrough: 0, ...inbox, ...timer }
}

export function* removeTimer({ userId, channel }: Timer): Write<void> {
  yield* send`delete from reminder where user_id = ${userKey(userId)} and channel = ${channel}`
}

/** `isNotice`: 1 for the service's own report about the account. */
export type Waiting = {
  seq: number
  id: string
  category: string | null
  producer: number | null
  sent_at: string
  isNotice: number
}

/** `dueAtOf`: undefined for never. `isMuted`: by now. */
type Rule = {
  dueAtOf: (one: Waiting) => number | undefined
  hours: Hours
  isMuted: (category: string | null) => boolean
}
type Way = {
  channel: ReminderChannel
  /** A bit of `notification.reached`. */
  bit: number
  /** Undefined to send nothing. */
  ruleOf: (timer: DueTimer, waiting: readonly Waiting[]) => Write<Rule | undefined>
}

const nothing = { due: [], next: { dueAt: Number.POSITIVE_INFINITY, from: 0 } }

/**
 * If the timer is due, notes what is due, and returns what of it is not muted, oldest first. Moves
 * or removes the timer.
 */
export function* takeDue({ userId, at }: Look, { channel, bit, ruleOf }: Way): Write<Waiting[]> {
  const timer = yield* dueTimer({ userId, channel, at })
  if (timer === undefined) return []
  const user = userKey(userId)
  const from = channel === 'push' ? Math.max(timer.from, timer.seenThrough + 1) : timer.from
  const waiting = yield* all<Waiting>`
    select seq, id, category, producer, case when ${ofService} then 1 else 0 end as "isNotice",
      case when count > 1 then coalesce(updated_at, created_at) else created_at end as sent_at
    from notification ${byState}
    where user_id = ${user} and state = 'unread' and seq >= ${from} and (reached & ${bit}) = 0
    order by seq limit ${maxRead}`
  const rule = yield* ruleOf(timer, waiting)
  const { due, next } = rule ? split(waiting, rule, at) : nothing
  if (due.length > 0)
    yield* send`
      update notification set reached = reached | ${bit} where user_id = ${user} and seq ${inNumbers(due.map(({ seq }) => seq))}`
  if (Number.isFinite(next.dueAt))
    yield* send`
      update reminder set due_at = ${next.dueAt}, from_seq = ${next.from} where user_id = ${user} and channel = ${channel}`
  else yield* removeTimer({ userId, channel })
  return due.filter(({ category, isNotice }) => isNotice || !rule?.isMuted(category))
}

/**
 * Says which notifications are due, and when and from which number the timer looks again; infinite
 * for never. Quiet hours delay even what is due: the service may have been down.
 */
export function split(
  waiting: readonly Waiting[],
  { dueAtOf, hours }: Omit<Rule, 'isMuted'>,
  at: number,
) {
  const earliest = afterQuiet(at, hours)
  const timed = waiting.flatMap((one) => {
    const dueAt = dueAtOf(one)
    if (dueAt === undefined) return []
    return [{ one, dueAt: dueAt <= at ? earliest : dueAt }]
  })
  const due = timed.filter((entry) => entry.dueAt <= at).map(({ one }) => one)
  const rest = timed.filter((entry) => entry.dueAt > at)
  const hasMore = waiting.length === maxRead
  // If all of them wait, another look would read the same.
  const goesOn = hasMore && (due.length > 0 || rest.length === 0)
  const dueAt = goesOn ? at : Math.min(...rest.map((one) => one.dueAt))
  const beyond = hasMore ? (waiting.at(-1)?.seq ?? 0) + 1 : Number.POSITIVE_INFINITY
  return { due, next: { dueAt, from: Math.min(...rest.map(({ one }) => one.seq), beyond) } }
}
