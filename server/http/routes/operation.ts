// What a route consists of: never without a guard, and a handler only fits a guard that gives it its kind of caller.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CarillonError, ErrorCode } from '../../errors.ts'
import type { Dependencies } from '../dependencies.ts'
import type { ResponseName } from '../openapi/response-schemas.ts'
import type { Schema } from '../openapi/schema.ts'
import type { Guard } from '../request/guards.ts'
import type { WholePage } from './pages/page.ts'

/** The body of a response: a named JSON shape, events, a document of that type, or none. */
export type ResponseBody = ResponseName | 'events' | 'json' | 'html' | 'css' | 'script' | 'asset' | 'image' | 'none'

export type GuardedRequest<Caller> = FastifyRequest & { caller: Caller }

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

export type Operation<Caller> = {
  /** The `operationId`, a verb and what it acts on. Generated clients name a function after it, so a released one never changes. */
  id: string
  tag: keyof typeof tags
  summary: string
  query?: Schema
  body?: Schema
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
  /** The path parameter that takes any text: in it, and nowhere else, a slash may be sent as `%2F`. */
  freeText?: string
  /** Path parameters that are not a UUID. */
  parameters?: Readonly<Record<string, Schema>>
  /** Header fields that it reads, each with its purpose. */
  headers?: Readonly<Record<string, string>>
  responses: Readonly<Record<number, ResponseBody>>
  /** The codes of its own refusals; those of the guard and the request checks are added (openapi.ts). */
  refusals?: readonly ErrorCode[]
  /** A browser's tab comes here: the page of a failure, with a way back. Without it, a route of `pages` has a common one. */
  failurePage?(dependencies: Dependencies, error: CarillonError, request: FastifyRequest): Promise<WholePage>
  handle(dependencies: Dependencies, request: GuardedRequest<Caller>, reply: FastifyReply): Promise<unknown>
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
export type Route = {
  method: Method
  path: string
  segments: readonly string[]
  freeText: string | undefined
  guard: Guard<unknown>
  operation: Operation<unknown>
}

export function route<Caller>(method: Method, path: string, guard: Guard<Caller>, operation: Operation<Caller>): Route {
  const { freeText } = operation
  return { method, path, segments: path.split('/'), freeText, guard, operation: operation as Operation<unknown> }
}
