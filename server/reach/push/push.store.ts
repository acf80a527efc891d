// Decides what is pushed, and reads what a push says when it is sent.
import { iso } from '../../basics/clock.ts'
import { byState } from '../../inbox/marks.store.ts'
import { pushBit, reachBits } from '../../inbox/reminders.store.ts'
import { userKey } from '../../inbox/user-key.ts'
import { rulesOf } from '../../preferences/preferences.store.ts'
import { all, get, type Read, send, type Write } from '../../store/statements.ts'
import { findUser } from '../../users/users.store.ts'
import { type Item, itemColumns } from '../items.store.ts'
import { joinOutbox, maxJoined } from '../outbox.store.ts'
import { type Look, maxRead, takeDue, type Waiting } from '../timers/decision.store.ts'
import { listSubscriptions, type Subscription } from './subscriptions.store.ts'

/** Adds what is due to one outbox row for each subscription. Returns how many are due. */
export function* decidePush(look: Look & { pushDelayMs: number }): Write<number> {
  const { userId: ownerId, at, rowId, pushDelayMs } = look
  const channel = 'push' as const
  let subscriptions: Subscription[] = []
  function* ruleOf() {
    subscriptions = yield* listSubscriptions({ ownerId, isScoped: false })
    // A subscription that is added meanwhile waits for the inbox, and sets the bit again.
    if (subscriptions.length === 0)
      yield* send`update inbox set reach = reach - (reach & ${reachBits.push}) where user_id = ${userKey(ownerId)}`
    const reader = yield* findUser(ownerId)
    if (reader?.disabledAt !== null || subscriptions.length === 0) return undefined
    const { hours, isPushed, isMuted } = yield* rulesOf(reader, 'off', iso(at))
    const dueAtOf = ({ category, sent_at, isNotice }: Waiting) =>
      isNotice || isPushed(category) ? Date.parse(sent_at) + pushDelayMs : undefined
    return { dueAtOf, hours, isMuted }
  }
  const due = yield* takeDue(look, { channel, bit: pushBit, ruleOf })
  const joined = due.slice(-maxJoined).map(({ id }) => id)
  if (due.length > 0)
    for (const [n, { id: target, endpoint }] of subscriptions.entries()) {
      const queue = new URL(endpoint).host
      const row = {
        id: `${rowId}-${n}`,
        kind: 'push',
        dueAt: at,
        ownerId,
        channel,
        queue,
        target,
        at,
      }
      yield* joinOutbox({ ...row, joined })
    }
  return due.length
}

/** `unseen`: pushed, neither seen nor read. `unread`: the newest ids. `count`: of all unread. */
export type PushContent = { unseen: Item[]; unread: string[]; count: number }

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
  const unseen = yield* all<Item>`
    select ${itemColumns} from notification ${byState}
    where user_id = ${user} and state = 'unread' and seq > ${inbox?.seenThrough ?? 0} and (reached & ${pushBit}) > 0
    order by seq desc limit ${maxRead}`
  const unread = yield* all<{ id: string }>`
    select id from notification ${byState} where user_id = ${user} and state = 'unread' order by seq desc limit ${maxIds}`
  return { unseen, unread: unread.map(({ id }) => id), count: inbox?.unread ?? 0 }
}
