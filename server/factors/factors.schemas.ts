import * as t from '../http/openapi/schema.ts'
import { deviceToken, newToken, password } from '../sessions/sessions.schemas.ts'
import { Assertion, linkToken } from './passkeys/passkeys.schemas.ts'

const code = t.example(t.text(1, 16, 'Of the authenticator app: six digits'), '492039')
const proofs = {
  code: t.optional(code),
  recoveryCode: t.optional(t.text(1, 64)),
  passkey: t.optional(Assertion),
}

const label = t.optional(t.example(t.text(1, 64, 'The name that the user gives to it'), 'Phone'))
export const NewTotpBody = t.orNull(t.component('NewTotp', { label }))
export const TotpConfirmation = t.component('TotpConfirmation', {
  id: t.uuid(),
  code,
  link: linkToken,
})

const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'
const uri = `otpauth://totp/bell.example.org:ann?issuer=bell.example.org&secret=${secret}&algorithm=SHA1&digits=6&period=30`
const qr = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 490 490"></svg>'
export const TotpResponse = t.dataOf(
  t.component('Totp', {
    id: t.id,
    secret: t.example(t.string('Base32, for typing it into an app'), secret),
    uri: t.example(t.string('otpauth://, which an app on the same device opens'), uri),
    qr: t.example(t.string('A picture (SVG) of the uri, for the camera of another device'), qr),
  }),
)

const someChallenge = `${t.exampleOf(t.id)}.hU5kQx0c3T2vYb7m1nZ8pLr4sWd6fGj9aEoIuKtRqXw`
const challenge = t.example(t.text(1, 128, 'Of SECOND_FACTOR_REQUIRED'), someChallenge)
const secondFactor = { challenge, ...proofs, deviceToken: deviceToken('As at /login') }
const two = {
  minProperties: 2,
  maxProperties: 3,
  description: 'The challenge with exactly one factor',
}
export const SecondFactorBody = t.component('SecondFactor', secondFactor, two)
export type SecondFactorBody = t.TypeOf<typeof SecondFactorBody>

const oneNote = 'Exactly one; the password only if there is no second factor'
const one = { minProperties: 1, maxProperties: 1, description: oneNote }
const confirmation = t.component(
  'SignInConfirmation',
  { password: t.optional(password), ...proofs },
  one,
)
export const ConfirmationBody = t.example(confirmation, { password: t.exampleOf(password) })

const factor = {
  id: t.id,
  kind: t.oneOf(['totp', 'passkey']),
  label: t.example(t.string(), 'Phone'),
  confirmed: t.example(
    t.boolean('False until a first code was received; then it does not count yet'),
    true,
  ),
  createdAt: t.time,
  lastUsedAt: t.nullable(t.time),
}
const codes = ['3kfm-xw7p-a2hq-vt5n-8gcd-r6yz', 'b9sk-4mqe-j7rw-2xtn-5ufa-h3pc']
const recoveryCodes = t.example(
  t.array(t.string(), 'Displayed once. Each of them works once'),
  codes,
)
export const RecoveryCodesResponse = t.dataOf(
  t.component('RecoveryCodes', { recoveryCodes, ...newToken }),
)
const added = { ...factor, recoveryCodes: t.optional(recoveryCodes), ...newToken }
export const FactorAddedResponse = t.dataOf(t.component('FactorAdded', added))
const items = t.array(t.component('Factor', factor))
const recoveryCodesLeft = t.example(t.integer({ minimum: 0 }), 10)
const knownNote =
  'For PublicKeyCredential.signalAllAcceptedCredentials() and signalCurrentUserDetails(): all passkeys of the user. Null where there can be none'
const known = {
  rpId: t.example(t.string(), 'carillon.example'),
  userId: t.example(t.string('Base64url'), 'MDE5YTlmNjMtN2QyMC03YzU1LThhMWUtNWIwZDllNGY2YzIx'),
  name: t.example(t.string(), 'ann'),
  displayName: t.example(t.string(), 'Ann Lee'),
  credentialIds: t.example(t.array(t.string(), knownNote), ['dGhlIHBhc3NrZXkgb2YgYW5u']),
}
const passkeys = t.nullable(t.component('KnownPasskeys', known))
export const FactorListResponse = t.dataOf(
  t.component('FactorList', { items, recoveryCodesLeft, passkeys }),
)
