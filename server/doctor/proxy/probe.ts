// Sends requests that read and change nothing, and says whether a response is one of Carillon's.

/** `url`: of the service, perhaps with a path; without a slash at its end. */
export type Target = { url: string; now: () => number }

export type ProbeResponse = {
  status: number
  headers: Headers
  /** The body as JSON; undefined if it is something else. */
  json: Envelope | undefined
  /** The moment halfway between the request and the response, by this machine's clock. */
  at: number
}
type Envelope = {
  success?: boolean
  data?: Record<string, unknown>
  error?: { code: string; message: string; requestId: string }
  keys?: { kid: string }[]
}

const timeoutMs = 5_000

/** Rejects if no response arrives. */
export async function probe({ url, now }: Target, path: string): Promise<ProbeResponse> {
  const before = now()
  const response = await get(url + path, AbortSignal.timeout(timeoutMs))
  const at = (before + now()) / 2
  return { status: response.status, headers: response.headers, json: parsed(await response.text()), at }
}

/** Follows no redirect. */
export function get(url: string, signal: AbortSignal, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, { headers: { 'user-agent': 'carillon-doctor', ...headers }, redirect: 'manual', signal })
}

export function parsed(text: string): Envelope | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

/** Whether it has the envelope of an error (docs/inbox.md). A proxy's own page of the same status has not. */
export function isRefusal({ status, json: response }: ProbeResponse, expected: number): boolean {
  return status === expected && response?.success === false && typeof response.error?.requestId === 'string'
}

export function described({ status, headers, json: response }: Omit<ProbeResponse, 'at'>): string {
  const type = headers.get('content-type')?.split(';')[0]
  return `${status}${response?.error?.code ? ` ${response.error.code}` : type ? ` with ${type}` : ''}`
}
