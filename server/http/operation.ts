// What a route consists of: never without a guard, and a handler only fits a guard that gives it its kind of caller.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CarillonError, ErrorCode } from '../basics/errors.ts'
import type { Guard } from '../guards/guards.ts'
import type { Subject } from './callers.ts'
import type { WholePage } from '../pages/page.ts'
import type { Producer } from '../store/store.ts'
import type { Dependencies } from './dependencies.ts'
import type { Schema } from './openapi/schema.ts'

/** The body of a response: a shape, a document of that type, or none. */
export type ResponseBody = Schema | 'json' | 'html' | 'css' | 'script' | 'asset' | 'image' | 'none'

/** The parameters of all paths. */
type Params = Readonly<Record<'id' | 'externalId' | 'provider' | 'name' | 'n', string>>
export type GuardedRequest<Caller = unknown, Query = unknown, Body = unknown> = FastifyRequest & {
  caller: Caller
  query: Query
  body: Body
  params: Params
}
export type Exchange<Caller = unknown> = { request: GuardedRequest<Caller>; reply: FastifyReply }

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

export type Operation<Caller, Query = unknown, Body = unknown> = {
  summary: string
  query?: Schema<Query>
  body?: Schema<Body>
  /** Checked in place of `body`, if the handler itself checks the rest of it. */
  shallowBody?: Schema
  acceptsForm?: true
  /** It signs a client in that may have no proof: another site must not sign a browser in as its own user. */
  signsIn?: true
  /** Works under any host name: for supervisors and backends, and of no use to a page of another site. */
  anyHost?: true
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
  failurePage?(dependencies: Dependencies, error: CarillonError, request: FastifyRequest): Promise<WholePage>
  handle(
    dependencies: Dependencies,
    request: GuardedRequest<Caller, Query, Body>,
    reply: FastifyReply,
  ): Promise<unknown>
}

/** The types of the query and the body follow from their schemas. */
export const operationFor =
  <Caller>() =>
  <Query, Body>(operation: Operation<Caller, Query, Body>) =>
    operation
export const forAnyone = operationFor<null>()
export const forVisitor = operationFor<Subject | null>()
export const forUser = operationFor<Subject>()
export const forProducer = operationFor<Producer>()

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type Placed = { method: Method; path: string; guard: Guard<unknown>; operation: Operation<unknown> }
/** `id`: the `operationId`, a verb and what it acts on. Generated clients name a function after it, so a released one never changes. */
export type Route = Placed & { id: string; tag: Tag }

export function route<Caller>(method: Method, path: string, guard: Guard<Caller>, operation: Operation<Caller>) {
  return { method, path, guard, operation: operation as Operation<unknown> }
}

/** `table`: by tag and id. */
export function routesAt(prefix: string, table: Readonly<Partial<Record<Tag, Readonly<Record<string, Placed>>>>>) {
  return Object.entries(table).flatMap(([tag, placed]) =>
    Object.entries(placed).map(([id, { path, ...rest }]) => ({ ...rest, id, tag: tag as Tag, path: prefix + path })),
  )
}
