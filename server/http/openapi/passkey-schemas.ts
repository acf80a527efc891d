// The JSON shapes of the requests with passkeys: what browsers return from `navigator.credentials`, by `toJSON()`.
import { ofSignIn } from './request-schemas.ts'
import { anything, array, component, constant, optional, orNull, record, string, text } from './schema.ts'

const base64url = (maxLength: number) => string({ minLength: 1, maxLength, pattern: '^[\\w-]+$' })
const credentialId = base64url(1_364)
const credential = {
  id: credentialId,
  rawId: credentialId,
  type: constant('public-key'),
  clientExtensionResults: record(anything),
}
/** Browsers may add members: what they return is sent as it is. */
const asItIs = { additionalProperties: true }
const json = (name: string) => ({
  ...asItIs,
  description: `${name} (WebAuthn Level 3, section 5.1.8): the credential, by toJSON()`,
})

const attestation = {
  clientDataJSON: base64url(4_096),
  attestationObject: base64url(8_192),
  transports: optional(array(text(0, 32), { maxItems: 8 })),
}
const registration = { ...credential, response: component('PasskeyAttestation', attestation, asItIs) }
const Registration = component('PasskeyRegistration', registration, json('RegistrationResponseJSON'))

const signature = {
  clientDataJSON: base64url(4_096),
  authenticatorData: base64url(4_096),
  signature: base64url(2_048),
  userHandle: optional(orNull(text(0, 88))),
}
const assertion = { ...credential, response: component('PasskeySignature', signature, asItIs) }
export const Assertion = component('PasskeyAssertion', assertion, json('AuthenticationResponseJSON'))

export const NewPasskeyBody = component('NewPasskey', { response: Registration, label: optional(text(1, 64)) })

const challengeNote = "Of SECOND_FACTOR_REQUIRED: offers that user's passkeys"
const challenge = optional(text(0, 128, challengeNote))
export const PasskeyOptionsBody = orNull(component('PasskeyOptionsRequest', { challenge }))

export const PasskeySignInBody = component('PasskeySignIn', { response: Assertion, ...ofSignIn })
