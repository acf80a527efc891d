// One request of a page to its service. It fails with the errors of the client.
import {
  errorOf,
  isCarillonError,
  networkError,
  unreadable,
} from '../../client/transport/errors.ts'

export type Sending = { method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'; body?: unknown }

const timeoutMs = 30_000

/** A refused request may have had a cookie that another tab has replaced: it is sent twice. */
export async function send<Data = undefined>(url: string, sending: Sending = {}): Promise<Data> {
  return sendOnce<Data>(url, sending).catch((error: unknown) => {
    if (!isCarillonError(error, 'UNAUTHORIZED')) throw error
    return sendOnce<Data>(url, sending)
  })
}

/** Returns undefined for an empty response. `url` is relative, so that it works below any path. */
async function sendOnce<Data>(
  url: string,
  { body, method = body ? 'POST' : 'GET' }: Sending,
): Promise<Data> {
  const response = await fetch(url, {
    method,
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
    ...(body !== undefined && {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  }).catch(noResponse)
  const text = await response.text().catch(noResponse)
  if (!response.ok) throw errorOf(response, text)
  if (response.status === 204) return undefined as Data
  try {
    const { success, data, ...whole } = JSON.parse(text)
    return (success ? data : whole) as Data
  } catch (cause) {
    throw unreadable(response, cause)
  }
}

function noResponse(cause: unknown): never {
  throw networkError(cause)
}
