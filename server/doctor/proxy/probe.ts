// Sends requests that change nothing, and recognises Carillon's responses.
export type Target = { url: string; now: () => number }

/** `at`: midway between request and response. */
export type ProbeResponse = Parsed & { at: number }
type Parsed = { status: number; headers: Headers; json: Envelope | undefined }
type Envelope = {
  success?: boolean
  data?: Record<string, unknown>
  error?: { code: string; message: string; requestId: string }
  keys?: { kid: string }[]
}

export async function probe({ url, now }: Target, path: string): Promise<ProbeResponse> {
  const before = now()
  const response = await get(url + path, AbortSignal.timeout(5_000))
  const at = (before + now()) / 2
  return { ...(await parsed(response)), at }
}

export function get(
  url: string,
  signal: AbortSignal,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(url, {
    headers: { 'user-agent': 'carillon-doctor', ...headers },
    redirect: 'manual',
    signal,
  })
}

export async function parsed(response: Response): Promise<Parsed> {
  const { status, headers } = response
  const json: unknown = await response.json().catch((error) => {
    if (!(error instanceof SyntaxError)) throw error
  })
  return { status, headers, json: typeof json === 'object' && json !== null ? json : undefined }
}

/** A proxy's own page has no envelope. */
export function isRefusal({ status, json }: Parsed, expected: number): boolean {
  return status === expected && json?.success === false && typeof json.error?.requestId === 'string'
}

export function described({ status, headers, json }: Parsed): string {
  const type = headers.get('content-type')?.split(';')[0]
  const ofType = type ? ` with ${type}` : ''
  return `${status}${json?.error?.code ? ` ${json.error.code}` : ofType}`
}
