// Decides what of an inbox is pushed because nobody has seen it, and reads what a push says when it
// is sent.
import { byState } from '../../inbox/marks.store.ts'
import { pushBit, reachBits } from '../../inbox/reminders.store.ts'
import { ofService } from '../../inbox/security-notices.store.ts'
import { userKey } from '../../inbox/user-key.ts'
import { all, get, type Read, send, type Write } from '../../store/statements.ts'
import { findUser } from '../../users/users.store.ts'
import { joinOutbox, maxJoined } from '../outbox.store.ts'
import { dueTimer, moveTimer, removeTimer } from '../timers.store.ts'
import {
  type Item,
  itemColumns,
  maxRead,
  noteReached,
  rulesOf,
  split,
  type Waiting,
  waitingColumns,
} from '../unread.store.ts'
import { listSubscriptions } from './subscriptions.store.ts'

/** Has one for each subscription that a user may have. */
type Decision = { userId: string; at: number; pushDelayMs: number; rowIds: readonly string[] }
type WaitingPush = Waiting & { isMandatory: number }

/**
 * If the user's timer is due, notes what is due, adds it to one row of the outbox for each
 * subscription, and moves the timer to the earliest of what waits, or removes it. Returns how many
 * notifications are due.
 */
export function* decidePush({ userId, at, pushDelayMs, rowIds }: Decision): Write<number> {
  const channel = 'push' as const
  const timer = yield* dueTimer({ userId, channel, at })
  if (timer === undefined) return 0
  const reader = yield* findUser(userId)
  const subscriptions = yield* listSubscriptions({ ownerId: userId, isScoped: false })
  // A subscription that is added meanwhile waits for the inbox, and sets the bit again.
  if (subscriptions.length === 0)
    yield* send`update inbox set reach = reach - (reach & ${reachBits.push}) where user_id = ${userKey(userId)}`
  if (reader === undefined || reader.disabledAt !== null || subscriptions.length === 0) {
    yield* removeTimer({ userId, channel })
    return 0
  }
  const { hours, isPushed } = yield* rulesOf(reader, 'off')
  const dueAtOf = ({ category, sent_at, isMandatory }: WaitingPush) =>
    isMandatory || isPushed(category) ? Date.parse(sent_at) + pushDelayMs : undefined
  const waiting = yield* unseenSince(userId, timer.from)
  const { due, next } = split(waiting, { dueAtOf, hours, at })
  if (due.length > 0) {
    yield* noteReached(userId, pushBit, due)
    const joined = due.slice(-maxJoined).map(({ id }) => id)
    for (const [n, { id: target, endpoint }] of subscriptions.entries())
      yield* joinOutbox({
        id: rowIds[n] ?? '',
        kind: 'push',
        dueAt: at,
        ownerId: userId,
        channel,
        queue: new URL(endpoint).host,
        target,
        joined,
        at,
      })
  }
  yield* moveTimer({ userId, channel }, next)
  return due.length
}

function unseenSince(userId: string, from: number): Write<WaitingPush[]> {
  return all<WaitingPush>`
    select ${waitingColumns}, case when ${ofService} then 1 else 0 end as "isMandatory" from notification ${byState}
    where user_id = ${userKey(userId)} and state = 'unread' and seq >= ${from} and (reached & ${pushBit}) = 0
      and seq > (select seen_through from inbox where user_id = ${userKey(userId)})
    order by seq limit ${maxRead}`
}

export type PushedItem = Item & { priority: 'low' | 'high' | null }

/**
 * `unseen`: pushed, and neither seen nor read. `unread`: the ids of the newest. `count`: how many
 * are unread.
 */
export type PushContent = { unseen: PushedItem[]; unread: string[]; count: number }

/** The newest is first. */
export function* pushContent({
  userId,
  maxIds,
}: {
  userId: string
  maxIds: number
}): Read<PushContent> {
  const user = userKey(userId)
  const inbox = yield* get<{ unread: number; seenThrough: number }>`
    select unread, seen_through as "seenThrough" from inbox where user_id = ${user}`
  const unseen = yield* all<PushedItem>`
    select ${itemColumns}, priority from notification ${byState}
    where user_id = ${user} and state = 'unread' and seq > ${inbox?.seenThrough ?? 0} and (reached & ${pushBit}) > 0
    order by seq desc limit ${maxRead}`
  const unread = yield* all<{ id: string }>`
    select id from notification ${byState} where user_id = ${user} and state = 'unread' order by seq desc limit ${maxIds}`
  return { unseen, unread: unread.map(({ id }) => id), count: inbox?.unread ?? 0 }
}
