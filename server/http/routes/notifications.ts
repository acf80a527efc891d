// The routes of a user's own inbox: list, get one, counts, mark read or unread, mark all read, undo.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CarillonError, invalidRequest } from '../../errors.ts'
import type { ListQuery as ListRequest } from '../../inbox/inbox.ts'
import type { PageOf, Subject } from '../../sign-in/subject.ts'
import type { Dependencies } from '../dependencies.ts'
import { ListQuery, maxCategories, maxCategoryLength, ReadAllQuery } from '../openapi/request-schemas.ts'
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
  pageOf: pageToRead,
  handle: listNotifications,
}

function pageToRead({ inbox }: Dependencies, request: FastifyRequest): PageOf | undefined {
  const query = uncheckedQuery(request.query as Record<string, unknown>)
  return query && ((userId) => inbox.pageToRead(userId, query))
}

async function listNotifications({ inbox }: Dependencies, request: Request, reply: FastifyReply) {
  const { page, limit = 20, before, status, category } = request.query as ListQuery
  if (page !== undefined && before !== undefined)
    throw invalidRequest([{ field: 'before', reason: 'takes the place of page: send one of the two' }])
  const place = before === undefined ? { page: page ?? 1 } : { before }
  const rendered = await inbox.list(request.caller, { limit, ...filterOf(status, category), ...place })
  reply.header('etag', rendered.etag)
  if (isKnown(request.headers['if-none-match'], rendered.etag)) return reply.code(304).send()
  return sendJson(reply, rendered.json)
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

const positive = /^[1-9]\d{0,14}$/
const statuses: ReadonlySet<string> = new Set(['unread', 'read', 'all'])
const numbers: ReadonlySet<string> = new Set(['limit', 'page', 'before'])
const maxPerPage = 100

/** The list that a query requests, before the query's schema has checked it; undefined if the check could refuse the query. */
export function uncheckedQuery(query: Record<string, unknown>): ListRequest | undefined {
  for (const name in query) if (!isCertain(name, query[name])) return undefined
  const { limit = '20', page, before } = query as Record<string, string | undefined>
  const { status, category } = query as Pick<ListQuery, 'status'> & { category?: string | string[] }
  if (Number(limit) > maxPerPage || (page !== undefined && before !== undefined)) return undefined
  const place = before === undefined ? { page: Number(page ?? 1) } : { before: Number(before) }
  return { limit: Number(limit), ...filterOf(status, category), ...place }
}

function isCertain(name: string, value: unknown): boolean {
  if (name === 'category') return areCategories([value].flat())
  if (typeof value !== 'string') return false
  return name === 'status' ? statuses.has(value) : numbers.has(name) && positive.test(value)
}

function areCategories(values: readonly unknown[]): boolean {
  const isCategory = (value: unknown) =>
    typeof value === 'string' && value.length > 0 && value.length <= maxCategoryLength
  return values.length <= maxCategories && values.every(isCategory)
}

/** All notifications are a list without a filter, also if the query says so. */
function filterOf(status: ListQuery['status'], category?: string | readonly string[]): Partial<ListRequest> {
  return {
    ...(status !== undefined && status !== 'all' && { status }),
    ...(category !== undefined && { categories: [...new Set([category].flat())] }),
  }
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
