// Sends requests that read and change nothing, and says whether a response is one of Carillon's.

/** `url`: of the service, perhaps with a path; without a slash at its end. */
export type Target = { url: string; now: () => number }

/** `at`: the moment halfway between the request and the response, by this machine's clock. */
export type ProbeResponse = Parsed & { at: number }
/** `json` is undefined if the body is something else. */
type Parsed = { status: number; headers: Headers; json: Envelope | undefined }
type Envelope = {
  success?: boolean
  data?: Record<string, unknown>
  error?: { code: string; message: string; requestId: string }
  keys?: { kid: string }[]
}

/** Rejects if no response arrives. */
export async function probe({ url, now }: Target, path: string): Promise<ProbeResponse> {
  const before = now()
  const response = await get(url + path, AbortSignal.timeout(5_000))
  const at = (before + now()) / 2
  return { ...(await parsed(response)), at }
}

/** Follows no redirect. */
export function get(url: string, signal: AbortSignal, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, { headers: { 'user-agent': 'carillon-doctor', ...headers }, redirect: 'manual', signal })
}

export async function parsed(response: Response): Promise<Parsed> {
  const { status, headers } = response
  const json: unknown = await response.json().catch((error) => {
    if (!(error instanceof SyntaxError)) throw error
  })
  return { status, headers, json: typeof json === 'object' && json !== null ? json : undefined }
}

/** Whether it has the envelope of an error (docs/inbox/errors.md). A proxy's own page of the same status has not. */
export function isRefusal({ status, json }: Parsed, expected: number): boolean {
  return status === expected && json?.success === false && typeof json.error?.requestId === 'string'
}

export function described({ status, headers, json }: Parsed): string {
  const type = headers.get('content-type')?.split(';')[0]
  const ofType = type ? ` with ${type}` : ''
  return `${status}${json?.error?.code ? ` ${json.error.code}` : ofType}`
}
