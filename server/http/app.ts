// Serves the route table, with limits, request checks, and one place for all failures.
import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type onRequestHookHandler,
} from 'fastify'
import type { CarillonError } from '../basics/errors.ts'
import type { Log } from '../basics/log.ts'
import {
  dropping,
  endAndDrop,
  endSlowReaders,
  hasResponse,
  noteEarlyResponse,
} from './connections.ts'
import { outcomeInTime } from './late-writes.ts'
import type { FailurePage, GuardedRequest, Operation, Route, Tag } from './operation.ts'
import { acceptBodies, compilersFactory } from './request/bodies.ts'
import { checkRequests, isSafeMethod, parseQuery, readQuery, targetToRoute } from './requests.ts'
import { rawFailure, sendFailure } from './response/failure.ts'
import {
  type Counted,
  endCount,
  type RequestCount,
  type RequestCounts,
} from './response/request-counts.ts'
import { RequestLog } from './response/request-log.ts'
import { acceptsHtml } from './response/send.ts'
import type { Site } from './site.ts'

declare module 'fastify' {
  interface FastifyRequest {
    caller: unknown
  }
  interface FastifyContextConfig {
    tag?: Tag
    operation?: Operation<never, never>
    /** Another process has the request, and itself refuses other sites. */
    isPassedOn?: true
  }
}

type AppOptions<Needs> = {
  routes: readonly Route<Needs>[]
  parts: NoInfer<Needs>
  site: Site
  log: Log
  requestCounts?: RequestCounts | undefined
  failurePage?: FailurePage<NoInfer<Needs>>
}

/** Milliseconds (I8). `request` + `checkEvery` < `idleSocket`, which ends idle connections. */
const timeouts = {
  headers: 5_000,
  request: 8_500,
  reader: 8_000,
  streamReader: 30_000,
  idleSocket: 10_000,
  keepAlive: 5_000,
  checkEvery: 1_000,
}

/** Sends long ASCII as `latin1`: UTF-8 takes 12 us of the 80 us of a page of 20. */
class Response<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  override end(chunk?: unknown, encoding?: unknown, callback?: () => void): this {
    endCount(this)
    const isLong = typeof chunk === 'string' && chunk.length * 3 > 16 * 1024
    const isAscii = isLong && Buffer.byteLength(chunk) === chunk.length
    return super.end(chunk, (isAscii ? 'latin1' : encoding) as BufferEncoding, callback)
  }
}

const serverOptions = {
  logger: false,
  bodyLimit: 4 * 1024,
  requestTimeout: timeouts.request,
  keepAliveTimeout: timeouts.keepAlive,
  connectionTimeout: timeouts.idleSocket,
  http: {
    headersTimeout: timeouts.headers,
    connectionsCheckingInterval: timeouts.checkEvery,
    // Node's refusal has no body; refuseMalformed sends the envelope.
    requireHostHeader: false,
    ServerResponse: Response,
  },
  routerOptions: { querystringParser: parseQuery, maxParamLength: 16 * 1024 },
  schemaController: { compilersFactory },
}

/** No page may frame, cache or guess the data (OWASP ASVS 5.0, chapter 3). */
function securityHeaders({ isHttps, hstsSubdomains }: Site): Readonly<Record<string, string>> {
  return {
    'cache-control': 'no-store',
    'content-security-policy':
      "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    ...(isHttps && {
      'strict-transport-security': `max-age=63072000${hstsSubdomains ? '; includeSubDomains' : ''}`,
    }),
  }
}

export function createApp<Needs>(options: AppOptions<Needs>): FastifyInstance {
  const { routes, parts, site, log, requestCounts, failurePage } = options
  const requestLog = new RequestLog(log)
  const headers = securityHeaders(site)
  const nextRequestId = requestIds()
  const app = Fastify({
    ...serverOptions,
    genReqId: nextRequestId,
    clientErrorHandler: (error, socket) => refuseSocket(socket, error.code),
    frameworkErrors: fail,
    rewriteUrl: targetToRoute,
  })
  endSlowReaders(app.server, timeouts)
  app.server.on('checkExpectation', (_request, response) =>
    refuseSocket(response.socket, 'EXPECTATION'),
  )
  app.server.on('connect', ({ socket }) => refuseSocket(socket, 'CONNECT'))

  /** A request may fail before a hook sets the security headers. */
  function fail(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    noteEarlyResponse(request)
    reply.headers(headers)
    const { tag, operation } = request.routeOptions.config ?? {}
    const ofRoute = operation?.failurePage as FailurePage<Needs> | undefined
    const isForBrowsers =
      tag === 'pages' || ofRoute !== undefined || (request.is404 && request.method === 'GET')
    const pageOf =
      failurePage && isForBrowsers && acceptsHtml(request) ? (ofRoute ?? failurePage) : undefined
    const page = pageOf && ((cause: CarillonError) => pageOf(parts, cause, { request, reply }))
    sendFailure(requestLog, error, { request, reply, page })
  }

  function refuseSocket(socket: Socket | null, cause: string | undefined) {
    if (socket === null || dropping.has(socket)) return
    socket.on('error', () => socket.destroy())
    if (!socket.writable) return void socket.destroy()
    const text = hasResponse(socket) ? '' : rawFailure(cause, nextRequestId(), headers)
    endAndDrop(socket, text, { isTimedOut: cause === 'ERR_HTTP_REQUEST_TIMEOUT' })
  }

  acceptBodies(app)
  app.setErrorHandler(fail)
  app.decorateRequest('caller', null)
  app.addHook('onClose', async () => requestLog.end())
  checkRequests(app, { routes, site, headers, log: requestLog, counts: requestCounts })
  if (log.isLevelEnabled('debug')) logResponses(app, log)
  for (const each of routes) addRoute(app, each, { parts, count: requestCounts?.of(each) })
  return app
}

/** A random prefix tells processes apart in logs. */
function requestIds(): () => string {
  const prefix = crypto.randomUUID().slice(0, 8)
  let count = 0
  return () => `${prefix}-${(++count).toString(36)}`
}

type Served<Needs> = { parts: Needs; count: RequestCount | undefined }

function addRoute<Needs>(
  app: FastifyInstance,
  route: Route<Needs>,
  { parts, count }: Served<Needs>,
): void {
  const { method, path, tag, guard, operation } = route
  const { query, bodyLimit, shallowBody, body } = operation
  const handle = (request: FastifyRequest, reply: FastifyReply) => {
    const outcome = operation.handle(parts, request as GuardedRequest, reply)
    return isSafeMethod(method) || operation.takesLong
      ? outcome
      : outcomeInTime(app.server, outcome)
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
    onRequest: guarding(guard, { parts, count }),
    ...(query && { preValidation: readQuery(query) }),
    handler: operation.responses === undefined ? handleEmpty : handle,
  })
}

function guarding<Needs>(
  guard: Route<Needs>['guard'],
  { parts, count }: Served<Needs>,
): onRequestHookHandler {
  return (request, reply, done) => {
    const response: Counted = reply.raw
    if (count !== undefined) response.count = count
    if (guard.name === 'open') return done()
    guard.admit(parts, request, reply).then((caller) => {
      request.caller = caller
      done()
    }, done)
  }
}

function logResponses(app: FastifyInstance, log: Log): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { id: requestId, method, routeOptions } = request
    const { statusCode: status, elapsedTime: ms } = reply
    log.debug(
      { event: 'answered', requestId, method, route: routeOptions.url, status, ms },
      'response sent',
    )
    done()
  })
}
