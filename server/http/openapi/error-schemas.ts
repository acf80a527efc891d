// The shapes of error responses: one component for each code, so that generated code knows which codes a route sends, and
// one for the refusals that any route can send.
import { type ErrorCode, passwordFaults, secondFactorKinds, statusOf } from '../../basics/errors.ts'
import * as t from './schema.ts'

const Fault = t.component('Fault', {
  field: t.string(),
  reason: t.string(),
  code: t.optional(t.oneOf(passwordFaults, 'Why a password is refused')),
})

/** Refusals by the request checks, before the route decides anything, and failures of the service. */
const codesOfAnyRoute = [
  'INTERNAL',
  'INVALID_REQUEST',
  'TIMEOUT',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'HEADERS_TOO_LARGE',
] as const satisfies readonly ErrorCode[]

export function errorSchemas() {
  const codes = Object.keys(statusOf) as ErrorCode[]
  return {
    ofCode: Object.fromEntries(codes.map((code) => [code, schemaOf(code)])) as Record<ErrorCode, t.Schema>,
    ofAnyRoute: envelope('General', { code: t.oneOf(codesOfAnyRoute), status: t.example(t.integer(), 500) }),
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
    challenge: t.string('Send it with the factor, within 5 minutes'),
    factors: t.array(t.oneOf(secondFactorKinds), 'What completes the sign-in'),
    deviceToken: t.optional(t.string('From POST /password/reset with the variant `stateless` alone')),
  },
}

function schemaOf(code: ErrorCode): t.Schema {
  const own = code in fieldsOf ? fieldsOf[code as keyof typeof fieldsOf] : {}
  return envelope(nameOf(code), { code: t.constant(code), status: t.constant(statusOf[code]), ...own })
}

function envelope(name: string, own: Parameters<typeof t.object>[0]): t.Schema {
  const message = t.example(t.string(), 'The service failed; its log has the reason under this request id')
  const shared = { message, requestId: t.example(t.string(), '1c7e4f0a-2n'), details: t.optional(t.array(Fault)) }
  const error = t.component(`${name}Problem`, { ...own, ...shared })
  return t.component(`${name}Error`, { success: t.constant(false), error })
}
