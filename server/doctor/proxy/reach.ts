// Does an address lead to Carillon, ready and with these settings' database?
import type { SigningKey } from '../../tokens/signing-keys.store.ts'
import { clockFinding, type Finding, fault, ok, warning } from '../finding.ts'
import { described, isRefusal, type ProbeResponse, probe, type Target } from './probe.ts'

export type Place = Target & {
  direct: string | undefined
  publicUrl?: string | undefined
  signingKeys: SigningKey[] | undefined
  isMoved?: boolean | undefined
  isDatabaseAway?: boolean
}

/** If the first finding is a fault, it is the only one. */
export async function reach(place: Place): Promise<[Finding, ...Finding[]]> {
  try {
    const live = await probe(place, '/livez')
    if (live.status !== 200 || live.json?.data?.status !== 'alive')
      return [notCarillon(live, place)]
    const isReady = ready(await probe(place, '/readyz'), place)
    const { version, commit } = live.json.data
    return [
      ok('reached', `Carillon ${version} (${commit}) responds`),
      isReady,
      ...(await isSameService(place)),
    ]
  } catch (error) {
    return [unreachable(error, place)]
  }
}

function notCarillon(
  response: ProbeResponse,
  { url, publicUrl, direct = 'http://127.0.0.1:7464' }: Place,
): Finding {
  const check = 'reached'
  const { status, headers } = response
  const goal = URL.parse(headers.get('location') ?? '', url)
  if (status >= 300 && status < 400 && goal !== null && goal.origin !== new URL(url).origin) {
    const to = goal.origin + (/^(.*)\/livez$/.exec(goal.pathname)?.[1] ?? '')
    const change = to === publicUrl ? `npx carillon doctor ${to}` : `CARILLON_PUBLIC_URL=${to}`
    return fault(check, { found: `it redirects to ${to}`, change })
  }
  const { pathname } = new URL(url)
  const toDirect = `reverse_proxy ${direct}`
  const location = `nginx: location / { proxy_pass ${direct}; }`
  if (isRefusal(response, 404) && pathname === '/') {
    const change = `${location}  (no path behind the port; Caddy: no handle_path)`
    return fault(check, {
      found: 'Carillon responds, but receives another path than was sent',
      change,
    })
  }
  if (isRefusal(response, 404)) {
    const change = `Caddy: handle_path ${pathname}/* { ${toDirect} }  (nginx: docs/proxies/with-a-path/nginx.conf)`
    return fault(check, {
      found: `Carillon responds, but the proxy does not strip ${pathname}`,
      change,
    })
  }
  const isGateway = status >= 502 && status <= 504
  const gateway = `the proxy responds ${status}: it does not reach Carillon`
  const found = isGateway ? gateway : `another program responds, with ${described(response)}`
  return fault(check, { found, change: `${location}  (Caddy: ${toDirect})` })
}

const reasons: Record<string, [string, string]> = {
  ENOTFOUND: ['its name is unknown', 'correct the name, or give it an address in the DNS'],
  EAI_AGAIN: ['its name cannot be looked up now', 'check the DNS of this machine, and try again'],
  ECONNRESET: ['the connection was closed', 'look in the log of the proxy'],
  CERT_HAS_EXPIRED: ['its certificate has expired', 'renew it: certbot renew'],
  ERR_TLS_CERT_ALTNAME_INVALID: [
    'its certificate is for another name',
    'get one for this name: certbot --nginx',
  ],
}
const ownAuthority = /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)/

function unreachable(error: unknown, { url, direct }: Place): Finding {
  const { code = '', message = '' } = ((error as Error).cause ?? error) as {
    code?: string
    message?: string
  }
  const isDirect = url === direct || direct === undefined
  const start = isDirect ? 'npx carillon serve' : 'start the proxy, or correct CARILLON_PUBLIC_URL'
  if (code === 'ECONNREFUSED')
    return fault('reached', { found: 'no program listens there', change: start })
  const untrusted = `this machine does not trust the issuer of its certificate (${code})`
  const trust = 'NODE_EXTRA_CA_CERTS=/path/of/the/authority.pem npx carillon doctor'
  if (ownAuthority.test(code)) return fault('reached', { found: untrusted, change: trust })
  const [found, change] = reasons[code] ?? [
    `no response (${code || message || (error as Error).name})`,
    start,
  ]
  return fault('reached', { found, change })
}

/** A restart does not help if doctor cannot read the database either. */
function ready(response: ProbeResponse, { isDatabaseAway = false }: Place): Finding {
  if (response.status === 200 && response.json?.data?.status === 'ready')
    return ok('ready', 'it accepts requests')
  const found =
    response.json?.error?.message ?? `the response to GET /readyz is ${described(response)}`
  const change = isDatabaseAway
    ? 'start the database, or the network to it: the service then continues'
    : 'start it again: npx carillon serve; the reason is in its log'
  return fault('ready', { found, change })
}

const afterMove = 'start the service again once CARILLON_DATABASE_URL names the database in use'

/** Public keys identify a database and its copies. */
async function isSameService(place: Place): Promise<Finding[]> {
  const { direct, signingKeys, isMoved = false } = place
  const { json: response } = await probe(place, '/.well-known/jwks.json')
  const kids = response?.keys?.map(({ kid }) => kid)
  if (kids === undefined || signingKeys === undefined || signingKeys.length === 0) return []
  if (signingKeys.some(({ kid }) => kids.includes(kid))) {
    const found = 'the service has the signing keys of the database of these settings'
    if (!isMoved) return [ok('database', found)]
    return [
      warning('database', {
        found: `${found}, but so has the database that it is moved to`,
        change: afterMove,
      }),
    ]
  }
  const change = `CARILLON_DATABASE_URL as the service has it${direct ? `, or the proxy to ${direct}` : ''}`
  return [
    fault('database', { found: 'the service uses another database than these settings', change }),
  ]
}

export async function examineWay(place: Target & Pick<Place, 'publicUrl'>): Promise<Finding[]> {
  const response = await probe(place, '/api/me')
  return [
    ...publicUrlFindings(place.url, place.publicUrl),
    clockOf(response),
    hostFinding(response),
  ]
}

function publicUrlFindings(url: string, publicUrl: string | undefined): Finding[] {
  if (publicUrl === url) return [ok('public URL', 'CARILLON_PUBLIC_URL is this address')]
  if (publicUrl === undefined && url.startsWith('http:')) return []
  const change = url.startsWith('https:')
    ? `CARILLON_PUBLIC_URL=${url}`
    : `npx carillon doctor ${publicUrl}`
  return [
    warning('public URL', { found: `CARILLON_PUBLIC_URL is ${publicUrl ?? 'not set'}`, change }),
  ]
}

function clockOf({ headers, at }: ProbeResponse): Finding {
  const date = Date.parse(headers.get('date') ?? '')
  if (Number.isNaN(date))
    return warning('clock', {
      found: 'the response has no Date',
      change: 'let the proxy pass Date on',
    })
  // The header has whole seconds, so it is half a second old on average.
  return clockFinding('clock', { whose: "the service's clock", aheadMs: date + 500 - at })
}

/** With such a Host, the service refuses every browser request. */
function hostFinding(response: ProbeResponse): Finding {
  if (!isRefusal(response, 421)) return ok('Host', 'it arrives as a name that the service knows')
  const found = 'it arrives as a name that the service does not know, and the response is 421'
  const change =
    'nginx: proxy_set_header Host $http_host;  (Apache: ProxyPreserveHost On), or CARILLON_ALLOWED_HOSTS'
  return fault('Host', { found, change })
}
