// The shapes of error responses: one component for each code, so that generated code knows which codes a route sends, and
// one for the refusals that any route can send.
import { type ErrorCode, passwordFaults, secondFactorKinds, statusOf } from '../../basics/errors.ts'
import { array, component, constant, integer, type object, oneOf, optional, type Schema, string } from './schema.ts'

const Fault = component('Fault', {
  field: string(),
  reason: string(),
  code: optional(oneOf(passwordFaults, 'Why a password is refused')),
})

/** Refusals by the request checks, before the route decides anything, and failures of the service. */
const codesOfAnyRoute = [
  'INVALID_REQUEST',
  'TIMEOUT',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'HEADERS_TOO_LARGE',
  'INTERNAL',
] as const satisfies readonly ErrorCode[]

export function errorSchemas() {
  const codes = Object.keys(statusOf) as ErrorCode[]
  return {
    ofCode: Object.fromEntries(codes.map((code) => [code, schemaOf(code)])) as Record<ErrorCode, Schema>,
    ofAnyRoute: envelope('General', { code: oneOf(codesOfAnyRoute), status: integer() }),
  }
}

/** The spec's code of the restricted route differs from UNAUTHORIZED only in case, and names have no such difference. */
function nameOf(code: ErrorCode): string {
  if (code === 'Unauthorized') return 'Restricted'
  return code.toLowerCase().replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())
}

/** Fields that one code alone has. */
const fieldsOf = {
  SECOND_FACTOR_REQUIRED: {
    challenge: string('Send it with the factor, within 5 minutes'),
    factors: array(oneOf(secondFactorKinds), 'What completes the sign-in'),
    deviceToken: optional(string('From POST /password/reset with the variant `stateless` alone')),
  },
}

function schemaOf(code: ErrorCode): Schema {
  const own = code in fieldsOf ? fieldsOf[code as keyof typeof fieldsOf] : {}
  return envelope(nameOf(code), { code: constant(code), status: constant(statusOf[code]), ...own })
}

function envelope(name: string, own: Parameters<typeof object>[0]): Schema {
  const shared = { message: string(), requestId: string(), details: optional(array(Fault)) }
  const error = component(`${name}Problem`, { ...own, ...shared })
  return component(`${name}Error`, { success: constant(false), error })
}
