// Does an address lead to Carillon, to one that is ready, and to the one whose database this is?

import type { SigningKey } from '../../store/store.ts'
import { type Finding, fault, ok, warning } from '../finding.ts'
import { type Asker, described, isRefusal, type Reply } from './ask.ts'

export type Place = {
  asker: Asker
  /** Where the service listens, past the proxy; undefined where that is not known. */
  direct: string | undefined
  publicUrl?: string | undefined
  /** Of the database of the settings; undefined where they could not be read. */
  signingKeys: SigningKey[] | undefined
  /** That database is being moved, or was. */
  isMoved?: boolean
}

/** Nothing more is worth asking where `isReached` is false. */
export async function reach(place: Place): Promise<{ isReached: boolean; findings: Finding[] }> {
  const { asker } = place
  try {
    const live = await asker.request('/livez')
    if (live.status !== 200 || live.json?.data?.status !== 'alive')
      return { isReached: false, findings: [notCarillon(live, place)] }
    const findings = [ok('reached', 'Carillon answers'), ready(await asker.request('/readyz'))]
    return { isReached: true, findings: [...findings, ...(await isSameService(place))] }
  } catch (error) {
    return { isReached: false, findings: [unreachable(error, place)] }
  }
}

function notCarillon(reply: Reply, { asker, publicUrl, direct = 'http://127.0.0.1:7464' }: Place): Finding {
  const check = 'reached'
  const { status, headers } = reply
  const goal = URL.parse(headers.get('location') ?? '', asker.origin)
  if (status >= 300 && status < 400 && goal !== null && goal.origin !== asker.origin) {
    const isSet = goal.origin === publicUrl
    const change = isSet ? `npx carillon doctor ${goal.origin}` : `CARILLON_PUBLIC_URL=${goal.origin}`
    return fault(check, { found: `it leads on to ${goal.origin}`, change })
  }
  if (isRefusal(reply, 404))
    return fault(check, {
      found: 'Carillon answers, and was asked for another path than was sent',
      change: `nginx: location / { proxy_pass ${direct}; }  (no path behind the port; Caddy: no handle_path)`,
    })
  const isGateway = status >= 502 && status <= 504
  const found = isGateway
    ? `the proxy answers ${status}: it does not get through to Carillon`
    : `something else answers, with ${described(reply)}`
  return fault(check, {
    found,
    change: `nginx: location / { proxy_pass ${direct}; }  (Caddy: reverse_proxy ${direct})`,
  })
}

const reasons: Record<string, [string, string]> = {
  ENOTFOUND: ['its name is not known', 'correct the name, or give it an address in the DNS'],
  EAI_AGAIN: ['its name cannot be looked up now', 'look after the DNS of this machine, and try again'],
  ECONNRESET: ['the connection is cut', 'look into the log of the proxy'],
  CERT_HAS_EXPIRED: ['its certificate has expired', 'renew it: certbot renew'],
  ERR_TLS_CERT_ALTNAME_INVALID: ['its certificate is for another name', 'get one for this name: certbot --nginx'],
}
const ownAuthority = /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)/

function unreachable(error: unknown, { asker, direct }: Place): Finding {
  const { code = '', message = '' } = ((error as Error).cause ?? error) as { code?: string; message?: string }
  const isDirect = asker.origin === direct || direct === undefined
  const nobody = isDirect ? 'npx carillon serve' : 'start the proxy, or correct CARILLON_PUBLIC_URL'
  if (code === 'ECONNREFUSED') return fault('reached', { found: 'nothing listens there', change: nobody })
  if (ownAuthority.test(code))
    return fault('reached', {
      found: `its certificate comes from nobody that this machine trusts (${code})`,
      change: 'NODE_EXTRA_CA_CERTS=/path/of/the/authority.pem npx carillon doctor',
    })
  const [found, change] = reasons[code] ?? [`nothing answers (${code || message || (error as Error).name})`, nobody]
  return fault('reached', { found, change })
}

/** A server that is away: every process goes on by itself when it is back. */
const storeIsAway = /^The store (cannot be reached|went away)/

function ready(reply: Reply): Finding {
  if (reply.status === 200 && reply.json?.data?.status === 'ready') return ok('ready', 'it takes requests')
  const found = reply.json?.error?.message ?? `GET /readyz is answered ${described(reply)}`
  if (storeIsAway.test(found))
    return fault('ready', { found, change: 'start the database, or the way to it: the service goes on by itself then' })
  return fault('ready', { found, change: 'start it again: npx carillon serve; the reason is in its log' })
}

const afterMove = 'start the service again once CARILLON_DATABASE_URL is set to the one in use'

/** Its public keys name the database that it has open, but for copies: a move or a restore carries the keys over. */
async function isSameService({ asker, direct, signingKeys, isMoved = false }: Place): Promise<Finding[]> {
  const { json: response } = await asker.request('/.well-known/jwks.json')
  const kids = response?.keys?.map(({ kid }) => kid)
  if (kids === undefined || signingKeys === undefined || signingKeys.length === 0) return []
  if (signingKeys.some(({ kid }) => kids.includes(kid))) {
    const found = 'it has the signing keys of the database of these settings'
    if (!isMoved) return [ok('database', found)]
    return [warning('database', { found: `${found}, and so has the one it is moved to`, change: afterMove })]
  }
  const change = `CARILLON_DATABASE_URL as the service has it${direct ? `, or the proxy to ${direct}` : ''}`
  return [warning('database', { found: 'the service that answers has another database than these settings', change })]
}
