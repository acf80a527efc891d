// Does the proxy change a browser's requests, or the responses? Carillon's own response to each request here shows what
// arrived. No request changes anything or tries a password.

import { securityHeaders } from '../../http/response/security-headers.ts'
import { clockFinding } from '../clock.ts'
import { type Finding, fault, ok, warning } from '../finding.ts'
import { described, isRefusal, type ProbeClient, type ProbeResponse } from './probe-client.ts'
import { setCookieFinding } from './set-cookie.ts'

/** No site can have a name under `.invalid` (RFC 6761, section 6.4). */
const anotherSite = 'https://another-site.invalid'

export type Way = { client: ProbeClient; publicUrl: string | undefined; allowedOrigins: readonly string[] }

/** Rejects if no response arrives. */
export async function examineWay({ client, publicUrl, allowedOrigins }: Way): Promise<Finding[]> {
  const findings = [publicUrlFinding(client.url, publicUrl)]
  const ready = await client.request('/readyz')
  findings.push(clockOf(ready), ...headerFindings(ready, client.url), await caching(client))
  // With such a Host, the service refuses every other request.
  if (isRefusal(await client.request('/api/me'), 421)) return [...findings, unknownHost(client)]
  const own = await hostAndOrigin(client)
  const foreign = await foreignOrigin(client)
  findings.push(own, foreign, await fetchSite(client), await authorization(client))
  findings.push(setCookieFinding(await client.request('/logout', { method: 'POST' }), { url: client.url, publicUrl }))
  if (foreign.state === 'ok') findings.push(await cookie(client))
  for (const origin of allowedOrigins) findings.push(await preflight(client, origin))
  return findings
}

function publicUrlFinding(url: string, publicUrl: string | undefined): Finding {
  if (publicUrl === url) return ok('public URL', 'CARILLON_PUBLIC_URL is this address')
  if (publicUrl === undefined && url.startsWith('http:')) return ok('public URL', 'none is set, and none is needed')
  const change = url.startsWith('https:') ? `CARILLON_PUBLIC_URL=${url}` : `npx carillon doctor ${publicUrl}`
  return warning('public URL', { found: `CARILLON_PUBLIC_URL is ${publicUrl ?? 'not set'}`, change })
}

function clockOf({ headers, at }: ProbeResponse): Finding {
  const date = Date.parse(headers.get('date') ?? '')
  if (Number.isNaN(date))
    return warning('clock', { found: 'the response has no Date', change: 'let the proxy pass Date on' })
  // It has whole seconds: on average it is half a second old.
  return clockFinding('clock', { whose: "the service's clock", aheadMs: date + 500 - at })
}

function headerFindings({ headers }: ProbeResponse, url: string): Finding[] {
  const expected = Object.entries(securityHeaders({ isHttps: url.startsWith('https:') }))
  // The proxy may choose how long a browser insists on HTTPS.
  const isChanged = ([name, value]: [string, string]) =>
    name === 'strict-transport-security' ? !headers.has(name) : headers.get(name) !== value
  const changed = expected.filter(isChanged).map(([name]) => name)
  if (changed.length === 0) return [ok('header fields', 'they arrive as they were sent')]
  return changed.map((name) => {
    const found = headers.has(name) ? `${name} arrives as "${headers.get(name)}"` : `${name} is gone`
    const change = `nginx: no add_header or proxy_hide_header for ${name}`
    return (name === 'cache-control' ? fault : warning)('header fields', { found, change })
  })
}

/** Each error has its own request id, so the same id twice comes from a cache. */
async function caching(client: ProbeClient): Promise<Finding> {
  const ids: unknown[] = []
  let age: string | null = null
  for (let i = 0; i < 2; i++) {
    const { headers, json } = await client.request('/routeRestreinte')
    ids.push(json?.error?.requestId)
    age ??= headers.get('age')
  }
  if (age === null && (ids[0] === undefined || ids[0] !== ids[1]))
    return ok('caching', 'no response comes from a cache')
  const found = 'a response comes from a cache, so one user could see the inbox of another'
  return fault('caching', { found, change: 'nginx: proxy_cache off;  (a CDN: bypass its cache for this host)' })
}

/** A sign-in without a password: refused with 400, but only after every check of its origin. */
const incomplete = { username: 'doctor' }
const keepHost = 'nginx: proxy_set_header Host $http_host;  (Apache: ProxyPreserveHost On)'

function unknownHost({ url }: ProbeClient): Finding {
  return fault('Host and Origin', {
    found: 'Host arrives as a name that the service does not know, and the response is 421',
    change: `${keepHost}, or CARILLON_ALLOWED_HOSTS with that name (${new URL(url).hostname} if no proxy changes it)`,
  })
}

async function hostAndOrigin(client: ProbeClient): Promise<Finding> {
  const check = 'Host and Origin'
  const headers = { origin: client.origin }
  const response = await client.request('/login', { method: 'POST', headers, body: incomplete })
  if (isRefusal(response, 400)) {
    if (response.json?.error?.details?.some(({ field }) => field === 'password'))
      return ok(check, 'a sign-in from this address is accepted')
    return fault(check, {
      found: 'the body of a request is changed on the way',
      change: 'nginx: proxy_pass_request_body on;',
    })
  }
  if (!isRefusal(response, 403)) return inTheWay(check, response)
  // The refusal names the origin that arrived.
  const message = response.json?.error?.message ?? ''
  if (!message.includes(client.origin))
    return fault(check, {
      found: `Origin does not arrive as it was sent, and a sign-in is refused: ${message}`,
      change: 'nginx: proxy_set_header Origin $http_origin;',
    })
  return fault(check, { found: 'a sign-in is refused: Host arrives as another name', change: keepHost })
}

async function foreignOrigin(client: ProbeClient): Promise<Finding> {
  const check = 'foreign Origin'
  const headers = { origin: anotherSite }
  const response = await client.request('/login', { method: 'POST', headers, body: incomplete })
  if (isRefusal(response, 403)) return ok(check, "another site's page is refused")
  if (!isRefusal(response, 400)) return inTheWay(check, response)
  return fault(check, {
    found: "another site's page may sign in: Origin does not arrive",
    change: 'nginx: proxy_set_header Origin $http_origin;',
  })
}

/** Newer browsers also send this field, so that one of the two is enough. */
async function fetchSite(client: ProbeClient): Promise<Finding> {
  const check = 'Sec-Fetch-Site'
  const headers = { 'sec-fetch-site': 'cross-site' }
  const response = await client.request('/login', { method: 'POST', headers, body: incomplete })
  if (isRefusal(response, 403)) return ok(check, 'it arrives')
  if (!isRefusal(response, 400)) return inTheWay(check, response)
  const change = 'nginx: proxy_set_header Sec-Fetch-Site $http_sec_fetch_site;'
  return warning(check, { found: 'it does not arrive', change })
}

async function authorization(client: ProbeClient): Promise<Finding> {
  const check = 'Authorization'
  const response = await client.request('/api/me', { headers: { authorization: 'Bearer carillon-doctor' } })
  if (!isRefusal(response, 401)) return inTheWay(check, response)
  const challenge = response.headers.get('www-authenticate')
  if (challenge?.includes('invalid_token')) return ok(check, 'it arrives')
  if (challenge === null) {
    const change = 'nginx: no proxy_hide_header for WWW-Authenticate'
    return warning(check, { found: 'the response has lost WWW-Authenticate', change })
  }
  return fault(check, {
    found: 'it does not arrive, so no token and no key works',
    change: 'nginx: proxy_set_header Authorization $http_authorization;',
  })
}

/** Without a cookie a request from another site can do no harm, and is accepted: so 204 shows that the cookie was lost. */
async function cookie(client: ProbeClient): Promise<Finding> {
  const headers = { origin: anotherSite, 'sec-fetch-site': 'cross-site', cookie: 'carillon-doctor=1' }
  const response = await client.request('/logout', { method: 'POST', headers })
  if (isRefusal(response, 403)) return ok('Cookie', 'it arrives')
  if (response.status !== 204) return inTheWay('Cookie', response)
  return fault('Cookie', {
    found: 'it does not arrive, so no user stays signed in',
    change: 'nginx: proxy_set_header Cookie $http_cookie;',
  })
}

async function preflight(client: ProbeClient, origin: string): Promise<Finding> {
  const check = 'allowed origin'
  const headers = { origin, 'access-control-request-method': 'GET', 'access-control-request-headers': 'authorization' }
  const { headers: response } = await client.request('/api/me', { method: 'OPTIONS', headers })
  if (response.get('access-control-allow-origin') === origin) return ok(check, `${origin} may call`)
  const change = 'let the proxy pass OPTIONS on, and start the service again with these settings'
  return fault(check, { found: `${origin} may not call`, change })
}

function inTheWay(check: string, response: ProbeResponse): Finding {
  const found = `a program in front of Carillon responds, with ${described(response)}`
  return fault(check, { found, change: 'nginx: no auth_basic, no limit_except, no firewall rule for these paths' })
}
