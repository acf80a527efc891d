// Which client address does Carillon see behind this proxy, and can a client forge it? Carillon does not send `doctor` the
// address: only its source, and whether it is the one that `doctor` forged (http/routes/health.ts).
import { isLoopback } from '../../config/values.ts'
import { type Finding, fault, ok, warning } from '../finding.ts'
import type { ProbeClient } from './probe-client.ts'

type Place = {
  client: ProbeClient
  /** The URL of the service itself, without the proxy; undefined if it is not known. */
  direct: string | undefined
  publicUrl: string | undefined
}
type Traced = { source: 'connection' | 'ignored' | 'header' | 'unclear'; hops: number; isMadeUp: boolean }

const check = 'client address'
/** TEST-NET-1 (RFC 5737): belongs to no machine. */
const forged = '192.0.2.66'

/** Empty if the version of the service does not report the address. Rejects if no response arrives. */
export async function examineClientAddress(place: Place): Promise<Finding[]> {
  const { client, direct } = place
  const plain = await trace(client)
  if (plain === undefined) return []
  switch (plain.source) {
    case 'ignored':
      return [
        warning(check, {
          found:
            'the proxy names the client, but the proxy is not in CARILLON_TRUSTED_PROXIES: all clients have one address',
          change: 'CARILLON_TRUSTED_PROXIES=127.0.0.1  (the address from which the proxy connects to Carillon)',
        }),
      ]
    case 'unclear':
      return [
        warning(check, {
          found: 'the client address that the proxy sends cannot be read, or X-Forwarded-For and Forwarded disagree',
          change: `${set} ${remove}`,
        }),
      ]
    case 'connection': {
      const made = leadsTo(client.url, direct) ? undefined : await spoofFinding(client, plain)
      if (made !== undefined) return [made]
      return [isProxy(place) ? nameless : ok(check, 'it is the address of the connection')]
    }
    case 'header':
      return [
        (await spoofFinding(client, plain)) ?? ok(check, 'it arrives, and an address that a client forges is ignored'),
      ]
  }
}

const set = 'nginx: proxy_set_header X-Forwarded-For $remote_addr;'
const remove = 'proxy_set_header Forwarded "";'

const nameless = warning(check, {
  found: 'the proxy does not name the client: all clients have one address, in the log and in the queue of sign-ins',
  change: `${set}  and CARILLON_TRUSTED_PROXIES=127.0.0.1  (the address from which the proxy connects to Carillon)`,
})

async function spoofFinding(client: ProbeClient, plain: Traced): Promise<Finding | undefined> {
  for (const [name, value] of [
    ['X-Forwarded-For', forged],
    ['Forwarded', `for=${forged}`],
  ] as const) {
    const spoofed = await trace(client, { [name]: value })
    // With more hops, the proxy did add an address: the forged one counts only because this machine is itself a trusted proxy.
    if (spoofed?.isMadeUp && spoofed.hops <= plain.hops)
      return fault(check, {
        found: `${name} of a client is trusted: any client can claim any address`,
        change: name === 'Forwarded' ? `nginx: ${remove}` : set,
      })
    if (spoofed?.source === 'unclear')
      return warning(check, {
        found: `the proxy passes ${name} of a client on: a client that sends it has the address of the proxy`,
        change: name === 'Forwarded' ? `nginx: ${remove}` : set,
      })
  }
  return undefined
}

async function trace(client: ProbeClient, headers: Record<string, string> = {}): Promise<Traced | undefined> {
  const { json } = await client.request('/livez', { headers: { 'carillon-doctor': forged, ...headers } })
  return json?.data?.clientAddress as Traced | undefined
}

/** Whether a proxy is in front: Carillon has no TLS of its own, and browsers reach it at the public URL. */
function isProxy({ client: { url }, direct, publicUrl }: Place): boolean {
  return url.startsWith('https:') || (url === publicUrl && direct !== undefined && !leadsTo(url, direct))
}

/** Whether a URL is the service itself, perhaps under another name of this machine. */
function leadsTo(url: string, direct: string | undefined): boolean {
  if (direct === undefined || url === direct) return true
  const [one, other] = [new URL(url), new URL(direct)]
  return one.port === other.port && isLoopback(one.hostname) && isLoopback(other.hostname)
}
