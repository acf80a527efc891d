// The JSON shapes of responses and stream events, which openapi.ts publishes. Every object is a component, because generated code names
// its types after them. Requests are in request-schemas.ts, errors in error-schemas.ts.
import { FactorAdded, FactorList, RecoveryCodes, Totp } from './factor-schemas.ts'
import {
  anyOf,
  anything,
  array,
  boolean,
  component,
  constant,
  discriminated,
  integer,
  named,
  nullable,
  object,
  oneOf,
  optional,
  record,
  type Schema,
  string,
  type TypeOf,
} from './schema.ts'

const id = string({ format: 'uuid', description: 'UUIDv7' })
const timeOf = (description: string) => string({ format: 'date-time', description })
const time = timeOf('ISO 8601 UTC with milliseconds')
const count = integer({ minimum: 0 })
const proof = oneOf(['session', 'access-token'])
const textOrNull = nullable(string())
const expiresAt = time

/** A page by cursor. `field` is what the next request has the cursor in. */
const nextAs = (field: string) => nullable(string(`Send it as \`${field}\` for the page that follows`))
const pageOf = <S extends Schema>(name: string, item: S, notes = {}) =>
  component(name, { items: array(item, notes), next: nextAs('after') })

const ofUser = {
  id,
  externalId: textOrNull,
  username: textOrNull,
  displayName: textOrNull,
  locale: textOrNull,
  email: textOrNull,
  createdAt: time,
}
export const User = component('User', ofUser)

const applicationNote = 'The application that the user belongs to; absent if it belongs to none'
const issuerNote = 'The issuer of foreign tokens that the external id belongs to; absent for a plain id'
export const UserAccount = component('UserAccount', {
  ...ofUser,
  emailVerified: boolean(),
  disabled: boolean(),
  application: optional(string(applicationNote)),
  issuer: optional(string(issuerNote)),
})
const UserPut = component('UserPut', {
  externalId: string(),
  status: oneOf(['created', 'updated']),
  user: UserAccount,
})

const stateful = { User, expiresAt, variant: constant('stateful') }
const StatefulLogin = component('StatefulLogin', stateful, 'The session is in the cookie')
const deviceTokenNote = 'After a sign-in: keep it, and send it with the next sign-in on this device'
const StatelessLogin = component('StatelessLogin', {
  User,
  token: string(),
  expiresAt,
  variant: constant('stateless'),
  deviceToken: optional(string(deviceTokenNote)),
})

const LoginProvider = component('LoginProvider', {
  name: string(),
  displayName: string('For a button'),
  url: string('Where the button leads'),
})
const LinkedAccount = component('LinkedAccount', {
  provider: nullable(string('Null if the provider is no longer one of the service')),
  displayName: string(),
  email: nullable(string('As the provider gave it, for display')),
  createdAt: time,
  lastUsedAt: time,
})

const Me = component('Me', {
  user: User,
  proof,
  expiresAt,
  emailVerified: boolean('Whether the user has an e-mail address that was verified'),
  passwordChangeRequired: boolean('True after a session was disowned, until a new password is set'),
})

const UserSession = component('UserSession', {
  id,
  current: boolean('It is the sign-in of this request'),
  variant: oneOf(['stateful', 'stateless']),
  device: nullable(string('Such as `Firefox on Linux`; null if the client did not say')),
  address: textOrNull,
  createdAt: time,
  lastSeenAt: timeOf('Of a stateless sign-in: when the service recorded it last'),
  expiresAt: timeOf('When it ends at the latest'),
})

export const Notification = component('Notification', {
  id,
  title: string(),
  body: textOrNull,
  url: textOrNull,
  category: textOrNull,
  data: nullable(record(anything)),
  key: textOrNull,
  createdAt: timeOf('When it was first sent'),
  updatedAt: timeOf('When it was last sent'),
  seq: integer({ minimum: 1, description: 'Its place: a list is ordered by seq, newest first' }),
  count: integer({ minimum: 1, description: 'How often it became the newest: 1, and 1 more for each `again`' }),
  read: boolean(),
  readAt: nullable(time),
  archivedAt: nullable(time),
})
const CategoryCounts = component('CategoryCounts', { total: count, unread: count })

const throughNote = 'The newest notification that it covered; null if it has another seq since'
const readAll = {
  through: nullable(string({ format: 'uuid', description: throughNote })),
  throughSeq: integer({ minimum: 1, description: 'It covered the notifications with a seq up to this one' }),
  readAt: time,
}
const categoriesNote = 'It covered only these categories; without this field, all notifications'
const onlyCategories = { categories: optional(array(string(), categoriesNote)) }

const ChangesReset = component('ChangesReset', { reset: constant(true) }, 'List everything again')
const ChangeList = component('ChangeList', {
  created: array(Notification, 'In the order in which they arrived'),
  changed: array(Notification, 'Those whose text was replaced, or that were marked as read or unread'),
  readAlls: array(component('ReadAll', { ...readAll, ...onlyCategories })),
  removed: array(id),
  total: count,
  unread: count,
  version: count,
  position: string('Send it as `since` the next time'),
  hasMore: boolean('Send the next request at once'),
})

const DeliveryResult = component('DeliveryResult', {
  userId: nullable(id),
  id: nullable(id),
  status: oneOf(['delivered', 'updated', 'unknown_recipient']),
})

const state = { version: count, unread: count, total: count }
const withNotification = { ...state, notification: Notification }
export const events = {
  hello: component('HelloEvent', state),
  created: component('CreatedEvent', withNotification),
  replaced: component('ReplacedEvent', withNotification),
  read: component('ReadEvent', withNotification),
  unread: component('UnreadEvent', withNotification),
  'read-all': component('ReadAllEvent', { ...state, ...readAll, ...onlyCategories }),
  removed: component('RemovedEvent', { ...state, id }),
  resync: component('ResyncEvent', state),
  'session-ended': component('SessionEndedEvent', { reason: oneOf(['expired', 'revoked']) }),
} as const

export const actors = ['user', 'application', 'operator', 'provider', 'service'] as const
const optionalText = optional(string())
const Activity = component('Activity', {
  id,
  at: time,
  event: string('Such as sign-in, sign-in-refused, password-changed'),
  actor: oneOf(actors, 'Who did it; user is a client, with or without a proof'),
  address: nullable(string('Of the client, if the actor is user')),
  userAgent: textOrNull,
  device: nullable(string('From `userAgent`, such as `Firefox on Linux`; null if that says nothing')),
  signInId: textOrNull,
  count: integer({ minimum: 1, description: 'More than 1 for refusals that were counted together' }),
  detail: component('ActivityDetail', {
    variant: optionalText,
    method: optionalText,
    code: optionalText,
    fields: optionalText,
  }),
})

/** As WebAuthn defines it: a page passes it on to the browser. */
const optionsOf = (purpose: string) =>
  record(anything, `PublicKeyCredential${purpose}OptionsJSON (WebAuthn Level 3, section 5.1.8)`)

/** Whole bodies of responses: each a component of this name, with its example in examples.ts. */
const whole = {
  Login: discriminated('variant', [StatelessLogin, StatefulLogin]),
  StatelessLogin,
  ProviderList: object({ items: array(LoginProvider) }),
  PasskeyRequestOptions: named('PasskeyRequestOptions', optionsOf('Request')),
  KeySet: object({ keys: array(record(anything)) }),
  StreamEvent: anyOf(...Object.values(events)),
} as const

/** What bodies `{ success, data }` have as `data`. The component of the body has `Response` at the end of its name. */
const data = {
  ProviderAccounts: component('LinkedAccounts', { items: array(LinkedAccount) }),
  ProviderLink: component('ProviderAddress', { url: string('Where the page sends its browser') }),
  Token: component('Token', { token: string(), expiresAt }),
  Totp,
  FactorAdded,
  FactorList,
  RecoveryCodes,
  Restricted: component('Restricted', { userId: id, username: textOrNull, proof }),
  Me,
  Session: nullable(Me),
  PasskeyCreationOptions: named('PasskeyCreationOptions', optionsOf('Creation')),
  NotificationPage: component('NotificationPage', {
    items: array(Notification),
    total: count,
    hasMore: boolean('True exactly when page * limit < total'),
    unread: count,
    version: count,
    next: nextAs('before'),
  }),
  Notification,
  Counts: component('Counts', { total: count, unread: count, categories: record(CategoryCounts) }),
  Changes: named('Changes', anyOf(ChangesReset, ChangeList)),
  Delivery: component('Delivery', { deliveryId: id, results: array(DeliveryResult) }),
  ActivityPage: pageOf('ActivityPage', Activity),
  UserAccount,
  UserLink: component('UserLink', { url: string('The token is the part after #'), expiresAt }),
  LinkFacts: component('LinkFacts', { username: string(), purpose: oneOf(['invite', 'reset']), expiresAt }),
  UserPage: pageOf('UserPage', UserAccount),
  UserSessionPage: pageOf('UserSessionPage', UserSession, 'The one of this request first, then newest first'),
  Disowned: component('Disowned', {
    passwordChangeRequired: constant(true),
    deviceToken: optional(string('For a caller with a token: the device token from before is void')),
  }),
  UserPuts: component('UserPuts', { results: array(UserPut, 'In the order of the request') }),
  Health: component('Health', { status: string() }),
} as const

export type Whole = typeof whole
export type Data = typeof data
type Successes = {
  [Name in keyof Data as `${Name}Response`]: Schema<{ success: true; data: TypeOf<Data[Name]> }>
}
export type ResponseName = keyof Whole | keyof Successes

const successes = Object.entries(data).map(([name, schema]) => {
  return [`${name}Response`, object({ success: constant(true), data: schema })]
})
export const responses = { ...whole, ...Object.fromEntries(successes) } as Whole & Successes
