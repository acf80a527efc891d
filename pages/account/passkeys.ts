// Uses a passkey of this browser: the options of the service in, the body of a route out (WebAuthn Level 3).
import { send } from './requests.ts'

/** Chromium 129, Firefox 119, Safari 18.4; only on HTTPS and on localhost. */
export function hasPasskeys(): boolean {
  return typeof globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON === 'function'
}

/** The browser or its user refused: no passkey, cancelled, or too slow. The browser does not say which. */
export class PasskeyRefused extends Error {}

/** `body` of `POST /login/passkey/options`: with a challenge, only the passkeys of its user. Throws CarillonError or PasskeyRefused. */
export async function usePasskey(root: string, body: { challenge?: string } = {}): Promise<unknown> {
  const options = await send<PublicKeyCredentialRequestOptionsJSON>(`${root}login/passkey/options`, {
    body,
  })
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options)
  try {
    return ((await navigator.credentials.get({ publicKey })) as PublicKeyCredential).toJSON()
  } catch (cause) {
    throw new PasskeyRefused('refused', { cause })
  }
}
