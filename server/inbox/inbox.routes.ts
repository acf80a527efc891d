import { parseTime } from '../basics/clock.ts'
import { invalidField } from '../basics/errors.ts'
import { forUser, type GuardedRequest } from '../http/operation.ts'
import { isKnown, sendJson } from '../http/response/send.ts'
import type { WriteOperation } from '../store/store.ts'
import {
  CountsResponse,
  ListQuery,
  NotificationPageResponse,
  NotificationResponse,
  ReadAllQuery,
  SeenBody,
  SnoozeBody,
} from './inbox.schemas.ts'
import { type Inbox, notFound } from './inbox.ts'
import type { Filter, MarkRead } from './inbox-state.ts'
import * as stored from './marks.store.ts'

type Needs = { inbox: Inbox }

export const list = forUser({
  summary: "The caller's notifications, newest first, in pages",
  query: ListQuery,
  headers: { 'If-None-Match': 'The ETag of an earlier response: 304 if nothing changed since' },
  responses: { 200: NotificationPageResponse, 304: 'none' },
  async handle({ inbox }: Needs, request, reply) {
    const { page, limit = 20, before, status = 'inbox', category } = request.query
    if (page !== undefined && before !== undefined)
      throw invalidField('before', 'takes the place of page: send one of the two')
    const filter: Filter & { limit: number } = {
      limit,
      status,
      categories: category && [...new Set(category)],
    }
    const place = before === undefined ? { ...filter, page: page ?? 1 } : { ...filter, before }
    const { json, etag } = await inbox.list(request.caller, place)
    reply.header('etag', etag)
    if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send()
    return sendJson(reply, json)
  },
})

export const one = forUser({
  summary: "One of the caller's notifications",
  responses: { 200: NotificationResponse },
  handle: async ({ inbox }: Needs, request, reply) =>
    sendJson(
      reply,
      `{"success":true,"data":${await inbox.one(request.caller, notificationId(request))}}`,
    ),
})

export const counts = forUser({
  summary: 'How many there are and how many are unread, also by category; exact',
  responses: { 200: CountsResponse },
  handle: async ({ inbox }: Needs, { caller }, reply) =>
    sendJson(reply, (await inbox.counts(caller)).json),
})

const changeOfOne = (
  summary: string,
  operation: WriteOperation<MarkRead, unknown>,
  refusals: ['CONFLICT'] | [] = [],
) =>
  forUser({
    summary,
    refusals,
    handle: async ({ inbox }: Needs, request) =>
      inbox.change(operation, request.caller, { id: notificationId(request) }),
  })

export const read = changeOfOne(
  'Mark one as read; repeating keeps the first readAt',
  stored.markRead,
)

export const unread = changeOfOne(
  'Mark one as unread, until it is marked as read or the next read-all covers it',
  stored.markUnread,
)

export const readAll = forUser({
  summary: 'Mark all as read, or all with a `seq` up to `throughSeq`, or all of some categories',
  query: ReadAllQuery,
  refusals: ['NOT_FOUND', 'TOO_MANY_REQUESTS'],
  takesLong: true,
  async handle({ inbox }: Needs, { caller, query }) {
    const { through, throughSeq, category } = query
    if (through !== undefined && throughSeq !== undefined)
      throw invalidField('through', 'takes the place of throughSeq: send one of the two')
    const covered = { throughId: through?.toLowerCase() ?? null, ...(throughSeq && { throughSeq }) }
    await inbox.markAllRead(caller, { ...covered, categories: category && [...new Set(category)] })
  },
})

export const archive = changeOfOne(
  'Archive one, and mark it as read; repeating changes nothing',
  stored.archive,
  ['CONFLICT'],
)

export const unarchive = changeOfOne(
  'Put one that was archived or snoozed back at its place in the list; it stays read',
  stored.unarchive,
)

export const snooze = forUser({
  summary:
    'Snooze one: until then it is in no list but `status=snoozed`, then the newest and unread',
  body: SnoozeBody,
  refusals: ['CONFLICT'],
  handle: async ({ inbox }: Needs, request) =>
    inbox.snooze(request.caller, notificationId(request), parseTime(request.body.until)),
})

export const remove = changeOfOne('Delete one; repeating changes nothing', stored.remove, [
  'CONFLICT',
])

export const archiveRead = forUser({
  summary: 'Archive all that are read now, except security notices of the last 24 hours',
  refusals: ['TOO_MANY_REQUESTS'],
  takesLong: true,
  handle: ({ inbox }: Needs, { caller }) => inbox.archiveRead(caller),
})

export const seen = forUser({
  summary: 'Say what the user has seen: `unseen` counts what came after',
  body: SeenBody,
  handle: ({ inbox }: Needs, { caller, body }) => inbox.change(stored.markSeen, caller, body),
})

export const undo = forUser({
  summary:
    'Take back the last "mark all as read" or "archive all read", within ten minutes; what arrived or was changed alone since stays as it is',
  refusals: ['CONFLICT', 'TOO_MANY_REQUESTS'],
  takesLong: true,
  handle: ({ inbox }: Needs, { caller }) => inbox.undo(caller),
})

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

function notificationId({ params }: GuardedRequest): string {
  const id = params.id.toLowerCase()
  if (uuid.test(id)) return id
  throw notFound([{ field: 'id', reason: 'must be the id of a notification, a UUID' }])
}
