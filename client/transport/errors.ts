import type { Fault, SecondFactorKind, SessionEnd, StatusOf } from './types.ts'

/** Codes of error responses. docs/inbox/errors.md explains each of them. */
export type ServerErrorCode = keyof StatusOf
/**
 * - `NETWORK`: no response, or an incomplete one. The request may have had its effect.
 * - `UNREADABLE`: not from Carillon, such as the error page of a proxy (`status`) or a redirect,
 *   which the client does not follow.
 * - `AUTH_FAILED`: `auth` threw (`cause`), or returned neither a token nor null.
 */
export type ClientErrorCode = 'NETWORK' | 'UNREADABLE' | 'AUTH_FAILED'
export type ErrorCode = ServerErrorCode | ClientErrorCode

/** Every failure of this package, except an abort, which throws the reason of its signal. */
export class CarillonError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'CarillonError'
  /** Programs compare this; `message` is for people, and names the first of `details`. */
  declare readonly code: Code
  /**
   * The HTTP status; undefined if there was no response. 404, without a request, for an id that is
   * not a UUID.
   */
  declare readonly status: number | undefined
  /** The id of this request in the server's log. */
  declare readonly requestId: string | undefined
  /** The invalid fields of the request. */
  declare readonly details: readonly Fault[] | undefined
  /** Seconds to wait before the next attempt (RFC 9110, section 10.2.3). */
  declare readonly retryAfter: number | undefined
  /** Of SECOND_FACTOR_REQUIRED: `completeSignIn` takes it, once and within five minutes. */
  declare readonly challenge: Code extends 'SECOND_FACTOR_REQUIRED' ? string : undefined
  /** Of SECOND_FACTOR_REQUIRED: what can complete the sign-in. */
  declare readonly factors: Code extends 'SECOND_FACTOR_REQUIRED'
    ? readonly SecondFactorKind[]
    : undefined
  /** How the session or the token ended; set only if that ended a live stream. */
  declare readonly reason: SessionEnd | undefined

  constructor(code: Code, message: string, { cause, ...fields }: Partial<CarillonError> = {}) {
    super(message, { cause })
    Object.assign(this, fields)
    this.code = code
  }
}

type Failure<Code extends ErrorCode> = Code extends ErrorCode ? CarillonError<Code> : never

/**
 * Is it a CarillonError, and with one of `codes` if any are given?
 *
 * @example if (isCarillonError(error, 'TOO_MANY_REQUESTS')) await wait(error.retryAfter)
 */
export function isCarillonError<Code extends ErrorCode = ErrorCode>(
  error: unknown,
  ...codes: Code[]
): error is Failure<Code> {
  return (
    error instanceof CarillonError && (codes.length === 0 || codes.includes(error.code as Code))
  )
}

export function isUnauthorized(error: unknown): error is CarillonError {
  return isCarillonError(error) && error.status === 401
}

export function networkError(cause: unknown, url?: URL): CarillonError<'NETWORK'> {
  return new CarillonError('NETWORK', `No response from Carillon${originHint(url)}`, { cause })
}

/** A browser does not let a script see that the server refused the page's origin. */
function originHint(url?: URL): string {
  const page = globalThis.location?.origin
  if (!url || !page || page === url.origin) return ''
  return `, or CARILLON_ALLOWED_ORIGINS of ${url.origin} lacks ${page}`
}

export function signedOut(): CarillonError<'UNAUTHORIZED'> {
  return new CarillonError('UNAUTHORIZED', 'No user is signed in', { status: 401 })
}

export function unreadable(response: Response, cause?: unknown): CarillonError<'UNREADABLE'> {
  const message = `The response (status ${response.status}) is not from Carillon`
  return new CarillonError('UNREADABLE', message, { ...fieldsOf(response), cause })
}

/** `retryAfter` is undefined if the header field is a date; Carillon sends seconds. */
function fieldsOf({ status, headers }: Response) {
  const seconds = Number(headers.get('retry-after') ?? undefined)
  return { status, retryAfter: Number.isFinite(seconds) ? Math.max(0, seconds) : undefined }
}

export function errorOf(response: Response, text: string): CarillonError {
  try {
    const { code, message, ...fields } = JSON.parse(text).error
    if (typeof code !== 'string') return unreadable(response)
    const [fault] = fields.details ?? []
    const sentence = fault ? `${message} (${fault.field}: ${fault.reason})` : message
    return new CarillonError(code as ErrorCode, sentence, { ...fields, ...fieldsOf(response) })
  } catch (cause) {
    return unreadable(response, cause)
  }
}
