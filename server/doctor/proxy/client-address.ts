// Which address does Carillon take a client for behind this proxy, and can a client make one up? Carillon tells `doctor` no
// address, only where it came from and whether it is the one that `doctor` made up (http/health.ts).
import { isLoopback } from '../../config/values.ts'
import { type Finding, fault, ok, warning } from '../finding.ts'
import type { Asker } from './ask.ts'

type Place = {
  asker: Asker
  /** Where the service listens, past the proxy; undefined if that is not known. */
  direct: string | undefined
  publicUrl: string | undefined
}
type Traced = { source: 'connection' | 'ignored' | 'header' | 'unclear'; hops: number; isMadeUp: boolean }

const check = 'client address'
/** TEST-NET-1 (RFC 5737): nobody's address. */
const madeUp = '192.0.2.66'

/** Empty if the service is of a version that does not answer this. Rejects if nothing answers any more. */
export async function examineClientAddress(place: Place): Promise<Finding[]> {
  const { asker, direct } = place
  const plain = await trace(asker)
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
          found: 'what the proxy says of the client is unreadable, or X-Forwarded-For and Forwarded disagree',
          change: `${set} ${remove}`,
        }),
      ]
    case 'connection': {
      const made = leadsTo(asker.origin, direct) ? undefined : await spoofFinding(asker, plain)
      if (made !== undefined) return [made]
      return [isProxy(place) ? nameless : ok(check, 'it is that of the connection')]
    }
    case 'header':
      return [
        (await spoofFinding(asker, plain)) ?? ok(check, 'it arrives, and one that a client makes up is not believed'),
      ]
  }
}

const set = 'nginx: proxy_set_header X-Forwarded-For $remote_addr;'
const remove = 'proxy_set_header Forwarded "";'

const nameless = warning(check, {
  found: 'the proxy does not name the client: all clients have one address, in the log and in the queue of sign-ins',
  change: `${set}  and CARILLON_TRUSTED_PROXIES=127.0.0.1  (the address from which the proxy connects to Carillon)`,
})

async function spoofFinding(asker: Asker, plain: Traced): Promise<Finding | undefined> {
  for (const [name, value] of [
    ['X-Forwarded-For', madeUp],
    ['Forwarded', `for=${madeUp}`],
  ] as const) {
    const spoofed = await trace(asker, { [name]: value })
    // Behind an address that the proxy added it is believed only because this machine is a trusted proxy itself.
    if (spoofed?.isMadeUp && spoofed.hops <= plain.hops)
      return fault(check, {
        found: `${name} of a client is believed: everybody can claim any address`,
        change: name === 'Forwarded' ? `nginx: ${remove}` : set,
      })
    if (spoofed?.source === 'unclear')
      return warning(check, {
        found: `${name} of a client goes through the proxy: whoever sends it is taken for the proxy`,
        change: name === 'Forwarded' ? `nginx: ${remove}` : set,
      })
  }
  return undefined
}

async function trace(asker: Asker, headers: Record<string, string> = {}): Promise<Traced | undefined> {
  const { json } = await asker.request('/livez', { headers: { 'carillon-doctor': madeUp, ...headers } })
  return json?.data?.clientAddress as Traced | undefined
}

/** Carillon speaks no TLS, and browsers reach it at the public URL. */
function isProxy({ asker: { origin }, direct, publicUrl }: Place): boolean {
  return origin.startsWith('https:') || (origin === publicUrl && direct !== undefined && !leadsTo(origin, direct))
}

/** Whether an address of this machine is the one on which the service listens, by another name perhaps. */
function leadsTo(origin: string, direct: string | undefined): boolean {
  if (direct === undefined || origin === direct) return true
  const [one, other] = [new URL(origin), new URL(direct)]
  return one.port === other.port && isLoopback(one.hostname) && isLoopback(other.hostname)
}
