// The routes of a reader's own inbox: list, one, counts, read, read-all.
import type { FastifyRequest } from 'fastify'
import { CarillonError, invalidRequest } from '../../errors.ts'
import type { Inbox, ListQuery as ListRequest } from '../../inbox/inbox.ts'
import type { Subject } from '../../sign-in/subject.ts'
import { ListQuery, ReadAllQuery } from '../openapi/schemas.ts'
import { sendData, sendJson, sendNothing } from '../response/send.ts'
import type { Operation } from './operation.ts'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

export function notificationOperations(inbox: Inbox) {
  const list: Operation<Subject> = {
    summary: "The caller's notifications, newest first, in pages",
    query: ListQuery,
    headers: { 'If-None-Match': 'The ETag of an earlier answer: 304 where nothing changed since' },
    responses: { 200: ['NotificationPage'], 304: 'none' },
    pageOf(request) {
      const query = uncheckedQuery(request.query as Record<string, unknown>)
      return query && ((userId) => inbox.pageToRead(userId, query))
    },
    async handle(subject, request, reply) {
      const { page, limit = 20, before, status } = request.query as ListQuery
      if (page !== undefined && before !== undefined)
        throw invalidRequest([{ field: 'before', reason: 'takes the place of page: send one of the two' }])
      const place = before === undefined ? { page: page ?? 1 } : { before }
      const rendered = await inbox.list(subject, { limit, ...(status && { status }), ...place })
      reply.header('etag', rendered.etag)
      const known = request.headers['if-none-match']
      if (known !== undefined && isKnown(known, rendered.etag)) return reply.code(304).send()
      return sendJson(reply, rendered.json)
    },
  }

  const one: Operation<Subject> = {
    summary: "One of the caller's notifications",
    responses: { 200: ['OneNotification'] },
    handle: async (subject, request, reply) =>
      sendJson(reply, `{"success":true,"data":${await inbox.one(subject, notificationId(request))}}`),
  }

  const counts: Operation<Subject> = {
    summary: 'How many there are and how many are unread, also by category; exact',
    responses: { 200: ['Counts'] },
    handle: async (subject, _request, reply) => sendData(reply, await inbox.counts(subject)),
  }

  const read: Operation<Subject> = {
    summary: 'Mark one as read; repeating keeps the first readAt',
    responses: { 204: 'none' },
    async handle(subject, request, reply) {
      await inbox.read(subject, notificationId(request))
      return sendNothing(reply)
    },
  }

  const readAll: Operation<Subject> = {
    summary: 'Mark all as read, or all up to and with the one that `through` names',
    query: ReadAllQuery,
    responses: { 204: 'none' },
    async handle(subject, request, reply) {
      const { through } = request.query as ReadAllQuery
      await inbox.readAll(subject, through?.toLowerCase() ?? null)
      return sendNothing(reply)
    },
  }

  return { list, one, counts, read, readAll }
}

const positive = /^[1-9]\d{0,14}$/
const numbers: ReadonlySet<string> = new Set(['limit', 'page', 'before'])
const maxPerPage = 100

/** The list that a query names before its schema has checked it; undefined if the check could refuse it. */
function uncheckedQuery(query: Record<string, unknown>): ListRequest | undefined {
  for (const name in query) if (!isSure(name, query[name])) return undefined
  const { limit = '20', page, before, status } = query as Record<string, string | undefined>
  if (Number(limit) > maxPerPage || (page !== undefined && before !== undefined)) return undefined
  const place = before === undefined ? { page: Number(page ?? 1) } : { before: Number(before) }
  return { limit: Number(limit), ...(status && { status: 'unread' }), ...place }
}

function isSure(name: string, value: unknown): boolean {
  return name === 'status' ? value === 'unread' : numbers.has(name) && typeof value === 'string' && positive.test(value)
}

/** What is no id names no notification either, so it is the same 404; the details say what an id looks like. */
function notificationId(request: FastifyRequest): string {
  const id = (request.params as { id: string }).id.toLowerCase()
  if (uuid.test(id)) return id
  throw new CarillonError('NOT_FOUND', 'You have no such notification', {
    details: [{ field: 'id', reason: 'must be the id of a notification, a UUID' }],
  })
}

/** If-None-Match (RFC 9110, section 13.1.2), by weak comparison: a `W/` before the tag makes no difference. */
function isKnown(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag || ifNoneMatch === '*') return true
  if (!ifNoneMatch.includes(etag)) return false
  const tag = /[ \t,]*(?:W\/)?("[^"]*")(?=[ \t]*(?:,|$))/y
  for (let found = tag.exec(ifNoneMatch); found !== null; found = tag.exec(ifNoneMatch))
    if (found[1] === etag) return true
  return false
}
