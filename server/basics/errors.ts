// The one error type of the server and the one table of its codes. http/response/failure.ts turns an error into a response.

/** Every code and its HTTP status; docs/inbox/errors.md says when it is sent. client/types.test.ts compares the client's copy, `StatusOf`. */
export const statusOf = {
  Unauthorized: 401,
  UNAUTHORIZED: 401,
  INVALID_CREDENTIALS: 401,
  SECOND_FACTOR_REQUIRED: 401,
  INVALID_REQUEST: 400,
  FORBIDDEN: 403,
  FRESH_SIGN_IN_REQUIRED: 403,
  FACTOR_UNREADABLE: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  TIMEOUT: 408,
  CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  MISDIRECTED_REQUEST: 421,
  UNPROCESSABLE: 422,
  LINK_INVALID: 422,
  TOO_MANY_REQUESTS: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL: 500,
  UNAVAILABLE: 503,
} as const

export type ErrorCode = keyof typeof statusOf

/** Why a password is refused; for programs that show a sentence of their own. */
export const passwordFaults = ['too_short', 'too_long', 'too_common', 'contains_name'] as const

/** One invalid field, and what a valid value would be. `code`: of a refused password. */
export type Fault = { field: string; reason: string; code?: (typeof passwordFaults)[number] }

/** What completes a sign-in whose password was right, and by which kinds of factors. */
export type SecondFactor = { challenge: string; factors: readonly SecondFactorKind[]; deviceToken?: string }
export const secondFactorKinds = ['totp', 'passkey', 'recovery-code'] as const
export type SecondFactorKind = (typeof secondFactorKinds)[number]

type Options = { cause?: unknown } & Partial<
  Pick<CarillonError, 'remedy' | 'details' | 'retryAfter' | 'challenge' | 'secondFactor' | 'report'>
>

/** A failure that its reader can understand and act on. `cause` goes to the log only. */
export class CarillonError extends Error {
  readonly code: ErrorCode
  readonly problem: string
  /** What the reader can do about it; undefined if the problem says enough. */
  readonly remedy: string | undefined
  readonly details: readonly Fault[] | undefined
  /** Seconds after which a retry may succeed; sent as `Retry-After` (RFC 9110, section 10.2.3). */
  readonly retryAfter: number | undefined
  /** Sent as `WWW-Authenticate` with a 403. */
  readonly challenge: string | undefined
  /** Sent in the body of SECOND_FACTOR_REQUIRED. */
  readonly secondFactor: SecondFactor | undefined
  /** How the failed request is logged: http/response/request-log.ts. */
  readonly report: 'failure' | 'outcome-unknown' | 'overload' | 'nothing'

  /** `problem` has no full stop; `remedy` is whole sentences, or ends with a command to copy. The `message` has both. */
  constructor(code: ErrorCode, problem: string, options: Options = {}) {
    super(options.remedy === undefined ? problem : `${problem}. ${options.remedy}`, { cause: options.cause })
    this.name = 'CarillonError'
    this.code = code
    this.problem = problem
    this.remedy = options.remedy
    this.details = options.details
    this.challenge = options.challenge
    this.secondFactor = options.secondFactor
    this.report = options.report ?? 'failure'
    this.retryAfter = options.retryAfter ?? (statusOf[code] === 503 ? 1 : undefined)
  }

  get status(): number {
    return statusOf[this.code]
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The service is overloaded or stopping. Nothing has failed, and a later attempt succeeds. */
export function overloaded(message: string): CarillonError {
  return new CarillonError('UNAVAILABLE', message, { remedy: 'Try again in a moment.', report: 'overload' })
}

export function invalidRequest(details: readonly Fault[], problem = 'The request is invalid'): CarillonError {
  return new CarillonError('INVALID_REQUEST', problem, { details })
}

export function invalidField(field: string, reason: string, problem?: string): CarillonError {
  return invalidRequest([{ field, reason }], problem)
}

export function forbidden(problem: string, remedy?: string): CarillonError {
  return new CarillonError('FORBIDDEN', problem, { remedy })
}

export function conflict(problem: string, remedy?: string): CarillonError {
  return new CarillonError('CONFLICT', problem, { remedy })
}

export function notFound(problem: string, remedy?: string): CarillonError {
  return new CarillonError('NOT_FOUND', problem, { remedy })
}

export function unavailable(problem: string, remedy?: string, cause?: unknown): CarillonError {
  return new CarillonError('UNAVAILABLE', problem, { remedy, cause })
}

/** The path is not a route, or not in the spelling of one. */
export function noSuchRoute(): CarillonError {
  return notFound('There is no such route', '/docs lists the routes.')
}

/** The words of the API's spec for every missing or invalid proof. `details`: what the request presented in place of one. */
export function notAuthenticated(details?: readonly Fault[]): CarillonError {
  return new CarillonError('UNAUTHORIZED', 'Not authenticated', details && { details })
}

/** The same error for an unknown user, a wrong password, a disabled user, and a password that changed during the sign-in. */
export function invalidCredentials(): CarillonError {
  return new CarillonError('INVALID_CREDENTIALS', 'The username or the password is wrong')
}

/** The password was right. It allows nothing by itself. `challenge`: '' if the factor is for the same route. */
export function secondFactorRequired(secondFactor: SecondFactor): CarillonError {
  const remedy =
    'Send a code, a recovery code or a passkey: to sign in, with the challenge, to POST /login/second-factor; to confirm, to this route.'
  return new CarillonError('SECOND_FACTOR_REQUIRED', 'This sign-in needs a second factor', { remedy, secondFactor })
}

/** The same error for a wrong code, one that was used, and a challenge that was used, has expired or is another user's. */
export function wrongSecondFactor(): CarillonError {
  return new CarillonError('INVALID_CREDENTIALS', 'The second factor is wrong, or was used before')
}

/** The proof is valid, and limited to less than the route needs (RFC 6750, section 3.1): `scope`, or, if undefined, a proof without a limit. */
export function insufficientScope(problem: string, { scope, remedy }: { scope?: string; remedy: string }) {
  const challenge = `Bearer error="insufficient_scope"${scope === undefined ? '' : `, scope="${scope}"`}`
  return new CarillonError('FORBIDDEN', problem, { remedy, challenge })
}

/** Adds the details of an INVALID_REQUEST to `faults`. */
export function faulting<Value>(faults: Fault[], check: () => Value): Value | undefined {
  try {
    return check()
  } catch (error) {
    if (!(error instanceof CarillonError) || error.code !== 'INVALID_REQUEST') throw error
    faults.push(...(error.details ?? []))
    return undefined
  }
}
