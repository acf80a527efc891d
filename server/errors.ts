// The one error type and the one table of codes. Who throws names a code; http/failure.ts turns it into an answer,
// commands/ into a line on stderr.

/** Every code an answer may carry, with its HTTP status; docs/guide.md says when. */
export const statusOf = {
  Unauthorized: 401,
  UNAUTHORIZED: 401,
  INVALID_CREDENTIALS: 401,
  INVALID_REQUEST: 400,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  TIMEOUT: 408,
  CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  MISDIRECTED_REQUEST: 421,
  UNPROCESSABLE: 422,
  TOO_MANY_REQUESTS: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL: 500,
  UNAVAILABLE: 503,
} as const

export type ErrorCode = keyof typeof statusOf

/** One field that was wrong, and the reason in words that say what would be right. */
export type Fault = { field: string; reason: string }

/** A refusal that its reader can act on. `message` is shown to the caller; `cause` only ever reaches the log. */
export class CarillonError extends Error {
  readonly code: ErrorCode
  readonly details: readonly Fault[] | undefined
  /** Seconds after which trying again makes sense; sent as `Retry-After` (RFC 9110, section 10.2.3). */
  readonly retryAfter: number | undefined
  /** What the log gets of a request that was refused with it: http/failure-log.ts. */
  readonly report: 'failure' | 'overload' | 'nothing'

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      cause?: unknown
      details?: readonly Fault[]
      retryAfter?: number
      report?: 'overload' | 'nothing'
    } = {},
  ) {
    super(message, { cause: options.cause })
    this.name = 'CarillonError'
    this.code = code
    this.details = options.details
    this.report = options.report ?? 'failure'
    this.retryAfter = options.retryAfter ?? (statusOf[code] === 503 ? 1 : undefined)
  }

  get status(): number {
    return statusOf[this.code]
  }
}

/** Refused because too much is under way, or because the service stops: nothing failed, and a later attempt succeeds. */
export function overloaded(message: string): CarillonError {
  return new CarillonError('UNAVAILABLE', message, { report: 'overload' })
}

/** A request that is refused for what stands in it, field by field. */
export function invalidRequest(details: readonly Fault[], cause?: unknown): CarillonError {
  return new CarillonError('INVALID_REQUEST', 'The request is not as it should be', { details, cause })
}

/** A path that is no route: never was, or is another spelling of one. */
export function noSuchRoute(): CarillonError {
  return new CarillonError('NOT_FOUND', 'There is no such route; /docs lists them')
}

/** What needs a user or a key, without a valid one: one answer for all of it. */
export function notAuthenticated(): CarillonError {
  return new CarillonError('UNAUTHORIZED', 'Not authenticated')
}
