import * as t from '../../http/openapi/schema.ts'
import { ofSignIn } from '../../sessions/sessions.schemas.ts'

const base64url = (maxLength: number, text: string) =>
  t.example(t.string({ minLength: 1, maxLength, pattern: '^[\\w-]+$' }), text)
const credentialId = base64url(1_364, 'dGhlIHBhc3NrZXkgb2YgYW5u')
const credential = {
  id: credentialId,
  rawId: credentialId,
  type: t.constant('public-key'),
  clientExtensionResults: t.record(t.anything),
}
/** Browsers may add members. */
const asItIs = { additionalProperties: true }
const section = '(WebAuthn Level 3, section 5.1.8)'
const json = (name: string) => ({
  ...asItIs,
  description: `${name} ${section}: the credential, by toJSON()`,
})

const attestation = {
  clientDataJSON: base64url(4_096, 'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIiwiY2hhbGxlbmdlIjoiLi4uIn0'),
  attestationObject: base64url(8_192, 'o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YVg'),
  transports: t.optional(t.example(t.array(t.text(0, 32), { maxItems: 8 }), ['internal'])),
}
const registration = {
  ...credential,
  response: t.component('PasskeyAttestation', attestation, asItIs),
}
const Registration = t.component(
  'PasskeyRegistration',
  registration,
  json('RegistrationResponseJSON'),
)

const signature = {
  clientDataJSON: base64url(4_096, 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0IiwiY2hhbGxlbmdlIjoiLi4uIn0'),
  authenticatorData: base64url(4_096, 'SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ'),
  signature: base64url(2_048, 'MEUCIQDXUQdP7n1iZ5S7nCgLqyBn5J5sUlCJ0d3R'),
  userHandle: t.optional(t.orNull(t.text(0, 88))),
}
const assertion = { ...credential, response: t.component('PasskeySignature', signature, asItIs) }
export const Assertion = t.component(
  'PasskeyAssertion',
  assertion,
  json('AuthenticationResponseJSON'),
)

const label = t.optional(
  t.example(
    t.text(1, 64, 'As the user wants it; otherwise that of the authenticator'),
    'My laptop',
  ),
)
const suggestedLabel = t.optional(
  t.text(1, 64, 'Without `label`, if the authenticator has no known name'),
)
const linkNote =
  'The token of a link, its part after `#`, if `secondFactor.needsLink` of the session is true'
export const linkToken = t.optional(t.text(1, 64, linkNote))
/** What browsers return has 20 keys, and 3 KB for an RSA key. */
export const passkeyLimits = { bodyLimit: 16 * 1024, maxFields: 40 }
export const NewPasskeyBody = t.component('NewPasskey', {
  response: Registration,
  label,
  suggestedLabel,
  link: linkToken,
})
export const PasskeySignInBody = t.component('PasskeySignIn', { response: Assertion, ...ofSignIn })

const challenge = t.optional(
  t.text(0, 128, "Of SECOND_FACTOR_REQUIRED: offers that user's passkeys"),
)
export const PasskeyOptionsBody = t.orNull(t.component('PasskeyOptionsRequest', { challenge }))

/** WebAuthn defines the content, which a page passes on. */
const optionsOf = (purpose: string) =>
  t.named(
    `Passkey${purpose}Options`,
    t.record(t.anything, `PublicKeyCredential${purpose}OptionsJSON ${section}`),
  )
const offered = {
  challenge: 'MTc2MjE1NTk3MjI1MC5hYmNkZWZnaGlqa2xtbm9wcXJzdHUubWFj',
  timeout: 300_000,
}
export const PasskeyRequestOptions = t.example(optionsOf('Request'), {
  ...offered,
  rpId: 'carillon.example',
  allowCredentials: [],
  userVerification: 'required',
})
export const PasskeyCreationOptionsResponse = t.dataOf(
  t.example(optionsOf('Creation'), {
    ...offered,
    rp: { id: 'carillon.example', name: 'carillon.example' },
    user: {
      id: 'MDE5YTlmNjMtN2QyMC03YzU1LThhMWUtNWIwZDllNGY2YzIx',
      name: 'ann',
      displayName: 'Ann',
    },
    pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
    excludeCredentials: [],
    authenticatorSelection: {
      residentKey: 'required',
      requireResidentKey: true,
      userVerification: 'required',
    },
    attestation: 'none',
  }),
)
