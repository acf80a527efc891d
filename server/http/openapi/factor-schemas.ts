// The JSON shapes of second factors: requests and responses.
import { maxDeviceTokenLength } from '../../sign-in/devices/device-tokens.ts'
import { Assertion } from './passkey-schemas.ts'
import { array, boolean, integer, named, nullable, object, oneOf, string, type TypeOf } from './schema.ts'

const time = string({ format: 'date-time', description: 'ISO 8601 UTC with milliseconds' })
const label = { minLength: 1, maxLength: 64, description: 'The name that the user gives to it' }
const code = string({ minLength: 1, maxLength: 16, description: 'Of the authenticator app: six digits' })
const recoveryCode = string({ minLength: 1, maxLength: 64 })
const recoveryCodes = array(string(), { description: 'Displayed once. Each of them works once' })

export const NewTotpBody = named('NewTotp', { ...object({}, { label: string(label) }), type: ['object', 'null'] })
export type NewTotpBody = TypeOf<typeof NewTotpBody> | null

export const TotpConfirmation = named('TotpConfirmation', object({ id: string({ format: 'uuid' }), code }))
export type TotpConfirmation = TypeOf<typeof TotpConfirmation>

export const SecondFactorBody = named(
  'SecondFactor',
  object(
    { challenge: string({ minLength: 1, maxLength: 128, description: 'Of SECOND_FACTOR_REQUIRED' }) },
    {
      code,
      recoveryCode,
      passkey: Assertion,
      deviceToken: string({ maxLength: maxDeviceTokenLength, description: 'As at /login' }),
    },
    { minProperties: 2, maxProperties: 3, description: 'The challenge with exactly one factor' },
  ),
)
export type SecondFactorBody = TypeOf<typeof SecondFactorBody>

export const ConfirmationBody = named(
  'SignInConfirmation',
  object(
    {},
    { password: string({ minLength: 1, maxLength: 256 }), code, recoveryCode, passkey: Assertion },
    { minProperties: 1, maxProperties: 1, description: 'Exactly one; the password only if there is no second factor' },
  ),
)
export type ConfirmationBody = TypeOf<typeof ConfirmationBody>

const factor = {
  id: string({ format: 'uuid', description: 'UUIDv7' }),
  kind: oneOf(['totp', 'passkey']),
  label: string(),
  confirmed: boolean({ description: 'False until a first code was received; then it does not count yet' }),
  createdAt: time,
  lastUsedAt: nullable(time),
}
export const FactorAdded = named('FactorAdded', object(factor, { recoveryCodes }))
export const FactorList = named(
  'FactorList',
  object({ items: array(named('Factor', object(factor))), recoveryCodesLeft: integer({ minimum: 0 }) }),
)
export const RecoveryCodes = named('RecoveryCodes', object({ recoveryCodes }))
export const Totp = named(
  'Totp',
  object({
    id: factor.id,
    secret: string({ description: 'Base32, for typing it into an app' }),
    uri: string({ description: 'otpauth://, which an app on the same device opens' }),
    qr: string({ description: 'A picture (SVG) of the uri, for the camera of another device' }),
  }),
)
