// Is the examined URL the public URL, does Host arrive as a browser sent it, and do the clocks agree?
import { type Finding, fault, ok, warning } from '../finding.ts'
import { clockFinding } from '../machine.ts'
import { isRefusal, type ProbeClient, type ProbeResponse } from './probe-client.ts'

export type Way = { client: ProbeClient; publicUrl: string | undefined }

/** Rejects if no response arrives. */
export async function examineWay({ client, publicUrl }: Way): Promise<Finding[]> {
  const response = await client.request('/api/me')
  return [publicUrlFinding(client.url, publicUrl), clockOf(response), hostFinding(response)]
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

/** With such a Host, the service refuses every request of a browser. */
function hostFinding(response: ProbeResponse): Finding {
  if (!isRefusal(response, 421)) return ok('Host', 'it arrives as a name that the service knows')
  const found = 'it arrives as a name that the service does not know, and the response is 421'
  const change = 'nginx: proxy_set_header Host $http_host;  (Apache: ProxyPreserveHost On), or CARILLON_ALLOWED_HOSTS'
  return fault('Host', { found, change })
}
