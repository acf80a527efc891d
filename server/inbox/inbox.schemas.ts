import * as t from '../http/openapi/schema.ts'

const link = t.text(1, 2048, 'http or https without a user name, or a path that begins with /')
const category = t.example(t.text(1, 64), 'builds')
const keyNote = 'A later notification with this key replaces the text of the earlier one'
export const title = t.example(t.text(1, 200), 'Build 1042 has failed')
export const content = {
  body: t.example(t.text(0, 4000), 'Two tests failed on main.'),
  url: t.example(link, '/builds/1042'),
  category,
  data: t.example(t.record(t.anything, 'At most 8 KiB as JSON'), { build: 1042 }),
  key: t.example(t.text(1, 255, keyNote), 'build-main'),
}
export const inLanguages = (text: t.Schema<string>) => {
  const notes = {
    minProperties: 1,
    maxProperties: 20,
    description: 'By language tag (BCP 47), such as de or de-CH',
  }
  return t.example(t.anyOf(text, t.record(text, notes)), t.exampleOf(text))
}

const hostsNote =
  'A path that begins with /, or http or https of a host in CARILLON_IMAGE_HOSTS, without a port'
const imageUrl = t.example(t.text(1, 2048, hostsNote), '/faces/ben.png')
const actorName = t.example(t.text(1, 100), 'Ben')
const icon = t.oneOf([
  'bell',
  'check',
  'info',
  'warning',
  'error',
  'message',
  'user',
  'calendar',
  'money',
  'link',
])
const Image = t.component('Image', { imageUrl })
const label = t.example(t.text(1, 40), 'Run again')
const Action = t.component('Action', { label, url: t.example(link, '/builds/1042/run') })
export const look = {
  icon: t.example(t.anyOf(icon, Image), 'error'),
  actions: t.array(Action, { maxItems: 2 }),
  format: t.oneOf(['text', 'markdown'], 'Of the body'),
}
export const priorities = ['normal', 'low', 'high'] as const
const Actor = t.component('Actor', { name: actorName, imageUrl: t.nullable(imageUrl) })
export const GivenActor = t.component('GivenActor', {
  name: actorName,
  imageUrl: t.optional(t.nullable(imageUrl)),
})

export const Notification = t.component('Notification', {
  id: t.id,
  title,
  ...t.allNullable(content),
  actor: t.nullable(Actor),
  icon: t.nullable(look.icon),
  actions: t.nullable(look.actions),
  format: look.format,
  createdAt: t.timeOf('When it was first sent'),
  updatedAt: t.timeOf('When it was last sent'),
  expiresAt: t.example(t.nullable(t.time), null),
  priority: t.oneOf(priorities),
  seq: t.integer({ minimum: 1, description: 'Its place: a list is ordered by seq, newest first' }),
  count: t.integer({
    minimum: 1,
    description: 'How often it became the newest: 1, and 1 more for each `renotify`',
  }),
  read: t.boolean(),
  readAt: t.example(t.nullable(t.time), null),
  archivedAt: t.example(t.nullable(t.time), null),
  snoozedUntil: t.example(t.nullable(t.time), null),
})
export const NotificationResponse = t.dataOf(Notification)

const count = t.example(t.integer({ minimum: 0 }), 1)
const counts = { total: count, unread: count }
export const state = { version: count, ...counts }
const unseen = t.example(
  t.integer({ minimum: 0, description: 'How many came after what the user has seen' }),
  1,
)
export const liveState = { ...state, unseen }

export const NotificationPageResponse = t.dataOf(
  t.component('NotificationPage', {
    items: t.array(Notification),
    ...state,
    hasMore: t.boolean(
      'True exactly when page * limit < total; with `before`, when next is not null',
    ),
    next: t.nextAs('before'),
  }),
)

const categories = t.example(t.record(t.component('CategoryCounts', counts)), {
  builds: { total: 1, unread: 1 },
})
export const CountsResponse = t.dataOf(
  t.component('Counts', { ...counts, unseen, archived: count, snoozed: count, categories }),
)

const categoryNote = 'Only those of this category; repeat the field for several, at most 20'
const someCategories = t.optional(
  t.array(category, { minItems: 1, maxItems: 20, description: categoryNote }),
)

const statusNote =
  'Without it, those that are neither archived nor snoozed; `unread` and `read` are among these'
export const ListQuery = t.object({
  page: t.optional(t.integer({ minimum: 1, default: 1 })),
  limit: t.limit(100, 20),
  status: t.optional(t.oneOf(['unread', 'read', 'archived', 'snoozed', 'all'], statusNote)),
  category: someCategories,
  before: t.optional(
    t.integer({ minimum: 1, description: '`next` of an earlier page, instead of `page`' }),
  ),
})

export const SnoozeBody = t.component('Snooze', {
  until: t.example(t.time, '2027-01-01T08:00:00.000Z'),
})

const onScreen = {
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'The highest `seq` that was on screen',
}
export const SeenBody = t.component('Seen', { throughSeq: t.integer({ minimum: 0, ...onScreen }) })
export const ReadAllQuery = t.object({
  throughSeq: t.optional(t.integer({ minimum: 1, ...onScreen })),
  through: t.optional(t.uuid('A notification: those up to the `seq` that it has now')),
  category: someCategories,
})
