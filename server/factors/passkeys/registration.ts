// Creates a passkey: what the browser is requested to create, and the check of what it created (WebAuthn Level 3, section 7.1).
import type {
  PublicKeyCredentialCreationOptionsJSON as CreationOptions,
  RegistrationResponseJSON as Registration,
} from '@simplewebauthn/server'
import { refusal } from './client-data.ts'
import type { RelyingParty } from './relying-party.ts'

/** A passkey as the store keeps it: the public key as COSE, both as base64url. */
export type Credential = { credentialId: string; publicKey: string; signCount: number; transports: readonly string[] }

/** EdDSA, ES256 and RS256 (RFC 9053): every authenticator has one of them. */
const algorithms = [-8, -7, -257]

type Wish = {
  relyingParty: RelyingParty
  challenge: string
  user: { id: string; name: string; displayName: string }
  /** The passkeys that the user has: an authenticator with one of them creates no second one. */
  existing: readonly Pick<Credential, 'credentialId' | 'transports'>[]
}

/**
 * The passkey can be found without a username, and the authenticator verifies its user (by a PIN or a fingerprint): otherwise it could
 * not take the place of a password. No attestation: which product created it decides nothing here.
 */
export async function creationOptions({ relyingParty, challenge, user, existing }: Wish): Promise<CreationOptions> {
  const { generateRegistrationOptions } = await import('@simplewebauthn/server')
  return generateRegistrationOptions({
    rpID: relyingParty.id,
    rpName: relyingParty.id,
    challenge,
    userID: new Uint8Array(Buffer.from(user.id)),
    userName: user.name,
    userDisplayName: user.displayName,
    attestationType: 'none',
    excludeCredentials: existing.map(({ credentialId: id, transports }) => ({ id, transports: [...transports] })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: algorithms,
    timeout: 5 * 60_000,
  })
}

/** Throws UNPROCESSABLE with the reason. The words of the browser (client-data.ts) are checked already. */
export async function verifyRegistration(
  response: Registration,
  { relyingParty, challenge }: { relyingParty: RelyingParty; challenge: string },
): Promise<Credential> {
  await refuseAttestation(response.response.attestationObject)
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response,
    expectedChallenge: Buffer.from(challenge).toString('base64url'),
    expectedOrigin: [...relyingParty.origins],
    expectedRPID: relyingParty.id,
    requireUserVerification: true,
    supportedAlgorithmIDs: algorithms,
  }).catch(refuseWithReason)
  if (!verified) throw refusal('The signature of the new passkey is wrong')
  const { id, publicKey, counter, transports = [] } = registrationInfo.credential
  return { credentialId: id, publicKey: Buffer.from(publicKey).toString('base64url'), signCount: counter, transports }
}

/**
 * Refuses certificates, which nobody requested: to check them, the library would fetch the addresses that they name, which a client
 * could choose (SSRF). What is left is no attestation, and a signature by the new key itself.
 */
async function refuseAttestation(encoded: string): Promise<void> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers')
  const isBare = await Promise.try(() => {
    const attestation = decodeAttestationObject(new Uint8Array(Buffer.from(encoded, 'base64url')))
    const format = attestation.get('fmt')
    return format === 'none' || (format === 'packed' && attestation.get('attStmt').get('x5c') === undefined)
  }).catch(() => {
    throw refusal('attestationObject is not that of an authenticator, as base64url')
  })
  if (!isBare)
    throw refusal(
      'The passkey comes with an attestation',
      'Create it with the options as they are: attestation is "none".',
    )
}

/** The library's own sentences say what is wrong. An error of JavaScript, about a value that the library did not expect, does not. */
function refuseWithReason(error: unknown): never {
  const isOfLibrary = error instanceof Error && !(error instanceof TypeError) && !(error instanceof RangeError)
  throw refusal(`The new passkey is refused: ${isOfLibrary ? error.message : 'it is not that of an authenticator'}`)
}
