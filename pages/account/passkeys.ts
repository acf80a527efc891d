// Uses a passkey of this browser (WebAuthn Level 3).
import { send } from './requests.ts'

/** Chromium 129, Firefox 119, Safari 18.4; only on HTTPS and on localhost. */
export function hasPasskeys(): boolean {
  return typeof globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON === 'function'
}

/** No passkey, cancelled, or too slow: the browser does not say which. */
export class PasskeyRefused extends Error {}

/** `autofill`: offered in the field of the name, until it is aborted. */
type Use = { challenge?: string | undefined; autofill?: AbortSignal }

/** Throws CarillonError or PasskeyRefused. */
export async function usePasskey(
  root: string,
  { challenge, autofill }: Use = {},
): Promise<unknown> {
  const options = await send<PublicKeyCredentialRequestOptionsJSON>(
    `${root}login/passkey/options`,
    {
      body: challenge ? { challenge } : {},
    },
  )
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options)
  const offer: CredentialRequestOptions | undefined = autofill && {
    mediation: 'conditional',
    signal: autofill,
  }
  try {
    return (
      (await navigator.credentials.get({ publicKey, ...offer })) as PublicKeyCredential
    ).toJSON()
  } catch (cause) {
    throw new PasskeyRefused('refused', { cause })
  }
}

export type KnownPasskeys = {
  rpId: string
  userId: string
  name: string
  displayName: string
  credentialIds: string[]
}

/** Password managers then offer no passkey that was removed here. */
export async function signalPasskeys(known: KnownPasskeys | null): Promise<void> {
  if (known === null || !hasPasskeys()) return
  const { credentialIds: allAcceptedCredentialIds, ...user } = known
  const { rpId, userId } = user
  const browser: Partial<typeof PublicKeyCredential> = PublicKeyCredential
  await browser
    .signalAllAcceptedCredentials?.({ rpId, userId, allAcceptedCredentialIds })
    .catch(() => {})
  await browser.signalCurrentUserDetails?.(user).catch(() => {})
}
