// This file compiles only if the client's types equal those of the server's schemas and error
// codes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type {
  ErrorCode,
  Fault as ServerFault,
  SecondFactorKind as ServerKind,
  statusOf,
} from '../server/basics/errors.ts'
import type {
  DeliveryBody,
  DeliveryResponse,
  KeyChangeResponse,
  NotificationChange,
} from '../server/delivery/delivery.schemas.ts'
import type { TypeOf } from '../server/http/openapi/schema.ts'
import type * as inbox from '../server/inbox/inbox.schemas.ts'
import type * as passwords from '../server/links/passwords.schemas.ts'
import {
  type ChangesQuery,
  type ChangesResponse,
  events,
  type StreamQuery,
} from '../server/live/live.schemas.ts'
import type * as preferences from '../server/preferences/preferences.schemas.ts'
import type * as pushes from '../server/reach/push/subscriptions.schemas.ts'
import type * as sessions from '../server/sessions/sessions.schemas.ts'
import type { TokenResponse } from '../server/sessions/sessions.schemas.ts'
import type * as signIn from '../server/sign-in/sign-in.schemas.ts'
import type * as users from '../server/users/users.schemas.ts'
import type * as client from './carillon-client.ts'
import { eventTypes } from './stream/subscription.ts'

/** `{ a } & { b }` then equals `{ a, b }`. */
type Flat<Type> = Type extends object ? { [Field in keyof Type]: Flat<Type[Field]> } : Type
type Same<One, Other> =
  (<Any>() => Any extends Flat<One> ? 1 : 2) extends <Any>() => Any extends Flat<Other> ? 1 : 2
    ? true
    : false
function holds<_Claim extends true>(): void {}

type Data<Response> = TypeOf<Response> extends { success: true; data: infer Value } ? Value : never

test('the response types of the client equal the schemas of the server', () => {
  holds<Same<client.User, TypeOf<typeof users.User>>>()
  holds<Same<client.StatefulLogin | client.StatelessLogin, TypeOf<typeof sessions.Login>>>()
  holds<Same<client.StatelessLogin, TypeOf<typeof sessions.StatelessLogin>>>()
  holds<Same<client.Restricted, Data<typeof signIn.RestrictedResponse>>>()
  holds<Same<client.Me, Data<typeof users.MeResponse>>>()
  holds<Same<client.Notification, TypeOf<typeof inbox.Notification>>>()
  holds<Same<client.Notification, Data<typeof inbox.NotificationResponse>>>()
  holds<Same<client.NotificationPage, Data<typeof inbox.NotificationPageResponse>>>()
  holds<Same<client.Counts, Data<typeof inbox.CountsResponse>>>()
  holds<Same<Sent<client.Changes>, Data<typeof ChangesResponse>>>()
  holds<Same<client.UserAccount, Data<typeof users.UserAccountResponse>>>()
  holds<Same<client.UserPage, Data<typeof users.UserPageResponse>>>()
  holds<Same<{ results: client.UserPut[] }, Data<typeof users.UserPutsResponse>>>()
  holds<Same<client.IssuedToken, Data<typeof TokenResponse>>>()
  holds<Same<client.Delivery, Data<typeof DeliveryResponse>>>()
  holds<Same<client.KeyChange, Data<typeof KeyChangeResponse>>>()
  holds<Same<client.UserLink, Data<typeof passwords.UserLinkResponse>>>()
  holds<Same<client.Category, Data<typeof preferences.CategoryResponse>>>()
  holds<Same<client.Preferences, Data<typeof preferences.PreferencesResponse>>>()
  holds<Same<client.PushSubscriptions, Data<typeof pushes.ListResponse>>>()
})

test('the type of changes narrows by `reset`', () => {
  const countOf = (changes: client.Changes) => (changes.reset ? undefined : changes.created.length)
  assert.equal(countOf({ reset: true }), undefined)
})

test('the event types of the client equal the schemas of the server, and the client skips only session-ended', () => {
  type Passed = Exclude<keyof typeof events, 'session-ended'>
  holds<Same<client.StreamData, { [Type in Passed]: TypeOf<(typeof events)[Type]> }>>()
  holds<Same<{ reason: client.SessionEnd }, TypeOf<(typeof events)['session-ended']>>>()
  holds<Same<client.StreamEvent['type'], Passed>>()
  assert.deepEqual([...eventTypes, 'session-ended'].sort(), Object.keys(events).sort())
})

test('the request types of the client equal the schemas of the server', () => {
  // A recipient has a username, a userId or an externalId. The handler checks that; the schema only lists the fields.
  holds<Same<Given<Omit<client.DeliveryRequest, 'recipients'>>, Omit<DeliveryBody, 'recipients'>>>()
  holds<Same<Given<client.NotificationChange>, TypeOf<typeof NotificationChange>>>()
  holds<Same<KeysOf<client.Recipient>, keyof DeliveryBody['recipients'][number]>>()
  holds<client.Recipient extends DeliveryBody['recipients'][number] ? true : false>()
  holds<Same<Given<client.CategoryDeclaration>, preferences.CategoryBody>>()
  holds<Same<Given<client.PreferencesChange>, preferences.PreferencesBody>>()
  holds<Same<client.Credentials & { variant?: client.Variant }, signIn.LoginBody>>()
  holds<Same<Given<client.UserProfile>, TypeOf<typeof users.UserProfile>>>()
  holds<Same<Given<client.UserChange>, TypeOf<typeof users.UserChange>>>()
  holds<Same<Given<client.NewUser>, TypeOf<typeof users.NewUser>>>()
  holds<Same<Given<client.UserEntry>, TypeOf<typeof users.UserEntries>['users'][number]>>()
  holds<Same<Given<client.LinkRequest>, TypeOf<typeof passwords.LinkBody>>>()
  holds<Same<Given<client.UsersOptions>, TypeOf<typeof users.UserQuery>>>()
  // These fields are text in the query; the client also accepts numbers.
  holds<
    Same<
      Given<Omit<client.ListOptions, 'category'>>,
      Text<Omit<TypeOf<typeof inbox.ListQuery>, 'category'>, 'before'>
    >
  >()
  // A list of the client may be read-only, and one category needs no list.
  holds<
    Same<
      client.ListOptions['category'],
      string | Readonly<TypeOf<typeof inbox.ListQuery>['category']>
    >
  >()
  holds<Same<Given<client.ChangesOptions>, Numeric<TypeOf<typeof ChangesQuery>, 'since'>>>()
  holds<Same<Given<client.StreamOptions>, Numeric<TypeOf<typeof StreamQuery>, 'since'>>>()
  holds<
    Same<
      Given<Omit<client.ReadAllOptions, 'category'>>,
      Omit<TypeOf<typeof inbox.ReadAllQuery>, 'category'>
    >
  >()
  holds<
    Same<
      client.ReadAllOptions['category'],
      string | Readonly<TypeOf<typeof inbox.ReadAllQuery>['category']>
    >
  >()
})

test('the error codes of the client, their statuses and their details equal the table of the server', () => {
  holds<Same<client.ServerErrorCode, ErrorCode>>()
  holds<Same<client.StatusOf, { -readonly [Code in ErrorCode]: (typeof statusOf)[Code] }>>()
  holds<Same<client.Fault, ServerFault>>()
  holds<Same<client.SecondFactorKind, ServerKind>>()
})

test('the comparison of types detects an extra, missing, optional, non-null, wider and nested field', () => {
  type One = { a: string; b: number | null }
  holds<Same<One, { a: string } & { b: number | null }>>()
  // @ts-expect-error An extra field.
  holds<Same<One, One & { c: string }>>()
  // @ts-expect-error A missing field.
  holds<Same<One, { a: string }>>()
  // @ts-expect-error An optional field.
  holds<Same<One, { a?: string; b: number | null }>>()
  // @ts-expect-error A field that is never null.
  holds<Same<One, { a: string; b: number }>>()
  // @ts-expect-error A wider type.
  holds<Same<One, { a: unknown; b: number | null }>>()
  // @ts-expect-error A nested field.
  holds<Same<{ items: One[] }, { items: { a: string; b: number }[] }>>()
})

/** The server never sends the field that only allows `if (changes.reset)`. */
type Sent<Union> = Union extends { reset?: undefined } ? Omit<Union, 'reset'> : Union
type KeysOf<Union> = Union extends unknown ? keyof Union : never
/** Every call has `signal`. */
type Given<Options> = {
  [Name in keyof Omit<Options, 'signal'>]: Exclude<Omit<Options, 'signal'>[Name], undefined>
}
type Text<Query, Name extends keyof Query> = {
  [Key in keyof Query]: Query[Key] | (Key extends Name ? string : never)
}
type Numeric<Query, Name extends keyof Query> = {
  [Key in keyof Query]: Query[Key] | (Key extends Name ? number : never)
}
