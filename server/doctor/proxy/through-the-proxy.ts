// What becomes of a browser's requests on their way through the proxy, and of the answers on their way back? Every
// question is chosen so that Carillon's own answer shows what arrived, and none changes anything or tries a password.

import { securityHeaders } from '../../http/response/security-headers.ts'
import { clockFinding } from '../clock.ts'
import { type Finding, fault, ok, warning } from '../finding.ts'
import { type Asker, described, isRefusal, type Reply } from './ask.ts'
import { setCookieFinding } from './set-cookie.ts'

/** `.invalid` is nobody's (RFC 6761, section 6.4). */
const anotherSite = 'https://another-site.invalid'

export type Way = { asker: Asker; publicUrl: string | undefined; allowedOrigins: readonly string[] }

/** Rejects where nothing answers any more. */
export async function examineWay({ asker, publicUrl, allowedOrigins }: Way): Promise<Finding[]> {
  const findings = [publicUrlFinding(asker.origin, publicUrl)]
  const ready = await asker.request('/readyz')
  findings.push(clockOf(ready), ...headerFindings(ready, asker.origin), await caching(asker))
  // Every other request would be refused for its Host alone.
  if (isRefusal(await asker.request('/api/me'), 421)) return [...findings, unknownHost(asker)]
  const own = await hostAndOrigin(asker)
  const foreign = await foreignOrigin(asker)
  findings.push(own, foreign, await fetchSite(asker), await authorization(asker))
  findings.push(
    setCookieFinding(await asker.request('/logout', { method: 'POST' }), { origin: asker.origin, publicUrl }),
  )
  if (foreign.state === 'ok') findings.push(await cookie(asker))
  for (const origin of allowedOrigins) findings.push(await preflight(asker, origin))
  return findings
}

function publicUrlFinding(origin: string, publicUrl: string | undefined): Finding {
  if (publicUrl === origin) return ok('public URL', 'CARILLON_PUBLIC_URL is this address')
  if (publicUrl === undefined && origin.startsWith('http:')) return ok('public URL', 'none is set, and none is needed')
  const change = origin.startsWith('https:') ? `CARILLON_PUBLIC_URL=${origin}` : `npx carillon doctor ${publicUrl}`
  return warning('public URL', { found: `CARILLON_PUBLIC_URL is ${publicUrl ?? 'not set'}`, change })
}

function clockOf({ headers, at }: Reply): Finding {
  const date = Date.parse(headers.get('date') ?? '')
  if (Number.isNaN(date))
    return warning('clock', { found: 'the answer has no Date', change: 'let the proxy pass Date on' })
  // It names a second, which began half a second ago on average.
  return clockFinding('clock', { whose: "the answer's clock", aheadMs: date + 500 - at })
}

function headerFindings({ headers }: Reply, origin: string): Finding[] {
  const expected = Object.entries(securityHeaders({ isHttps: origin.startsWith('https:') }))
  // How long a browser insists on HTTPS may be the proxy's to say.
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

/** Every refusal has an id of its own. */
async function caching(asker: Asker): Promise<Finding> {
  const ids: unknown[] = []
  let age: string | null = null
  for (let i = 0; i < 2; i++) {
    const { headers, json } = await asker.request('/routeRestreinte')
    ids.push(json?.error?.requestId)
    age ??= headers.get('age')
  }
  if (age === null && (ids[0] === undefined || ids[0] !== ids[1])) return ok('caching', 'no answer comes from a cache')
  const found = 'an answer comes from a cache, so one user could be shown the inbox of another'
  return fault('caching', { found, change: 'nginx: proxy_cache off;  (a CDN: bypass its cache for this host)' })
}

/** A sign-in without a password: refused as incomplete once it has come through all that looks at where it is from. */
const incomplete = { username: 'doctor' }
const keepHost = 'nginx: proxy_set_header Host $http_host;  (Apache: ProxyPreserveHost On)'

function unknownHost({ origin }: Asker): Finding {
  return fault('Host and Origin', {
    found: 'Host arrives as a name that the service does not know, and is answered 421',
    change: `${keepHost}, or CARILLON_ALLOWED_HOSTS with that name (${new URL(origin).hostname} if no proxy changes it)`,
  })
}

async function hostAndOrigin(asker: Asker): Promise<Finding> {
  const check = 'Host and Origin'
  const headers = { origin: asker.origin }
  const reply = await asker.request('/login', { method: 'POST', headers, body: incomplete })
  if (isRefusal(reply, 400)) {
    if (reply.json?.error?.details?.some(({ field }) => field === 'password'))
      return ok(check, 'a sign-in from this address is let in')
    return fault(check, {
      found: 'the body of a request is changed on the way',
      change: 'nginx: proxy_pass_request_body on;',
    })
  }
  if (!isRefusal(reply, 403)) return inTheWay(check, reply)
  const seen = /comes from (\S+)\. /.exec(reply.json?.error?.message ?? '')?.[1]
  if (seen !== undefined && seen !== asker.origin)
    return fault(check, {
      found: `a sign-in is refused: Origin arrives as ${seen}`,
      change: 'nginx: proxy_set_header Origin $http_origin;',
    })
  return fault(check, { found: 'a sign-in is refused: Host arrives as another one', change: keepHost })
}

async function foreignOrigin(asker: Asker): Promise<Finding> {
  const check = 'foreign Origin'
  const headers = { origin: anotherSite }
  const reply = await asker.request('/login', { method: 'POST', headers, body: incomplete })
  if (isRefusal(reply, 403)) return ok(check, "another site's page is refused")
  if (!isRefusal(reply, 400)) return inTheWay(check, reply)
  return fault(check, {
    found: "another site's page may sign in: Origin does not arrive",
    change: 'nginx: proxy_set_header Origin $http_origin;',
  })
}

/** Newer browsers say it this way too, so that one of the two is enough. */
async function fetchSite(asker: Asker): Promise<Finding> {
  const check = 'Sec-Fetch-Site'
  const headers = { 'sec-fetch-site': 'cross-site' }
  const reply = await asker.request('/login', { method: 'POST', headers, body: incomplete })
  if (isRefusal(reply, 403)) return ok(check, 'it arrives')
  if (!isRefusal(reply, 400)) return inTheWay(check, reply)
  const change = 'nginx: proxy_set_header Sec-Fetch-Site $http_sec_fetch_site;'
  return warning(check, { found: 'it does not arrive', change })
}

async function authorization(asker: Asker): Promise<Finding> {
  const check = 'Authorization'
  const reply = await asker.request('/api/me', { headers: { authorization: 'Bearer carillon-doctor' } })
  if (!isRefusal(reply, 401)) return inTheWay(check, reply)
  const challenge = reply.headers.get('www-authenticate')
  if (challenge?.includes('invalid_token')) return ok(check, 'it arrives')
  if (challenge === null) {
    const change = 'nginx: no proxy_hide_header for WWW-Authenticate'
    return warning(check, { found: 'the answer has lost WWW-Authenticate', change })
  }
  return fault(check, {
    found: 'it does not arrive, so no token and no key is of use',
    change: 'nginx: proxy_set_header Authorization $http_authorization;',
  })
}

/** Without a cookie nothing could be done in its owner's name, and another site's request is let in. */
async function cookie(asker: Asker): Promise<Finding> {
  const headers = { origin: anotherSite, 'sec-fetch-site': 'cross-site', cookie: 'carillon-doctor=1' }
  const reply = await asker.request('/logout', { method: 'POST', headers })
  if (isRefusal(reply, 403)) return ok('Cookie', 'it arrives')
  if (reply.status !== 204) return inTheWay('Cookie', reply)
  return fault('Cookie', {
    found: 'it does not arrive, so nobody stays signed in',
    change: 'nginx: proxy_set_header Cookie $http_cookie;',
  })
}

async function preflight(asker: Asker, origin: string): Promise<Finding> {
  const check = 'allowed origin'
  const headers = { origin, 'access-control-request-method': 'GET', 'access-control-request-headers': 'authorization' }
  const { headers: response } = await asker.request('/api/me', { method: 'OPTIONS', headers })
  if (response.get('access-control-allow-origin') === origin) return ok(check, `${origin} may call`)
  const change = 'let the proxy pass OPTIONS on, and start the service anew with these settings'
  return fault(check, { found: `${origin} may not call`, change })
}

function inTheWay(check: string, reply: Reply): Finding {
  const found = `something in front of Carillon answers, with ${described(reply)}`
  return fault(check, { found, change: 'nginx: no auth_basic, no limit_except, no rule of a firewall for these paths' })
}
