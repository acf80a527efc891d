// Do a stream's events arrive when sent? A buffering proxy delays the greeting and every event.
import { isLoopback } from '../../config/values.ts'
import { type Finding, fault, ok, warning } from '../finding.ts'
import { described, get, parsed } from './probe.ts'

const check = 'stream'

export async function examineStream(
  url: string,
  token: string | undefined,
  timeoutMs = 8_000,
): Promise<Finding> {
  if (token === undefined) {
    const found =
      'not checked: a stream needs a token, which doctor makes with the database and the secret of the service'
    return warning(check, { found, change: 'run doctor where the service runs, with its settings' })
  }
  const fields = { authorization: `Bearer ${token}`, accept: 'text/event-stream' }
  try {
    const response = await get(
      `${url}/api/notifications/stream`,
      AbortSignal.timeout(timeoutMs),
      fields,
    )
    if (response.status !== 200) return await refused(response, url)
    const type = response.headers.get('content-type') ?? ''
    if (!type.startsWith('text/event-stream')) {
      await response.body?.cancel()
      return fault(check, {
        found: `it arrives as ${type || 'a response without a type'}`,
        change: keepType,
      })
    }
    return (await isGreeted(response)) ? ok(check, 'events arrive at once') : heldBack(timeoutMs)
  } catch (error) {
    if ((error as Error).name !== 'TimeoutError') throw error
    return heldBack(timeoutMs)
  }
}

async function isGreeted({ body }: Response): Promise<boolean> {
  let text = ''
  for await (const part of body?.pipeThrough<string>(
    new TextDecoderStream() as ReadableWritablePair,
  ) ?? []) {
    text += part
    if (text.includes('event: hello')) return true
  }
  return false
}

const keepAuthorization = 'nginx: proxy_set_header Authorization $http_authorization;'
const keepType = 'nginx: no proxy_hide_header, no default_type for /api/notifications/stream'

function heldBack(timeoutMs: number): Finding {
  return fault(check, {
    found: `nothing of a live stream arrived in ${timeoutMs / 1_000} s: the proxy delays it (it buffers or compresses)`,
    change:
      'nginx: proxy_buffering off; gzip off;  (in location /api/notifications/stream; Caddy: flush_interval -1)',
  })
}

async function refused(response: Response, url: string): Promise<Finding> {
  const { status } = response
  const refusal = await parsed(response)
  const found = `not checked: the stream is refused with ${refusal.json?.error?.message ?? described(refusal)}`
  const settings = 'run doctor with the settings of the service, CARILLON_PUBLIC_URL included'
  const hasProxy = !isLoopback(new URL(url).hostname)
  if (status === 401)
    return warning(check, {
      found,
      change: hasProxy ? `${settings}; or ${keepAuthorization}` : settings,
    })
  const fewer = 'run doctor again when there are fewer streams, or raise CARILLON_STREAMS'
  if (status === 429 || status === 503) return warning(check, { found, change: fewer })
  return fault(check, {
    found,
    change: 'nginx: pass /api/notifications/stream on like every other path',
  })
}
