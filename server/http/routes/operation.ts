// What a route is made of: who may call (its guard), what it takes, what it answers, what it does. A route cannot be
// written down without its guard, and a handler only fits the guard that yields its kind of caller.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PageOf } from '../../sign-in/subject.ts'
import type { Schema } from '../openapi/schema.ts'
import type { ResponseName } from '../openapi/schemas.ts'
import type { Guard } from '../request/guards.ts'

/** The body of an answer: a named JSON shape (several where it depends on the request), events, other text, or none. */
export type HttpResponse = readonly ResponseName[] | 'events' | 'text' | 'none'

export type Operation<Caller> = {
  summary: string
  query?: Schema
  body?: Schema
  /** Takes form encoding too. */
  acceptsForm?: true
  /** Answers under any host name: for supervisors and backends, and of no use to a page of another site. */
  anyHost?: true
  /** Bytes; 4 KiB if nothing is said. */
  bodyLimit?: number
  /** Keys of a JSON body at every depth together, with three times as many values; 8 if nothing is said. */
  maxFields?: number
  /** The path parameter that takes any text: in it, and nowhere else, a slash may be sent as `%2F`. */
  freeText?: string
  /** Header fields that it reads, with what they are for. */
  headers?: Readonly<Record<string, string>>
  responses: Readonly<Record<number, HttpResponse>>
  /**
   * Names the page that the request will read, so that the guard can read it with the proof. Called before the guard admits
   * anybody and before the query is checked: undefined unless the query is sure to pass that check.
   */
  pageOf?(request: FastifyRequest): PageOf | undefined
  handle(caller: Caller, request: FastifyRequest, reply: FastifyReply): Promise<unknown>
}

export type Method = 'GET' | 'POST' | 'PATCH'
export type Route = {
  method: Method
  path: string
  /** The path taken apart at its slashes. */
  segments: readonly string[]
  freeText: string | undefined
  guard: Guard<unknown>
  operation: Operation<unknown>
}

export function route<Caller>(method: Method, path: string, guard: Guard<Caller>, operation: Operation<Caller>): Route {
  const { freeText } = operation
  return { method, path, segments: path.split('/'), freeText, guard, operation: operation as Operation<unknown> }
}
