// The shapes on the wire, once: Fastify validates by them, openapi.ts publishes them. `answers` holds the named ones.
import { type Static, Type } from 'typebox'

const strict = { additionalProperties: false } as const

export const LoginBody = Type.Object(
  {
    username: Type.String({ minLength: 1, maxLength: 256 }),
    password: Type.String({ minLength: 1, maxLength: 256 }),
    variant: Type.Optional(Type.Enum(['stateful', 'stateless'], { description: 'Default: the setting CARILLON_VARIANT' })),
  },
  strict,
)
export type LoginBody = Static<typeof LoginBody>

const limit = Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 }))

export const ListQuery = Type.Object(
  {
    page: Type.Optional(Type.Integer({ minimum: 1, default: 1 })),
    limit,
    status: Type.Optional(Type.Enum(['unread'], { description: 'Only those that are not read' })),
    before: Type.Optional(Type.Integer({ minimum: 1, description: '`next` of an earlier page, in place of `page`' })),
  },
  strict,
)
export type ListQuery = Static<typeof ListQuery>

export const ReadAllQuery = Type.Object(
  { through: Type.Optional(Type.String({ format: 'uuid', description: 'The newest notification that was on screen' })) },
  strict,
)
export type ReadAllQuery = Static<typeof ReadAllQuery>

const Recipient = Type.Union([
  Type.Object({ username: Type.String({ minLength: 1, maxLength: 256 }) }, strict),
  Type.Object({ userId: Type.String({ minLength: 1, maxLength: 64 }) }, strict),
])

export const DeliveryBody = Type.Object(
  {
    recipients: Type.Array(Recipient, { minItems: 1, maxItems: 1000 }),
    title: Type.String({ minLength: 1, maxLength: 200 }),
    body: Type.Optional(Type.String({ maxLength: 4000 })),
    url: Type.Optional(Type.String({ minLength: 1, maxLength: 2048, description: 'http, https or relative' })),
    category: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    data: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'At most 8 KiB as JSON' })),
    key: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: 'A later one with this key replaces the text of the earlier' }),
    ),
  },
  strict,
)
export type DeliveryBody = Static<typeof DeliveryBody>

// Answers

const id = Type.String({ format: 'uuid', description: 'UUIDv7' })
const time = Type.String({ format: 'date-time', description: 'ISO 8601 UTC with milliseconds' })
const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(type: T) => Type.Union([type, Type.Null()])
const ref = (name: string) => Type.Unsafe<unknown>({ $ref: `#/components/schemas/${name}` })
const success = (data: Parameters<typeof Type.Union>[0][number]) =>
  Type.Object({ success: Type.Literal(true), data }, strict)
const count = Type.Integer({ minimum: 0 })
const proof = Type.Enum(['session', 'access-token'])

export const answers = {
  Error: Type.Object(
    {
      success: Type.Literal(false),
      error: Type.Object(
        {
          code: Type.String(),
          status: Type.Integer(),
          message: Type.String(),
          requestId: Type.String(),
          details: Type.Optional(Type.Array(Type.Object({ field: Type.String(), reason: Type.String() }, strict))),
        },
        strict,
      ),
    },
    strict,
  ),
  User: Type.Object({ id, username: Type.String(), displayName: nullable(Type.String()), createdAt: time }, strict),
  StatefulLogin: Type.Object({ User: ref('User'), expiresAt: time }, strict),
  StatelessLogin: Type.Object({ User: ref('User'), token: Type.String(), expiresAt: time }, strict),
  Restricted: success(Type.Object({ userId: id, username: Type.String(), proof }, strict)),
  Me: success(Type.Object({ user: ref('User'), proof, expiresAt: time }, strict)),
  KeySet: Type.Object({ keys: Type.Array(Type.Record(Type.String(), Type.Unknown())) }, strict),
  Notification: Type.Object(
    {
      id,
      title: Type.String(),
      body: nullable(Type.String()),
      url: nullable(Type.String()),
      category: nullable(Type.String()),
      data: nullable(Type.Record(Type.String(), Type.Unknown())),
      key: nullable(Type.String()),
      createdAt: time,
      read: Type.Boolean(),
      readAt: nullable(time),
      archivedAt: nullable(time),
    },
    strict,
  ),
  NotificationPage: success(
    Type.Object(
      {
        items: Type.Array(ref('Notification')),
        total: count,
        hasMore: Type.Boolean({ description: 'True exactly when page * limit < total' }),
        unread: count,
        version: count,
        next: nullable(Type.String({ description: 'Send it as `before` for the page that follows' })),
      },
      strict,
    ),
  ),
  OneNotification: success(ref('Notification')),
  Counts: success(
    Type.Object(
      {
        total: count,
        unread: count,
        categories: Type.Record(Type.String(), Type.Object({ total: count, unread: count }, strict)),
      },
      strict,
    ),
  ),
  Delivery: success(
    Type.Object(
      {
        deliveryId: id,
        results: Type.Array(
          Type.Object(
            {
              userId: nullable(id),
              id: nullable(id),
              status: Type.Enum(['delivered', 'updated', 'unknown_recipient']),
            },
            strict,
          ),
        ),
      },
      strict,
    ),
  ),
  Health: success(Type.Object({ status: Type.String() }, strict)),
} as const

export type AnswerName = keyof typeof answers
