import * as t from '../http/openapi/schema.ts'
import { eventTypes } from '../inbox/webhook-events.store.ts'

const url = t.example(
  t.nullable(t.text(1, 2_000, 'Null if the events are read in place of sent')),
  'https://shop.example/carillon',
)
const events = t.example(t.array(t.oneOf(eventTypes), { minItems: 1, maxItems: 20 }), [
  'notification.unread',
])
const names = { minItems: 1, maxItems: 50, description: 'Only of these; null for all' }
const categories = t.example(t.nullable(t.array(t.text(1, 64), names)), ['orders'])
const unreadNote = `Minutes after which \`notification.unread\` is sent, for all webhooks of the application; 15 at first`
const unreadAfter = t.integer({ minimum: 0, maximum: 43_200, description: unreadNote })

const choice = {
  url: t.optional(url),
  categories: t.optional(categories),
  unreadAfter: t.optional(t.orNull(unreadAfter)),
}
export const WebhookBody = t.component('WebhookRequest', { ...choice, events })
export const WebhookChange = t.component('WebhookChange', {
  ...choice,
  events: t.optional(events),
  rotateSecret: t.optional(
    t.boolean('A new secret; requests are signed with that of before, too, for a day'),
  ),
})

const attempt = t.component('WebhookAttempt', {
  at: t.time,
  outcome: t.example(
    t.string('A status such as `status-204`, or a class of errors such as `timeout`'),
    'status-204',
  ),
})
const members = {
  id: t.id,
  url,
  events,
  categories,
  unreadAfter: t.example(unreadAfter, 15),
  createdAt: t.time,
  lastSuccessAt: t.nullable(t.time),
  failingSince: t.nullable(t.time),
  disabledAt: t.nullable(t.time),
  attempts: t.array(attempt, 'The last twenty requests, the newest first'),
}
const secret = t.example(
  t.string('Of Standard Webhooks; displayed once'),
  'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
)
export const WebhookList = t.dataOf(
  t.component('WebhookList', { items: t.array(t.component('Webhook', members)) }),
)
export const NewWebhook = t.dataOf(t.component('NewWebhook', { ...members, secret }))
export const ChangedWebhook = t.dataOf(
  t.component('ChangedWebhook', { ...members, secret: t.optional(secret) }),
)

export const EventsQuery = t.object({
  after: t.optional(
    t.text(1, 20, '`cursor` of the response before, whose events are acknowledged'),
  ),
  wait: t.optional(
    t.integer({ minimum: 0, maximum: 25, default: 0, description: 'Seconds to wait for an event' }),
  ),
})
const gone = 'Without the other members if it is gone, or if the body would be larger than 20 KB'
const item = t.component(
  'EventItem',
  {
    id: t.id,
    key: t.optional(t.nullable(t.string())),
    category: t.optional(t.nullable(t.string())),
    priority: t.optional(t.string()),
    title: t.optional(t.string('In the language of the user')),
    url: t.optional(t.nullable(t.string())),
    createdAt: t.optional(t.time),
    updatedAt: t.optional(t.nullable(t.time)),
    readAt: t.optional(t.nullable(t.time)),
    archivedAt: t.optional(t.nullable(t.time)),
  },
  gone,
)
const user = t.component('EventUser', {
  id: t.id,
  username: t.example(t.nullable(t.string()), 'ann'),
  externalId: t.nullable(t.string()),
})
const data = t.component('EventData', {
  user: t.optional(user),
  items: t.optional(t.array(item)),
  more: t.optional(t.integer('How many unread ones are not among the items')),
  reason: t.optional(t.oneOf(['deleted', 'withdrawn', 'expired', 'retention'])),
})
const event = t.component('WebhookEvent', {
  id: t.example(
    t.string('The same if it comes again'),
    '019a9b3e-5c1f-7a42-9d0b-3f6f1c2e8a70-0000',
  ),
  type: t.oneOf([...eventTypes, 'webhook.test']),
  timestamp: t.time,
  data,
})
export const EventsResponse = t.dataOf(
  t.component('WebhookEvents', {
    events: t.array(event, 'The oldest, up to 100'),
    cursor: t.example(
      t.nullable(t.string('Send it as `after` when the events are done')),
      '81592402231542',
    ),
    missed: t.boolean('Events waited for more than three days, and are lost'),
  }),
)
