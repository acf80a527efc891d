// The one error type and its codes. http/response/failure.ts makes a response of an error.

/** docs/inbox/errors.md explains the codes. */
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

export const passwordFaults = ['too_short', 'too_long', 'too_common', 'contains_name'] as const

/** `reason`: what would be valid. */
export type Fault = { field: string; reason: string; code?: (typeof passwordFaults)[number] }

export type SecondFactor = {
  challenge: string
  factors: readonly SecondFactorKind[]
  deviceToken?: string
}
export const secondFactorKinds = ['totp', 'passkey', 'recovery-code'] as const
export type SecondFactorKind = (typeof secondFactorKinds)[number]

export type ProofRefusal =
  | 'not-well-formed'
  | 'other-kind'
  | 'key-not-valid'
  | 'token-not-valid'
  | 'session-ended'
  | 'in-query'
  | 'in-another-field'
  | 'scope-missing'

type Options = { cause?: unknown } & Partial<
  Pick<
    CarillonError,
    'remedy' | 'details' | 'retryAfter' | 'challenge' | 'secondFactor' | 'report' | 'refusal'
  >
>

/** `cause` goes to the log only. */
export class CarillonError extends Error {
  readonly code: ErrorCode
  readonly problem: string
  readonly remedy: string | undefined
  readonly details: readonly Fault[] | undefined
  /** Seconds, for `Retry-After` (RFC 9110, section 10.2.3). */
  readonly retryAfter: number | undefined
  /** A 403 has it as `WWW-Authenticate`. */
  readonly challenge: string | undefined
  readonly secondFactor: SecondFactor | undefined
  readonly report: 'failure' | 'outcome-unknown' | 'overload' | 'nothing'
  readonly refusal: ProofRefusal | undefined

  /** `problem` has no full stop; `remedy` is sentences, or ends in a command. */
  constructor(code: ErrorCode, problem: string, options: Options = {}) {
    super(options.remedy === undefined ? problem : `${problem}. ${options.remedy}`, {
      cause: options.cause,
    })
    this.name = 'CarillonError'
    this.code = code
    this.problem = problem
    this.remedy = options.remedy
    this.details = options.details
    this.challenge = options.challenge
    this.secondFactor = options.secondFactor
    this.report = options.report ?? 'failure'
    this.refusal = options.refusal
    this.retryAfter = options.retryAfter ?? (statusOf[code] === 503 ? 1 : undefined)
  }

  get status(): number {
    return statusOf[this.code]
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

export function overloaded(message: string): CarillonError {
  return new CarillonError('UNAVAILABLE', message, {
    remedy: 'Try again in a moment.',
    report: 'overload',
  })
}

export function invalidRequest(
  details: readonly Fault[],
  problem = 'The request is invalid',
): CarillonError {
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

export function noSuchRoute(): CarillonError {
  return notFound('There is no such route', '/docs lists the routes.')
}

/** The API's spec has these words. */
export function notAuthenticated(
  details?: readonly Fault[],
  refusal?: ProofRefusal,
): CarillonError {
  return new CarillonError('UNAUTHORIZED', 'Not authenticated', {
    ...(details && { details }),
    refusal,
  })
}

/** One error for an unknown user, a wrong or changed password and a disabled user. */
export function invalidCredentials(): CarillonError {
  return new CarillonError('INVALID_CREDENTIALS', 'The username or the password is wrong')
}

/** `challenge`: '' if the factor is for the same route. */
export function secondFactorRequired(secondFactor: SecondFactor): CarillonError {
  const remedy =
    'Send a code, a recovery code or a passkey: to sign in, with the challenge, to POST /login/second-factor; to confirm, to this route.'
  return new CarillonError('SECOND_FACTOR_REQUIRED', 'This sign-in needs a second factor', {
    remedy,
    secondFactor,
  })
}

/** One error for a wrong or used code and every invalid challenge. */
export function wrongSecondFactor(): CarillonError {
  return new CarillonError('INVALID_CREDENTIALS', 'The second factor is wrong, or was used before')
}

/** RFC 6750, section 3.1. */
export function insufficientScope(
  problem: string,
  { scope, remedy }: { scope?: string; remedy: string },
) {
  const challenge = `Bearer error="insufficient_scope"${scope === undefined ? '' : `, scope="${scope}"`}`
  return new CarillonError('FORBIDDEN', problem, { remedy, challenge, refusal: 'scope-missing' })
}

/** The policy demands a second factor that the sign-in did not prove. */
export function setupOnly(): CarillonError {
  const remedy =
    'Add one on the account page, or by POST /api/me/factors/totp or POST /api/me/factors/passkeys. If the user has one: POST /api/me/confirm.'
  return insufficientScope('This sign-in can only set up a second factor', { remedy })
}

export function linkInvalid(): CarillonError {
  const problem = 'This link is not valid: it was used, has expired, or was replaced by newer ones'
  return new CarillonError('LINK_INVALID', problem, { remedy: 'Request a new link.' })
}

export function faulting<Value>(faults: Fault[], check: () => Value): Value | undefined {
  try {
    return check()
  } catch (error) {
    if (!(error instanceof CarillonError) || error.code !== 'INVALID_REQUEST') throw error
    faults.push(...(error.details ?? []))
    return undefined
  }
}
