// The JSON shapes on the wire: Fastify validates requests with them, and openapi.ts publishes them. Every object of a body or a
// response is named, because generated code names its types after them. The shapes of errors are in error-schemas.ts.
import { maxTokenLifeSeconds } from '../../sign-in/token/read-token.ts'
import { maxExternalIdLength } from '../../sign-in/users/external-id.ts'
import {
  anyOf,
  anything,
  array,
  boolean,
  constant,
  discriminated,
  integer,
  named,
  nullable,
  object,
  oneOf,
  orNull,
  record,
  type Schema,
  string,
  type TypeOf,
} from './schema.ts'

export const LoginBody = named(
  'Credentials',
  object(
    { username: string({ minLength: 1, maxLength: 256 }), password: string({ minLength: 1, maxLength: 256 }) },
    { variant: oneOf(['stateful', 'stateless'], { description: 'Default: the setting CARILLON_VARIANT' }) },
  ),
)
export type LoginBody = TypeOf<typeof LoginBody>

export const ListQuery = object(
  {},
  {
    page: integer({ minimum: 1, default: 1 }),
    limit: integer({ minimum: 1, maximum: 100, default: 20 }),
    status: oneOf(['unread'], { description: 'Only those that are not read' }),
    before: integer({ minimum: 1, description: '`next` of an earlier page, instead of `page`' }),
  },
)
export type ListQuery = TypeOf<typeof ListQuery>

export const ReadAllQuery = object(
  {},
  {
    throughSeq: integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'The highest `seq` that was on screen',
    }),
    through: string({ format: 'uuid', description: 'A notification: those up to the `seq` that it has now' }),
  },
)
export type ReadAllQuery = TypeOf<typeof ReadAllQuery>

const since = { description: 'A version, or a position from a response or an event' }

export const ChangesQuery = object(
  { since: string(since) },
  {
    limit: integer({ minimum: 1, maximum: 100, default: 100 }),
    wait: integer({ minimum: 0, maximum: 25, default: 0, description: 'Seconds to wait for a change' }),
  },
)
export type ChangesQuery = TypeOf<typeof ChangesQuery>

/** `since` may be any text: a stream begins with a resync if it is not a position of this inbox. */
export const StreamQuery = object({}, { since: string({ ...since, description: 'Instead of Last-Event-ID' }) })
export type StreamQuery = TypeOf<typeof StreamQuery>

const Recipient = named(
  'Recipient',
  object(
    {},
    {
      username: orNull(string({ minLength: 1, maxLength: 256 })),
      userId: orNull(string({ minLength: 1, maxLength: 64 })),
      externalId: orNull(string({ minLength: 1, maxLength: maxExternalIdLength })),
      issuer: orNull(
        string({ minLength: 1, maxLength: 255, description: 'Of the externalId; without it, a plain id' }),
      ),
    },
    { minProperties: 1, maxProperties: 4, description: 'Exactly one of `username`, `userId` and `externalId`' },
  ),
)

export const DeliveryBody = named(
  'DeliveryRequest',
  object(
    {
      recipients: array(Recipient, { minItems: 1, maxItems: 1000 }),
      title: string({ minLength: 1, maxLength: 200 }),
    },
    {
      body: orNull(string({ maxLength: 4000 })),
      url: orNull(string({ minLength: 1, maxLength: 2048, description: 'http, https or relative' })),
      category: orNull(string({ minLength: 1, maxLength: 64 })),
      data: orNull(record(anything, { description: 'At most 8 KiB as JSON' })),
      key: orNull(
        string({
          minLength: 1,
          maxLength: 255,
          description: 'A later notification with this key replaces the text of the earlier one',
        }),
      ),
      again: orNull(
        boolean({
          description:
            'Needs a key. True: if it replaces a notification, that one becomes unread and the newest; its count rises by one',
        }),
      ),
      unknownRecipients: orNull(
        oneOf(['report', 'refuse'], {
          description: 'Default: report. With refuse, one unknown recipient is a 422, and nothing is delivered',
        }),
      ),
    },
  ),
)
export type DeliveryBody = TypeOf<typeof DeliveryBody>

export const IssueBody = named(
  'TokenRequest',
  object(
    { scope: oneOf(['inbox'], { description: 'What the token opens' }) },
    {
      lifetime: integer({
        minimum: 1,
        maximum: maxTokenLifeSeconds,
        default: maxTokenLifeSeconds,
        description: 'Seconds',
      }),
    },
  ),
)
export type IssueBody = TypeOf<typeof IssueBody>

const displayName = orNull(string({ minLength: 1, maxLength: 200 }))
const locale = orNull(string({ maxLength: 64, description: 'A language tag (BCP 47), such as de-CH' }))
const email = orNull(string({ maxLength: 254 }))
const externalId = string({
  minLength: 1,
  maxLength: 255,
  description: 'The id of the user in the application, compared byte by byte; not . or ..',
})
const passwordHash = string({
  maxLength: 512,
  description: 'Of another system: bcrypt, scrypt, argon2 or PBKDF2; replaced at the next sign-in',
})
const profile = { displayName, locale, email }

export const UserProfile = named(
  'UserProfile',
  object({}, profile, { description: 'A field that is absent keeps its value; null clears it' }),
)
export type UserProfile = TypeOf<typeof UserProfile>

export const NewUser = named(
  'NewUser',
  object(
    { username: string({ minLength: 1, maxLength: 256 }) },
    {
      password: string({ minLength: 1, maxLength: 1024, description: 'Or passwordHash, or none of the two' }),
      passwordHash,
      externalId: orNull(externalId),
      ...profile,
    },
  ),
)
export type NewUser = TypeOf<typeof NewUser>

export const UserChange = named(
  'UserChange',
  object(
    {},
    {
      ...profile,
      username: orNull(string({ minLength: 1, maxLength: 256 })),
      disabled: boolean({ description: 'True ends every session and token of the user' }),
    },
    { description: 'A field that is absent keeps its value; null clears it, except a username' },
  ),
)
export type UserChange = TypeOf<typeof UserChange>

const UserEntry = named(
  'UserEntry',
  object(
    { externalId },
    {
      ...profile,
      username: orNull(string({ minLength: 1, maxLength: 256 })),
      passwordHash: orNull(passwordHash),
      disabled: boolean(),
    },
  ),
)
const maxEntries = { minItems: 1, maxItems: 1000 }
export const UserEntries = named('UserEntries', object({ users: array(UserEntry, maxEntries) }))
/** What Fastify checks of it. The handler checks the entries, to find every fault of each. */
export const UncheckedEntries = object({ users: array(anything, maxEntries) })
export type UncheckedEntries = TypeOf<typeof UncheckedEntries>

export const UserQuery = object(
  {},
  {
    search: string({
      maxLength: 255,
      description: 'Only those whose username, display name, e-mail address or external id contains it',
    }),
    externalId: string({ maxLength: 255, description: 'Only the one with this external id' }),
    after: string({ maxLength: 64, description: '`next` of an earlier page' }),
    limit: integer({ minimum: 1, maximum: 100, default: 20 }),
  },
)
export type UserQuery = TypeOf<typeof UserQuery>

// Responses

const id = string({ format: 'uuid', description: 'UUIDv7' })
const time = string({ format: 'date-time', description: 'ISO 8601 UTC with milliseconds' })
const count = integer({ minimum: 0 })
const proof = oneOf(['session', 'access-token'])
const success = <S extends Schema>(data: S) => object({ success: constant(true), data })

const ofUser = {
  id,
  externalId: nullable(string()),
  username: nullable(string()),
  displayName: nullable(string()),
  locale: nullable(string()),
  email: nullable(string()),
  createdAt: time,
}
export const User = named('User', object(ofUser))

export const UserAccount = named(
  'UserAccount',
  object(
    { ...ofUser, disabled: boolean() },
    { issuer: string({ description: 'Of the foreign tokens that the external id belongs to; absent for a plain id' }) },
  ),
)
const UserPage = named(
  'UserPage',
  object({
    items: array(UserAccount),
    next: nullable(string({ description: 'Send it as `after` for the page that follows' })),
  }),
)
const UserPut = named(
  'UserPut',
  object({ externalId: string(), status: oneOf(['created', 'updated']), user: UserAccount }),
)
const UserPuts = named('UserPuts', object({ results: array(UserPut, { description: 'In the order of the request' }) }))

const StatefulLogin = named(
  'StatefulLogin',
  object({ User, expiresAt: time, variant: constant('stateful') }, {}, { description: 'The session is in the cookie' }),
)
const StatelessLogin = named(
  'StatelessLogin',
  object({ User, token: string(), expiresAt: time, variant: constant('stateless') }),
)

const Token = named('Token', object({ token: string(), expiresAt: time }))

const Restricted = named('Restricted', object({ userId: id, username: string(), proof }))
const Me = named('Me', object({ user: User, proof, expiresAt: time }))

export const Notification = named(
  'Notification',
  object({
    id,
    title: string(),
    body: nullable(string()),
    url: nullable(string()),
    category: nullable(string()),
    data: nullable(record(anything)),
    key: nullable(string()),
    createdAt: string({ format: 'date-time', description: 'When it was first sent' }),
    updatedAt: string({ format: 'date-time', description: 'When it was last sent' }),
    seq: integer({ minimum: 1, description: 'Its place: a list is ordered by seq, newest first' }),
    count: integer({ minimum: 1, description: 'How often it became the newest: 1, and 1 more for each `again`' }),
    read: boolean(),
    readAt: nullable(time),
    archivedAt: nullable(time),
  }),
)
const NotificationPage = named(
  'NotificationPage',
  object({
    items: array(Notification),
    total: count,
    hasMore: boolean({ description: 'True exactly when page * limit < total' }),
    unread: count,
    version: count,
    next: nullable(string({ description: 'Send it as `before` for the page that follows' })),
  }),
)
const CategoryCounts = named('CategoryCounts', object({ total: count, unread: count }))
const Counts = named('Counts', object({ total: count, unread: count, categories: record(CategoryCounts) }))

const readAll = {
  through: nullable(
    string({
      format: 'uuid',
      description: 'The newest notification that it covered; null if it has another seq since',
    }),
  ),
  throughSeq: integer({ minimum: 1, description: 'It covered the notifications with a seq up to this one' }),
  readAt: time,
}

const Changes = named(
  'Changes',
  anyOf(
    named('ChangesReset', object({ reset: constant(true) }, {}, { description: 'List everything again' })),
    named(
      'ChangeList',
      object({
        created: array(Notification, { description: 'In the order in which they arrived' }),
        changed: array(Notification, { description: 'Those whose text was replaced or that were read' }),
        readAlls: array(named('ReadAll', object(readAll))),
        removed: array(id),
        total: count,
        unread: count,
        version: count,
        position: string({ description: 'Send it as `since` the next time' }),
        hasMore: boolean({ description: 'Send the next request at once' }),
      }),
    ),
  ),
)

const outcomes = ['delivered', 'updated', 'unknown_recipient'] as const
const DeliveryResult = named(
  'DeliveryResult',
  object({ userId: nullable(id), id: nullable(id), status: oneOf(outcomes) }),
)
const Delivery = named('Delivery', object({ deliveryId: id, results: array(DeliveryResult) }))

const sources = ['connection', 'ignored', 'header', 'unclear'] as const
const ClientAddress = named(
  'ClientAddress',
  object(
    { source: oneOf(sources), hops: count, isMadeUp: boolean() },
    {},
    { description: 'For a request with Carillon-Doctor' },
  ),
)
const Health = named('Health', object({ status: string() }, { clientAddress: ClientAddress }))

const state = { version: count, unread: count, total: count }
export const events = {
  hello: named('HelloEvent', object(state)),
  created: named('CreatedEvent', object({ ...state, notification: Notification })),
  replaced: named('ReplacedEvent', object({ ...state, notification: Notification })),
  read: named('ReadEvent', object({ ...state, notification: Notification })),
  'read-all': named('ReadAllEvent', object({ ...state, ...readAll })),
  removed: named('RemovedEvent', object({ ...state, id })),
  resync: named('ResyncEvent', object(state)),
  'session-ended': named('SessionEndedEvent', object({ reason: oneOf(['expired', 'revoked']) })),
} as const

/** The whole bodies of responses: each a component of this name, with its example in examples.ts. */
export const responses = {
  Login: discriminated('variant', [StatelessLogin, StatefulLogin]),
  StatelessLogin,
  TokenResponse: success(Token),
  RestrictedResponse: success(Restricted),
  MeResponse: success(Me),
  SessionResponse: success(nullable(Me)),
  KeySet: object({ keys: array(record(anything)) }),
  NotificationPageResponse: success(NotificationPage),
  NotificationResponse: success(Notification),
  CountsResponse: success(Counts),
  ChangesResponse: success(Changes),
  StreamEvent: anyOf(...Object.values(events)),
  DeliveryResponse: success(Delivery),
  UserAccountResponse: success(UserAccount),
  UserPageResponse: success(UserPage),
  UserPutsResponse: success(UserPuts),
  HealthResponse: success(Health),
} as const

export type ResponseName = keyof typeof responses
