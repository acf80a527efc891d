// Lets pages of allowed origins send requests and read responses (the CORS protocol, Fetch Standard, section 3.2).
import type { FastifyReply, FastifyRequest } from 'fastify'
import { afterUnreadBody } from '../../connections/drop-unread.ts'

const preflight = {
  'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers': 'authorization, content-type, idempotency-key, if-none-match, last-event-id',
  'access-control-max-age': '600',
}

/** `allowed` has whole origins, never patterns. Returns true if the request is a preflight whose response is sent here. */
export function allowOrigin(request: FastifyRequest, reply: FastifyReply, allowed: readonly string[]): boolean {
  if (allowed.length === 0) return false
  reply.header('vary', 'Origin')
  const { origin } = request.headers
  if (origin === undefined || !allowed.includes(origin)) return false
  reply.headers({
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': 'etag, retry-after',
  })
  if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return false
  afterUnreadBody(request, reply, () => reply.code(204).headers(preflight).send())
  return true
}
