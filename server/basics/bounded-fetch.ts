// A request, bounded in time and size, to a service of the operator's choice. It follows no
// redirect: a lying service could choose another address (SSRF).
import { CarillonError } from './errors.ts'

export type Bounds = {
  timeoutMs?: number
  /** Counts bytes after decompression. */
  maxSize?: number
  fault: (problem: string) => CarillonError
}

/** Large providers' key sets have 10,000 bytes. */
export async function boundedFetch(
  address: string,
  options: RequestInit,
  bounds: Bounds,
): Promise<Response> {
  const { timeoutMs = 5_000, maxSize = 256 * 1024, fault } = bounds
  // The query may have secrets.
  const { origin, pathname } = new URL(address)
  try {
    const response = await fetch(address, {
      ...options,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    })
    const { status, headers } = response
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of response.body ?? []) {
      size += chunk.length
      if (size > maxSize) throw fault(`${origin}${pathname} sends more than ${maxSize / 1024} KiB`)
      chunks.push(chunk)
    }
    return new Response(size === 0 ? null : Buffer.concat(chunks), { status, headers })
  } catch (error) {
    if (error instanceof CarillonError) throw error
    const { name, message, cause } = error as Error
    const { code, message: reason } = (cause ?? {}) as NodeJS.ErrnoException
    const why =
      name === 'TimeoutError'
        ? `no response within ${timeoutMs / 1000} s`
        : code || reason || message
    throw fault(`${origin}${pathname} cannot be reached: ${why}`)
  }
}
