// One request of a page to its service, and how it fails. The sentences for failures are in sentences.ts.
import type { ErrorCode, Fault } from 'carillon-client'

/** `code`: of the service, or NETWORK without a response, UNREADABLE if the response is not from Carillon. */
export class Failure extends Error {
  declare readonly code: ErrorCode
  /** Seconds to wait before the next attempt. */
  declare readonly retryAfter: number | undefined
  declare readonly details: readonly Fault[] | undefined

  constructor(code: ErrorCode, fields: Partial<Failure> = {}) {
    super(code, { cause: fields.cause })
    Object.assign(this, fields)
    this.code = code
  }
}

/** Is it a Failure, and with one of `codes` if any are given? */
export function isFailure(error: unknown, ...codes: ErrorCode[]): error is Failure {
  return error instanceof Failure && (codes.length === 0 || codes.includes(error.code))
}

export type Sending = { method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'; body?: unknown }

const timeoutMs = 30_000

/** A request that was refused may have had a cookie that the response to another one, also in another tab, has replaced: it is sent twice. */
export async function send<Data = undefined>(url: string, sending: Sending = {}): Promise<Data> {
  try {
    return await sendOnce<Data>(url, sending)
  } catch (error) {
    if (!isFailure(error, 'UNAUTHORIZED')) throw error
    return sendOnce<Data>(url, sending)
  }
}

/**
 * The data of the response; undefined for one without a body. Throws Failure. `url` is relative to the page, so that it works below any path.
 */
async function sendOnce<Data>(url: string, { method = 'GET', body }: Sending): Promise<Data> {
  const { response, text } = await exchange(url, {
    method,
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
    ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })
  if (response.status === 204) return undefined as Data
  const { success, data, error, ...whole } = readObject(text)
  if (response.ok && success !== false && text !== '') return (success ? data : whole) as Data
  throw new Failure(error?.code ?? 'UNREADABLE', { ...error, retryAfter: retryAfter(response) })
}

async function exchange(url: string, init: RequestInit) {
  try {
    const response = await fetch(url, init)
    return { response, text: await response.text() }
  } catch (cause) {
    throw new Failure('NETWORK', { cause })
  }
}

type Read = { success?: boolean; data?: unknown; error?: { code?: ErrorCode } }

/** A proxy's error page is not JSON. */
function readObject(text: string): Read {
  try {
    return Object(JSON.parse(text))
  } catch {
    return text === '' ? {} : { success: false }
  }
}

function retryAfter({ headers }: Response): number | undefined {
  const seconds = Number(headers.get('retry-after'))
  return seconds > 0 ? seconds : undefined
}
