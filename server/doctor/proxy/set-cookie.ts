// Does a cookie arrive as Carillon sets it? A sign-out without proof also sets one: an empty cookie with the same
// attributes (RFC 6265bis).
import { stripBlanks } from '../../blanks.ts'
import { type Finding, fault, ok, warning } from '../finding.ts'
import { described, type ProbeResponse } from './probe-client.ts'

const check = 'Set-Cookie'

export function setCookieFinding(
  response: ProbeResponse,
  { url, publicUrl }: { url: string; publicUrl: string | undefined },
): Finding {
  const line = response.headers.getSetCookie().find((one) => /^(__(Host|Secure)-)?carillon=/.test(one))
  if (line === undefined) {
    const found = `the response has none (${described(response)}), so no user can sign in with a cookie`
    return fault(check, { found, change: 'nginx: no proxy_hide_header and no proxy_ignore_headers for Set-Cookie' })
  }
  const isPrefixed = line.startsWith('__')
  const isHttps = url.startsWith('https:')
  if (isHttps && !isPrefixed)
    return fault(check, {
      found: 'the cookie is sent without Secure: the service does not know that it is behind HTTPS',
      change: `CARILLON_PUBLIC_URL=${url}, then start the service again`,
    })
  const changed = changedAttributes(line, { isSecure: isPrefixed, path: new URL(publicUrl ?? url).pathname })
  if (changed !== undefined)
    return fault(check, {
      found: `between Carillon and here the cookie ${changed}`,
      change: 'nginx: no proxy_cookie_path, proxy_cookie_domain or proxy_cookie_flags',
    })
  if (!isHttps && isPrefixed)
    return warning(check, {
      found: 'browsers keep the cookie on HTTPS only, and this address is plain HTTP',
      change: `npx carillon doctor ${publicUrl ?? 'https://...'}`,
    })
  return ok(check, `it arrives${isPrefixed ? ', with Secure' : ''}`)
}

function changedAttributes(line: string, { isSecure, path }: { isSecure: boolean; path: string }): string | undefined {
  const attributes = line.split(';').map((part) => stripBlanks(part).replace(/^\w+/, (name) => name.toLowerCase()))
  const wanted = [`path=${path}`, 'httponly', 'samesite=Lax', ...(isSecure ? ['secure'] : [])]
  const lost = wanted.filter((attribute) => !attributes.includes(attribute))
  const domain = attributes.find((part) => part.startsWith('domain='))
  if (domain !== undefined) return `got "${domain}"`
  return lost.length === 0 ? undefined : `lost "${lost.join('", "')}"`
}
