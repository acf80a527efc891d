// The request checks (I1 to I8, C1, C3, L6) refuse what Node and Fastify accept. A path has one
// spelling: a proxy that forbids `/login` would not notice `/%6cogin`. Browsers say where a request
// comes from, so no form has a CSRF token.
import type { IncomingMessage } from 'node:http'
import { isIP, type Socket } from 'node:net'
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  preValidationHookHandler,
} from 'fastify'
import { CarillonError, forbidden, invalidField, noSuchRoute } from '../basics/errors.ts'
import { noteTrace } from '../basics/traces.ts'
import { afterUnreadBody } from './connections.ts'
import type { Schema } from './openapi/schema.ts'
import type { Route } from './operation.ts'
import { comesFromTrustedProxy, forwardingFields } from './request/address.ts'
import { formFields, unsupported } from './request/bodies.ts'
import { allowedMethods, isOtherSpelling } from './request/spelling.ts'
import { beginCount, type RequestCounts } from './response/request-counts.ts'
import type { RequestLog } from './response/request-log.ts'
import type { Site } from './site.ts'

type Rules = {
  routes: readonly Route[]
  site: Site
  headers: Readonly<Record<string, string>>
  log: RequestLog
  counts?: RequestCounts | undefined
}

/** The checks are not async: a promise for each would cost a tenth of the throughput. */
export function checkRequests(
  app: FastifyInstance,
  { routes, site, headers, log, counts }: Rules,
): void {
  const { allowedOrigins } = site
  const isKnownHost = knownHosts(site.hosts)
  app.addHook('onRequest', (request, reply, done) => {
    if (counts !== undefined) beginCount(reply.raw, counts)
    reply.headers(headers)
    // Without a listener, Node ends the connection while a slow disk delays a commit.
    reply.raw.on('timeout', keepOpen)
    noteForwarding(request, { site, log })
    try {
      refuseMalformed(request, reply)
      refuseFlood(request, reply)
      refuseMisdirected(request, isKnownHost)
      refuseOtherSpelling(request)
      const { origin } = request.raw.headers
      if (origin !== undefined && comesFromOtherSite(request, allowedOrigins))
        log.noteOrigin(origin)
      refuseCrossSite(request, allowedOrigins)
      if (allowOrigin(request, reply, allowedOrigins)) return
      // A not-found handler would run after the body was parsed.
      refuseUnrouted(routes, request, reply)
    } catch (error) {
      return done(error as Error)
    }
    // The next request would be read as part of an unread body.
    if (isSafeMethod(request.method) && !request.routeOptions.config?.isPassedOn)
      afterUnreadBody(request, reply, done)
    else done()
  })
}

const [forwarded, forwardedFor] = forwardingFields

function noteForwarding(
  { id, raw }: FastifyRequest,
  { site, log }: Pick<Rules, 'site' | 'log'>,
): void {
  const { trustedProxies } = site
  const { headers } = raw
  if (headers[forwarded] !== undefined || headers[forwardedFor] !== undefined)
    log.noteForwarded(raw, trustedProxies)
  if (headers.traceparent !== undefined && comesFromTrustedProxy(raw, trustedProxies))
    noteTrace(id, headers.traceparent)
}

function keepOpen(): void {}

function refuseMalformed({ raw, url }: FastifyRequest, reply: FastifyReply): void {
  const { headers, httpVersion } = raw
  // Node's parser also accepts 0.9 and 2.0.
  if (httpVersion !== '1.1' && httpVersion !== '1.0') throw malformed('version', 'must be HTTP/1.1')
  refuseRepeated(raw.rawHeaders)
  if (headers.host === undefined) {
    if (httpVersion === '1.1') throw malformed('Host', 'is missing')
  } else if (!hostShape.test(headers.host))
    throw malformed('Host', 'must be a host and perhaps a port')
  const coding = headers['transfer-encoding']
  if (coding !== undefined && (httpVersion === '1.0' || coding.toLowerCase() !== 'chunked')) {
    reply.header('connection', 'close')
    throw malformed('Transfer-Encoding', 'must be chunked, and sent by HTTP/1.1')
  }
  if (url.charCodeAt(0) !== slash) refuseOtherAuthority(url, headers.host)
  if (url.includes('%00')) throw malformed('path', 'must not contain NUL')
  if (url.includes('#')) throw malformed('path', 'must not contain a fragment')
  if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity')
    throw unsupported('The body must be sent without Content-Encoding')
}

/** Throws NOT_FOUND before any guard or body is read (Z8). */
function refuseOtherSpelling(request: FastifyRequest): void {
  const { url } = request
  if (!url.includes('%')) return
  if (isOtherSpelling(pathOf(url), request.routeOptions.url)) throw noSuchRoute()
}

const slash = 0x2f

/** An absolute form (RFC 9112, section 3.2.2) repeats the host: a proxy may read the other. */
function refuseOtherAuthority(target: string, host: string | undefined): void {
  if (target === '*') return
  const authority = /^https?:\/\/([^/?]*)/.exec(target)?.[1]
  if (authority === undefined || authority !== host)
    throw malformed('Host', 'must be the host of the request target')
}

/** RFC 9112, section 3.2. */
const hostShape = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i

/** Node silently keeps the first field; a proxy may keep the last. */
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
  return invalidField(field, reason, `The request is malformed: ${field} ${reason}`)
}

const maxPipelined = 16
const pipelined = new WeakMap<Socket, number>()

/**
 * Pipelined responses (RFC 9112, section 9.3.2) stay in memory: one packet on each of 20
 * connections costs 2 GB. A waiting request must not take a place.
 */
function refuseFlood(
  { raw: { socket }, routeOptions }: FastifyRequest,
  { raw: response }: FastifyReply,
): void {
  if (response.socket !== null) return
  const count = (pipelined.get(socket) ?? 0) + 1
  pipelined.set(socket, count)
  response.once('close', () => pipelined.set(socket, (pipelined.get(socket) ?? 1) - 1))
  if (count > maxPipelined) socket.destroy()
  else if (!routeOptions.config?.operation?.takesPlace) return
  const problem = 'Wait for a response before you send more requests'
  throw new CarillonError('TOO_MANY_REQUESTS', problem, { retryAfter: 1 })
}

/**
 * Against DNS rebinding (L6). No browser adds `Authorization` by itself: with it, any name will do,
 * but not to sign in.
 */
function refuseMisdirected(
  request: FastifyRequest,
  isKnownHost: ReturnType<typeof knownHosts>,
): void {
  const { host, authorization } = request.raw.headers
  if (authorization !== undefined && (isSafeMethod(request.method) || !isSignIn(request))) return
  // A browser sends `Host`.
  if (host === undefined || isKnownHost(host) || request.routeOptions.config?.operation?.anyHost)
    return
  throw new CarillonError(
    'MISDIRECTED_REQUEST',
    `The host ${host.slice(0, 200)} is not a name of this service`,
    {
      remedy: 'Use its public URL, or add the name to CARILLON_ALLOWED_HOSTS.',
    },
  )
}

function isSignIn({ routeOptions: { url = '', config } }: FastifyRequest): boolean {
  return url === '/login' || url.startsWith('/login/') || config?.operation?.signsIn === true
}

/** Refuses cross-site requests (C1): logins, unsafe methods with a cookie, what takes a place. */
function refuseCrossSite(request: FastifyRequest, allowed: readonly string[]): void {
  const { operation, isPassedOn } = request.routeOptions.config ?? {}
  const { headers } = request.raw
  // A user sees where a link leads, but not what scripts request.
  const takesPlace = operation?.takesPlace === true && headers['sec-fetch-user'] !== '?1'
  // A browser says "none" when it prefetches for another site's page.
  if (operation?.takesPlace && headers['sec-purpose'] !== undefined)
    throw forbidden('This route is not prefetched', 'Request it without Sec-Purpose.')
  if (isPassedOn || (isSafeMethod(request.method) && !takesPlace)) return
  const comesWithCookie = headers.cookie !== undefined && headers.authorization === undefined
  if (!comesWithCookie && !isSignIn(request)) return
  if (!comesFromOtherSite(request, allowed)) return
  const from = headers.origin === undefined ? 'another site' : headers.origin.slice(0, 200)
  throw forbidden(
    `This request comes from ${from}`,
    'To allow it, add that origin to CARILLON_ALLOWED_ORIGINS.',
  )
}

export function isSafeMethod(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
}

/**
 * Decides by `Sec-Fetch-Site` (Fetch Metadata, W3C) or `Origin`. A client without both is no
 * browser, so no cookie was added automatically.
 */
export function comesFromOtherSite(
  { raw }: { raw: Pick<IncomingMessage, 'headers'> },
  allowed: readonly string[],
) {
  const { origin, host, 'sec-fetch-site': fetchSite } = raw.headers
  if (origin !== undefined && allowed.includes(origin)) return false
  if (fetchSite !== undefined) return fetchSite !== 'same-origin' && fetchSite !== 'none'
  if (origin === undefined) return false
  // Parsing takes time for a long name, and repairs a soft hyphen (0xAD).
  const own = host?.toLowerCase()
  return origin !== `http://${own}` && origin !== `https://${own}`
}

const preflight = {
  'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers':
    'authorization, content-type, idempotency-key, if-none-match, last-event-id',
  'access-control-max-age': '600',
}

/** No other origin may call what is below, whatever the settings allow (O1). */
const pathOfOperator = '/api/operator/'

/** Fetch Standard, section 3.2, for whole origins. True for a preflight. */
function allowOrigin(
  request: FastifyRequest,
  reply: FastifyReply,
  allowed: readonly string[],
): boolean {
  if (allowed.length === 0) return false
  reply.header('vary', 'Origin')
  const { origin } = request.headers
  if (origin === undefined || !allowed.includes(origin)) return false
  if (pathOf(request.url).startsWith(pathOfOperator)) return false
  reply.headers({
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': 'etag, retry-after',
  })
  if (
    request.method !== 'OPTIONS' ||
    request.headers['access-control-request-method'] === undefined
  )
    return false
  afterUnreadBody(request, reply, () => reply.code(204).headers(preflight).send())
  return true
}

/** In DNS rebinding, `Host` names the other site. */
export function knownHosts(names: readonly string[]): (host: string) => boolean {
  const known = new Set(['localhost', ...names.map(normalized)])
  return (host) => {
    const name = normalized(host.replace(/:\d*$/, ''))
    return known.has(name) || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0
  }
}

/** DNS ignores case, and a final full stop (RFC 1034, section 3.1). */
function normalized(name: string): string {
  return name.toLowerCase().replace(/\.$/, '')
}

export function pathOf(target: string): string {
  const start = target.charCodeAt(0) === 0x2f ? 0 : target.indexOf('/', target.indexOf('://') + 3)
  const end = target.indexOf('?')
  if (start < 0 || (end >= 0 && end < start)) return ''
  return end < 0 ? target.slice(start) : target.slice(start, end)
}

/** The longest path has an external id: 255 characters of 4 bytes, each byte as `%FF`. */
const maxEncodedPathLength = 3_200

/** The router decodes before any hook, 5,000 `%25` in 1 ms: a longer path becomes unknown. */
export function targetToRoute({ url: target = '/' }: { url?: string | undefined }): string {
  if (target.length <= maxEncodedPathLength) return target
  const path = pathOf(target)
  return path.length > maxEncodedPathLength && path.includes('%') ? '/-' : target
}

/** A list takes 20 categories and 3 other fields. */
const maxFields = 32

/** The router cannot refuse a text, so `readQuery` throws `cause`. */
export function parseQuery(text: string): Record<string, unknown> {
  if (text === '') return {}
  try {
    const query: Record<string, unknown> = {}
    for (const [name, value] of formFields(text, maxFields))
      query[name] = Object.hasOwn(query, name) ? [query[name], value].flat() : value
    return query
  } catch (cause) {
    const { details: [fault] = [] } = cause as CarillonError
    return { cause: invalidField('query', fault?.reason ?? '') }
  }
}

const decimalInteger = /^(0|-?[1-9]\d*)$/

/** 1.5, 1e3 and 007 stay text, which is refused. */
export function readQuery({ properties = {} }: Schema): preValidationHookHandler {
  return (request, _reply, done) => {
    const query = request.query as Record<string, unknown>
    if (query.cause instanceof CarillonError) return done(query.cause)
    for (const name in query) {
      const value = query[name]
      const type = properties[name]?.type
      if (type === 'array') query[name] = [value].flat()
      else if (typeof value !== 'string')
        return done(invalidField('query', 'contains a field twice'))
      else if (type === 'integer' && decimalInteger.test(value)) query[name] = Number(value)
    }
    done()
  }
}

function refuseUnrouted(
  routes: readonly Route[],
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  if (!request.is404) return
  const allowed = allowedMethods(routes, pathOf(request.url)).join(', ')
  if (allowed === '') throw noSuchRoute()
  reply.header('allow', allowed)
  throw new CarillonError('METHOD_NOT_ALLOWED', `This route takes ${allowed}`)
}
