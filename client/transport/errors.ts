// What went wrong, as one type with a code: the server's refusals as they are answered, and the two that only this side
// can tell.
import type { Fault, SessionEnd, StatusOf } from './types.ts'

/** Codes of answers; docs/guide.md says when each is given and what to do. */
export type ServerErrorCode = keyof StatusOf
/**
 * - `NETWORK`: no answer, or only a part of one. Whether the request had its effect is not known.
 * - `UNREADABLE`: an answer that is not Carillon's, such as a proxy's own page; `status` is that of the answer. A redirect is
 *   one too, without a status; browsers do not tell it from no answer, so there it is `NETWORK`.
 */
export type ClientErrorCode = 'NETWORK' | 'UNREADABLE'
export type ErrorCode = ServerErrorCode | ClientErrorCode

type Told = {
  status?: number | undefined
  requestId?: string | undefined
  details?: readonly Fault[] | undefined
  retryAfter?: number | undefined
  reason?: SessionEnd | undefined
  cause?: unknown
}

/** Every failure of this package, but for an abort, which throws the reason of its signal. */
export class CarillonError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'CarillonError'
  /** For programs; `message` is for people. */
  readonly code: Code
  /** The HTTP status; undefined where there was no answer. An id that can be none is 404 without a request. */
  readonly status: number | undefined
  /** The name of this request in the server's log. */
  readonly requestId: string | undefined
  /** What was wrong with the request, field by field. */
  readonly details: readonly Fault[] | undefined
  /** Seconds after which trying again makes sense (RFC 9110, section 10.2.3). */
  readonly retryAfter: number | undefined
  /** Of a live stream that is over for want of a proof: what became of the one it had. */
  readonly reason: SessionEnd | undefined

  constructor(code: Code, message: string, told: Told = {}) {
    super(message, { cause: told.cause })
    this.code = code
    this.status = told.status
    this.requestId = told.requestId
    this.details = told.details
    this.retryAfter = told.retryAfter
    this.reason = told.reason
  }
}

/** Whether it is one of ours and, where codes are named, one of those: `isCarillonError(error, 'NOT_FOUND')`. */
export function isCarillonError<Code extends ErrorCode = ErrorCode>(
  error: unknown,
  ...codes: Code[]
): error is CarillonError<Code> {
  return error instanceof CarillonError && (codes.length === 0 || codes.includes(error.code as Code))
}

/** No answer, or one that broke off. */
export function networkError(cause: unknown): CarillonError<'NETWORK'> {
  return new CarillonError('NETWORK', 'No answer came from Carillon', { cause })
}

/** Whether fetch refused a redirect: Node, Deno and Bun say so in the error or in its cause, browsers say nothing. */
export function isRedirect({ message, cause }: TypeError): boolean {
  return /redirect/i.test(`${message} ${cause}`)
}

/** The request was not sent on: its token or password is meant for this server alone. */
export function redirected(cause: unknown): CarillonError<'UNREADABLE'> {
  const message = 'The server redirects to another address, and the client follows no redirect: correct baseUrl'
  return new CarillonError('UNREADABLE', message, { cause })
}

/** An answer that Carillon does not give. */
export function unreadable(response: Response, cause?: unknown): CarillonError<'UNREADABLE'> {
  const { status } = response
  const retryAfter = retryAfterOf(response)
  return new CarillonError('UNREADABLE', `The answer (status ${status}) is not one of Carillon`, {
    status,
    retryAfter,
    cause,
  })
}

/** Undefined where it is a date: Carillon tells seconds. */
function retryAfterOf({ headers }: Response): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? undefined)
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined
}

/** The error that an answer other than a success tells; `text` is its body. */
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
