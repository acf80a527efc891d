// What comes in at all: refused here, before any route sees it, is what Node and Fastify would let through (TRUST,
// fact 3; rows I1-I8, C1, C3).
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { CarillonError, noSuchRoute } from '../../errors.ts'
import { yieldToEventLoop } from '../../event-loop.ts'
import { isStream } from '../connections/slow-readers.ts'
import { isCrossSite, isSafeMethod } from './cross-site.ts'
import type { IsKnownHost } from './known-hosts.ts'
import { isOtherSpelling, pathOf } from './spelling.ts'
import { parseForm, parseJson } from './strict-json.ts'

/** Throws INVALID_REQUEST or UNSUPPORTED_MEDIA_TYPE for a request that is not to be answered by any route. */
export function refuseMalformed({ raw, url }: FastifyRequest, reply: FastifyReply): void {
  const { headers, httpVersion } = raw
  // Node's parser takes 0.9 and 2.0 in a request line as well.
  if (httpVersion !== '1.1' && httpVersion !== '1.0') throw malformed('version', 'must be HTTP/1.1')
  refuseRepeated(raw.rawHeaders)
  if (headers.host === undefined) {
    if (httpVersion === '1.1') throw malformed('Host', 'is missing')
  } else if (!hostShape.test(headers.host)) throw malformed('Host', 'must be a host and perhaps a port')
  const coding = headers['transfer-encoding']
  if (coding !== undefined && (httpVersion === '1.0' || coding.toLowerCase() !== 'chunked')) {
    // Nobody knows where such a body ends, so nothing that follows is a request.
    reply.header('connection', 'close')
    throw malformed('Transfer-Encoding', 'must be chunked, and sent by HTTP/1.1')
  }
  if (url.charCodeAt(0) !== slash) refuseOtherAuthority(url, headers.host)
  if (url.includes('%00')) throw malformed('path', 'must not contain NUL')
  if (url.includes('#')) throw malformed('path', 'must not contain a fragment')
  if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity')
    throw new CarillonError('UNSUPPORTED_MEDIA_TYPE', 'The body must be sent without Content-Encoding')
}

/** Throws NOT_FOUND for a path that is not written as its route is (TRUST Z8), before any guard or body is looked at. */
export function refuseOtherSpelling(request: FastifyRequest): void {
  const { url } = request
  if (!url.includes('%')) return
  // Fastify builds this object at each access, so it is read only if it is needed.
  const { url: path, config } = request.routeOptions
  if (isOtherSpelling(pathOf(url), path === undefined ? undefined : { path, freeText: config.freeText }))
    throw noSuchRoute()
}

const respondedEarly = new WeakMap<Socket, IncomingMessage>()

/** Notes a request that is answered before all of it is here: what is wrong with the rest gets no second answer. */
export function noteEarlyResponse({ raw }: FastifyRequest): void {
  if (!raw.complete) respondedEarly.set(raw.socket, raw)
}

/** Whether the request that is being read from a connection has its answer already, or one that goes on: a stream. */
export function hasResponse(socket: Socket): boolean {
  return isStream(socket) || respondedEarly.get(socket)?.complete === false
}

const slash = 0x2f

/** An absolute form (RFC 9112, section 3.2.2) names the host twice. If the two differ, it depends on the reader which counts. */
function refuseOtherAuthority(target: string, host: string | undefined): void {
  if (target === '*') return
  const authority = /^https?:\/\/([^/?]*)/.exec(target)?.[1]
  if (authority === undefined || authority !== host) throw malformed('Host', 'must be the host of the request target')
}

/** RFC 9112, section 3.2; empty where the target has no authority. */
const hostShape = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i

/** Of these Node keeps the first and drops the rest without a word; whoever stands before us may keep the last. */
function refuseRepeated(rawHeaders: readonly string[]): void {
  let hosts = 0
  let types = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
    else if (name.length === 12 && name.toLowerCase() === 'content-type') types++
  }
  if (hosts > 1) throw malformed('Host', 'must be sent once')
  if (types > 1) throw malformed('Content-Type', 'must be sent once')
}

function malformed(field: string, reason: string): CarillonError {
  return new CarillonError('INVALID_REQUEST', `The request is malformed: ${field} ${reason}`, {
    details: [{ field, reason }],
  })
}

const maxPipelined = 16
const pipelined = new WeakMap<Socket, number>()

/**
 * Cuts a connection that sends one request upon the other without waiting (RFC 9112, section 9.3.2). Each is worked on
 * and its answer held until it is read: 20 connections with one packet each cost 2 GB.
 */
export function refuseFlood({ raw: { socket } }: FastifyRequest, { raw: response }: FastifyReply): void {
  // Where an earlier answer is not finished, this one has no socket yet.
  if (response.socket !== null) return
  const count = (pipelined.get(socket) ?? 0) + 1
  pipelined.set(socket, count)
  response.once('close', () => pipelined.set(socket, (pipelined.get(socket) ?? 1) - 1))
  if (count <= maxPipelined) return
  socket.destroy()
  throw new CarillonError('TOO_MANY_REQUESTS', 'Wait for an answer before asking again', { retryAfter: 1 })
}

/** Whether a browser says that a page of another site sent the request, one of no listed origin. */
export function comesFromOtherSite({ raw }: Pick<FastifyRequest, 'raw'>, allowed: readonly string[]): boolean {
  const { origin, host, 'sec-fetch-site': fetchSite } = raw.headers
  return isCrossSite({ fetchSite: fetchSite as string | undefined, origin, host, allowed })
}

/**
 * Row L6, DNS rebinding: refuses a name that is not the service's. A request with `Authorization` passes, since a browser
 * attaches none by itself, so that a backend can use an internal name; but not at `/login`, which needs no proof. HTTP/1.0
 * without `Host` is not a browser.
 */
export function refuseMisdirected(request: FastifyRequest, isKnownHost: IsKnownHost): void {
  const { host, authorization } = request.raw.headers
  if (authorization !== undefined && (isSafeMethod(request.method) || request.routeOptions.url !== '/login')) return
  if (host === undefined || isKnownHost(host) || request.routeOptions.config?.anyHost === true) return
  throw new CarillonError('MISDIRECTED_REQUEST', `The host ${host.slice(0, 200)} is not a name of this service`, {
    remedy: 'Use its public URL, or add the name to CARILLON_ALLOWED_HOSTS.',
  })
}

/** SECURITY.md, cross-site requests: unsafe methods that come with a cookie, and the login itself. */
export function refuseCrossSite(request: FastifyRequest, allowed: readonly string[]): void {
  if (isSafeMethod(request.method)) return
  const { headers } = request.raw
  const comesWithCookie = headers.cookie !== undefined && headers.authorization === undefined
  if (!comesWithCookie && request.routeOptions.url !== '/login') return
  if (!comesFromOtherSite(request, allowed)) return
  const from = headers.origin === undefined ? 'another site' : headers.origin.slice(0, 200)
  throw new CarillonError('FORBIDDEN', `This request comes from ${from}`, {
    remedy: 'To allow it, add that origin to CARILLON_ALLOWED_ORIGINS.',
  })
}

/** From here on bodies that come together are not read in one turn: reading one, and what follows, takes a millisecond. */
const largeBytes = 16 * 1024

/** Only JSON comes in, and form encoding where a route says that it takes it. */
export function acceptBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    refuseOtherCharset(request)
    if (body.length > largeBytes) await yieldToEventLoop()
    return body.length === 0 ? null : parseJson(body, request.routeOptions.config.maxFields)
  })
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      if (!request.routeOptions.config.acceptsForm)
        throw new CarillonError('UNSUPPORTED_MEDIA_TYPE', 'The body must be sent as application/json')
      refuseOtherCharset(request)
      return { ...parseForm(body) }
    },
  )
}

const charsets = /;[ \t]*charset[ \t]*=[ \t]*"?([^ \t;"]*)/gi

/**
 * Every body is read as UTF-8 (RFC 8259, section 8.1), so a media type that names another charset is refused. So is one with
 * a byte above 0x7E: Fastify and `\s` take 0xA0 for a space, and a proxy does not.
 */
function refuseOtherCharset({ headers }: FastifyRequest): void {
  const type = headers['content-type'] ?? ''
  if (/[^\t -~]/.test(type))
    throw new CarillonError('UNSUPPORTED_MEDIA_TYPE', 'The Content-Type must be ASCII, such as application/json')
  for (const [, charset = ''] of type.matchAll(charsets))
    if (!/^utf-?8$/i.test(charset)) throw new CarillonError('UNSUPPORTED_MEDIA_TYPE', 'The body must be sent as UTF-8')
}
