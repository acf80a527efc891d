// The JSON shapes of responses and stream events, which openapi.ts publishes. Every object is named, because generated code names its
// types after them. Requests are in request-schemas.ts, errors in error-schemas.ts.

import { FactorAdded, FactorList, RecoveryCodes, Totp } from './factor-schemas.ts'
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
  record,
  type Schema,
  string,
} from './schema.ts'

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
    { ...ofUser, emailVerified: boolean(), disabled: boolean() },
    {
      application: string({ description: 'The application that the user belongs to; absent if it belongs to none' }),
      issuer: string({
        description: 'The issuer of foreign tokens that the external id belongs to; absent for a plain id',
      }),
    },
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
  object(
    { User, token: string(), expiresAt: time, variant: constant('stateless') },
    {
      deviceToken: string({
        description: 'After a sign-in: keep it, and send it with the next sign-in on this device',
      }),
    },
  ),
)

const UserLink = named(
  'UserLink',
  object({ url: string({ description: 'The token is the part after #' }), expiresAt: time }),
)
const LinkFacts = named(
  'LinkFacts',
  object({ username: string(), purpose: oneOf(['invite', 'reset']), expiresAt: time }),
)
const LoginProvider = named(
  'LoginProvider',
  object({
    name: string(),
    displayName: string({ description: 'For a button' }),
    url: string({ description: 'Where the button leads' }),
  }),
)

const LinkedAccount = named(
  'LinkedAccount',
  object({
    provider: nullable(string({ description: 'Null if the provider is no longer one of the service' })),
    displayName: string(),
    email: nullable(string({ description: 'As the provider gave it, for display' })),
    createdAt: time,
    lastUsedAt: time,
  }),
)

const Token = named('Token', object({ token: string(), expiresAt: time }))

const Restricted = named('Restricted', object({ userId: id, username: nullable(string()), proof }))
const Me = named(
  'Me',
  object({
    user: User,
    proof,
    expiresAt: time,
    emailVerified: boolean({ description: 'Whether the user has an e-mail address that was verified' }),
    passwordChangeRequired: boolean({ description: 'True after a session was disowned, until a new password is set' }),
  }),
)

const UserSession = named(
  'UserSession',
  object({
    id,
    current: boolean({ description: 'It is the sign-in of this request' }),
    variant: oneOf(['stateful', 'stateless']),
    device: nullable(string({ description: 'Such as `Firefox on Linux`; null if the client did not say' })),
    address: nullable(string()),
    createdAt: time,
    lastSeenAt: string({
      format: 'date-time',
      description: 'Of a stateless sign-in: when the service recorded it last',
    }),
    expiresAt: string({ format: 'date-time', description: 'When it ends at the latest' }),
  }),
)
const UserSessionPage = named(
  'UserSessionPage',
  object({
    items: array(UserSession, { description: 'The one of this request first, then newest first' }),
    next: nullable(string({ description: 'Send it as `after` for the page that follows' })),
  }),
)
const Disowned = named(
  'Disowned',
  object(
    { passwordChangeRequired: constant(true) },
    { deviceToken: string({ description: 'For a caller with a token: the device token from before is void' }) },
  ),
)

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
const onlyCategories = {
  categories: array(string(), {
    description: 'It covered only these categories; without this field, all notifications',
  }),
}

const Changes = named(
  'Changes',
  anyOf(
    named('ChangesReset', object({ reset: constant(true) }, {}, { description: 'List everything again' })),
    named(
      'ChangeList',
      object({
        created: array(Notification, { description: 'In the order in which they arrived' }),
        changed: array(Notification, {
          description: 'Those whose text was replaced, or that were marked as read or unread',
        }),
        readAlls: array(named('ReadAll', object(readAll, onlyCategories))),
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

const Health = named('Health', object({ status: string() }))

const state = { version: count, unread: count, total: count }
export const events = {
  hello: named('HelloEvent', object(state)),
  created: named('CreatedEvent', object({ ...state, notification: Notification })),
  replaced: named('ReplacedEvent', object({ ...state, notification: Notification })),
  read: named('ReadEvent', object({ ...state, notification: Notification })),
  unread: named('UnreadEvent', object({ ...state, notification: Notification })),
  'read-all': named('ReadAllEvent', object({ ...state, ...readAll }, onlyCategories)),
  removed: named('RemovedEvent', object({ ...state, id })),
  resync: named('ResyncEvent', object(state)),
  'session-ended': named('SessionEndedEvent', object({ reason: oneOf(['expired', 'revoked']) })),
} as const

const actors = ['user', 'application', 'operator', 'provider', 'service'] as const
const Activity = named(
  'Activity',
  object({
    id,
    at: time,
    event: string({ description: 'Such as sign-in, sign-in-refused, password-changed' }),
    actor: oneOf(actors, { description: 'Who did it; user is a client, with or without a proof' }),
    address: nullable(string({ description: 'Of the client, if the actor is user' })),
    userAgent: nullable(string()),
    device: nullable(
      string({ description: 'From `userAgent`, such as `Firefox on Linux`; null if that says nothing' }),
    ),
    signInId: nullable(string()),
    count: integer({ minimum: 1, description: 'More than 1 for refusals that were counted together' }),
    detail: named(
      'ActivityDetail',
      object({}, { variant: string(), method: string(), code: string(), fields: string() }),
    ),
  }),
)
const ActivityPage = named(
  'ActivityPage',
  object({
    items: array(Activity),
    next: nullable(string({ description: 'Send it as `after` for the page that follows' })),
  }),
)

/** As WebAuthn defines it: a page passes it on to the browser. */
const PasskeyCreationOptions = named(
  'PasskeyCreationOptions',
  record(anything, { description: 'PublicKeyCredentialCreationOptionsJSON (WebAuthn Level 3, section 5.1.8)' }),
)
const PasskeyRequestOptions = named(
  'PasskeyRequestOptions',
  record(anything, { description: 'PublicKeyCredentialRequestOptionsJSON (WebAuthn Level 3, section 5.1.8)' }),
)

/** The whole bodies of responses: each a component of this name, with its example in examples.ts. */
export const responses = {
  Login: discriminated('variant', [StatelessLogin, StatefulLogin]),
  StatelessLogin,
  ProviderList: object({ items: array(LoginProvider) }),
  ProviderAccountsResponse: success(named('LinkedAccounts', object({ items: array(LinkedAccount) }))),
  ProviderLinkResponse: success(
    named('ProviderAddress', object({ url: string({ description: 'Where the page sends its browser' }) })),
  ),
  TokenResponse: success(Token),
  TotpResponse: success(Totp),
  FactorAddedResponse: success(FactorAdded),
  FactorListResponse: success(FactorList),
  RecoveryCodesResponse: success(RecoveryCodes),
  RestrictedResponse: success(Restricted),
  MeResponse: success(Me),
  SessionResponse: success(nullable(Me)),
  PasskeyCreationOptionsResponse: success(PasskeyCreationOptions),
  PasskeyRequestOptions,
  KeySet: object({ keys: array(record(anything)) }),
  NotificationPageResponse: success(NotificationPage),
  NotificationResponse: success(Notification),
  CountsResponse: success(Counts),
  ChangesResponse: success(Changes),
  StreamEvent: anyOf(...Object.values(events)),
  DeliveryResponse: success(Delivery),
  ActivityPageResponse: success(ActivityPage),
  UserAccountResponse: success(UserAccount),
  UserLinkResponse: success(UserLink),
  LinkFactsResponse: success(LinkFacts),
  UserPageResponse: success(UserPage),
  UserSessionPageResponse: success(UserSessionPage),
  DisownedResponse: success(Disowned),
  UserPutsResponse: success(UserPuts),
  HealthResponse: success(Health),
} as const

export type ResponseName = keyof typeof responses
