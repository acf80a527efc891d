// The JSON shapes of second factors: requests and responses.
import { maxDeviceTokenLength } from '../../guessing/device-tokens.ts'
import { Assertion } from './passkey-schemas.ts'
import {
  array,
  boolean,
  component,
  integer,
  nullable,
  oneOf,
  optional,
  orNull,
  string,
  type TypeOf,
  text,
} from './schema.ts'

const time = string({ format: 'date-time', description: 'ISO 8601 UTC with milliseconds' })
const code = text(1, 16, 'Of the authenticator app: six digits')
const proofs = { code: optional(code), recoveryCode: optional(text(1, 64)), passkey: optional(Assertion) }
const recoveryCodes = array(string(), 'Displayed once. Each of them works once')

const label = optional(text(1, 64, 'The name that the user gives to it'))
export const NewTotpBody = orNull(component('NewTotp', { label }))

export const TotpConfirmation = component('TotpConfirmation', { id: string({ format: 'uuid' }), code })

const secondFactor = {
  challenge: text(1, 128, 'Of SECOND_FACTOR_REQUIRED'),
  ...proofs,
  deviceToken: optional(text(0, maxDeviceTokenLength, 'As at /login')),
}
const two = { minProperties: 2, maxProperties: 3, description: 'The challenge with exactly one factor' }
export const SecondFactorBody = component('SecondFactor', secondFactor, two)
export type SecondFactorBody = TypeOf<typeof SecondFactorBody>

const confirmation = { password: optional(text(1, 256)), ...proofs }
const oneNote = 'Exactly one; the password only if there is no second factor'
const one = { minProperties: 1, maxProperties: 1, description: oneNote }
export const ConfirmationBody = component('SignInConfirmation', confirmation, one)
export type ConfirmationBody = TypeOf<typeof ConfirmationBody>

const factor = {
  id: string({ format: 'uuid', description: 'UUIDv7' }),
  kind: oneOf(['totp', 'passkey']),
  label: string(),
  confirmed: boolean('False until a first code was received; then it does not count yet'),
  createdAt: time,
  lastUsedAt: nullable(time),
}
export const FactorAdded = component('FactorAdded', { ...factor, recoveryCodes: optional(recoveryCodes) })
export const FactorList = component('FactorList', {
  items: array(component('Factor', factor)),
  recoveryCodesLeft: integer({ minimum: 0 }),
})
export const RecoveryCodes = component('RecoveryCodes', { recoveryCodes })
export const Totp = component('Totp', {
  id: factor.id,
  secret: string('Base32, for typing it into an app'),
  uri: string('otpauth://, which an app on the same device opens'),
  qr: string('A picture (SVG) of the uri, for the camera of another device'),
})
