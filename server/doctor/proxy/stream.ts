// Do the events of a live stream arrive when they are sent? A stream begins with a greeting; a proxy that buffers holds it
// back, and every event after it. Nothing is changed: the stream is closed when the greeting has come.
import { type Finding, fault, ok, warning } from '../finding.ts'
import { type Asker, described, type Reply } from './ask.ts'

const check = 'stream'
/** The service sends the greeting at once. */
const greetingTimeoutMs = 8_000
const greeting = 'event: hello'

/** The header fields that prove a user. */
export type Proof = Record<string, string>

/** The first of `proofs` that is accepted counts; there may be none. Rejects if nothing answers any more. */
export async function examineStream(
  asker: Asker,
  proofs: readonly Proof[],
  timeoutMs = greetingTimeoutMs,
): Promise<Finding> {
  let finding = warning(check, {
    found: 'not checked: without the database and the secret of the service there is no proof to open a stream with',
    change: 'run doctor where the service runs, with its settings; or with --username NAME < FILE',
  })
  for (const proof of proofs) {
    finding = await examineWith(asker, proof, timeoutMs)
    if (finding.state !== 'warning') return finding
  }
  return finding
}

async function examineWith(asker: Asker, proof: Proof, timeoutMs: number): Promise<Finding> {
  const opened = await asker.open('/api/notifications/stream', { ...proof, accept: 'text/event-stream' }, timeoutMs)
  try {
    if (opened === 'silent') return heldBack(timeoutMs)
    const { reply, text } = opened
    if (reply.status !== 200) return refused(reply)
    const type = reply.headers.get('content-type') ?? ''
    if (!type.startsWith('text/event-stream'))
      return fault(check, { found: `it arrives as ${type || 'an answer without a type'}`, change: keepType })
    return (await text.until(greeting)) ? ok(check, 'what is sent arrives at once') : heldBack(timeoutMs)
  } finally {
    if (opened !== 'silent') opened.close()
  }
}

const keepType = 'nginx: no proxy_hide_header, no default_type for /api/notifications/stream'

function heldBack(timeoutMs: number): Finding {
  return fault(check, {
    found: `nothing of a live stream arrived in ${timeoutMs / 1_000} s: the proxy holds it back (it buffers or compresses)`,
    change: 'nginx: proxy_buffering off; gzip off;  (in location /api/notifications/stream; Caddy: flush_interval -1)',
  })
}

function refused(reply: Reply): Finding {
  const found = `not checked: the stream is refused with ${reply.json?.error?.message ?? described(reply)}`
  if (reply.status === 401)
    return warning(check, {
      found,
      change: 'run doctor with the settings of the service, CARILLON_PUBLIC_URL included',
    })
  if (reply.status === 429 || reply.status === 503)
    return warning(check, { found, change: 'run doctor again when there are fewer streams, or raise CARILLON_STREAMS' })
  return fault(check, { found, change: 'nginx: pass /api/notifications/stream on like every other path' })
}
