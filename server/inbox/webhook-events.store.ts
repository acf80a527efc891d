// Outbox rows that are events for webhooks. webhooks/ finds and sends them.
import { all, inList, type Read, send, type Write } from '../store/statements.ts'

export const eventTypes = [
  'notification.unread',
  'notification.created',
  'notification.read',
  'notification.archived',
  'notification.deleted',
  'user.erased',
] as const
export type EventType = (typeof eventTypes)[number]

export const testQueue = 'test'

/** A backend that reads events finds each for this long. */
export const readWithinMs = 3 * 24 * 3_600_000

/** `isRead`: 1 without a URL. `categories`: JSON; null for all. */
export type Receiver = {
  id: string
  application: string
  isRead: number
  events: string
  categories: string | null
  unreadAfterMs: number
}

export function* receiversOf(applications: readonly string[]): Read<Receiver[]> {
  return yield* all<Receiver>`
    select id, application, case when url is null then 1 else 0 end as "isRead", events, categories, unread_after as "unreadAfterMs"
    from webhook where application ${inList(applications)} and disabled_at is null order by id`
}

export function wants({ events }: Pick<Receiver, 'events'>, type: EventType): boolean {
  return events.split(',').includes(type)
}

/** `ids`: of notifications. `user`: an erased user. `body`: of the first attempt. */
export type EventContent = {
  type: EventType | 'webhook.test'
  ids?: readonly string[]
  more?: number
  reason?: string
  user?: { id: string; username: null; externalId: string | null }
  body?: string
}
type NewEvent = {
  id: string
  webhook: Pick<Receiver, 'id' | 'isRead'>
  ownerId: string
  at: number
}

/** A row to be read is due when it is too old. A test waits for no others. */
export function* addEvent(
  { id, webhook, ownerId, at }: NewEvent,
  content: EventContent,
): Write<void> {
  const isRead = webhook.isRead === 1
  const kind = isRead ? 'event-to-read' : 'event'
  const queue = isRead || content.type !== 'webhook.test' ? webhook.id : testQueue
  yield* send`
    insert into outbox (id, kind, due_at, owner_id, channel, queue, target, ids, at)
    values (${id}, ${kind}, ${isRead ? at + readWithinMs : at}, ${ownerId}, 'webhook', ${queue}, ${webhook.id}, ${JSON.stringify(content)}, ${at})`
}
