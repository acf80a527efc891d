// Are the client's types the server's? The compiler holds them equal, field by field: this file does not compile otherwise.
// What the server says is in its schemas, which its answers are validated by in server/http/*.test.ts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ErrorCode, Fault as ServerFault, statusOf } from '../server/errors.ts'
import type { TypeOf } from '../server/http/openapi/schema.ts'
import {
  type ChangesQuery,
  type DeliveryBody,
  events,
  type ListQuery,
  type LoginBody,
  type ReadAllQuery,
  type responses,
  type StreamQuery,
} from '../server/http/openapi/schemas.ts'
import type * as client from './carillon-client.ts'
import { eventTypes } from './stream/subscription.ts'

/** The same type written flat, so that an intersection compares equal to what it amounts to. */
type Flat<Type> = Type extends object ? { [Field in keyof Type]: Flat<Type[Field]> } : Type
type Same<One, Other> =
  (<Any>() => Any extends Flat<One> ? 1 : 2) extends <Any>() => Any extends Flat<Other> ? 1 : 2 ? true : false
function holds<_Claim extends true>(): void {}

type Answer<Name extends keyof typeof responses> = TypeOf<(typeof responses)[Name]>
type Data<Name extends keyof typeof responses> =
  Answer<Name> extends { success: true; data: infer Value } ? Value : never

test('every answer', () => {
  holds<Same<client.User, Answer<'User'>>>()
  holds<Same<client.StatefulLogin, Answer<'StatefulLogin'>>>()
  holds<Same<client.StatelessLogin, Answer<'StatelessLogin'>>>()
  holds<Same<client.Restricted, Data<'Restricted'>>>()
  holds<Same<client.Me, Data<'Me'>>>()
  holds<Same<client.Notification, Answer<'Notification'>>>()
  holds<Same<client.Notification, Data<'OneNotification'>>>()
  holds<Same<client.NotificationPage, Data<'NotificationPage'>>>()
  holds<Same<client.Counts, Data<'Counts'>>>()
  holds<Same<Sent<client.Changes>, Data<'Changes'>>>()
  holds<Same<client.Delivery, Data<'Delivery'>>>()
})

test('changes narrow by their reset', () => {
  const countOf = (changes: client.Changes) => (changes.reset ? undefined : changes.created.length)
  assert.equal(countOf({ reset: true }), undefined)
})

test('every event of the stream, and none that is passed over', () => {
  type Told = Exclude<keyof typeof events, 'session-ended'>
  holds<Same<client.StreamData, { [Type in Told]: TypeOf<(typeof events)[Type]> }>>()
  holds<Same<{ reason: client.SessionEnd }, TypeOf<(typeof events)['session-ended']>>>()
  holds<Same<client.StreamEvent['type'], Told>>()
  assert.deepEqual(Object.keys({ ...eventTypes, 'session-ended': true }).sort(), Object.keys(events).sort())
})

test('every request', () => {
  // A recipient is named in one of two ways, which the schema says by a count of fields.
  holds<Same<Given<Omit<client.DeliveryRequest, 'recipients'>>, Omit<DeliveryBody, 'recipients'>>>()
  holds<Same<KeysOf<client.Recipient>, keyof DeliveryBody['recipients'][number]>>()
  holds<client.Recipient extends DeliveryBody['recipients'][number] ? true : false>()
  holds<Same<client.Credentials & { variant?: client.Variant }, LoginBody>>()
  // What the query has as text, a caller may give as the text or as the number.
  holds<Same<Given<client.ListOptions>, Text<ListQuery, 'before'>>>()
  holds<Same<Given<client.ChangesOptions>, Numeric<ChangesQuery, 'since'>>>()
  holds<Same<Given<client.StreamOptions>, Numeric<StreamQuery, 'since'>>>()
  holds<Same<Given<NonNullable<Parameters<client.Inbox['readAll']>[0]>>, ReadAllQuery>>()
})

test('every code, its status, and what the details are', () => {
  holds<Same<client.ServerErrorCode, ErrorCode>>()
  holds<Same<client.StatusOf, { -readonly [Code in ErrorCode]: (typeof statusOf)[Code] }>>()
  holds<Same<client.Fault, ServerFault>>()
})

test('the comparison sees a field more, a field less, an optional one, null and a wider type', () => {
  type One = { a: string; b: number | null }
  holds<Same<One, { a: string } & { b: number | null }>>()
  // @ts-expect-error A field more.
  holds<Same<One, One & { c: string }>>()
  // @ts-expect-error A field less.
  holds<Same<One, { a: string }>>()
  // @ts-expect-error An optional one.
  holds<Same<One, { a?: string; b: number | null }>>()
  // @ts-expect-error Never null.
  holds<Same<One, { a: string; b: number }>>()
  // @ts-expect-error Wider.
  holds<Same<One, { a: unknown; b: number | null }>>()
  // @ts-expect-error Deep inside.
  holds<Same<{ items: One[] }, { items: { a: string; b: number }[] }>>()
})

/** Without the field that is there for `if (changes.reset)` alone, and is never sent. */
type Sent<Union> = Union extends { reset?: undefined } ? Omit<Union, 'reset'> : Union
type KeysOf<Union> = Union extends unknown ? keyof Union : never
/** Options without what every call takes, and without the `undefined` that a caller may write. */
type Given<Options> = { [Name in keyof Omit<Options, 'signal'>]: Exclude<Omit<Options, 'signal'>[Name], undefined> }
type Text<Query, Name extends keyof Query> = { [Key in keyof Query]: Query[Key] | (Key extends Name ? string : never) }
type Numeric<Query, Name extends keyof Query> = {
  [Key in keyof Query]: Query[Key] | (Key extends Name ? number : never)
}
