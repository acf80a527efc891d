// A sign-in with a provider: only this page can send the form, and only this tab has the verifier.
// Another site could write a link, with its own challenge (RFC 9700, sections 2.1 and 4.1).
import { type CallOptions, type Connection, Requests } from './transport/requests.ts'
import type { StatelessLogin } from './transport/types.ts'

const key = 'carillon-sign-in'

/**
 * `POST /login/with/:provider/start`: leaves the page to sign in with a provider. `returnTo`, a URL
 * of the page's origin, is by default the page itself, which then calls `finishSignIn`. Needs
 * https, or this machine.
 */
export async function signInWith(
  provider: string,
  { returnTo = location.href, ...connection }: Connection & { returnTo?: string | URL } = {},
): Promise<void> {
  const path = `login/with/${encodeURIComponent(provider)}`
  const verifier = base64url(crypto.getRandomValues(new Uint8Array(32)))
  const challenge = base64url(
    new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))),
  )
  sessionStorage.setItem(key, JSON.stringify({ path, verifier }))
  const form = Object.assign(document.createElement('form'), {
    method: 'post',
    action: new URL(`${path}/start`, new Requests(connection, 'cookie').base).href,
    hidden: true,
  })
  const place = new URL(returnTo, location.href)
  place.hash = ''
  for (const [name, value] of Object.entries({ return_to: place.href, challenge }))
    form.append(Object.assign(document.createElement('input'), { name, value }))
  document.body.append(form)
  form.submit()
}

/**
 * `POST /login/with/:provider`: exchanges the code in the page's address for an access token. Null
 * if this tab has no sign-in to finish. Throws INVALID_CREDENTIALS for an invalid code.
 */
export async function finishSignIn(
  options: Connection & CallOptions = {},
): Promise<StatelessLogin | null> {
  const code = new URLSearchParams(location.hash.slice(1)).get('sign-in-code')
  if (code === null) return null
  history.replaceState(history.state, '', location.pathname + location.search)
  const kept = sessionStorage.getItem(key)
  sessionStorage.removeItem(key)
  if (kept === null) return null
  const { path, verifier } = JSON.parse(kept)
  return new Requests(options, 'cookie').signIn({
    signal: options.signal,
    path,
    body: { code, verifier },
  })
}

function base64url(bytes: Uint8Array): string {
  const base64 = btoa(String.fromCharCode(...bytes))
  return base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
