import * as t from '../http/openapi/schema.ts'
import { Notification, liveState as state } from '../inbox/inbox.schemas.ts'

const categoriesNote = 'It covered only these categories; without this field, all notifications'
const readAll = {
  through: t.nullable(
    t.uuid('The newest notification that it covered; null if it has another seq since'),
  ),
  throughSeq: t.integer({
    minimum: 1,
    description: 'It covered the notifications with a seq up to this one',
  }),
  readAt: t.time,
  categories: t.optional(t.array(t.string(), categoriesNote)),
}

const archiveRead = {
  throughSeq: t.integer({
    minimum: 1,
    description: 'What was read, and not snoozed, is archived up to this seq',
  }),
  archivedAt: t.time,
}

const position = '1-5f3a9c1e'
const ChangeList = t.component('ChangeList', {
  created: t.array(Notification, 'In the order in which they arrived'),
  changed: t.array(
    Notification,
    'Those whose text was replaced, or that were read, archived, snoozed or put back',
  ),
  readAlls: t.array(t.component('ReadAll', readAll)),
  archiveReads: t.array(t.component('ArchiveRead', archiveRead)),
  removed: t.array(t.id),
  ...state,
  position: t.example(t.string('Send it as `since` the next time'), position),
  hasMore: t.boolean('Send the next request at once'),
})
const ChangesReset = t.component(
  'ChangesReset',
  { reset: t.constant(true) },
  'List everything again',
)
const Changes = t.named('Changes', t.anyOf(ChangesReset, ChangeList))
export const ChangesResponse = t.dataOf(t.example(Changes, t.exampleOf(ChangeList)))

export const ChangesQuery = t.object({
  since: t.string('A version, or a position from a response or an event'),
  limit: t.limit(100, 100),
  wait: t.optional(
    t.integer({ minimum: 0, maximum: 25, default: 0, description: 'Seconds to wait for a change' }),
  ),
})

const ofOne = (name: string) => t.component(name, { ...state, notification: Notification })
const reason = t.oneOf(['deleted', 'withdrawn', 'expired', 'retention'])
export const events = {
  hello: t.component('HelloEvent', state),
  created: ofOne('CreatedEvent'),
  replaced: ofOne('ReplacedEvent'),
  read: ofOne('ReadEvent'),
  unread: ofOne('UnreadEvent'),
  archived: ofOne('ArchivedEvent'),
  unarchived: ofOne('UnarchivedEvent'),
  snoozed: ofOne('SnoozedEvent'),
  'read-all': t.component('ReadAllEvent', { ...state, ...readAll }),
  'archive-read': t.component('ArchiveReadEvent', { ...state, ...archiveRead }),
  seen: t.component('SeenEvent', state),
  removed: t.component('RemovedEvent', { ...state, id: t.id, reason }),
  resync: t.component('ResyncEvent', state),
  'session-ended': t.component('SessionEndedEvent', { reason: t.oneOf(['expired', 'revoked']) }),
} as const

const streamNote =
  'Events; the `data` of each is a StreamEvent as one line of JSON, and the `id` of those with a version is a position'
export const EventTexts = t.example(
  t.string({
    contentMediaType: 'text/event-stream',
    contentSchema: t.named('StreamEvent', t.anyOf(...Object.values(events))),
    description: streamNote,
  }),
  `event: created\nid: ${position}\ndata: ${JSON.stringify(t.exampleOf(events.created))}\n\n`,
)

/** A stream begins with a resync if it is no position of this inbox. */
export const StreamQuery = t.object({ since: t.optional(t.string('Instead of Last-Event-ID')) })
