// The request checks: refuse, before any route, what Node and Fastify would accept (SECURITY.md, I1 to I8, C1, C3).
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { CarillonError, noSuchRoute } from '../../basics/errors.ts'
import { yieldToEventLoop } from '../../basics/event-loop.ts'
import { parseJson } from '../../basics/strict-json.ts'
import { isStream } from '../connections/slow-readers.ts'
import { parseForm } from './form.ts'
import { type IsKnownHost, isCrossSite, isSafeMethod } from './origin/other-sites.ts'
import { isOtherSpelling, pathOf } from './target.ts'

/** Throws INVALID_REQUEST or UNSUPPORTED_MEDIA_TYPE for a request that no route may receive. */
export function refuseMalformed({ raw, url }: FastifyRequest, reply: FastifyReply): void {
  const { headers, httpVersion } = raw
  // Node's parser also accepts 0.9 and 2.0 in a request line.
  if (httpVersion !== '1.1' && httpVersion !== '1.0') throw malformed('version', 'must be HTTP/1.1')
  refuseRepeated(raw.rawHeaders)
  if (headers.host === undefined) {
    if (httpVersion === '1.1') throw malformed('Host', 'is missing')
  } else if (!hostShape.test(headers.host)) throw malformed('Host', 'must be a host and perhaps a port')
  const coding = headers['transfer-encoding']
  if (coding !== undefined && (httpVersion === '1.0' || coding.toLowerCase() !== 'chunked')) {
    // It is unknown where such a body ends, so what follows cannot be read as a request.
    reply.header('connection', 'close')
    throw malformed('Transfer-Encoding', 'must be chunked, and sent by HTTP/1.1')
  }
  if (url.charCodeAt(0) !== slash) refuseOtherAuthority(url, headers.host)
  if (url.includes('%00')) throw malformed('path', 'must not contain NUL')
  if (url.includes('#')) throw malformed('path', 'must not contain a fragment')
  if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity')
    throw new CarillonError('UNSUPPORTED_MEDIA_TYPE', 'The body must be sent without Content-Encoding')
}

/** Throws NOT_FOUND for a path in another spelling than its route's (SECURITY.md, Z8), before any guard or body is read. */
export function refuseOtherSpelling(request: FastifyRequest): void {
  const { url } = request
  if (!url.includes('%')) return
  // Fastify builds this object at each access, so it is read only if it is needed.
  if (isOtherSpelling(pathOf(url), request.routeOptions.url)) throw noSuchRoute()
}

const respondedEarly = new WeakMap<Socket, IncomingMessage>()

/** Notes a request that has a response before all of it has arrived: an error in the rest gets no second response. */
export function noteEarlyResponse({ raw }: FastifyRequest): void {
  if (!raw.complete) respondedEarly.set(raw.socket, raw)
}

export function hasResponse(socket: Socket): boolean {
  return isStream(socket) || respondedEarly.get(socket)?.complete === false
}

const slash = 0x2f

/** An absolute form (RFC 9112, section 3.2.2) has the host twice. If the two differ, a proxy and this service may read different ones. */
function refuseOtherAuthority(target: string, host: string | undefined): void {
  if (target === '*') return
  const authority = /^https?:\/\/([^/?]*)/.exec(target)?.[1]
  if (authority === undefined || authority !== host) throw malformed('Host', 'must be the host of the request target')
}

/** RFC 9112, section 3.2; empty if the target has no authority. */
const hostShape = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i

/** Node keeps the first of these fields and drops the others silently; a proxy in front may keep the last. */
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
  const details = [{ field, reason }]
  return new CarillonError('INVALID_REQUEST', `The request is malformed: ${field} ${reason}`, { details })
}

const maxPipelined = 16
const pipelined = new WeakMap<Socket, number>()

/** Pipelining (RFC 9112, section 9.3.2) keeps responses in memory: 20 connections with one packet each cost 2 GB. */
export function refuseFlood({ raw: { socket } }: FastifyRequest, { raw: response }: FastifyReply): void {
  // A response has no socket while an earlier one on the connection is not finished.
  if (response.socket !== null) return
  const count = (pipelined.get(socket) ?? 0) + 1
  pipelined.set(socket, count)
  response.once('close', () => pipelined.set(socket, (pipelined.get(socket) ?? 1) - 1))
  if (count <= maxPipelined) return
  socket.destroy()
  throw new CarillonError('TOO_MANY_REQUESTS', 'Wait for a response before you send more requests', { retryAfter: 1 })
}

export function comesFromOtherSite({ raw }: Pick<FastifyRequest, 'raw'>, allowed: readonly string[]): boolean {
  const { origin, host, 'sec-fetch-site': fetchSite } = raw.headers
  return isCrossSite({ fetchSite: fetchSite as string | undefined, origin, host, allowed })
}

/**
 * Against DNS rebinding (SECURITY.md, L6). `Authorization`, which no browser adds on its own, lets a backend use an
 * internal name, but not at `/login`, which needs no proof. A request without `Host` (HTTP/1.0) is not from a browser.
 */
export function refuseMisdirected(request: FastifyRequest, isKnownHost: IsKnownHost): void {
  const { host, authorization } = request.raw.headers
  if (authorization !== undefined && (isSafeMethod(request.method) || !isSignIn(request))) return
  if (host === undefined || isKnownHost(host) || request.routeOptions.config?.operation?.anyHost) return
  throw new CarillonError('MISDIRECTED_REQUEST', `The host ${host.slice(0, 200)} is not a name of this service`, {
    remedy: 'Use its public URL, or add the name to CARILLON_ALLOWED_HOSTS.',
  })
}

function isSignIn({ routeOptions: { url = '', config } }: FastifyRequest): boolean {
  return url === '/login' || url.startsWith('/login/') || config?.operation?.signsIn === true
}

/** Refuses cross-site requests (SECURITY.md, C1) with an unsafe method and a cookie, and every cross-site login. */
export function refuseCrossSite(request: FastifyRequest, allowed: readonly string[]): void {
  if (isSafeMethod(request.method)) return
  const { headers } = request.raw
  const comesWithCookie = headers.cookie !== undefined && headers.authorization === undefined
  if (!comesWithCookie && !isSignIn(request)) return
  if (!comesFromOtherSite(request, allowed)) return
  const from = headers.origin === undefined ? 'another site' : headers.origin.slice(0, 200)
  throw new CarillonError('FORBIDDEN', `This request comes from ${from}`, {
    remedy: 'To allow it, add that origin to CARILLON_ALLOWED_ORIGINS.',
  })
}

const maxFieldsByDefault = 8
/** A body of at least this size is parsed in its own share of the event loop: that and its delivery take a millisecond. */
const largeBytes = 16 * 1024

export function acceptBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    refuseOtherCharset(request)
    if (body.length > largeBytes) await yieldToEventLoop()
    if (body.length === 0) return null
    return parseJson(body, request.routeOptions.config.operation?.maxFields ?? maxFieldsByDefault)
  })
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      if (!request.routeOptions.config.operation?.acceptsForm)
        throw new CarillonError('UNSUPPORTED_MEDIA_TYPE', 'The body must be sent as application/json')
      refuseOtherCharset(request)
      return { ...parseForm(body) }
    },
  )
}

const charsets = /;[ \t]*charset[ \t]*=[ \t]*"?([^ \t;"]*)/gi

/** Bodies are UTF-8 (RFC 8259, section 8.1). ASCII only: Fastify and `\s` read 0xA0 as a space, a proxy does not. */
function refuseOtherCharset({ headers }: FastifyRequest): void {
  const type = headers['content-type'] ?? ''
  if (type === 'application/json') return
  if (/[^\t -~]/.test(type))
    throw new CarillonError('UNSUPPORTED_MEDIA_TYPE', 'The Content-Type must be ASCII, such as application/json')
  for (const [, charset = ''] of type.matchAll(charsets))
    if (!/^utf-?8$/i.test(charset)) throw new CarillonError('UNSUPPORTED_MEDIA_TYPE', 'The body must be sent as UTF-8')
}
