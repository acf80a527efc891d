// Only this turns an error into a response, without internals: the log has the cause.
import { STATUS_CODES } from 'node:http'
import type { FastifyError, FastifyRequest } from 'fastify'
import { counts } from '../../basics/counts.ts'
import { CarillonError, type ErrorCode, noSuchRoute, statusOf } from '../../basics/errors.ts'
import { isBodyUnread, sendBeforeBody } from '../connections.ts'
import type { Exchange } from '../operation.ts'
import type { RequestLog } from './request-log.ts'
import { jsonType } from './send.ts'

const maxFaults = 20

export function envelope(error: CarillonError, requestId: string): string {
  const { code, status, message, details, secondFactor } = error
  const faults = details && { details: details.slice(0, maxFaults) }
  return JSON.stringify({
    success: false,
    error: { code, status, message, requestId, ...secondFactor, ...faults },
  })
}

type Failed = Exchange & { page?: ((error: CarillonError) => Promise<string>) | undefined }

export function sendFailure(
  log: RequestLog,
  failure: unknown,
  { request, reply, page }: Failed,
): void {
  const error = asCarillonError(failure, request)
  if (error.status >= 429)
    log.note(error, failure, {
      requestId: request.id,
      method: request.method,
      route: request.routeOptions.url,
    })
  if (error.refusal !== undefined) {
    counts.refusedProofs[error.refusal]++
    log.noteRefusal(error.refusal)
  }
  if (error.status === 401) reply.header('www-authenticate', challenge(request))
  if (error.challenge !== undefined) reply.header('www-authenticate', error.challenge)
  if (error.retryAfter !== undefined) reply.header('retry-after', String(error.retryAfter))
  reply.code(error.status)
  const send = (text: string) => {
    // Another site's form is refused before its body is read.
    if (isBodyUnread(request.raw)) sendBeforeBody(request, reply, text)
    else reply.send(text)
  }
  if (page === undefined) {
    reply.type(jsonType)
    send(envelope(error, request.id))
  } else
    page(error)
      .then(send)
      .catch((cause: unknown) => sendFailure(log, cause, { request, reply }))
}

/** RFC 6750, section 3: the header has a reason only for a presented token. */
function challenge(request: FastifyRequest): string {
  return /^bearer /i.test(request.headers.authorization ?? '')
    ? 'Bearer error="invalid_token"'
    : 'Bearer'
}

function asCarillonError(failure: unknown, request: FastifyRequest): CarillonError {
  if (failure instanceof CarillonError) return failure
  const { statusCode = 500, code: reason } = failure as Partial<FastifyError>
  const tooLarge = [
    'PAYLOAD_TOO_LARGE',
    `The body must be at most ${request.routeOptions.bodyLimit} bytes`,
  ] as const
  const [code, message] = statusCode === 413 ? tooLarge : (refusals[statusCode] ?? failed)
  return new CarillonError(code, message, {
    cause: failure,
    ...(reason === 'FST_ERR_BAD_URL' && {
      details: [{ field: 'path', reason: 'is not percent-encoded UTF-8' }],
    }),
    ...(statusCode === 503 && { report: 'overload' }),
  })
}

const refusals: Readonly<Record<number, readonly [ErrorCode, string]>> = {
  400: ['INVALID_REQUEST', 'The request is malformed'],
  404: ['NOT_FOUND', noSuchRoute().message],
  414: ['INVALID_REQUEST', 'The request is malformed'],
  415: ['UNSUPPORTED_MEDIA_TYPE', 'The body must be sent as application/json'],
  503: ['UNAVAILABLE', 'The service is stopping. Try again in a moment.'],
}
const failed = [
  'INTERNAL',
  'The service failed; its log has the reason under this request id',
] as const

const rawResponses: Record<string, readonly [ErrorCode, string]> = {
  HPE_HEADER_OVERFLOW: ['HEADERS_TOO_LARGE', 'The header fields must be at most 16 KiB together'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['PAYLOAD_TOO_LARGE', 'The chunk extensions are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['TIMEOUT', 'The request took too long to arrive'],
  HPE_INVALID_METHOD: [
    'INVALID_REQUEST',
    'This is not a well-formed HTTP request, or its method is unknown',
  ],
}

/** Node and Fastify send nothing for bytes that are no HTTP request. */
export function rawFailure(
  cause = '',
  requestId: string,
  headers: Readonly<Record<string, string>>,
): string {
  const [code, message] = rawResponses[cause] ?? [
    'INVALID_REQUEST',
    'This is not a well-formed HTTP request',
  ]
  const body = envelope(new CarillonError(code, message), requestId)
  const length = Buffer.byteLength(body)
  const fields = {
    ...headers,
    'content-type': jsonType,
    'content-length': length,
    connection: 'close',
  }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${statusOf[code]} ${STATUS_CODES[statusOf[code]]}\r\n${lines.join('')}\r\n${body}`
}
