// Only a page calls these: responses name their fields.
import { events } from '../audit/events.ts'
import * as t from '../http/openapi/schema.ts'
import { rangeNames } from '../metrics/series.ts'
import { scopes } from '../producers/producer-key.ts'

const facts = (name: string, description: string) =>
  t.dataOf(t.named(name, { ...t.record(t.anything), description }))

const found =
  'What a name, an address or an external id begins with. Only in external ids, upper and lower case of ASCII letters differ. With it, there is no next page'
export const PeopleQuery = t.object({ search: t.optional(t.text(0, 255, found)), ...t.cursor })
export const PeopleResponse = facts(
  'OperatorUsers',
  '`items`: the fields of a user, and role; `next`',
)
export const PersonResponse = facts(
  'OperatorUserDetails',
  '`user`; `signIns`, `devices`, `factors`, `accounts` at providers and `mutes` (category null: everything) as lists; the counts of the `inbox`',
)

export const OperatorLinkBody = t.component('OperatorLinkRequest', {
  purpose: t.oneOf(['reset', 'invite']),
})
export const OperatorLinkResponse = facts('OperatorLink', '`url`, `expiresAt`')

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
export const TrailResponse = facts(
  'OperatorAudit',
  '`items`: id, at, event, actor, userId, name (the username or external id), address, device, count, detail; `next`',
)
export const TrailCountsResponse = facts(
  'OperatorAuditCounts',
  '`counts` of 60 equal spans from `since` to `until`, the `events` that the filter could find, how many entries were `examined`',
)

const rate = t.example(t.text(1, 32, 'Requests in a second, minute or hour'), '600/m')
export const KeysResponse = facts(
  'OperatorKeys',
  '`items`: id, name, application, scopes, createsUsers, rate, createdAt, expiresAt, lastUsedAt, revokedAt',
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
export const KeySecretResponse = facts('OperatorKeySecret', '`id`, `key`')
export const Rotation = t.component('OperatorRotation', {
  overlapHours: t.integer({
    minimum: 0,
    maximum: 2_160,
    description: 'For how long the secret before is accepted',
  }),
})

export const NowResponse = facts(
  'OperatorNow',
  '`version`, `startedAt`, `nodes` (processes on this database), `isReady`; `keysExpiring`: id, name, expiresAt; `mostStreams`, of who has more than one: userId, name, streams; `findings`: check, state (ok, warning or fault), found, change (what to do)',
)
export const NumbersQuery = t.object({ range: t.optional(t.oneOf(rangeNames, { default: 'day' })) })
export const NumbersResponse = facts(
  'OperatorNumbers',
  '`points`: at, and numbers, an hour or a day, null if there are none; `days`: the last 24 hours, and the 24 hours before; `marks`: at, kind; `database`: kibPerDay, fullAt; `lastBackup`: endedAt, node',
)
export const AttacksResponse = facts(
  'OperatorAttacks',
  '`since`; `hours` with refusals: at, refusals; `addresses`, the most first: address, refusals',
)

export const OutboxResponse = facts(
  'OperatorOutbox',
  '`waiting`, 200 at most: id, kind, name, tries, reason (why the last try failed), dueAt, sinceAt, sending; `webhooks`: id, application, url, events, outcome, lastSuccessAt, failingSinceAt, disabledAt',
)
export const OutboxRetry = t.component('OperatorRetry', {
  id: t.optional(t.uuid('Of one row; without it, all')),
})
export const RetriedResponse = facts('OperatorRetried', '`retried`: how many')

const application = t.optional(
  t.text(0, 64, 'The application of the key; without it, that of no application'),
)
export const ByKeyQuery = t.object({ application })
export const SentByKeyResponse = facts(
  'OperatorSentByKey',
  '`inboxes`, `sentAt`; `counts`: seen, read, archived, muted',
)
export const WithdrawnResponse = facts('OperatorWithdrawn', '`inboxes`, `isDone`')
export const ExplainQuery = t.object({
  user: t.optional(t.uuid('Finds a removed notification, too')),
})
export const ExplainedResponse = facts('OperatorExplained', 'The facts of carillon explain --json')
export const HeardResponse = facts(
  'OperatorHeard',
  '`since`, `examined`; `items`: producer (null for the service itself), category, delivered, seen, read, archived, muted; `ages`: the same for the newest 1,000 of each age (at most so many seconds), eight categories at most',
)
