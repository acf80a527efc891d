// What a route consists of: never without a guard, and a handler only fits a guard that gives it its kind of caller. Guards and
// operations declare which parts of the service they need; what all routes of a table need together follows from the table.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CarillonError, ErrorCode } from '../basics/errors.ts'
import type { Schema } from './openapi/schema.ts'

/** The body of a response: a shape, a document of that type, or none. */
export type ResponseBody = Schema | 'json' | 'lines' | 'html' | 'css' | 'script' | 'asset' | 'image' | 'text' | 'none'

type Params = Readonly<Record<'id' | 'externalId' | 'category' | 'provider' | 'name' | 'key' | 'n', string>>
export type GuardedRequest<Caller = unknown, Query = unknown, Body = unknown> = FastifyRequest & {
  caller: Caller
  query: Query
  body: Body
  params: Params
}
export type Guarded<Caller = unknown> = { request: GuardedRequest<Caller>; reply: FastifyReply }

/** Groups of routes in the published document, each with what it is for. */
export const tags = {
  'sign-in': 'Sign in, sign out, and find out who is signed in',
  inbox: 'The notifications of the signed-in user',
  producers: 'Send notifications, with a producer key',
  users: 'Create, change and delete users and their tokens, with a producer key',
  health: 'For supervisors and load balancers',
  scripts: 'What a page loads to have a bell',
  pages: 'The pages of the service itself, for browsers',
  documentation: 'This description',
} as const
export type Tag = keyof typeof tags

// Who a guard can admit to a route. Everything behind the guards knows the caller by these types alone.

export type Subject = {
  userId: string
  /** Null for a user without a username, and for a token that does not name one. */
  username: string | null
  proof: 'session' | 'access-token'
  signInId: string
  /** When the user last proved a password or a factor, in milliseconds. */
  confirmedAt: number
  /** What a token is limited to; absent for a session and for a token that opens what a session opens. */
  scope?: 'inbox'
  /** When the proof ends at the latest, in milliseconds. */
  expiresAt: number
  /** The version of the user's inbox, if the look-up of the proof read it too. */
  inboxVersion?: number
}

/** A user on a long-lived route. `validUntil` checks the proof again: until when it is valid, null if it has ended. */
export type LongLivedCaller = Subject & { validUntil: () => Promise<number | null> }

export type ProducerCaller = { id: string; application: string }

/** Who is calling, and may they call this route? Returns the caller of the route or throws the refusal. */
export type Guard<Needs, Caller = unknown> = {
  name: 'open' | 'visitor' | 'user' | 'token' | 'producer'
  refusals: readonly ErrorCode[]
  admit: (needs: Needs, request: FastifyRequest) => Promise<Caller>
}

/** The document of a failure, for a browser. Sets the header fields that the document needs. */
export type FailurePage<Needs> = (needs: Needs, error: CarillonError, exchange: Exchange) => Promise<string>
export type Exchange = { request: FastifyRequest; reply: FastifyReply }

export type Operation<Needs, Caller = unknown, Query = unknown, Body = unknown> = {
  summary: string
  query?: Schema<Query>
  body?: Schema<Body>
  /** Checked in place of `body`, if the handler itself checks the rest of it. */
  shallowBody?: Schema
  acceptsForm?: true
  /** It signs a client in that may have no proof: another site must not sign a browser in as its own user. */
  signsIn?: true
  /** It takes one of the few places that a user has: a page of another site must not take it with the user's cookie. */
  takesPlace?: true
  /** Works under any host name: for supervisors and backends, and of no use to a page of another site. */
  anyHost?: true
  /** It does more than to write, such as to start a service: its outcome may come after 9 s. */
  takesLong?: true
  /** Bytes; 4 KiB by default. */
  bodyLimit?: number
  /** Keys of a JSON body at all depths together, with three times as many values; 8 by default. */
  maxFields?: number
  /** Header fields that it reads, each with its purpose. */
  headers?: Readonly<Record<string, string>>
  /** Without them: 204, which is then sent after `handle`. */
  responses?: Readonly<Record<number, ResponseBody>>
  /** The codes of its own refusals; those of the guard and the request checks are added (openapi.ts). */
  refusals?: readonly ErrorCode[]
  /** A browser's tab comes here: the page of a failure, with a way back. Without it, a route of `pages` has a common one. */
  failurePage?: FailurePage<Needs>
  handle: (needs: Needs, request: GuardedRequest<Caller, Query, Body>, reply: FastifyReply) => Promise<unknown>
}

/** The types of the query and the body follow from their schemas, and what the operation needs from the first parameter of its handler. */
export const operationFor =
  <Caller>() =>
  <Needs, Query, Body>(operation: Operation<Needs, Caller, Query, Body>) =>
    operation
export const forAnyone = operationFor<null>()
export const forVisitor = operationFor<Subject | null>()
export const forUser = operationFor<Subject>()
export const forProducer = operationFor<ProducerCaller>()

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type Placed<Needs> = { method: Method; path: string; guard: Guard<Needs>; operation: Operation<Needs> }
/** `id`: the `operationId`, a verb and what it acts on. Generated clients name a function after it, so a released one never changes. */
export type Route<Needs = never> = Placed<Needs> & { id: string; tag: Tag }

export function route<GuardNeeds, Needs, Caller, Query, Body>(
  method: Method,
  path: string,
  guard: Guard<GuardNeeds, Caller>,
  operation: Operation<Needs, Caller, Query, Body>,
): Placed<GuardNeeds & Needs> {
  return { method, path, guard, operation: operation as Operation<Needs> }
}

type Table = Readonly<Partial<Record<Tag, Readonly<Record<string, Placed<never>>>>>>
type Each<T> = { [Group in keyof T]: T[Group][keyof T[Group]] }[keyof T]
type Together<P> = (P extends Placed<infer Needs> ? (needs: Needs) => void : never) extends (needs: infer All) => void
  ? All
  : never
/** What the routes of a table need, all together. */
export type NeedsOf<T extends Table> = Together<Each<T>>

/** `table`: by tag and id. */
export function routesAt<T extends Table>(prefix: string, table: T): Route<NeedsOf<T>>[] {
  const groups = Object.entries(table) as [Tag, Record<string, Placed<NeedsOf<T>>>][]
  return groups.flatMap(([tag, placed]) =>
    Object.entries(placed).map(([id, { path, ...rest }]) => ({ ...rest, id, tag, path: prefix + path })),
  )
}
