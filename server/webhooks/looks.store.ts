// A look at an inbox with a due timer writes outbox rows for webhooks. A backend that reads events
// takes them here, and acknowledges them with its next request.
import { iso } from '../basics/clock.ts'
import { usualHours } from '../inbox/mail-rules.ts'
import { byState } from '../inbox/marks.store.ts'
import { eventBit, reachBits } from '../inbox/reminders.store.ts'
import { type UserKey, userKey } from '../inbox/user-key.ts'
import {
  addEvent,
  type EventType,
  type Receiver,
  receiversOf,
  wants,
} from '../inbox/webhook-events.store.ts'
import { rulesOf } from '../preferences/preferences.store.ts'
import {
  type DueTimer,
  dueTimer,
  type Look,
  maxRead,
  removeTimer,
  takeDue,
  type Waiting,
} from '../reach/timers/decision.store.ts'
import {
  all,
  exists,
  inList,
  inNumbers,
  type Read,
  run,
  send,
  type Write,
} from '../store/statements.ts'
import { findUser } from '../users/users.store.ts'

/** So many ids fill 20 KB. */
export const maxItems = 200

/** What was unread for long enough becomes one event for each waiting webhook. Returns how many. */
export function* lookAtUnread(look: Look): Write<number> {
  const type = 'notification.unread'
  let receiversFor = (_sent: Sent): Receiver[] => []
  function* ruleOf(_timer: DueTimer, waiting: readonly Waiting[]) {
    const reader = yield* findUser(look.userId)
    if (reader?.disabledAt !== null) return undefined
    const { isMuted } = yield* rulesOf(reader, 'off', iso(look.at))
    const senders = yield* sendersOf(waiting)
    receiversFor = (one) => senders.receiversFor(one, type)
    const dueAtOf = (one: Waiting) => {
      const [first] = receiversFor(one)
      return first && Date.parse(one.sent_at) + first.unreadAfterMs
    }
    return { dueAtOf, hours: usualHours, isMuted }
  }
  const due = yield* takeDue(look, { channel: 'unread', bit: eventBit, ruleOf })
  const newestFirst = due.toReversed()
  const wanted = newestFirst.flatMap((one) =>
    receiversFor(one).map((receiver) => ({ id: one.id, type, receiver }) as const),
  )
  return yield* addEvents(look, wanted)
}

type Changed = {
  version: number
  seq: number
  id: string
  category: string | null
  producer: number | null
}
type Change = Changed & { type: EventType | undefined; reason?: string }

/** Each change since the timer was written becomes an event for each webhook. Returns how many. */
export function* lookAtChanges(look: Look): Write<number> {
  const { userId } = look
  const user = userKey(userId)
  const channel = 'webhook' as const
  const timer = yield* dueTimer({ userId, channel, at: look.at })
  if (timer === undefined) return 0
  const lists = yield* changesAfter(user, timer)
  // What came after the end of a full list has to wait, because the list may go on.
  const full = lists
    .filter(({ length }) => length >= maxRead)
    .map((list) => list.at(-1)?.version ?? 0)
  const until = Math.min(...full)
  const changes = lists.flat().filter(({ version }) => version <= until)
  changes.sort((one, other) => one.version - other.version)
  if (full.length > 0) {
    const arrived = changes
      .filter(({ type }) => type === 'notification.created')
      .map(({ seq }) => seq + 1)
    yield* send`
      update reminder set from_version = ${until}, from_seq = ${Math.max(timer.from, ...arrived)}
      where user_id = ${user} and channel = ${channel}`
  } else yield* removeTimer({ userId, channel })
  const senders = yield* sendersOf(changes)
  if (changes.length > 0 && !senders.exist) yield* stopWatching(user)
  const wanted = changes.flatMap(({ type, ...change }) => {
    if (type === undefined) return []
    return senders.receiversFor(change, type).map((receiver) => ({ ...change, type, receiver }))
  })
  return yield* addEvents(look, wanted)
}

function* stopWatching(user: UserKey): Write<void> {
  if (yield* exists`select 1 from webhook where disabled_at is null`) return
  yield* send`
    update inbox set reach = reach - ${reachBits.marks} where user_id = ${user} and (reach & ${reachBits.marks}) > 0`
}

/** Arrivals, later changes of one notification, removals and bulk acts are each in order. */
function* changesAfter(user: UserKey, { from, version }: DueTimer): Write<Change[][]> {
  const arrivals = yield* all<Changed>`
    select version, seq, id, category, producer from notification
    where user_id = ${user} and seq >= ${from} and version > ${version} order by seq limit ${maxRead}`
  const later = yield* all<Changed & { state: string }>`
    select changed_version as version, seq, id, category, producer, state from notification
    where user_id = ${user} and changed_version > ${version} and coalesce(bulk_version, 0) = 0
    order by changed_version limit ${maxRead}`
  const removed = yield* all<Changed & { reason: string }>`
    select version, 0 as seq, id, category, producer, reason from removal
    where user_id = ${user} and version > ${version} order by version limit ${maxRead}`
  const acts = yield* all<Act>`
    select version, act, kind, from_seq as first, through_seq as last from bulk
    where user_id = ${user} and version > ${version} order by version limit ${maxRead}`
  const ofActs: Change[] = []
  for (const act of acts) {
    if (ofActs.length >= maxRead) break
    ofActs.push(...(yield* changesOf(user, act)))
  }
  return [
    arrivals.map((one) => ({ ...one, type: 'notification.created' })),
    later.map((one) => ({ ...one, type: typeOf[one.state] })),
    removed.map((one) => ({ ...one, type: 'notification.deleted' })),
    ofActs,
  ]
}

const typeOf: Readonly<Record<string, EventType>> = {
  read: 'notification.read',
  archived: 'notification.archived',
}

type Act = { version: number; act: number; kind: 'read' | 'archive'; first: number; last: number }

/** Since then, only a bulk step changed these. */
function* changesOf(user: UserKey, { version, act, kind, first, last }: Act): Write<Change[]> {
  const state = kind === 'read' ? 'read' : 'archived'
  const rows = yield* all<Omit<Changed, 'version'>>`
    select seq, id, category, producer from notification ${byState}
    where user_id = ${user} and state = ${state} and seq >= ${first} and seq <= ${last} and abs(bulk_version) = ${act} order by seq`
  return rows.map((row) => ({ ...row, version, type: typeOf[state] }))
}

type Sent = { producer: number | null; category: string | null }

/** A notification concerns the webhooks of its sender. */
function* sendersOf(found: readonly Sent[]) {
  const numbers = new Set(found.flatMap(({ producer }) => producer ?? []))
  const producers = yield* all<{ number: number; application: string }>`
    select number, application from producer where number ${inNumbers([...numbers])}`
  const applications = new Map(producers.map(({ number, application }) => [number, application]))
  const receivers = (yield* receiversOf([...new Set(applications.values())])).map((one) => {
    const names: string[] | null = JSON.parse(one.categories ?? 'null')
    return { ...one, names: names && new Set<string | null>(names) }
  })
  return {
    exist: receivers.length > 0,
    receiversFor({ producer, category }: Sent, type: EventType): Receiver[] {
      const application = applications.get(producer ?? Number.NaN)
      return receivers.filter(
        (one) =>
          one.application === application && wants(one, type) && (one.names?.has(category) ?? true),
      )
    },
  }
}

type Wanted = { receiver: Receiver; type: EventType; id: string; reason?: string }

/** One event has only consecutive changes, so ids and events are in order. */
function* addEvents(look: Look, wanted: readonly Wanted[]): Write<number> {
  const { rowId, userId: ownerId, at } = look
  let count = 0
  for (let rest of Map.groupBy(wanted, ({ receiver }) => receiver.id).values())
    while (rest[0] !== undefined) {
      const { receiver: webhook, type, reason } = rest[0]
      let end = 1
      while (end < maxItems && rest[end]?.type === type && rest[end]?.reason === reason) end++
      const ids = rest.slice(0, end).map((one) => one.id)
      rest = rest.slice(end)
      const isUnread = type === 'notification.unread'
      const more = isUnread && { more: rest.length }
      const id = `${rowId}-${(count++).toString(16).padStart(4, '0')}`
      yield* addEvent(
        { id, webhook, ownerId, at },
        { type, ids, ...(reason && { reason }), ...more },
      )
      if (isUnread) break
    }
  return count
}

export function* addTestEvent(test: {
  id: string
  webhook: Pick<Receiver, 'id' | 'isRead'>
  at: number
}): Write<void> {
  yield* addEvent({ ...test, ownerId: '' }, { type: 'webhook.test' })
}

export type Row = { id: string; ownerId: string; ids: string; at: number }
/** `after`, `cursor`: 1 or more, because an event that was not taken has 0. */
type Taking = { webhookId: string; after: number | null; cursor: number; limit: number }

function oldest(webhookId: string, limit: number) {
  return all<Row>`
    select id, owner_id as "ownerId", ids, at from outbox where channel = 'webhook' and queue = ${webhookId} order by due_at, id limit ${limit}`
}

/**
 * Removes what was taken with the cursor `after`, and takes the oldest waiting rows, which then
 * have `cursor`. `missed`: some were too old since the last call.
 */
export function* takeEvents({
  webhookId,
  after,
  cursor,
  limit,
}: Taking): Write<{ rows: Row[]; missed: boolean }> {
  if (after !== null) {
    // Other nodes may have added rows in between.
    const taken = yield* oldest(webhookId, 2 * limit)
    yield* send`delete from outbox where id ${inList(taken.map(({ id }) => id))} and tries = ${after}`
  }
  const rows = yield* oldest(webhookId, limit)
  if (rows.length > 0)
    yield* send`update outbox set tries = ${cursor} where id ${inList(rows.map(({ id }) => id))}`
  const missed = yield* run`update webhook set missed = 0 where id = ${webhookId} and missed = 1`
  return { rows, missed: missed > 0 }
}

export function* hasEvents(webhookId: string): Read<boolean> {
  return yield* exists`select 1 from outbox where channel = 'webhook' and queue = ${webhookId}`
}

/** An event was too old to be read. */
export function* noteMissed(webhookId: string): Write<void> {
  yield* send`update webhook set missed = 1 where id = ${webhookId} and missed = 0`
}
