// Does an address lead to Carillon, is that service ready, and does it use the database of these settings?
import type { SigningKey } from '../../tokens/signing-keys.store.ts'
import { type Finding, fault, ok, warning } from '../finding.ts'
import { described, isRefusal, type ProbeClient, type ProbeResponse } from './probe-client.ts'

export type Place = {
  client: ProbeClient
  /** The URL of the service itself, without the proxy; undefined if it is not known. */
  direct: string | undefined
  publicUrl?: string | undefined
  /** The keys in the database of the settings; undefined if they could not be read. */
  signingKeys: SigningKey[] | undefined
  /** That database is being moved, or was moved. */
  isMoved?: boolean
  /** Doctor could not read that database. */
  isDatabaseAway?: boolean
}

/** If `isReached` is false, further checks make no sense. */
export async function reach(place: Place): Promise<{ isReached: boolean; findings: Finding[] }> {
  const { client } = place
  try {
    const live = await client.request('/livez')
    if (live.status !== 200 || live.json?.data?.status !== 'alive')
      return { isReached: false, findings: [notCarillon(live, place)] }
    const { version, commit } = live.json.data
    const findings = [
      ok('reached', `Carillon ${version} (${commit}) responds`),
      ready(await client.request('/readyz'), place),
    ]
    return { isReached: true, findings: [...findings, ...(await isSameService(place))] }
  } catch (error) {
    return { isReached: false, findings: [unreachable(error, place)] }
  }
}

function notCarillon(response: ProbeResponse, { client, publicUrl, direct = 'http://127.0.0.1:7464' }: Place): Finding {
  const check = 'reached'
  const { status, headers } = response
  const goal = URL.parse(headers.get('location') ?? '', client.url)
  if (status >= 300 && status < 400 && goal !== null && goal.origin !== new URL(client.url).origin) {
    const to = goal.origin + (/^(.*)\/livez$/.exec(goal.pathname)?.[1] ?? '')
    const change = to === publicUrl ? `npx carillon doctor ${to}` : `CARILLON_PUBLIC_URL=${to}`
    return fault(check, { found: `it redirects to ${to}`, change })
  }
  const { pathname } = new URL(client.url)
  const location = `location / { proxy_pass ${direct}; }`
  if (isRefusal(response, 404))
    return pathname === '/'
      ? fault(check, {
          found: 'Carillon responds, but receives another path than was sent',
          change: `nginx: ${location}  (no path behind the port; Caddy: no handle_path)`,
        })
      : fault(check, {
          found: `Carillon responds, but the proxy does not strip ${pathname}`,
          change: `Caddy: handle_path ${pathname}/* { reverse_proxy ${direct} }  (nginx: docs/proxies/with-a-path/nginx.conf)`,
        })
  const found =
    status >= 502 && status <= 504
      ? `the proxy responds ${status}: it does not reach Carillon`
      : `another program responds, with ${described(response)}`
  return fault(check, { found, change: `nginx: ${location}  (Caddy: reverse_proxy ${direct})` })
}

const reasons: Record<string, [string, string]> = {
  ENOTFOUND: ['its name is unknown', 'correct the name, or give it an address in the DNS'],
  EAI_AGAIN: ['its name cannot be looked up now', 'check the DNS of this machine, and try again'],
  ECONNRESET: ['the connection was closed', 'look in the log of the proxy'],
  CERT_HAS_EXPIRED: ['its certificate has expired', 'renew it: certbot renew'],
  ERR_TLS_CERT_ALTNAME_INVALID: ['its certificate is for another name', 'get one for this name: certbot --nginx'],
}
const ownAuthority = /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)/

function unreachable(error: unknown, { client, direct }: Place): Finding {
  const { code = '', message = '' } = ((error as Error).cause ?? error) as { code?: string; message?: string }
  const isDirect = client.url === direct || direct === undefined
  const start = isDirect ? 'npx carillon serve' : 'start the proxy, or correct CARILLON_PUBLIC_URL'
  if (code === 'ECONNREFUSED') return fault('reached', { found: 'no program listens there', change: start })
  if (ownAuthority.test(code))
    return fault('reached', {
      found: `this machine does not trust the issuer of its certificate (${code})`,
      change: 'NODE_EXTRA_CA_CERTS=/path/of/the/authority.pem npx carillon doctor',
    })
  const [found, change] = reasons[code] ?? [`no response (${code || message || (error as Error).name})`, start]
  return fault('reached', { found, change })
}

/** If doctor cannot read the database either, the database is the cause, and a restart of the service does not help. */
function ready(response: ProbeResponse, { isDatabaseAway = false }: Place): Finding {
  if (response.status === 200 && response.json?.data?.status === 'ready') return ok('ready', 'it accepts requests')
  const found = response.json?.error?.message ?? `the response to GET /readyz is ${described(response)}`
  if (isDatabaseAway)
    return fault('ready', { found, change: 'start the database, or the network to it: the service then continues' })
  return fault('ready', { found, change: 'start it again: npx carillon serve; the reason is in its log' })
}

const afterMove = 'start the service again once CARILLON_DATABASE_URL names the database in use'

/** The public keys identify the database of the service. Only a copy has the same: a move or a restore copies the keys. */
async function isSameService({ client, direct, signingKeys, isMoved = false }: Place): Promise<Finding[]> {
  const { json: response } = await client.request('/.well-known/jwks.json')
  const kids = response?.keys?.map(({ kid }) => kid)
  if (kids === undefined || signingKeys === undefined || signingKeys.length === 0) return []
  if (signingKeys.some(({ kid }) => kids.includes(kid))) {
    const found = 'the service has the signing keys of the database of these settings'
    if (!isMoved) return [ok('database', found)]
    return [warning('database', { found: `${found}, but so has the database that it is moved to`, change: afterMove })]
  }
  const change = `CARILLON_DATABASE_URL as the service has it${direct ? `, or the proxy to ${direct}` : ''}`
  return [warning('database', { found: 'the service uses another database than these settings', change })]
}
