// The types of the client equal those of the server, field by field: otherwise this file does not compile. The types of the
// server come from its schemas, which the tests in tests/api validate real responses against, and from its table of error codes
// in server/basics/errors.ts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ErrorCode, Fault as ServerFault, statusOf } from '../server/basics/errors.ts'
import type {
  ChangesQuery,
  DeliveryBody,
  ListQuery,
  LoginBody,
  NewUser,
  ReadAllQuery,
  StreamQuery,
  UserChange,
  UserEntries,
  UserProfile,
  UserQuery,
} from '../server/http/openapi/request-schemas.ts'
import { events, type Notification, type responses, type User } from '../server/http/openapi/response-schemas.ts'
import type { TypeOf } from '../server/http/openapi/schema.ts'
import type * as client from './carillon-client.ts'
import { eventTypes } from './stream/subscription.ts'

/** Resolves intersections, so that `{ a } & { b }` equals `{ a, b }`. */
type Flat<Type> = Type extends object ? { [Field in keyof Type]: Flat<Type[Field]> } : Type
type Same<One, Other> =
  (<Any>() => Any extends Flat<One> ? 1 : 2) extends <Any>() => Any extends Flat<Other> ? 1 : 2 ? true : false
function holds<_Claim extends true>(): void {}

type Answer<Name extends keyof typeof responses> = TypeOf<(typeof responses)[Name]>
type Data<Name extends keyof typeof responses> =
  Answer<Name> extends { success: true; data: infer Value } ? Value : never

test('the response types of the client equal the schemas of the server', () => {
  holds<Same<client.User, TypeOf<typeof User>>>()
  holds<Same<client.StatefulLogin | client.StatelessLogin, Answer<'Login'>>>()
  holds<Same<client.StatelessLogin, Answer<'StatelessLogin'>>>()
  holds<Same<client.Restricted, Data<'RestrictedResponse'>>>()
  holds<Same<client.Me, Data<'MeResponse'>>>()
  holds<Same<client.Notification, TypeOf<typeof Notification>>>()
  holds<Same<client.Notification, Data<'NotificationResponse'>>>()
  holds<Same<client.NotificationPage, Data<'NotificationPageResponse'>>>()
  holds<Same<client.Counts, Data<'CountsResponse'>>>()
  holds<Same<Sent<client.Changes>, Data<'ChangesResponse'>>>()
  holds<Same<client.UserAccount, Data<'UserAccountResponse'>>>()
  holds<Same<client.UserPage, Data<'UserPageResponse'>>>()
  holds<Same<{ results: client.UserPut[] }, Data<'UserPutsResponse'>>>()
  holds<Same<client.IssuedToken, Data<'TokenResponse'>>>()
  holds<Same<client.Delivery, Data<'DeliveryResponse'>>>()
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
  holds<Same<KeysOf<client.Recipient>, keyof DeliveryBody['recipients'][number]>>()
  holds<client.Recipient extends DeliveryBody['recipients'][number] ? true : false>()
  holds<Same<client.Credentials & { variant?: client.Variant }, LoginBody>>()
  holds<Same<Given<client.UserProfile>, TypeOf<typeof UserProfile>>>()
  holds<Same<Given<client.UserChange>, TypeOf<typeof UserChange>>>()
  holds<Same<Given<client.NewUser>, TypeOf<typeof NewUser>>>()
  holds<Same<Given<client.UserEntry>, TypeOf<typeof UserEntries>['users'][number]>>()
  holds<Same<Given<client.UsersOptions>, TypeOf<typeof UserQuery>>>()
  // These fields are text in the query; the client also accepts numbers.
  holds<Same<Given<Omit<client.ListOptions, 'category'>>, Text<Omit<TypeOf<typeof ListQuery>, 'category'>, 'before'>>>()
  // A list of the client may be read-only, and one category needs no list.
  holds<Same<client.ListOptions['category'], string | Readonly<TypeOf<typeof ListQuery>['category']>>>()
  holds<Same<Given<client.ChangesOptions>, Numeric<TypeOf<typeof ChangesQuery>, 'since'>>>()
  holds<Same<Given<client.StreamOptions>, Numeric<TypeOf<typeof StreamQuery>, 'since'>>>()
  holds<Same<Given<Omit<client.ReadAllOptions, 'category'>>, Omit<TypeOf<typeof ReadAllQuery>, 'category'>>>()
  holds<Same<client.ReadAllOptions['category'], string | Readonly<TypeOf<typeof ReadAllQuery>['category']>>>()
})

test('the error codes of the client, their statuses and their details equal the table of the server', () => {
  holds<Same<client.ServerErrorCode, ErrorCode>>()
  holds<Same<client.StatusOf, { -readonly [Code in ErrorCode]: (typeof statusOf)[Code] }>>()
  holds<Same<client.Fault, ServerFault>>()
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

/** Without the field that only allows `if (changes.reset)`, and that the server never sends. */
type Sent<Union> = Union extends { reset?: undefined } ? Omit<Union, 'reset'> : Union
type KeysOf<Union> = Union extends unknown ? keyof Union : never
/** Options without `signal`, which every call has, and without `undefined` values. */
type Given<Options> = { [Name in keyof Omit<Options, 'signal'>]: Exclude<Omit<Options, 'signal'>[Name], undefined> }
type Text<Query, Name extends keyof Query> = { [Key in keyof Query]: Query[Key] | (Key extends Name ? string : never) }
type Numeric<Query, Name extends keyof Query> = {
  [Key in keyof Query]: Query[Key] | (Key extends Name ? number : never)
}
