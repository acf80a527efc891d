// Creates and uses a passkey (WebAuthn Level 3, sections 7.1 and 7.2). A passkey belongs to the
// public URL's host (section 5.1.2): another host's page gets nothing that the service accepts.
import { hash } from 'node:crypto'
import { isIP } from 'node:net'
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import type { FastifyRequest } from 'fastify'
import { CarillonError } from '../../basics/errors.ts'
import { hashOf, randomText, type Sealing } from '../../basics/secrets.ts'
import { isLoopback } from '../../config/values.ts'
import type { Site } from '../../http/site.ts'

export type Assertion = AuthenticationResponseJSON
export type Registration = RegistrationResponseJSON

/** `origins`: exactly as browsers send them. */
type RelyingParty = { id: string; origins: readonly string[] }
type Here = { site: Pick<Site, 'publicUrl' | 'allowedOrigins'> }

/**
 * Throws UNPROCESSABLE without a host name, or without HTTPS beyond this machine: browsers refuse
 * passkeys there. On this machine, they belong to `localhost`.
 */
export function relyingPartyFor(
  { site }: Here,
  { headers }: Pick<FastifyRequest, 'headers'>,
): RelyingParty {
  const { host } = headers
  const publicUrl = site.publicUrl()
  const url = new URL(publicUrl)
  const hasAddress = `Passkeys need a host name, and ${url.origin} has an address`
  if (isAddress(url.hostname) && isLoopback(url.hostname)) {
    url.hostname = 'localhost'
    if (host !== undefined && isAddress(new URL(`http://${host}`).hostname))
      throw refusal(hasAddress, `Use ${url.origin} instead.`)
  }
  if (isAddress(url.hostname))
    throw refusal(hasAddress, 'Use a public URL with a host name (CARILLON_PUBLIC_URL) instead.')
  if (url.protocol === 'https:' || /^(.+\.)?localhost$/.test(url.hostname))
    return { id: url.hostname, origins: [url.origin, ...site.allowedOrigins] }
  const remedy = 'Set CARILLON_PUBLIC_URL to an https URL. Browsers allow http on localhost only.'
  throw refusal(`Passkeys need HTTPS, and the public URL is ${publicUrl}`, remedy)
}

export function canHavePasskeys(here: Here, request: Pick<FastifyRequest, 'headers'>): boolean {
  try {
    relyingPartyFor(here, request)
    return true
  } catch (error) {
    if (error instanceof CarillonError && error.code === 'UNPROCESSABLE') return false
    throw error
  }
}

function isAddress(hostname: string): boolean {
  return isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0
}

// The authenticator signs these words of the browser (section 5.8.1). Their check reads no store,
// so a refusal reveals no account.

/** Returns the challenge. Throws UNPROCESSABLE for another ceremony, or a foreign page. */
export function readClientData(
  encoded: string,
  ceremony: Purpose['ceremony'],
  { origins }: RelyingParty,
): string {
  const { type, challenge, origin, crossOrigin, topOrigin } = parse(encoded)
  // A signature for one purpose must not serve the other.
  if (type !== `webauthn.${ceremony}`)
    throw refusal(`The response is of the type ${display(type)}, and not webauthn.${ceremony}`)
  // A phishing page would pass on what its visitor's browser signed.
  if (typeof origin !== 'string' || !origins.includes(origin))
    throw refusal(
      `The page ${display(origin)} may not use passkeys of this service`,
      `Use ${origins.join(' or ')}.`,
    )
  // In a frame of another site, a click may be meant for that page.
  if (crossOrigin === true || topOrigin !== undefined)
    throw refusal(
      'The passkey was used in a frame of another site',
      'Open the page in a window of its own.',
    )
  return typeof challenge === 'string' ? Buffer.from(challenge, 'base64url').toString() : ''
}

/** `problem` must reveal no account. */
export function refusal(problem: string, remedy?: string): CarillonError {
  return new CarillonError('UNPROCESSABLE', problem, { remedy })
}

function parse(encoded: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(encoded, 'base64url').toString())
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {}
  throw refusal('clientDataJSON is not the JSON of a browser, as base64url')
}

function display(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 200) : 'without a name'
}

/** The public key is COSE; both are base64url. */
type Credential = {
  credentialId: string
  publicKey: string
  signCount: number
  transports: readonly string[]
}

/** EdDSA, ES256 and RS256 (RFC 9053): every authenticator has one. */
const algorithms = [-8, -7, -257]

type Known = Pick<Credential, 'credentialId' | 'transports'>
type Wish = { relyingParty: RelyingParty; challenge: string }
type NewPasskey = Wish & {
  user: { id: string; name: string; displayName: string }
  existing: readonly Known[]
}

/**
 * An authenticator of `existing` creates no second passkey. It replaces a password: it is found
 * without a username, and verifies its user. Nothing depends on its model, so it is not attested.
 */
export async function creationOptions({ relyingParty, challenge, user, existing }: NewPasskey) {
  const { generateRegistrationOptions } = await import('@simplewebauthn/server')
  return generateRegistrationOptions({
    rpID: relyingParty.id,
    rpName: relyingParty.id,
    challenge,
    userID: new Uint8Array(Buffer.from(user.id)),
    userName: user.name,
    userDisplayName: user.displayName,
    attestationType: 'none',
    excludeCredentials: existing.map(described),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: algorithms,
    timeout: 5 * 60_000,
  })
}

/** Throws UNPROCESSABLE. The browser's words are already checked. */
export async function verifyRegistration(
  response: Registration,
  wish: Wish,
): Promise<Credential & { aaguid: string }> {
  await refuseAttestation(response.response.attestationObject)
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response,
    ...expected(wish),
    supportedAlgorithmIDs: algorithms,
  }).catch((error: unknown) => {
    // The library's sentences say what is wrong; a JavaScript error does not.
    const isOfLibrary =
      error instanceof Error && !(error instanceof TypeError) && !(error instanceof RangeError)
    throw refusal(
      `The new passkey is refused: ${isOfLibrary ? error.message : 'it is not that of an authenticator'}`,
    )
  })
  if (!verified) throw refusal('The signature of the new passkey is wrong')
  const { aaguid, credential } = registrationInfo
  const { id, counter, transports = [] } = credential
  const publicKey = Buffer.from(credential.publicKey).toString('base64url')
  return { credentialId: id, publicKey, signCount: counter, transports, aaguid }
}

/** To check certificates, the library would fetch addresses of the client's choice (SSRF). */
async function refuseAttestation(encoded: string): Promise<void> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers')
  const isBare = await Promise.try(() => {
    const attestation = decodeAttestationObject(bytesOf(encoded))
    const format = attestation.get('fmt')
    return (
      format === 'none' ||
      (format === 'packed' && attestation.get('attStmt').get('x5c') === undefined)
    )
  }).catch(() => {
    throw refusal('attestationObject is not that of an authenticator, as base64url')
  })
  const remedy = 'Create it with the options as they are: attestation is "none".'
  if (!isBare) throw refusal('The passkey comes with an attestation', remedy)
}

/** `allowed`: a known user's passkeys; if empty, the browser offers all of this service. */
export async function requestOptions({
  relyingParty,
  challenge,
  allowed,
}: Wish & { allowed: readonly Known[] }) {
  const { generateAuthenticationOptions } = await import('@simplewebauthn/server')
  return generateAuthenticationOptions({
    rpID: relyingParty.id,
    challenge,
    allowCredentials: allowed.map(described),
    userVerification: 'required',
    timeout: 5 * 60_000,
  })
}

/** Throws UNPROCESSABLE for another relying party or unverified user. It reveals no account. */
export async function refuseUnverified(
  { response }: Assertion,
  { id }: RelyingParty,
): Promise<void> {
  const { parseAuthenticatorData } = await import('@simplewebauthn/server/helpers')
  const data = await Promise.try(() =>
    parseAuthenticatorData(bytesOf(response.authenticatorData)),
  ).catch(() => {
    throw refusal('authenticatorData is not that of an authenticator, as base64url')
  })
  // Another service could pass on what its user signed there.
  // biome-ignore lint/plugin/secrets: the hash of the relying party, whose name is public
  if (!hash('sha256', id, 'buffer').equals(data.rpIdHash))
    throw refusal(`The passkey is not one for ${id}`)
  const remedy = 'Unlock the passkey with a PIN, a fingerprint or a face.'
  if (!data.flags.uv) throw refusal('The authenticator did not verify its user', remedy)
}

/** Returns the counter if the signature is right. */
export async function verifyAssertion(
  response: Assertion,
  { credential, ...wish }: Wish & { credential: Omit<Credential, 'signCount'> },
) {
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  const checked = await verifyAuthenticationResponse({
    response,
    ...expected(wish),
    // A low counter means a copy only with a right signature, so the store compares later.
    credential: {
      id: credential.credentialId,
      publicKey: bytesOf(credential.publicKey),
      counter: 0,
    },
  }).catch(() => undefined)
  return checked?.verified ? checked.authenticationInfo.newCounter : undefined
}

function bytesOf(encoded: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(encoded, 'base64url'))
}

function described({ credentialId: id, transports }: Known) {
  return { id, transports: [...transports] }
}

function expected({ relyingParty, challenge }: Wish) {
  return {
    expectedChallenge: Buffer.from(challenge).toString('base64url'),
    expectedOrigin: [...relyingParty.origins],
    expectedRPID: relyingParty.id,
    requireUserVerification: true,
  }
}

// Anyone may request challenges, even in floods. So they are authenticated, not stored. The store
// gets the hash of a used one.

/** `get`: any user signs in. */
export type Purpose = { ceremony: 'create'; userId: string } | { ceremony: 'get' }

const lifetimeMs = 5 * 60_000
/** Another node's clock may be this much behind. */
const clockLeewayMs = 60_000
const shape = /^(\d{13})\.([\w-]{22})\.([\w-]{43})$/

/** 80 characters with 128 random bits. */
export function newChallenge(sealing: Pick<Sealing, 'mac'>, purpose: Purpose, at: number): string {
  const claim = `${at + lifetimeMs}.${randomText(16)}`
  return `${claim}.${sealing.mac('passkeys', boundTo(purpose, claim))}`
}

/** Undefined if expired, or not ours for this purpose. No node accepts it after `expiresAt`. */
export function readChallenge(
  sealing: Sealing,
  purpose: Purpose,
  given: { challenge: string; at: number },
) {
  const { challenge, at } = given
  const [, expires = '', random = '', mac = ''] = shape.exec(challenge) ?? []
  if (!sealing.isMac('passkeys', boundTo(purpose, `${expires}.${random}`), mac)) return undefined
  const expiresAt = Number(expires)
  return at < expiresAt
    ? { hash: hashOf(challenge), expiresAt: expiresAt + clockLeewayMs }
    : undefined
}

function boundTo(purpose: Purpose, claim: string): string {
  return `${purpose.ceremony} ${purpose.ceremony === 'create' ? purpose.userId : ''} ${claim}`
}
