// The shapes on the wire, once: Fastify validates by them, openapi.ts publishes them. `answers` holds the named ones.
import { statusOf } from '../errors.ts'
import {
  anything,
  array,
  boolean,
  constant,
  integer,
  nullable,
  object,
  oneOf,
  record,
  ref,
  type Schema,
  string,
  type TypeOf,
} from './schema.ts'

export const LoginBody = object(
  { username: string({ minLength: 1, maxLength: 256 }), password: string({ minLength: 1, maxLength: 256 }) },
  { variant: oneOf(['stateful', 'stateless'], { description: 'Default: the setting CARILLON_VARIANT' }) },
)
export type LoginBody = TypeOf<typeof LoginBody>

export const ListQuery = object(
  {},
  {
    page: integer({ minimum: 1, default: 1 }),
    limit: integer({ minimum: 1, maximum: 100, default: 20 }),
    status: oneOf(['unread'], { description: 'Only those that are not read' }),
    before: integer({ minimum: 1, description: '`next` of an earlier page, in place of `page`' }),
  },
)
export type ListQuery = TypeOf<typeof ListQuery>

export const ReadAllQuery = object(
  {},
  { through: string({ format: 'uuid', description: 'The newest notification that was on screen' }) },
)
export type ReadAllQuery = TypeOf<typeof ReadAllQuery>

const Recipient = object(
  {},
  { username: string({ minLength: 1, maxLength: 256 }), userId: string({ minLength: 1, maxLength: 64 }) },
  { minProperties: 1, maxProperties: 1 },
)

export const DeliveryBody = object(
  {
    recipients: array(Recipient, { minItems: 1, maxItems: 1000 }),
    title: string({ minLength: 1, maxLength: 200 }),
  },
  {
    body: string({ maxLength: 4000 }),
    url: string({ minLength: 1, maxLength: 2048, description: 'http, https or relative' }),
    category: string({ minLength: 1, maxLength: 64 }),
    data: record(anything, { description: 'At most 8 KiB as JSON' }),
    key: string({
      minLength: 1,
      maxLength: 255,
      description: 'A later one with this key replaces the text of the earlier',
    }),
  },
)
export type DeliveryBody = TypeOf<typeof DeliveryBody>

// Answers

const id = string({ format: 'uuid', description: 'UUIDv7' })
const time = string({ format: 'date-time', description: 'ISO 8601 UTC with milliseconds' })
const count = integer({ minimum: 0 })
const proof = oneOf(['session', 'access-token'])
const success = (data: Schema) => object({ success: constant(true), data })

export const answers = {
  Error: object({
    success: constant(false),
    error: object(
      { code: oneOf(Object.keys(statusOf)), status: integer(), message: string(), requestId: string() },
      { details: array(object({ field: string(), reason: string() })) },
    ),
  }),
  User: object({ id, username: string(), displayName: nullable(string()), createdAt: time }),
  StatefulLogin: object({ User: ref('User'), expiresAt: time }),
  StatelessLogin: object({ User: ref('User'), token: string(), expiresAt: time }),
  Restricted: success(object({ userId: id, username: string(), proof })),
  Me: success(object({ user: ref('User'), proof, expiresAt: time })),
  KeySet: object({ keys: array(record(anything)) }),
  Notification: object({
    id,
    title: string(),
    body: nullable(string()),
    url: nullable(string()),
    category: nullable(string()),
    data: nullable(record(anything)),
    key: nullable(string()),
    createdAt: time,
    read: boolean(),
    readAt: nullable(time),
    archivedAt: nullable(time),
  }),
  NotificationPage: success(
    object({
      items: array(ref('Notification')),
      total: count,
      hasMore: boolean({ description: 'True exactly when page * limit < total' }),
      unread: count,
      version: count,
      next: nullable(string({ description: 'Send it as `before` for the page that follows' })),
    }),
  ),
  OneNotification: success(ref('Notification')),
  Counts: success(object({ total: count, unread: count, categories: record(object({ total: count, unread: count })) })),
  Delivery: success(
    object({
      deliveryId: id,
      results: array(
        object({
          userId: nullable(id),
          id: nullable(id),
          status: oneOf(['delivered', 'updated', 'unknown_recipient']),
        }),
      ),
    }),
  ),
  Health: success(object({ status: string() })),
} as const

export type AnswerName = keyof typeof answers
