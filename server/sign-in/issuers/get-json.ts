// One request to an issuer: a JSON object of limited size within a limited time, from exactly this address.
import { CarillonError } from '../../errors.ts'

const timeoutMs = 5_000
/** Bytes, after decompression. The key sets of large providers have 10,000. */
const maxSize = 256 * 1024

export type JsonObject = Readonly<Record<string, unknown>>

/** Throws UNAVAILABLE, with what is wrong and what to change. */
export async function getJson(address: string): Promise<JsonObject> {
  try {
    const response = await fetch(address, {
      redirect: 'manual',
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(timeoutMs),
    })
    refuseOther(address, response)
    return objectIn(address, await textOf(address, response))
  } catch (error) {
    throw error instanceof CarillonError ? error : unreachable(address, error)
  }
}

export function wrongResponse(problem: string, remedy: string): CarillonError {
  return new CarillonError('UNAVAILABLE', problem, { remedy })
}

function refuseOther(address: string, { status, headers, body }: Response): void {
  if (status === 200) return
  void body?.cancel()
  const location = headers.get('location')
  if (status >= 300 && status < 400 && location !== null)
    throw wrongResponse(
      `${address} redirects to ${JSON.stringify(location.slice(0, 200))}, and redirects are not followed`,
      'Write the address that responds with 200 in CARILLON_ISSUERS.',
    )
  throw wrongResponse(`${address} responds with ${status} instead of 200`, 'Check the address in CARILLON_ISSUERS.')
}

/** Stops reading at the limit, so that a response of any size costs no more than that. */
async function textOf(address: string, { body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > maxSize)
      throw wrongResponse(
        `${address} sends more than ${maxSize / 1024} KiB`,
        'Check the address in CARILLON_ISSUERS: a key set has a few KiB.',
      )
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function objectIn(address: string, text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject
  } catch {
    // The same sentence as for another value.
  }
  throw wrongResponse(
    `${address} sends no JSON object, but ${JSON.stringify(text.slice(0, 40))}`,
    'Check the address in CARILLON_ISSUERS.',
  )
}

function unreachable(address: string, error: unknown): CarillonError {
  const { name, message, cause } = error as Error
  const reason = name === 'TimeoutError' ? `no response within ${timeoutMs / 1000} s` : reasonOf(cause, message)
  return new CarillonError('UNAVAILABLE', `${address} cannot be reached: ${reason}`, {
    remedy:
      'Check the address in CARILLON_ISSUERS, the name, the certificate, and whether this machine may connect to it.',
    cause: error,
  })
}

/** fetch says only "fetch failed"; its cause has the code. */
function reasonOf(cause: unknown, message: string): string {
  const { code, message: reason } = (cause ?? {}) as NodeJS.ErrnoException
  return code ?? (reason || message)
}
