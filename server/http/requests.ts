// What each request passes until its handler: the request checks (I1 to I8, C1, C3, L6), which refuse what Node and Fastify would
// accept, and then the guard of its route. A path has one spelling, since the router decodes it before it matches: a proxy that forbids `/login`
// would not notice `/%6cogin`. No form has a CSRF token: browsers say where a request comes from.
import type { IncomingMessage } from 'node:http'
import { isIP, type Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest, preValidationHookHandler } from 'fastify'
import { CarillonError, forbidden, invalidField, noSuchRoute } from '../basics/errors.ts'
import { afterUnreadBody } from './connections.ts'
import { outcomeInTime } from './late-writes.ts'
import type { Schema } from './openapi/schema.ts'
import type { GuardedRequest, Route } from './operation.ts'
import { forwardingFields } from './request/address.ts'
import { formFields } from './request/bodies.ts'
import type { RequestLog } from './response/request-log.ts'
import type { Site } from './site.ts'

/** Unique in this process and, by its random prefix, in the logs of many processes. */
export function requestIds(): () => string {
  const prefix = crypto.randomUUID().slice(0, 8)
  let count = 0
  return () => `${prefix}-${(++count).toString(36)}`
}

/** `headers`: the fields of every response. */
type Rules = { routes: readonly Route[]; site: Site; headers: Readonly<Record<string, string>>; log: RequestLog }

/** Not async, like everything that every request passes: one promise each would cost a tenth of the throughput. */
export function checkRequests(app: FastifyInstance, { routes, site, headers, log }: Rules): void {
  const { allowedOrigins, trustedProxies } = site
  const [forwarded, forwardedFor] = forwardingFields
  const isKnownHost = knownHosts(site.hosts)
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(headers)
    // With a listener, Node does not end the connection as idle while a response is awaited: a slow disk can delay a commit for longer.
    reply.raw.on('timeout', keepOpen)
    const fields = request.raw.headers
    if (fields[forwarded] !== undefined || fields[forwardedFor] !== undefined)
      log.noteForwarded(request.raw, trustedProxies)
    try {
      refuseMalformed(request, reply)
      refuseFlood(request, reply)
      refuseMisdirected(request, isKnownHost)
      refuseOtherSpelling(request)
      if (fields.origin !== undefined && comesFromOtherSite(request, allowedOrigins)) log.noteOrigin(fields.origin)
      refuseCrossSite(request, allowedOrigins)
      if (allowOrigin(request, reply, allowedOrigins)) return
      // In this hook and not in a not-found handler, so that the body of such a request is not parsed.
      refuseUnrouted(routes, request, reply)
    } catch (error) {
      return done(error as Error)
    }
    // A request that is passed on keeps its body: otherwise the next request on that connection would be read as a part of it.
    if (isSafeMethod(request.method) && !request.routeOptions.config?.isPassedOn) afterUnreadBody(request, reply, done)
    else done()
  })
}

function keepOpen(): void {}

export function addRoute<Needs>(app: FastifyInstance, route: Route<Needs>, parts: Needs): void {
  const { method, path, tag, guard, operation } = route
  const { query, bodyLimit, shallowBody, body } = operation
  const handle = (request: FastifyRequest, reply: FastifyReply) => {
    const outcome = operation.handle(parts, request as GuardedRequest, reply)
    return isSafeMethod(method) || operation.takesLong ? outcome : outcomeInTime(app.server, outcome)
  }
  const handleEmpty = async (request: FastifyRequest, reply: FastifyReply) => {
    await handle(request, reply)
    return reply.code(204).send()
  }
  app.route({
    method,
    url: path,
    schema: { ...(body && { body: shallowBody ?? body }), ...(query && { querystring: query }) },
    config: { tag, operation },
    ...(bodyLimit && { bodyLimit }),
    // The caller of an open route is null, as that of every request before its guard.
    ...(guard.name !== 'open' && {
      onRequest: (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void) => {
        guard.admit(parts, request).then((caller) => {
          request.caller = caller
          done()
        }, done)
      },
    }),
    ...(query && { preValidation: readQuery(query) }),
    handler: operation.responses === undefined ? handleEmpty : handle,
  })
}

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

/** Throws NOT_FOUND for a path in another spelling than its route's (Z8), before any guard or body is read. */
function refuseOtherSpelling(request: FastifyRequest): void {
  const { url } = request
  if (!url.includes('%')) return
  // Fastify builds this object at each access, so it is read only if it is needed.
  if (isOtherSpelling(pathOf(url), request.routeOptions.url)) throw noSuchRoute()
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
  return invalidField(field, reason, `The request is malformed: ${field} ${reason}`)
}

const maxPipelined = 16
const pipelined = new WeakMap<Socket, number>()

/**
 * Pipelining (RFC 9112, section 9.3.2) keeps responses in memory: 20 connections with one packet each cost 2 GB. And a response that waits
 * behind another one must not take a place.
 */
function refuseFlood({ raw: { socket }, routeOptions }: FastifyRequest, { raw: response }: FastifyReply): void {
  // A response has no socket while an earlier one on the connection is not finished.
  if (response.socket !== null) return
  const count = (pipelined.get(socket) ?? 0) + 1
  pipelined.set(socket, count)
  response.once('close', () => pipelined.set(socket, (pipelined.get(socket) ?? 1) - 1))
  if (count > maxPipelined) socket.destroy()
  else if (!routeOptions.config?.operation?.takesPlace) return
  throw new CarillonError('TOO_MANY_REQUESTS', 'Wait for a response before you send more requests', { retryAfter: 1 })
}

/** Against DNS rebinding (L6). With `Authorization`, which no browser adds by itself, any name will do, but not to sign in. */
function refuseMisdirected(request: FastifyRequest, isKnownHost: ReturnType<typeof knownHosts>): void {
  const { host, authorization } = request.raw.headers
  if (authorization !== undefined && (isSafeMethod(request.method) || !isSignIn(request))) return
  // Without `Host` (HTTP/1.0) it is not from a browser.
  if (host === undefined || isKnownHost(host) || request.routeOptions.config?.operation?.anyHost) return
  throw new CarillonError('MISDIRECTED_REQUEST', `The host ${host.slice(0, 200)} is not a name of this service`, {
    remedy: 'Use its public URL, or add the name to CARILLON_ALLOWED_HOSTS.',
  })
}

function isSignIn({ routeOptions: { url = '', config } }: FastifyRequest): boolean {
  return url === '/login' || url.startsWith('/login/') || config?.operation?.signsIn === true
}

/** Refuses cross-site requests (C1) with a cookie and an unsafe method, or for a place, and every cross-site login. */
function refuseCrossSite(request: FastifyRequest, allowed: readonly string[]): void {
  const { operation, isPassedOn } = request.routeOptions.config ?? {}
  const { headers } = request.raw
  // A user who follows a link sees where it leads. What a script requests without CORS, or opens without a click, is not visible.
  const takesPlace = operation?.takesPlace === true && headers['sec-fetch-user'] !== '?1'
  // A browser says "none" of what it prefetches for a page of another site.
  if (operation?.takesPlace && headers['sec-purpose'] !== undefined)
    throw forbidden('This route is not prefetched', 'Request it without Sec-Purpose.')
  if (isPassedOn || (isSafeMethod(request.method) && !takesPlace)) return
  const comesWithCookie = headers.cookie !== undefined && headers.authorization === undefined
  if (!comesWithCookie && !isSignIn(request)) return
  if (!comesFromOtherSite(request, allowed)) return
  const from = headers.origin === undefined ? 'another site' : headers.origin.slice(0, 200)
  throw forbidden(`This request comes from ${from}`, 'To allow it, add that origin to CARILLON_ALLOWED_ORIGINS.')
}

function isSafeMethod(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
}

/**
 * Whether a browser says that another site sent it, in `Sec-Fetch-Site` (Fetch Metadata, W3C) or, an older one, in `Origin`; compare Go's
 * http.CrossOriginProtection. Without both it is no browser, and no cookie was added automatically. `allowed`: as browsers send them.
 */
export function comesFromOtherSite({ raw }: { raw: Pick<IncomingMessage, 'headers'> }, allowed: readonly string[]) {
  const { origin, host, 'sec-fetch-site': fetchSite } = raw.headers
  if (origin !== undefined && allowed.includes(origin)) return false
  if (fetchSite !== undefined) return fetchSite !== 'same-origin' && fetchSite !== 'none'
  if (origin === undefined) return false
  // It is compared as text, since parsing a long name takes time and repairs other spellings, such as a soft hyphen (0xAD).
  const own = host?.toLowerCase()
  return origin !== `http://${own}` && origin !== `https://${own}`
}

const preflight = {
  'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers': 'authorization, content-type, idempotency-key, if-none-match, last-event-id',
  'access-control-max-age': '600',
}

/** The CORS protocol (Fetch Standard, section 3.2) for whole origins, never patterns. True: this was a preflight, and has its response. */
function allowOrigin(request: FastifyRequest, reply: FastifyReply, allowed: readonly string[]): boolean {
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

/** Whether a `Host` is one of `names`, `localhost` or an address: in DNS rebinding it names the other site. Ports are not compared. */
export function knownHosts(names: readonly string[]): (host: string) => boolean {
  const known = new Set(['localhost', ...names.map(normalized)])
  return (host) => {
    const name = normalized(host.replace(/:\d*$/, ''))
    return known.has(name) || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0
  }
}

/** DNS compares names without regard to case, and ignores one full stop at the end (RFC 1034, section 3.1). */
function normalized(name: string): string {
  return name.toLowerCase().replace(/\.$/, '')
}

/** A percent-encoded letter, digit, `-`, `.`, `_` or `~`: no URI has to encode these (RFC 3986, section 2.3). */
const encodedUnreserved = /%(?:2[de]|3\d|4[1-9a-f]|5[\daf]|6[1-9a-f]|7[\dae])/i
/** A backslash counts as a slash: browsers and some proxies read it as one. */
const encodedSlash = /%(?:2f|5c)/i

/** The parameters that may be any text: in them, and nowhere else, a slash may be sent as `%2F`. */
const freeTexts = [':externalId', ':category', ':key']

/** The path of a request target, without the query. An absolute form (`http://host/login`) has the same path. */
export function pathOf(target: string): string {
  const start = target.charCodeAt(0) === 0x2f ? 0 : target.indexOf('/', target.indexOf('://') + 3)
  const end = target.indexOf('?')
  if (start < 0 || (end >= 0 && end < start)) return ''
  return start === 0 && end < 0 ? target : target.slice(start, end < 0 ? undefined : end)
}

/** The longest path of ours has an external id: 255 characters of 4 bytes each, each byte as `%FF`. */
const maxEncodedPathLength = 3_200

/** A longer encoded path becomes one that no route has: the router decodes before any hook; 5,000 `%25` take 1 ms. */
export function targetToRoute({ url: target = '/' }: { url?: string | undefined }): string {
  if (target.length <= maxEncodedPathLength) return target
  const path = pathOf(target)
  return path.length > maxEncodedPathLength && path.includes('%') ? '/-' : target
}

/** Whether a path, still encoded, has another spelling than its route. Without a route, no encoded slash is allowed. */
export function isOtherSpelling(path: string, route = ''): boolean {
  return encodedUnreserved.test(path) || (encodedSlash.test(path) && !isWithinFreeText(path, route))
}

function isWithinFreeText(path: string, route: string): boolean {
  const pattern = route.split('/')
  const segments = path.split('/', pattern.length + 1)
  if (segments.length !== pattern.length) return false
  return segments.every((segment, i) => !encodedSlash.test(segment) || freeTexts.includes(pattern[i] ?? ''))
}

/** More than any route takes: a list takes 20 categories and 3 other fields. */
const maxFields = 32

/** A repeated name has an array of its values. The router cannot refuse a text, so `readQuery` throws `cause`. */
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

/** One value of a list becomes a list, and a decimal integer a number: 1.5, 1e3 and 007 stay text, which is refused. */
function readQuery({ properties = {} }: Schema): preValidationHookHandler {
  return (request, _reply, done) => {
    const query = request.query as Record<string, unknown>
    if (query.cause instanceof CarillonError) return done(query.cause)
    for (const name in query) {
      const value = query[name]
      const type = properties[name]?.type
      if (type === 'array') query[name] = [value].flat()
      else if (typeof value !== 'string') return done(invalidField('query', 'contains a field twice'))
      else if (type === 'integer' && decimalInteger.test(value)) query[name] = Number(value)
    }
    done()
  }
}

/** If no route fits, throws METHOD_NOT_ALLOWED if the path has routes with other methods, else NOT_FOUND. */
function refuseUnrouted(routes: readonly Route[], request: FastifyRequest, reply: FastifyReply): void {
  if (!request.is404) return
  const allowed = allowedMethods(routes, pathOf(request.url)).join(', ')
  if (allowed === '') throw noSuchRoute()
  reply.header('allow', allowed)
  throw new CarillonError('METHOD_NOT_ALLOWED', `This route takes ${allowed}`)
}

/** The methods that a path takes, for `Allow` (RFC 9110, section 10.2.1). */
export function allowedMethods(routes: readonly Pick<Route, 'method' | 'path'>[], path: string): string[] {
  const maxSegments = Math.max(...routes.map((route) => route.path.split('/').length))
  // Split once, with a limit: a path of 15,000 slashes, split for each route, costs 5 ms.
  const segments = path.split('/', maxSegments + 1)
  const known = routes.filter((route) => takes(route.path.split('/'), segments) && !isOtherSpelling(path, route.path))
  const methods = known.map(({ method }) => method)
  return [...new Set(methods.includes('GET') ? [...methods, 'HEAD'] : methods)]
}

/** A parameter takes any text, except what another reader may take for slashes or dot segments (RFC 3986, section 5.2.4). */
function takes(pattern: readonly string[], segments: readonly string[]): boolean {
  const isText = (segment: string) => !['', '.', '..'].includes(segment) && !segment.includes('\\')
  const isTaken = (text: string, at: number) => (pattern[at]?.startsWith(':') ? isText(text) : pattern[at] === text)
  return segments.length === pattern.length && segments.every(isTaken)
}
