// The JSON shapes of the requests with passkeys: what browsers return from `navigator.credentials`, by `toJSON()`.
import { ofSignIn } from './request-schemas.ts'
import { anything, array, constant, named, object, orNull, record, string, type TypeOf } from './schema.ts'

const base64url = (maxLength: number) => string({ minLength: 1, maxLength, pattern: '^[\\w-]+$' })
const credentialId = base64url(1_364)
/** Browsers may add members: what they return is sent as it is. */
const asItIs = { additionalProperties: true }
const credential = {
  id: credentialId,
  rawId: credentialId,
  type: constant('public-key'),
  clientExtensionResults: record(anything),
}

const Registration = named(
  'PasskeyRegistration',
  object(
    {
      ...credential,
      response: named(
        'PasskeyAttestation',
        object(
          { clientDataJSON: base64url(4_096), attestationObject: base64url(8_192) },
          { transports: array(string({ maxLength: 32 }), { maxItems: 8 }) },
          asItIs,
        ),
      ),
    },
    {},
    {
      ...asItIs,
      description: 'RegistrationResponseJSON (WebAuthn Level 3, section 5.1.8): the credential, by toJSON()',
    },
  ),
)

export const Assertion = named(
  'PasskeyAssertion',
  object(
    {
      ...credential,
      response: named(
        'PasskeySignature',
        object(
          { clientDataJSON: base64url(4_096), authenticatorData: base64url(4_096), signature: base64url(2_048) },
          { userHandle: orNull(string({ maxLength: 88 })) },
          asItIs,
        ),
      ),
    },
    {},
    {
      ...asItIs,
      description: 'AuthenticationResponseJSON (WebAuthn Level 3, section 5.1.8): the credential, by toJSON()',
    },
  ),
)
export type Assertion = TypeOf<typeof Assertion>

export const NewPasskeyBody = named(
  'NewPasskey',
  object({ response: Registration }, { label: string({ minLength: 1, maxLength: 64 }) }),
)
export type NewPasskeyBody = TypeOf<typeof NewPasskeyBody>

export const PasskeyOptionsBody = named(
  'PasskeyOptionsRequest',
  orNull(
    object(
      {},
      { challenge: string({ maxLength: 128, description: "Of SECOND_FACTOR_REQUIRED: offers that user's passkeys" }) },
    ),
  ),
)
export type PasskeyOptionsBody = TypeOf<typeof PasskeyOptionsBody>

export const PasskeySignInBody = named('PasskeySignIn', object({ response: Assertion }, ofSignIn))
export type PasskeySignInBody = TypeOf<typeof PasskeySignInBody>
