// Creates a passkey in this browser (WebAuthn Level 3). The use of one is in ../passkeys.ts.
import { hasPasskeys } from '../passkeys.ts'

/** Why there is no passkey. `exists`: this authenticator has one for the user. `cancelled`: the user or the browser stopped it, or it took too long. */
export class NoPasskey extends Error {
  readonly reason: 'cancelled' | 'exists'

  constructor(reason: NoPasskey['reason'], cause: unknown) {
    super(reason, { cause })
    this.reason = reason
  }
}

/** `address`: browsers have passkeys for host names only, and never for a number such as 127.0.0.1. `unsupported`: this browser has none. */
export function obstacleToPasskeys(): 'address' | 'unsupported' | undefined {
  if (/^\[|^[\d.]+$/.test(location.hostname)) return 'address'
  return hasPasskeys() ? undefined : 'unsupported'
}

/** This page at `localhost`, if it is on this machine. */
export function pageAtLocalhost(): URL | undefined {
  if (!/^127\.|^\[::1\]$/.test(location.hostname)) return undefined
  const url = new URL(location.href)
  url.hostname = 'localhost'
  return url
}

/** `options` of the service in, the body for it out. Throws NoPasskey. */
export async function createPasskey(options: PublicKeyCredentialCreationOptionsJSON): Promise<unknown> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options)
  try {
    return ((await navigator.credentials.create({ publicKey })) as PublicKeyCredential).toJSON()
  } catch (cause) {
    const { name } = cause as DOMException
    throw new NoPasskey(name === 'InvalidStateError' ? 'exists' : 'cancelled', cause)
  }
}
