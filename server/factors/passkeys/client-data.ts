// What did the browser say about the page that used the passkey? The authenticator signs these words of the browser (WebAuthn Level 3,
// sections 5.8.1, 7.1 and 7.2). They are checked before the store is read, so their refusals reveal nothing about any account.
import { CarillonError } from '../../basics/errors.ts'
import type { RelyingParty } from './relying-party.ts'

export type Ceremony = 'create' | 'get'

/**
 * Returns the challenge, as it was given. Throws UNPROCESSABLE if the words are not those of this ceremony, or are of a page that may
 * not use the passkeys of this service.
 */
export function readClientData(encoded: string, ceremony: Ceremony, { origins }: RelyingParty): string {
  const { type, challenge, origin, crossOrigin, topOrigin } = parse(encoded)
  // A signature for one purpose must not be used for the other.
  if (type !== `webauthn.${ceremony}`)
    throw refusal(`The response is of the type ${display(type)}, and not webauthn.${ceremony}`)
  // The page of a phishing site passes on what its visitor's browser signed.
  if (typeof origin !== 'string' || !origins.includes(origin))
    throw refusal(`The page ${display(origin)} may not use passkeys of this service`, `Use ${origins.join(' or ')}.`)
  // A frame in the page of another site, where a click may be meant for that page.
  if (crossOrigin === true || topOrigin !== undefined)
    throw refusal('The passkey was used in a frame of another site', 'Open the page in a window of its own.')
  return typeof challenge === 'string' ? Buffer.from(challenge, 'base64url').toString() : ''
}

/** For a passkey that this service cannot accept, for a reason that reveals nothing about any account. */
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
