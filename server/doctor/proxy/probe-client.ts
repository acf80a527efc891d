// Sends requests that read and change nothing, and says whether a response is one of Carillon's.

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

const defaultTimeoutMs = 5_000

export class ProbeClient {
  /** The URL of the service, perhaps with a path; without a slash at its end. */
  readonly url: string
  readonly now: () => number

  constructor({ url, now }: { url: string; now: () => number }) {
    this.url = url
    this.now = now
  }

  /** Rejects if no response arrives. */
  async request(path: string): Promise<ProbeResponse> {
    const before = this.now()
    const response = await this.#fetch(path, AbortSignal.timeout(defaultTimeoutMs))
    const at = (before + this.now()) / 2
    return { status: response.status, headers: response.headers, json: parsed(await response.text()), at }
  }

  /** A response that stays open. 'silent' if its header does not arrive within `timeoutMs`, which also limits the text. */
  async open(path: string, headers: Record<string, string>, timeoutMs: number): Promise<OpenResponse | 'silent'> {
    const ending = new AbortController()
    const close = () => ending.abort()
    try {
      const signal = AbortSignal.any([ending.signal, AbortSignal.timeout(timeoutMs)])
      const received = await this.#fetch(path, signal, headers)
      const json = received.status === 200 ? undefined : parsed(await received.text())
      const response = { status: received.status, headers: received.headers, json, at: this.now() }
      return { response, arrives: (wanted) => arrivesIn(received.body, wanted), close }
    } catch (error) {
      close()
      if (isTimeout(error)) return 'silent'
      throw error
    }
  }

  /** Follows no redirect. */
  #fetch(path: string, signal: AbortSignal, headers: Record<string, string> = {}): Promise<Response> {
    const fields = { 'user-agent': 'carillon-doctor', ...headers }
    return fetch(this.url + path, { headers: fields, redirect: 'manual', signal })
  }
}

function isTimeout(error: unknown): boolean {
  return (error as Error).name === 'TimeoutError'
}

export type OpenResponse = {
  response: ProbeResponse
  /** Whether this text arrives before the response ends or times out. */
  arrives(wanted: string): Promise<boolean>
  close(): void
}

async function arrivesIn(body: ReadableStream<Uint8Array> | null, wanted: string): Promise<boolean> {
  let text = ''
  try {
    for await (const part of body?.pipeThrough<string>(new TextDecoderStream() as ReadableWritablePair) ?? []) {
      text += part
      if (text.includes(wanted)) return true
    }
  } catch (error) {
    if (!isTimeout(error)) throw error
  }
  return false
}

function parsed(text: string): Envelope | undefined {
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

export function described({ status, headers, json: response }: ProbeResponse): string {
  const type = headers.get('content-type')?.split(';')[0]
  return `${status}${response?.error?.code ? ` ${response.error.code}` : type ? ` with ${type}` : ''}`
}
