// What comes in at all: refused here, before any route sees it, is what Node and Fastify would let through (TRUST,
// fact 3; rows I1-I7, C1, C3).
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { CarillonError } from '../errors.ts'
import { isCrossSite, isSafeMethod } from './cross-site.ts'
import { parseForm, parseJson } from './strict-json.ts'

/** Throws INVALID_REQUEST or UNSUPPORTED_MEDIA_TYPE for a request that is not to be answered by any route. */
export function refuseMalformed({ raw, url }: FastifyRequest): void {
  const { headers } = raw
  if (headers.host === undefined && raw.httpVersion === '1.1') throw malformed('Host', 'is missing')
  if (countHosts(raw.rawHeaders) > 1) throw malformed('Host', 'must be sent once')
  if (url.includes('%00')) throw malformed('path', 'must not contain NUL')
  if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity')
    throw new CarillonError('UNSUPPORTED_MEDIA_TYPE', 'The body must be sent without Content-Encoding')
}

function countHosts(rawHeaders: readonly string[]): number {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    if (name.length === 4 && name.toLowerCase() === 'host') count++
  }
  return count
}

function malformed(field: string, reason: string): CarillonError {
  return new CarillonError('INVALID_REQUEST', `The request is malformed: ${field} ${reason}`, {
    details: [{ field, reason }],
  })
}

/** ARCHITECTURE section 5: unsafe methods that come with a cookie, and the login itself. */
export function refuseCrossSite({ raw, method, routeOptions }: FastifyRequest, allowed: readonly string[]): void {
  if (isSafeMethod(method)) return
  const { headers } = raw
  const comesWithCookie = headers.cookie !== undefined && headers.authorization === undefined
  if (!comesWithCookie && routeOptions.url !== '/login') return
  const fetchSite = headers['sec-fetch-site'] as string | undefined
  if (!isCrossSite({ fetchSite, origin: headers.origin, host: headers.host, allowed })) return
  const from = headers.origin === undefined ? 'another site' : headers.origin.slice(0, 200)
  throw new CarillonError(
    'FORBIDDEN',
    `This request comes from ${from}. To allow it, add that origin to CARILLON_ALLOWED_ORIGINS.`,
  )
}

/** Only JSON comes in, and form encoding where a route says that it takes it. */
export function acceptBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: FastifyRequest, body: Buffer) =>
    body.length === 0 ? null : parseJson(body),
  )
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      if (request.routeOptions.config.acceptsForm) return { ...parseForm(body) }
      throw new CarillonError('UNSUPPORTED_MEDIA_TYPE', 'The body must be sent as application/json')
    },
  )
}
