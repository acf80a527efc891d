// The Fastify instance that serves the route table: limits, request checks before any route, and one place for every failure.
import type { Socket } from 'node:net'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { CarillonError } from '../basics/errors.ts'
import type { Log } from '../basics/log.ts'
import { isDraining } from './connections/drain.ts'
import { afterUnreadBody, endAndDrop, isBodyUnread, isDropping, sendBeforeBody } from './connections/drop-unread.ts'
import { endSlowReaders } from './connections/slow-readers.ts'
import type { FailurePage, GuardedRequest, Operation, Route, Tag } from './operation.ts'
import { watchForUntrustedProxy } from './request/address.ts'
import { refuseUnrouted } from './request/allowed-methods.ts'
import {
  acceptBodies,
  hasResponse,
  noteEarlyResponse,
  refuseCrossSite,
  refuseFlood,
  refuseMalformed,
  refuseMisdirected,
  refuseOtherSpelling,
} from './request/checks.ts'
import { allowOrigin, isSafeMethod, knownHosts } from './request/origin/other-sites.ts'
import { RefusedOrigins } from './request/origin/refused-origins.ts'
import { parseQuery, readQuery, targetToRoute } from './request/target.ts'
import { compilersFactory } from './request/validators.ts'
import { rawFailure, sendFailure } from './response/failure.ts'
import { FailureLog } from './response/failure-log.ts'
import { securityHeaders } from './response/security-headers.ts'
import { acceptsHtml } from './response/send.ts'
import type { Site } from './site.ts'

declare module 'fastify' {
  interface FastifyRequest {
    caller: unknown
  }
  interface FastifyContextConfig {
    tag?: Tag
    operation?: Operation<never, never>
    /** The page of a failure on this route. */
    failurePage?: BoundFailurePage | undefined
  }
}

type BoundFailurePage = (error: CarillonError, exchange: Parameters<FailurePage<never>>[2]) => Promise<string>

type AppOptions<Needs> = {
  routes: readonly Route<Needs>[]
  /** What the routes need. */
  parts: NoInfer<Needs>
  site: Site
  log: Log
  /** The page of a failure on a route that has none of its own. Without it, every failure is JSON. */
  failurePage?: BoundFailurePage
}

/** Milliseconds (SECURITY.md, I8). `request` + `checkEvery` < `idleSocket`, at which Node closes without a response. */
const timeouts = {
  headers: 5_000,
  request: 8_500,
  reader: 8_000,
  idleSocket: 10_000,
  keepAlive: 5_000,
  checkEvery: 1_000,
}
/** A stream is long-lived, so a slow reader of one has more time. */
const streamReaderTimeoutMs = 30_000

const serverOptions = {
  logger: false,
  // Of a route that sets no limit of its own.
  bodyLimit: 4 * 1024,
  requestTimeout: timeouts.request,
  keepAliveTimeout: timeouts.keepAlive,
  connectionTimeout: timeouts.idleSocket,
  http: {
    headersTimeout: timeouts.headers,
    connectionsCheckingInterval: timeouts.checkEvery,
    // Node's own refusal has no body; refuseMalformed sends the envelope.
    requireHostHeader: false,
  },
  // The route decides about an id of any length; the header fields as a whole have their own limit.
  routerOptions: { querystringParser: parseQuery, maxParamLength: 16 * 1024 },
  schemaController: { compilersFactory },
}

export function createApp<Needs>({ routes, parts, site, log, failurePage }: AppOptions<Needs>): FastifyInstance {
  const { allowedOrigins } = site
  const failures = new FailureLog(log)
  const refusedOrigins = new RefusedOrigins(log)
  const headers = securityHeaders(site)
  const nextRequestId = requestIds()
  const isKnownHost = knownHosts(site.hosts)
  const app = Fastify({
    ...serverOptions,
    genReqId: nextRequestId,
    clientErrorHandler: (error, socket) => refuseSocket(socket, error.code),
    frameworkErrors: fail,
    rewriteUrl: ({ url = '/' }) => targetToRoute(url),
  })
  const { reader: timeoutMs, checkEvery: everyMs } = timeouts
  endSlowReaders(app.server, { timeoutMs, streamTimeoutMs: streamReaderTimeoutMs, everyMs })
  app.server.on('checkExpectation', (_request, response) => refuseSocket(response.socket, 'EXPECTATION'))
  app.server.on('connect', ({ socket }) => refuseSocket(socket, 'CONNECT'))

  /** Sets the security headers itself: a request may fail before any hook has set them. */
  function fail(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    noteEarlyResponse(request)
    reply.headers(headers)
    const { tag, failurePage: ofRoute } = request.routeOptions.config ?? {}
    const isForBrowsers = tag === 'pages' || ofRoute !== undefined || (request.is404 && request.method === 'GET')
    const page =
      failurePage !== undefined && isForBrowsers && acceptsHtml(request) ? (ofRoute ?? failurePage) : undefined
    const sendAsPage = (known: CarillonError) => {
      page?.(known, { request, reply })
        .then((text) => sendDocument(known, text, { request, reply }))
        .catch((cause: unknown) => sendFailure(failures, cause, { request, reply }))
    }
    sendFailure(failures, error, { request, reply, ...(page && { sendAsPage }) })
  }

  function refuseSocket(socket: Socket | null, cause: string | undefined) {
    if (socket === null || isDropping(socket)) return
    // Node has removed its own listener from some of these sockets, and would not close them either.
    socket.on('error', () => socket.destroy())
    if (!socket.writable) socket.destroy()
    else {
      const text = hasResponse(socket) ? '' : rawFailure(cause, nextRequestId(), headers)
      endAndDrop(socket, text, { isTimedOut: cause === 'ERR_HTTP_REQUEST_TIMEOUT' })
    }
  }

  acceptBodies(app)
  app.setErrorHandler(fail)
  app.decorateRequest('caller', null)
  app.addHook('onClose', async () => {
    failures.end()
    refusedOrigins.end()
  })
  // Not async, like everything that every request passes: one promise each would cost a tenth of the throughput.
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(headers)
    if (isDraining(app)) reply.header('connection', 'close')
    try {
      refuseMalformed(request, reply)
      refuseFlood(request, reply)
      refuseMisdirected(request, isKnownHost)
      refuseOtherSpelling(request)
      if (request.raw.headers.origin !== undefined) refusedOrigins.noteFrom(request, allowedOrigins)
      refuseCrossSite(request, allowedOrigins)
      if (allowOrigin(request, reply, allowedOrigins)) return
      // In this hook and not in a not-found handler, so that the body of such a request is not parsed.
      if (request.is404) refuseUnrouted(routes, request, reply)
    } catch (error) {
      return done(error as Error)
    }
    if (isSafeMethod(request.method)) afterUnreadBody(request, reply, done)
    else done()
  })
  if (log.isLevelEnabled('debug')) logResponses(app, log)
  watchForUntrustedProxy(app.server, site.trustedProxies, (address) => warnOfUntrustedProxy(log, address))
  for (const each of routes) addRoute(app, each, parts)
  return app
}

function sendDocument(
  { status }: CarillonError,
  text: string,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): void {
  reply.code(status)
  // A form of another site is refused before its body is read.
  if (isBodyUnread(request.raw)) sendBeforeBody(request, reply, text)
  else reply.send(text)
}

function addRoute<Needs>(app: FastifyInstance, { method, path, tag, guard, operation }: Route<Needs>, parts: Needs) {
  const { query, bodyLimit, shallowBody, body, failurePage } = operation
  const handle = (request: FastifyRequest, reply: FastifyReply) =>
    operation.handle(parts, request as GuardedRequest, reply)
  const handleEmpty = async (request: FastifyRequest, reply: FastifyReply) => {
    await handle(request, reply)
    return reply.code(204).send()
  }
  app.route({
    method,
    url: path,
    schema: { ...(body && { body: shallowBody ?? body }), ...(query && { querystring: query }) },
    config: {
      tag,
      operation,
      failurePage: failurePage && ((error, exchange) => failurePage(parts, error, exchange)),
    },
    ...(bodyLimit && { bodyLimit }),
    onRequest: (request, _reply, done) => {
      const admit = (caller: unknown) => {
        request.caller = caller
        done()
      }
      guard.admit(parts, request).then(admit, done)
    },
    ...(query && { preValidation: readQuery(query) }),
    handler: operation.responses === undefined ? handleEmpty : handle,
  })
}

function logResponses(app: FastifyInstance, log: Log): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { id: requestId, method, routeOptions } = request
    const { statusCode: status, elapsedTime: ms } = reply
    log.debug({ event: 'answered', requestId, method, route: routeOptions.url, status, ms }, 'response sent')
    done()
  })
}

function warnOfUntrustedProxy(log: Log, address: string): void {
  log.warn(
    { event: 'proxy-not-trusted', address },
    'a forwarding header came from an address that is not in CARILLON_TRUSTED_PROXIES; if that is your proxy, add it: otherwise all clients behind it count as one',
  )
}

/** Unique in this process and, by its random prefix, in the logs of many processes. */
function requestIds(): () => string {
  const prefix = crypto.randomUUID().slice(0, 8)
  let count = 0
  return () => `${prefix}-${(++count).toString(36)}`
}
