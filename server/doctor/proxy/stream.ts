// Do the events of a live stream arrive when they are sent? A stream begins with a greeting; a proxy that buffers delays it
// and every event after it. Changes nothing: the stream is closed when the greeting has arrived.
import { type Finding, fault, ok, warning } from '../finding.ts'
import { described, type ProbeClient, type ProbeResponse } from './probe-client.ts'

const check = 'stream'
/** The service sends the greeting at once. */
const greetingTimeoutMs = 8_000
const greeting = 'event: hello'

/** The header fields that prove a user. */
export type Proof = Record<string, string>

/** Tries `proofs`, of which there may be none, until one is accepted. Rejects if no response arrives. */
export async function examineStream(
  client: ProbeClient,
  proofs: readonly Proof[],
  timeoutMs = greetingTimeoutMs,
): Promise<Finding> {
  let finding = warning(check, {
    found:
      'not checked: a stream needs a proof, which doctor can only make with the database and the secret of the service',
    change: 'run doctor where the service runs, with its settings',
  })
  for (const proof of proofs) {
    finding = await examineWith(client, proof, timeoutMs)
    if (finding.state !== 'warning') return finding
  }
  return finding
}

async function examineWith(client: ProbeClient, proof: Proof, timeoutMs: number): Promise<Finding> {
  const opened = await client.open('/api/notifications/stream', { ...proof, accept: 'text/event-stream' }, timeoutMs)
  try {
    if (opened === 'silent') return heldBack(timeoutMs)
    const { response } = opened
    if (response.status !== 200) return refused(response)
    const type = response.headers.get('content-type') ?? ''
    if (!type.startsWith('text/event-stream'))
      return fault(check, { found: `it arrives as ${type || 'a response without a type'}`, change: keepType })
    return (await opened.arrives(greeting)) ? ok(check, 'events arrive at once') : heldBack(timeoutMs)
  } finally {
    if (opened !== 'silent') opened.close()
  }
}

const keepAuthorization = 'nginx: proxy_set_header Authorization $http_authorization;'
const keepType = 'nginx: no proxy_hide_header, no default_type for /api/notifications/stream'

function heldBack(timeoutMs: number): Finding {
  return fault(check, {
    found: `nothing of a live stream arrived in ${timeoutMs / 1_000} s: the proxy delays it (it buffers or compresses)`,
    change: 'nginx: proxy_buffering off; gzip off;  (in location /api/notifications/stream; Caddy: flush_interval -1)',
  })
}

function refused(response: ProbeResponse): Finding {
  const found = `not checked: the stream is refused with ${response.json?.error?.message ?? described(response)}`
  if (response.status === 401)
    return warning(check, {
      found,
      change: `run doctor with the settings of the service, CARILLON_PUBLIC_URL included; or ${keepAuthorization}`,
    })
  if (response.status === 429 || response.status === 503)
    return warning(check, { found, change: 'run doctor again when there are fewer streams, or raise CARILLON_STREAMS' })
  return fault(check, { found, change: 'nginx: pass /api/notifications/stream on like every other path' })
}
