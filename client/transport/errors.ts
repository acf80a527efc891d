// The error type of the client: the codes of the server's error responses, and two codes that only the client can set.
import type { Fault, SessionEnd, StatusOf } from './types.ts'

/** Codes of error responses. docs/guide.md explains each of them. */
export type ServerErrorCode = keyof StatusOf
/**
 * - `NETWORK`: no response, or an incomplete one. The request may or may not have had its effect.
 * - `UNREADABLE`: a response that is not from Carillon, such as a proxy's error page; `status` is the status of that
 *   response. A redirect has this code too, without a status. A browser cannot distinguish a redirect from a missing
 *   response, so there a redirect is `NETWORK`.
 */
export type ClientErrorCode = 'NETWORK' | 'UNREADABLE'
export type ErrorCode = ServerErrorCode | ClientErrorCode

type ErrorFields = {
  status?: number | undefined
  requestId?: string | undefined
  details?: readonly Fault[] | undefined
  retryAfter?: number | undefined
  reason?: SessionEnd | undefined
  cause?: unknown
}

/** Every failure of this package, except an abort, which throws the reason of its signal. */
export class CarillonError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'CarillonError'
  /** For programs; `message` is for people. */
  readonly code: Code
  /** The HTTP status; undefined if there was no response. 404, without a request, for an id that is not a UUID. */
  readonly status: number | undefined
  /** The id of this request in the server's log. */
  readonly requestId: string | undefined
  /** The invalid fields of the request. */
  readonly details: readonly Fault[] | undefined
  /** Seconds to wait before the next attempt (RFC 9110, section 10.2.3). */
  readonly retryAfter: number | undefined
  /** How the session or the token ended; set only if that ended a live stream. */
  readonly reason: SessionEnd | undefined

  constructor(code: Code, message: string, fields: ErrorFields = {}) {
    super(message, { cause: fields.cause })
    this.code = code
    this.status = fields.status
    this.requestId = fields.requestId
    this.details = fields.details
    this.retryAfter = fields.retryAfter
    this.reason = fields.reason
  }
}

/** Is it a CarillonError, and with one of `codes` if any are given? Example: `isCarillonError(error, 'NOT_FOUND')`. */
export function isCarillonError<Code extends ErrorCode = ErrorCode>(
  error: unknown,
  ...codes: Code[]
): error is CarillonError<Code> {
  return error instanceof CarillonError && (codes.length === 0 || codes.includes(error.code as Code))
}

/** No response, or an incomplete one. */
export function networkError(cause: unknown): CarillonError<'NETWORK'> {
  return new CarillonError('NETWORK', 'No response from Carillon', { cause })
}

/** Did fetch refuse a redirect? The error of Node, Deno and Bun, or its cause, says so. The error of a browser does not. */
export function isRedirect({ message, cause }: TypeError): boolean {
  return /redirect/i.test(`${message} ${cause}`)
}

/** The client followed no redirect: the token or password in the request is for this server only. */
export function redirected(cause: unknown): CarillonError<'UNREADABLE'> {
  const message = 'The server redirects to another address, and the client follows no redirect: correct baseUrl'
  return new CarillonError('UNREADABLE', message, { cause })
}

/** A response that is not from Carillon. */
export function unreadable(response: Response, cause?: unknown): CarillonError<'UNREADABLE'> {
  const { status } = response
  const retryAfter = retryAfterOf(response)
  return new CarillonError('UNREADABLE', `The response (status ${status}) is not from Carillon`, {
    status,
    retryAfter,
    cause,
  })
}

/** Undefined if the field is a date; Carillon sends seconds. */
function retryAfterOf({ headers }: Response): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? undefined)
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined
}

/** The error of a response whose status is not a success. `text` is the body of the response. */
export function errorOf(response: Response, text: string): CarillonError {
  try {
    const { code, message, requestId, details } = JSON.parse(text).error
    if (typeof code !== 'string') return unreadable(response)
    return new CarillonError(code as ErrorCode, message, {
      status: response.status,
      requestId,
      details,
      retryAfter: retryAfterOf(response),
    })
  } catch (cause) {
    return unreadable(response, cause)
  }
}
