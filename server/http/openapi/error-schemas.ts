// The shapes of error responses: one component for each code, so that generated code knows which codes a route sends, and
// one for the refusals that any route can send.
import { type ErrorCode, type PasswordFault, secondFactorKinds, statusOf } from '../../errors.ts'
import { array, constant, integer, named, object, oneOf, type Schema, string } from './schema.ts'

const passwordFaults = [
  'too_short',
  'too_long',
  'too_common',
  'contains_name',
] as const satisfies readonly PasswordFault[]
const Fault = named(
  'Fault',
  object(
    { field: string(), reason: string() },
    { code: oneOf(passwordFaults, { description: 'Why a password is refused' }) },
  ),
)

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
const fieldsOf: Partial<Record<ErrorCode, Readonly<Record<string, Schema>>>> = {
  SECOND_FACTOR_REQUIRED: {
    challenge: string({ description: 'Send it with the factor, within 5 minutes' }),
    factors: array(oneOf(secondFactorKinds), { description: 'What completes the sign-in' }),
  },
}

/** Fields that not every response of this code has. */
const optionalFieldsOf: typeof fieldsOf = {
  SECOND_FACTOR_REQUIRED: {
    deviceToken: string({ description: 'From POST /password/reset with the variant `stateless` alone' }),
  },
}

function schemaOf(code: ErrorCode): Schema {
  const own = { code: constant(code), status: constant(statusOf[code]), ...fieldsOf[code] }
  return envelope(nameOf(code), own, optionalFieldsOf[code])
}

function envelope(name: string, own: Readonly<Record<string, Schema>>, optional?: typeof own): Schema {
  const fields = object({ ...own, message: string(), requestId: string() }, { ...optional, details: array(Fault) })
  const error = named(`${name}Problem`, fields)
  return named(`${name}Error`, object({ success: constant(false), error }))
}
