// How the outside speaks to Carillon: the route table on one screen, and the Fastify instance that serves it.
import type { Socket } from 'node:net'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { CarillonError, noSuchRoute } from '../errors.ts'
import type { Deliveries } from '../inbox/delivery/deliver.ts'
import type { Inbox } from '../inbox/inbox.ts'
import type { ChangesSince } from '../inbox/live/changes.ts'
import type { Live } from '../inbox/live/live.ts'
import type { Log } from '../log.ts'
import type { ProducerKeys } from '../sign-in/producer-key.ts'
import type { Store } from '../store/store.ts'
import { isDraining } from './connections/drain.ts'
import { afterUnreadBody, endAndDrop, isDropping } from './connections/drop-unread.ts'
import { endSlowReaders } from './connections/slow-readers.ts'
import { allowedMethods, pathOfStrangeMethod } from './request/allowed-methods.ts'
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
import { allowOrigin } from './request/cors.ts'
import { isSafeMethod } from './request/cross-site.ts'
import { guards } from './request/guards.ts'
import { knownHosts } from './request/known-hosts.ts'
import { parseQuery, readQuery } from './request/query.ts'
import { pathOf, targetToRoute } from './request/spelling.ts'
import { rawFailure, sendFailure } from './response/failure.ts'
import { FailureLog } from './response/failure-log.ts'
import { securityHeaders } from './response/security-headers.ts'
import { deliveryOperations } from './routes/deliveries.ts'
import { documentationOperations } from './routes/documentation.ts'
import { healthOperations, type Readiness } from './routes/health.ts'
import { liveOperations } from './routes/live.ts'
import { notificationOperations } from './routes/notifications.ts'
import { type Route, route } from './routes/operation.ts'
import { type SignInDependencies, signInOperations } from './routes/sign-in.ts'

export type AppDependencies = {
  signIn: Omit<SignInDependencies, 'allowedOrigins'>
  producerKeys: ProducerKeys
  inbox: Inbox
  live: Live
  changes: ChangesSince
  deliveries: Deliveries
  store: Pick<Store, 'check'>
  readiness: Readiness
  allowedOrigins: readonly string[]
  /** Host names under which the service answers requests without `Authorization`, besides `localhost` and addresses. */
  hosts: readonly string[]
  isHttps: boolean
  hstsSubdomains: boolean
  log: Log
}

export function routeTable(parts: AppDependencies): Route[] {
  const { open, user, restricted, staying, token, producer } = guards({
    ...parts.signIn,
    cookieName: parts.signIn.cookie.name,
    ...parts,
  })
  const signIn = signInOperations({ ...parts.signIn, allowedOrigins: parts.allowedOrigins })
  const notifications = notificationOperations(parts.inbox)
  const live = liveOperations(parts)
  const deliveries = deliveryOperations(parts.deliveries)
  const health = healthOperations(parts)
  const documentation = documentationOperations(() => routeTable(parts))
  return [
    route('POST', '/login', open, signIn.login),
    route('GET', '/routeRestreinte', restricted, signIn.restricted),
    route('POST', '/logout', open, signIn.logout),
    route('POST', '/token/renew', token, signIn.renew),
    route('GET', '/.well-known/jwks.json', open, signIn.keySet),
    route('GET', '/api/me', user, signIn.me),

    route('GET', '/api/notifications', user, notifications.list),
    route('GET', '/api/notifications/counts', user, notifications.counts),
    route('GET', '/api/notifications/changes', staying, live.since),
    route('GET', '/api/notifications/stream', staying, live.stream),
    route('GET', '/api/notifications/:id', user, notifications.one),
    route('PATCH', '/api/notifications/:id/read', user, notifications.read),
    route('POST', '/api/notifications/read-all', user, notifications.readAll),

    route('POST', '/api/notifications', producer('send'), deliveries.send),

    route('GET', '/livez', open, health.live),
    route('GET', '/readyz', open, health.ready),
    route('GET', '/openapi.json', open, documentation.openApi),
    route('GET', '/docs', open, documentation.page),
    route('GET', '/docs/style.css', open, documentation.style),
  ]
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: unknown
  }
  interface FastifyContextConfig {
    acceptsForm?: boolean
    freeText?: string | undefined
    maxFields?: number
    anyHost?: boolean
  }
}

/**
 * Milliseconds. TRUST, fact 1 and row I8: Fastify's own limits are none. `request` and `checkEvery` together end before
 * `idleSocket`, which cuts without an answer.
 */
const patience = {
  headers: 5_000,
  request: 8_500,
  reader: 8_000,
  idleSocket: 10_000,
  keepAlive: 5_000,
  checkEvery: 1_000,
}

/** For a body on every route but a delivery: a sign-in is the largest, and anybody can send one, as often as they like. */
const defaultLimits = { bodyBytes: 4 * 1024, fields: 8 }

export function createApp(parts: AppDependencies): FastifyInstance {
  const { log } = parts
  const failures = new FailureLog(log)
  const headers = securityHeaders(parts)
  const nextRequestId = requestIds()
  const isKnownHost = knownHosts(parts.hosts)
  const app = Fastify({
    logger: false,
    genReqId: nextRequestId,
    bodyLimit: defaultLimits.bodyBytes,
    requestTimeout: patience.request,
    keepAliveTimeout: patience.keepAlive,
    connectionTimeout: patience.idleSocket,
    http: {
      headersTimeout: patience.headers,
      connectionsCheckingInterval: patience.checkEvery,
      // Node's own refusal has no body; refuseMalformed answers with the envelope.
      requireHostHeader: false,
    },
    // An id of any length is no such notification; the header fields have their own limit.
    routerOptions: { querystringParser: parseQuery, maxParamLength: 16 * 1024 },
    // AJV without its repairs: nothing is coerced, removed or filled in. It stops at the first fault (see faults.ts).
    ajv: { customOptions: { allErrors: false, coerceTypes: false, removeAdditional: false, useDefaults: false } },
    clientErrorHandler(error, socket) {
      const path = error.code === 'HPE_INVALID_METHOD' ? pathOfStrangeMethod(error) : undefined
      const allowed = path === undefined ? [] : allowedMethods(routes, path)
      if (allowed.length === 0) refuseSocket(socket, error.code)
      else refuseSocket(socket, 'STRANGE_METHOD', { allow: allowed.join(', ') })
    },
    frameworkErrors: fail,
    rewriteUrl: ({ url = '/' }) => targetToRoute(url),
  })
  endSlowReaders(app.server, { timeoutMs: patience.reader, everyMs: patience.checkEvery })
  app.server.on('checkExpectation', (_request, response) => refuseSocket(response.socket, 'EXPECTATION'))
  app.server.on('connect', ({ socket }) => refuseSocket(socket, 'CONNECT'))

  /** What never came as far as a hook has no header fields yet. */
  function fail(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    noteEarlyResponse(request)
    sendFailure(failures, error, request, reply.headers(headers))
  }

  function refuseSocket(socket: Socket | null, cause: string | undefined, more: Readonly<Record<string, string>> = {}) {
    // Node hands some of these over without a listener, and with nobody who would end them.
    if (socket === null || isDropping(socket)) return
    socket.on('error', () => socket.destroy())
    if (!socket.writable) socket.destroy()
    else {
      const text = hasResponse(socket) ? '' : rawFailure(cause, nextRequestId(), { ...headers, ...more })
      endAndDrop(socket, text, { isTimedOut: cause === 'ERR_HTTP_REQUEST_TIMEOUT' })
    }
  }

  const routes = routeTable(parts)
  acceptBodies(app)
  app.setSerializerCompiler(() => JSON.stringify)
  app.setErrorHandler(fail)
  app.decorateRequest('caller', null)
  app.addHook('onClose', async () => failures.end())
  // Not async, here and in what every request passes: a promise each would cost a tenth of the throughput.
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(headers)
    if (isDraining(app)) reply.header('connection', 'close')
    try {
      refuseMalformed(request, reply)
      refuseFlood(request, reply)
      refuseMisdirected(request, isKnownHost)
      refuseOtherSpelling(request)
      refuseCrossSite(request, parts.allowedOrigins)
      if (allowOrigin(request, reply, parts.allowedOrigins)) return
      // Here and not in a handler: a body that nobody will read is not looked at either.
      if (request.is404) refuseUnrouted(routes, request, reply)
    } catch (error) {
      return done(error as Error)
    }
    if (isSafeMethod(request.method)) afterUnreadBody(request, reply, done)
    else done()
  })
  if (log.isLevelEnabled('debug')) logResponses(app, log)
  for (const each of routes) addRoute(app, each)
  return app
}

function addRoute(app: FastifyInstance, { method, path, freeText, guard, operation }: Route): void {
  app.route({
    method,
    url: path,
    schema: {
      ...(operation.body && { body: operation.body }),
      ...(operation.query && { querystring: operation.query }),
    },
    config: {
      acceptsForm: operation.acceptsForm === true,
      freeText,
      anyHost: operation.anyHost === true,
      maxFields: operation.maxFields ?? defaultLimits.fields,
    },
    ...(operation.bodyLimit && { bodyLimit: operation.bodyLimit }),
    onRequest: async (request) => {
      request.caller = await guard.admit(request, operation.pageOf?.(request))
    },
    ...(operation.query && { preValidation: readQuery(operation.query) }),
    handler: (request, reply) => operation.handle(request.caller, request, reply),
  })
}

function logResponses(app: FastifyInstance, log: Log): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { id: requestId, method, routeOptions } = request
    log.debug(
      {
        event: 'answered',
        requestId,
        method,
        route: routeOptions.url,
        status: reply.statusCode,
        ms: reply.elapsedTime,
      },
      'answered',
    )
    done()
  })
}

function refuseUnrouted(routes: readonly Route[], request: FastifyRequest, reply: FastifyReply): never {
  const allowed = allowedMethods(routes, pathOf(request.url))
  if (allowed.length === 0) throw noSuchRoute()
  reply.header('allow', allowed.join(', '))
  throw new CarillonError('METHOD_NOT_ALLOWED', `This route takes ${allowed.join(', ')}`)
}

/** Unique in this process and, by its random beginning, in the log of many. */
function requestIds(): () => string {
  const beginning = crypto.randomUUID().slice(0, 8)
  let count = 0
  return () => `${beginning}-${(++count).toString(36)}`
}
