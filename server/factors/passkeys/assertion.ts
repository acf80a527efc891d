// Uses a passkey: what the browser is requested to sign, and the check of what it signed (WebAuthn Level 3, section 7.2).
import { hash } from 'node:crypto'
import type {
  AuthenticationResponseJSON as Assertion,
  PublicKeyCredentialRequestOptionsJSON as RequestOptions,
} from '@simplewebauthn/server'
import { refusal } from './client-data.ts'
import type { Credential } from './registration.ts'
import type { RelyingParty } from './relying-party.ts'

type Wish = {
  relyingParty: RelyingParty
  challenge: string
  /** The passkeys of a user who is known; empty if the browser offers every one that it has for this service. */
  allowed: readonly Pick<Credential, 'credentialId' | 'transports'>[]
}

export async function requestOptions({ relyingParty, challenge, allowed }: Wish): Promise<RequestOptions> {
  const { generateAuthenticationOptions } = await import('@simplewebauthn/server')
  return generateAuthenticationOptions({
    rpID: relyingParty.id,
    challenge,
    allowCredentials: allowed.map(({ credentialId: id, transports }) => ({ id, transports: [...transports] })),
    userVerification: 'required',
    timeout: 5 * 60_000,
  })
}

/**
 * Throws UNPROCESSABLE for a passkey of another relying party, or a user whom the authenticator did not verify. The store is not needed
 * for that, so it reveals nothing about any account.
 */
export async function refuseUnverified({ response }: Assertion, { id }: RelyingParty): Promise<void> {
  const { parseAuthenticatorData } = await import('@simplewebauthn/server/helpers')
  const data = await Promise.try(() => parseAuthenticatorData(bytesOf(response.authenticatorData))).catch(() => {
    throw refusal('authenticatorData is not that of an authenticator, as base64url')
  })
  // Another service, or a page of it, passes on what its user signed there.
  // biome-ignore lint/plugin/secrets: the hash of the relying party, whose name is public
  if (!hash('sha256', id, 'buffer').equals(data.rpIdHash)) throw refusal(`The passkey is not one for ${id}`)
  // Without a PIN or a fingerprint, the passkey proves that somebody has the device, and not who.
  if (!data.flags.uv)
    throw refusal(
      'The authenticator did not verify its user',
      'Unlock the passkey with a PIN, a fingerprint or a face.',
    )
}

/** Returns the authenticator's counter if the signature is right, else undefined. Everything that it signed is checked once more. */
export async function verifyAssertion(
  response: Assertion,
  { relyingParty, challenge, credential }: { relyingParty: RelyingParty; challenge: string; credential: Credential },
): Promise<number | undefined> {
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  const { credentialId: id, publicKey } = credential
  const checked = await verifyAuthenticationResponse({
    response,
    expectedChallenge: Buffer.from(challenge).toString('base64url'),
    expectedOrigin: [...relyingParty.origins],
    expectedRPID: relyingParty.id,
    requireUserVerification: true,
    // The store compares the counters, after the signature is known to be right: only then a low one means a copy.
    credential: { id, publicKey: bytesOf(publicKey), counter: 0 },
  }).catch(() => undefined)
  return checked?.verified ? checked.authenticationInfo.newCounter : undefined
}

function bytesOf(encoded: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(encoded, 'base64url'))
}
