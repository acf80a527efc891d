// What has become an event for a webhook? A look at an inbox whose timer is due writes rows of the
// outbox. A backend that reads events takes the rows here, and acknowledges them with its next
// request.

import { usualHours } from '../inbox/mail-rules.ts'
import { byState } from '../inbox/marks.store.ts'
import { eventBit, reachBits } from '../inbox/reminders.store.ts'
import { type UserKey, userKey } from '../inbox/user-key.ts'
import {
  addEvent,
  type EventContent,
  type EventType,
  type Receiver,
  receiversOf,
  wants,
} from '../inbox/webhook-events.store.ts'
import { type DueTimer, dueTimer, moveTimer, removeTimer } from '../reach/timers.store.ts'
import { maxRead, noteReached, split, type Waiting, waitingColumns } from '../reach/unread.store.ts'
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

/** A body of 20 KB has so many, with their ids alone. */
export const maxItems = 200

type Look = { userId: string; at: number; rowId: string }
type WaitingEvent = Waiting & { producer: number }

/**
 * What has been unread for long enough becomes one event for each webhook that waits for it, once.
 * Moves the timer to the earliest of what still waits, or removes it. Returns how many rows it
 * wrote.
 */
export function* lookAtUnread(look: Look): Write<number> {
  const { userId, at } = look
  const user = userKey(userId)
  const channel = 'unread' as const
  const timer = yield* dueTimer({ userId, channel, at })
  if (timer === undefined) return 0
  const found = yield* all<WaitingEvent>`
    select ${waitingColumns}, producer from notification ${byState}
    where user_id = ${user} and state = 'unread' and seq >= ${timer.from} and (reached & ${eventBit}) = 0 and producer is not null
    order by seq limit ${maxRead}`
  const senders = yield* sendersOf(found)
  const isReached = (yield* findUser(userId))?.disabledAt === null
  const waiting = found.map((one) => ({
    ...one,
    receivers: isReached ? senders.receiversOf(one, 'notification.unread') : [],
  }))
  const { due, next } = split(waiting, {
    dueAtOf: ({ sent_at, receivers: [first] }) =>
      first && Date.parse(sent_at) + first.unreadAfterMs,
    hours: usualHours,
    at,
  })
  if (due.length > 0) yield* noteReached(userId, eventBit, due)
  yield* moveTimer({ userId, channel }, next)
  const rows = new Rows(look)
  const byReceiver = Map.groupBy(
    due.flatMap(({ id, receivers }) => receivers.map((receiver) => ({ id, receiver }))),
    ({ receiver }) => receiver.id,
  )
  for (const [, ones] of byReceiver) {
    const ids = ones.map(({ id }) => id).reverse()
    const more = Math.max(0, ids.length - maxItems)
    if (ones[0])
      yield* rows.add(ones[0].receiver, {
        type: 'notification.unread',
        ids: ids.slice(0, maxItems),
        more,
      })
  }
  return rows.count
}

type Changed = {
  version: number
  seq: number
  id: string
  category: string | null
  producer: number | null
}
type Change = Changed & { type: EventType | undefined; reason?: string }

/**
 * Each change since the timer was written becomes an event for each webhook that waits for it.
 * Returns how many rows it wrote.
 */
export function* lookAtChanges(look: Look): Write<number> {
  const { userId } = look
  const user = userKey(userId)
  const channel = 'webhook' as const
  const timer = yield* dueTimer({ userId, channel, at: look.at })
  if (timer === undefined) return 0
  const lists = yield* changesAfter(user, timer)
  // A full list may go on after its last one, and then what came later has to wait.
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
  if (changes.length > 0 && !senders.haveWebhooks) yield* stopWatching(user)
  const rows = new Rows(look)
  const wanted = changes.flatMap(({ type, ...change }) => {
    if (type === undefined) return []
    return senders.receiversOf(change, type).map((receiver) => ({ ...change, type, receiver }))
  })
  const groups = Map.groupBy(
    wanted,
    ({ receiver, type, reason }) => `${receiver.id} ${type} ${reason}`,
  )
  for (const [, ones] of groups)
    for (let start = 0; start < ones.length; start += maxItems) {
      const [first] = ones
      const ids = [...new Set(ones.slice(start, start + maxItems).map(({ id }) => id))]
      if (first)
        yield* rows.add(first.receiver, {
          type: first.type,
          ids,
          ...(first.reason && { reason: first.reason }),
        })
    }
  return rows.count
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
    where user_id = ${user} and changed_version > ${version} order by changed_version limit ${maxRead}`
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

/** Only a step of a bulk act has changed these since. */
function* changesOf(user: UserKey, { version, act, kind, first, last }: Act): Write<Change[]> {
  const state = kind === 'read' ? 'read' : 'archived'
  const rows = yield* all<Omit<Changed, 'version'>>`
    select seq, id, category, producer from notification ${byState}
    where user_id = ${user} and state = ${state} and seq >= ${first} and seq <= ${last} and bulk_version = ${act} order by seq`
  return rows.map((row) => ({ ...row, version, type: typeOf[state] }))
}

type Sent = { producer: number | null; category: string | null }

/** A notification concerns the webhooks of the application that sent it. */
function* sendersOf(found: readonly Sent[]) {
  const numbers = [
    ...new Set(found.flatMap(({ producer }) => (producer === null ? [] : [producer]))),
  ]
  const producers =
    numbers.length === 0
      ? []
      : yield* all<{ number: number; application: string }>`
          select number, application from producer where number ${inNumbers(numbers)}`
  const applications = new Map(producers.map(({ number, application }) => [number, application]))
  const receivers =
    applications.size === 0 ? [] : yield* receiversOf([...new Set(applications.values())])
  const ofApplication = Map.groupBy(receivers, ({ application }) => application)
  const categoriesOf = new Map(receivers.map((one) => [one.id, categoriesIn(one)]))
  const isOf = ({ id }: Receiver, category: string | null) => {
    const categories = categoriesOf.get(id)
    return categories === undefined || (category !== null && categories.has(category))
  }
  return {
    haveWebhooks: receivers.length > 0,
    receiversOf({ producer, category }: Sent, type: EventType): Receiver[] {
      const application = producer === null ? undefined : applications.get(producer)
      if (application === undefined) return []
      const ones = ofApplication.get(application) ?? []
      return ones.filter((one) => wants(one, type) && isOf(one, category))
    },
  }
}

/** Undefined for all. */
function categoriesIn({ categories }: Receiver): ReadonlySet<string> | undefined {
  return categories === null ? undefined : new Set<string>(JSON.parse(categories))
}

/** The ids of the rows of one look are in their order. */
class Rows {
  count = 0
  readonly #look: Look

  constructor(look: Look) {
    this.#look = look
  }

  *add(webhook: Receiver, content: EventContent): Write<void> {
    const { rowId, userId: ownerId, at } = this.#look
    const id = `${rowId}-${(this.count++).toString(16).padStart(4, '0')}`
    yield* addEvent({ id, webhook, ownerId, at }, content)
  }
}

export function* addTestEvent(test: {
  id: string
  webhook: Pick<Receiver, 'id' | 'isRead'>
  at: number
}): Write<void> {
  yield* addEvent({ ...test, ownerId: '' }, { type: 'webhook.test' })
}

export type Row = { id: string; ownerId: string; ids: string; at: number }
/** `after`, `cursor`: 1 or more, because an event that nobody has taken has 0. */
type Taking = { webhookId: string; after: number | null; cursor: number; limit: number }

/** The oldest that wait for the webhook. */
function oldest(webhookId: string, limit: number) {
  return all<Row>`
    select id, owner_id as "ownerId", ids, at from outbox where channel = 'webhook' and queue = ${webhookId} order by due_at, id limit ${limit}`
}

/**
 * Removes what was taken with the cursor `after`, and takes the oldest that wait, which have
 * `cursor` from now on. `missed`: some were too old since the last call.
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

/** A too old event cannot be read any more. */
export function* noteMissed(webhookId: string): Write<void> {
  yield* send`update webhook set missed = 1 where id = ${webhookId} and missed = 0`
}

export type EventItem = {
  id: string
  key: string | null
  category: string | null
  priority: string | null
  title: string
  url: string | null
  look: string | null
  createdAt: string
  updatedAt: string | null
  readAt: string | null
  archivedAt: string | null
}
type Ids = { userId: string; ids: readonly string[] }

/** Returns the ids of those that are unread now. */
export function* unreadOf({ userId, ids }: Ids): Read<string[]> {
  const rows = yield* all<{ id: string }>`
    select id from notification where user_id = ${userKey(userId)} and state = 'unread' and id ${inList(ids)}`
  return rows.map(({ id }) => id)
}

/** Returns notifications as they are now, by id. What is gone is absent. */
export function* itemsOf({ userId, ids }: Ids): Read<Map<string, EventItem>> {
  const rows = yield* all<EventItem>`
    select id, key, category, priority, title, url, look, created_at as "createdAt", updated_at as "updatedAt", read_at as "readAt",
      archived_at as "archivedAt"
    from notification where user_id = ${userKey(userId)} and id ${inList(ids)}`
  return new Map(rows.map((row) => [row.id, row]))
}
