// Asks the browser for a passkey. Loaded when a sign-in needs a second factor.
import type { CallOptions, Requests } from './transport/requests.ts'
import type { SecondFactor } from './transport/types.ts'

/** The factor itself if it has a code or a passkey. Throws the error of the browser, such as NotAllowedError if the user declines. */
export async function withPasskey(
  requests: Requests,
  factor: SecondFactor,
  options?: CallOptions,
): Promise<object> {
  if ((factor.code ?? factor.recoveryCode ?? factor.passkey) !== undefined) return factor
  const body = { challenge: factor.challenge }
  const path = 'login/passkey/options'
  const wanted = await requests.signIn<PublicKeyCredentialRequestOptionsJSON>({
    ...options,
    path,
    body,
  })
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(wanted)
  const passkey = (await navigator.credentials.get({ publicKey })) as PublicKeyCredential
  return { ...factor, passkey: passkey.toJSON() }
}
