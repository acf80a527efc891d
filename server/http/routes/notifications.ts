// The routes of a user's own inbox: list, get one, counts, mark read or unread, mark all read, undo.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CarillonError, invalidRequest } from '../../errors.ts'
import type { Subject } from '../../sign-in/subject.ts'
import type { Dependencies } from '../dependencies.ts'
import { ListQuery, ReadAllQuery } from '../openapi/request-schemas.ts'
import { isKnown } from '../response/etag.ts'
import { sendData, sendJson } from '../response/send.ts'
import type { GuardedRequest, Operation } from './operation.ts'

type Request = GuardedRequest<Subject>

export const list: Operation<Subject> = {
  id: 'listNotifications',
  tag: 'inbox',
  summary: "The caller's notifications, newest first, in pages",
  query: ListQuery,
  headers: { 'If-None-Match': 'The ETag of an earlier response: 304 if nothing changed since' },
  responses: { 200: 'NotificationPageResponse', 304: 'none' },
  handle: listNotifications,
}

async function listNotifications({ inbox }: Dependencies, request: Request, reply: FastifyReply) {
  const { page, limit = 20, before, status = 'all', category } = request.query as ListQuery
  if (page !== undefined && before !== undefined)
    throw invalidRequest([{ field: 'before', reason: 'takes the place of page: send one of the two' }])
  const filter = { limit, status, categories: category && [...new Set(category)] }
  const place = before === undefined ? { ...filter, page: page ?? 1 } : { ...filter, before }
  const { json, etag } = await inbox.list(request.caller, place)
  reply.header('etag', etag)
  if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send()
  return sendJson(reply, json)
}

export const one: Operation<Subject> = {
  id: 'getNotification',
  tag: 'inbox',
  summary: "One of the caller's notifications",
  responses: { 200: 'NotificationResponse' },
  handle: getNotification,
}

async function getNotification({ inbox }: Dependencies, request: Request, reply: FastifyReply) {
  return sendJson(reply, `{"success":true,"data":${await inbox.one(request.caller, notificationId(request))}}`)
}

export const counts: Operation<Subject> = {
  id: 'countNotifications',
  tag: 'inbox',
  summary: 'How many there are and how many are unread, also by category; exact',
  responses: { 200: 'CountsResponse' },
  handle: countNotifications,
}

async function countNotifications({ inbox }: Dependencies, { caller }: Request, reply: FastifyReply) {
  return sendData(reply, await inbox.counts(caller))
}

export const read: Operation<Subject> = {
  id: 'markRead',
  tag: 'inbox',
  summary: 'Mark one as read; repeating keeps the first readAt',
  responses: { 204: 'none' },
  handle: markRead,
}

async function markRead({ inbox }: Dependencies, request: Request, reply: FastifyReply) {
  await inbox.read(request.caller, notificationId(request))
  return reply.code(204).send()
}

export const unread: Operation<Subject> = {
  id: 'markUnread',
  tag: 'inbox',
  summary: 'Mark one as unread, until it is marked as read or the next read-all covers it',
  responses: { 204: 'none' },
  handle: markUnread,
}

async function markUnread({ inbox }: Dependencies, request: Request, reply: FastifyReply) {
  await inbox.unread(request.caller, notificationId(request))
  return reply.code(204).send()
}

export const readAll: Operation<Subject> = {
  id: 'markAllRead',
  tag: 'inbox',
  summary: 'Mark all as read, or all with a `seq` up to `throughSeq`, or all of some categories',
  query: ReadAllQuery,
  responses: { 204: 'none' },
  refusals: ['NOT_FOUND'],
  handle: markAllRead,
}

async function markAllRead({ inbox }: Dependencies, { caller, query }: Request, reply: FastifyReply) {
  const { through, throughSeq, category } = query as ReadAllQuery
  if (through !== undefined && throughSeq !== undefined)
    throw invalidRequest([{ field: 'through', reason: 'takes the place of throughSeq: send one of the two' }])
  const covered = { throughId: through?.toLowerCase() ?? null, ...(throughSeq && { throughSeq }) }
  await inbox.readAll(caller, { ...covered, categories: category && [...new Set(category)] })
  return reply.code(204).send()
}

export const undo: Operation<Subject> = {
  id: 'undoReadAll',
  tag: 'inbox',
  summary:
    'Take back the last "mark all as read", within ten minutes; what arrived, or was marked alone since, stays as it is',
  responses: { 204: 'none' },
  refusals: ['CONFLICT'],
  handle: undoReadAll,
}

async function undoReadAll({ inbox }: Dependencies, { caller }: Request, reply: FastifyReply) {
  await inbox.undo(caller)
  return reply.code(204).send()
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Throws NOT_FOUND for text that is not an id, as for an unknown id; its details say what an id looks like. */
function notificationId(request: FastifyRequest): string {
  const id = (request.params as { id: string }).id.toLowerCase()
  if (uuid.test(id)) return id
  throw new CarillonError('NOT_FOUND', 'You have no such notification', {
    details: [{ field: 'id', reason: 'must be the id of a notification, a UUID' }],
  })
}
