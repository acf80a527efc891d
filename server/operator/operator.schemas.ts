import { events } from '../audit/events.ts'
import * as t from '../http/openapi/schema.ts'
import { rangeNames } from '../metrics/series.ts'
import { scopes } from '../producers/producer-key.ts'
import { accountFields } from '../users/users.schemas.ts'

const nullableText = t.nullable(t.string())
const word = t.example(t.string(), 'shop')
const nullableTime = t.nullable(t.time)

const person = { ...accountFields, role: t.nullable(t.constant('operator')) }
const Person = t.component('OperatorUser', person)
const found =
  'What a name, an address or an external id begins with. Only in external ids, upper and lower case of ASCII letters differ. With it, there is no next page'
export const PeopleQuery = t.object({ search: t.optional(t.text(0, 255, found)), ...t.cursor })
export const PeopleResponse = t.dataOf(t.pageOf('OperatorUserPage', Person))

const rows = (of: string) => t.array(t.record(t.anything), of)
const count = t.integer({ minimum: 0 })
const counts = { total: count, unread: count, unseen: count, archived: count, snoozed: count }
export const PersonResponse = t.dataOf(
  t.component('OperatorUserDetails', {
    user: t.component('OperatorUserInFull', { ...person, passwordChangeRequired: t.boolean() }),
    signIns: rows('id, variant, device, address, createdAt, lastSeenAt'),
    devices: rows('label, network, firstSeenAt, lastSeenAt'),
    factors: rows('id, kind, label, createdAt, confirmedAt, lastUsedAt'),
    accounts: rows('At providers: issuer, subject, email, createdAt, lastUsedAt'),
    mutes: rows('category (null for everything), mutedUntil'),
    inbox: t.component('OperatorInbox', counts),
  }),
)

export const OperatorLinkBody = t.component('OperatorLinkRequest', {
  purpose: t.oneOf(['reset', 'invite']),
})
const link = {
  url: t.example(t.string(), 'https://bell.example.org/reset#token'),
  expiresAt: t.expiresAt,
}
export const OperatorLinkResponse = t.dataOf(t.component('OperatorLink', link))

const Entry = t.component('OperatorAuditEntry', {
  id: t.id,
  at: t.time,
  event: t.oneOf(Object.keys(events)),
  actor: t.example(t.string(), 'user'),
  userId: t.nullable(t.id),
  name: t.nullable(t.string('The username or external id of the user')),
  address: nullableText,
  device: nullableText,
  count: t.integer({ minimum: 1 }),
  detail: t.nullable(t.record(t.anything)),
})
const filter = {
  user: t.optional(t.uuid('Only entries about this user')),
  event: t.optional(t.oneOf(Object.keys(events))),
  actor: t.optional(
    t.text(0, 64, 'Only entries of an actor that begins with this, such as `producer`'),
  ),
  since: t.optional(t.string({ format: 'date-time', description: 'Only entries since this time' })),
  until: t.optional(
    t.string({ format: 'date-time', description: 'Only entries before this time' }),
  ),
}
export const TrailQuery = t.object({ ...filter, ...t.cursor })
export const ExportQuery = t.object(filter)
export const TrailCountsResponse = t.dataOf(
  t.component('OperatorAuditCounts', {
    since: t.time,
    until: t.time,
    counts: t.array(count),
    events: t.array(t.example(t.string(), 'sign-in'), 'Those that the filter could find'),
    examined: count,
  }),
)
export const TrailResponse = t.dataOf(t.pageOf('OperatorAuditPage', Entry))

const rate = t.example(t.text(1, 32, 'Requests in a second, minute or hour'), '600/m')
const key = {
  id: t.example(t.string(), '0123456789abcdef'),
  name: word,
  application: nullableText,
  scopes: t.array(t.oneOf(scopes)),
  createsUsers: t.boolean(),
  rate: t.nullable(rate),
  createdAt: t.time,
  expiresAt: nullableTime,
  lastUsedAt: nullableTime,
  revokedAt: nullableTime,
}
export const KeysResponse = t.dataOf(
  t.component('OperatorKeys', { items: t.array(t.component('OperatorKey', key)) }),
)
export const NewKey = t.component('OperatorNewKey', {
  name: t.example(t.text(1, 100), 'shop'),
  application: t.optional(
    t.text(1, 64, 'The key reaches the users of this application, and no others'),
  ),
  scopes: t.array(t.oneOf(scopes), { minItems: 1, maxItems: scopes.length }),
  days: t.optional(
    t.integer({ minimum: 1, maximum: 9_999, description: 'It expires after so many days' }),
  ),
  rate: t.optional(rate),
})
const secret = t.example(t.string(), 'crl_0123456789abcdef_secret')
export const KeySecretResponse = t.dataOf(
  t.component('OperatorKeySecret', { id: key.id, key: secret }),
)
export const Rotation = t.component('OperatorRotation', {
  overlapHours: t.integer({
    minimum: 0,
    maximum: 2_160,
    description: 'For how long the secret before is accepted',
  }),
})

const finding = {
  check: word,
  state: t.oneOf(['ok', 'warning', 'fault']),
  found: word,
  change: t.optional(t.string('What to do')),
}
export const NowResponse = t.dataOf(
  t.component('OperatorNow', {
    version: t.example(t.string(), '0.1.0'),
    startedAt: t.time,
    now: t.time,
    nodes: t.integer({ minimum: 1, description: 'Processes that run on this database' }),
    isReady: t.boolean(),
    keysExpiring: t.array(
      t.component('OperatorExpiringKey', { id: key.id, name: word, expiresAt: t.time }),
    ),
    findings: t.array(t.component('OperatorFinding', finding)),
  }),
)

export const NumbersQuery = t.object({ range: t.optional(t.oneOf(rangeNames, { default: 'day' })) })
const database = { kibPerDay: t.nullable(t.integer()), fullAt: nullableTime }
export const NumbersResponse = t.dataOf(
  t.component('OperatorNumbers', {
    points: rows('A point an hour or a day: at, and numbers; null if there are none'),
    days: rows('The last 24 hours, and the 24 hours before'),
    marks: rows('at, kind'),
    database: t.component('OperatorGrowth', database),
    lastBackup: t.nullable(t.component('OperatorBackup', { endedAt: t.time, node: word })),
  }),
)

export const AttacksResponse = t.dataOf(
  t.component('OperatorAttacks', {
    since: t.time,
    hours: rows('at, refusals: hours without a refusal are left out'),
    addresses: rows('address, refusals: the most first'),
  }),
)

export const OutboxResponse = t.dataOf(
  t.component('OperatorOutbox', {
    waiting: rows('id, kind, name, tries, dueAt, sinceAt, sending: 200 at most'),
    webhooks: rows(
      'id, application, url, events, lastSuccessAt, failingSinceAt, outcome, disabledAt',
    ),
  }),
)
export const OutboxRetry = t.component('OperatorRetry', {
  id: t.optional(t.uuid('Of one row; without it, all')),
})
export const RetriedResponse = t.dataOf(t.component('OperatorRetried', { retried: count }))

const application = t.optional(
  t.text(0, 64, 'The application of the key; without it, that of no application'),
)
export const ByKeyQuery = t.object({ application })
export const SentByKeyResponse = t.dataOf(
  t.component('OperatorSentByKey', {
    inboxes: count,
    sentAt: nullableTime,
    counts: t.component('OperatorSentCounts', {
      seen: count,
      read: count,
      archived: count,
      muted: count,
    }),
  }),
)
export const WithdrawnResponse = t.dataOf(
  t.component('OperatorWithdrawn', { inboxes: count, isDone: t.boolean() }),
)

export const ExplainQuery = t.object({
  user: t.optional(t.uuid('Finds a removed notification, too')),
})
export const ExplainedResponse = t.dataOf(
  t.named('OperatorExplained', {
    ...t.record(t.anything),
    description: 'The facts of carillon explain --json',
  }),
)

const heard = { delivered: count, muted: count, seen: count, read: count, archived: count }
const Heard = t.component('OperatorHeardOf', {
  producer: t.nullable(t.string('The name of the key; null for the service itself')),
  category: nullableText,
  ...heard,
})
const Aged = t.component('OperatorHeardAt', {
  age: t.integer({ minimum: 1, description: 'At most so many seconds old' }),
  category: nullableText,
  ...heard,
})
export const HeardResponse = t.dataOf(
  t.component('OperatorHeard', {
    since: nullableTime,
    examined: count,
    items: t.array(Heard),
    ages: t.array(Aged, 'Of the newest 1,000 of each span of ages; eight categories at most'),
  }),
)
