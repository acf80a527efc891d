// Requests to a provider: only to its configured origins, each within a limited time, with a response of limited size, and without
// following a redirect. A provider that lies then reaches no other address with our requests (SSRF) and holds none of our memory.
import { CarillonError } from '../../errors.ts'

const timeoutMs = 5_000
/** Bytes, after decompression. Key sets and discovery documents of large providers have 10,000. */
const maxSize = 256 * 1024

type Options = Pick<RequestInit, 'method' | 'body' | 'signal'> & { headers: Record<string, string> }

/** As openid-client takes it. Throws UNAVAILABLE, with what is wrong for the operator. */
export function boundedFetch(origins: readonly string[]): (address: string, options: Options) => Promise<Response> {
  return async (address, options) => {
    refuseElsewhere(address, origins)
    try {
      const response = await fetch(address, {
        ...options,
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      })
      const { status, headers } = response
      const text = await textOf(address, response)
      return new Response(text === '' ? null : text, { status, headers })
    } catch (error) {
      throw error instanceof CarillonError ? error : unreachable(address, error)
    }
  }
}

export function refuseElsewhere(address: string, origins: readonly string[]): void {
  const origin = URL.parse(address)?.origin ?? 'an address that is no URL'
  if (!origins.includes(origin))
    throw providerFault(
      `the provider names ${origin.slice(0, 200)}, which is neither the origin of the issuer nor in "origins"`,
    )
}

/** `problem` is for the log: a user who signs in learns only that the provider fails. */
export function providerFault(problem: string): CarillonError {
  return new CarillonError('UNAVAILABLE', problem, { report: 'nothing' })
}

/** Stops reading at the limit, so that a response of any size costs no more than that. */
async function textOf(address: string, { body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > maxSize) throw providerFault(`${placeOf(address)} sends more than ${maxSize / 1024} KiB`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function unreachable(address: string, error: unknown): CarillonError {
  const { name, message, cause } = error as Error
  const { code } = (cause ?? {}) as NodeJS.ErrnoException
  const reason = name === 'TimeoutError' ? `no response within ${timeoutMs / 1000} s` : (code ?? message)
  return providerFault(`${placeOf(address)} cannot be reached: ${reason}`)
}

/** Without a query. */
function placeOf(address: string): string {
  const { origin, pathname } = new URL(address)
  return origin + pathname
}
