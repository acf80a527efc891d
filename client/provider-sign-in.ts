// The page's part of a sign-in with a provider: a form that only this page can send, a verifier that only this tab keeps, and the code in the
// fragment on the way back. A link could be written by another site, with a challenge of its own (RFC 9700, sections 2.1 and 4.1).
import { type CallOptions, type Connection, Requests } from './transport/requests.ts'
import type { StatelessLogin } from './transport/types.ts'

/** The key in `sessionStorage`, which belongs to this tab and this origin. */
const key = 'carillon-sign-in'

/**
 * `POST /login/with/:provider/start`: leaves the page and signs in with a provider, for an access token. `returnTo` is a URL of the page's
 * origin, by default the page itself, which then calls `finishSignIn`. Needs a secure context: https, or this machine. A form and no `fetch`:
 * the browser leaves with the cookie of the service and the origin of the page.
 */
export async function signInWith(
  provider: string,
  { returnTo = location.href, ...connection }: Connection & { returnTo?: string | URL } = {},
): Promise<void> {
  const path = `login/with/${encodeURIComponent(provider)}`
  const verifier = base64url(crypto.getRandomValues(new Uint8Array(32)))
  const challenge = base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))))
  sessionStorage.setItem(key, JSON.stringify({ path, verifier }))
  const form = Object.assign(document.createElement('form'), {
    method: 'post',
    action: new URL(`${path}/start`, new Requests(connection, 'cookie').base).href,
    hidden: true,
  })
  const place = new URL(returnTo, location.href)
  // The fragment is the place of the code.
  place.hash = ''
  for (const [name, value] of Object.entries({ return_to: place.href, challenge }))
    form.append(Object.assign(document.createElement('input'), { name, value }))
  document.body.append(form)
  form.submit()
}

/**
 * `POST /login/with/:provider`: exchanges the code in the address of the page, which it removes from there. Null if this tab did not begin a
 * sign-in with a provider, or has finished it. Throws INVALID_CREDENTIALS for a code that is not valid here.
 */
export async function finishSignIn(options: Connection & CallOptions = {}): Promise<StatelessLogin | null> {
  const code = new URLSearchParams(location.hash.slice(1)).get('sign-in-code')
  if (code === null) return null
  history.replaceState(history.state, '', location.pathname + location.search)
  const kept = sessionStorage.getItem(key)
  sessionStorage.removeItem(key)
  if (kept === null) return null
  const { path, verifier } = JSON.parse(kept)
  return new Requests(options, 'cookie').signIn({ signal: options.signal, path, body: { code, verifier } })
}

function base64url(bytes: Uint8Array): string {
  const base64 = btoa(String.fromCharCode(...bytes))
  return base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
