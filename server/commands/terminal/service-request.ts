// Sends a command's requests to the running service, and says in a sentence why they failed.
import { CarillonError, unavailable } from '../../basics/errors.ts'

/** Throws the client's errors as a CarillonError. `nameOf` returns what the operator calls a field of the request. */
export async function requestService<Result>(
  url: string,
  request: () => Promise<Result>,
  nameOf = (field: string) => field,
): Promise<Result> {
  const { isCarillonError } = await import('carillon-client')
  try {
    return await request()
  } catch (cause) {
    if (!isCarillonError(cause)) throw cause
    const { code, status, message, details = [] } = cause
    if (code === 'AUTH_FAILED') throw cause.cause
    if (code === 'NETWORK') throw unavailable(`No service answers at ${url}`, 'Is the service running?')
    if (code === 'UNREADABLE' && status === undefined)
      throw unavailable(`${url} redirects to another address`, 'Set CARILLON_URL to that one.')
    if (code === 'UNREADABLE') throw unavailable(`The response with status ${status} is not from Carillon`)
    const reasons = details.map(({ field, reason }) => `\n  ${nameOf(field)} ${reason}`)
    throw new CarillonError(code, `The service refused the request: ${message}${reasons.join('')}`, { cause })
  }
}
