// What all routes of a table need follows from the table.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CarillonError, ErrorCode } from '../basics/errors.ts'
import type { Schema } from './openapi/schema.ts'

export type ResponseBody =
  | Schema
  | 'json'
  | 'lines'
  | 'html'
  | 'css'
  | 'script'
  | 'asset'
  | 'image'
  | 'text'
  | 'none'

type Params = Readonly<
  Record<'id' | 'externalId' | 'category' | 'provider' | 'name' | 'key' | 'keyId' | 'n', string>
>
export type GuardedRequest<Caller = unknown, Query = unknown, Body = unknown> = FastifyRequest & {
  caller: Caller
  query: Query
  body: Body
  params: Params
}
export type Guarded<Caller = unknown> = { request: GuardedRequest<Caller>; reply: FastifyReply }

export const tags = {
  'sign-in': 'Sign in, sign out, and find out who is signed in',
  inbox: 'The notifications of the signed-in user',
  producers: 'Send notifications, with a producer key',
  users: 'Create, change and delete users and their tokens, with a producer key',
  operator: 'For the page /operator: a session of an operator, from a page of the service itself',
  health: 'For supervisors and load balancers',
  scripts: 'What a page loads to have a bell',
  pages: 'The pages of the service itself, for browsers',
  documentation: 'This description',
} as const
export type Tag = keyof typeof tags

// Code behind the guards knows the caller only by these types.

/** `mfa`: second factor. `phr`: passkey, which no other site can request (EAP ACR Values 1.0). */
export type ProvedFactor = 'mfa' | 'phr'

export type Subject = {
  userId: string
  /** Null also for a token that names none. */
  username: string | null
  proof: 'session' | 'access-token'
  signInId: string
  /** When the user last proved a password or a factor, in milliseconds. */
  confirmedAt: number
  /** Absent if the proof opens everything. `setup`: only sets a factor up (factor-policy.ts). */
  scope?: 'inbox' | 'setup'
  factor?: ProvedFactor
  expiresAt: number
  inboxVersion?: number
}

/** `validUntil` checks the proof again; null if it ended. */
export type LongLivedCaller = Subject & { validUntil: () => Promise<number | null> }

export type ProducerCaller = { id: string; application: string }

export type Guard<Needs, Caller = unknown> = {
  /** `operator` routes never have CORS. */
  name: 'open' | 'visitor' | 'user' | 'token' | 'producer' | 'operator'
  refusals: readonly ErrorCode[]
  admit: (needs: Needs, request: FastifyRequest, reply: FastifyReply) => Promise<Caller>
}

export type FailurePage<Needs> = (
  needs: Needs,
  error: CarillonError,
  exchange: Exchange,
) => Promise<string>
export type Exchange = { request: FastifyRequest; reply: FastifyReply }

export type Operation<Needs, Caller = unknown, Query = unknown, Body = unknown> = {
  summary: string
  query?: Schema<Query>
  body?: Schema<Body>
  /** The handler checks the rest. */
  shallowBody?: Schema
  acceptsForm?: true
  acceptsMultipart?: true
  /** Another site must not sign a browser in as its own user. */
  signsIn?: true
  /** Another site's page must not take one of a user's places. */
  takesPlace?: true
  /** Supervisors and backends use it; another site's page gains nothing. */
  anyHost?: true
  /** Its outcome may come after 9 s. */
  takesLong?: true
  /** In bytes; default 4 KiB. */
  bodyLimit?: number
  /** Limits a JSON body's keys at all depths; default 8. It may have 3 times as many values. */
  maxFields?: number
  headers?: Readonly<Record<string, string>>
  responses?: Readonly<Record<number, ResponseBody>>
  /** openapi.ts adds those of guard and request checks. */
  refusals?: readonly ErrorCode[]
  /** A browser's tab shows it, with a way back. */
  failurePage?: FailurePage<Needs>
  handle: (
    needs: Needs,
    request: GuardedRequest<Caller, Query, Body>,
    reply: FastifyReply,
  ) => Promise<unknown>
}

export const operationFor =
  <Caller>() =>
  <Needs, Query, Body>(operation: Operation<Needs, Caller, Query, Body>) =>
    operation
export const forAnyone = operationFor<null>()
export const forVisitor = operationFor<Subject | null>()
export const forUser = operationFor<Subject>()
export const forProducer = operationFor<ProducerCaller>()

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type Placed<Needs> = {
  method: Method
  path: string
  guard: Guard<Needs>
  operation: Operation<Needs>
}
/** Generated clients name functions after the `id`, so a released one never changes. */
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
type Together<P> = (P extends Placed<infer Needs> ? (needs: Needs) => void : never) extends (
  needs: infer All,
) => void
  ? All
  : never
export type NeedsOf<T extends Table> = Together<Each<T>>

export function routesAt<T extends Table>(prefix: string, table: T): Route<NeedsOf<T>>[] {
  const groups = Object.entries(table) as [Tag, Record<string, Placed<NeedsOf<T>>>][]
  return groups.flatMap(([tag, placed]) =>
    Object.entries(placed).map(([id, { path, ...rest }]) => ({
      ...rest,
      id,
      tag,
      path: prefix + path,
    })),
  )
}
