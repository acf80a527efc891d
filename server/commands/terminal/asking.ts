// What a command that asks a running service says when that fails.
import { CarillonError } from '../../errors.ts'

/** Does what the client is for, and throws CarillonError with a sentence where the service does not do it. */
export async function asking<Result>(url: string, request: () => Promise<Result>): Promise<Result> {
  const { isCarillonError } = await import('carillon-client')
  try {
    return await request()
  } catch (cause) {
    if (!isCarillonError(cause)) throw cause
    const { code, status, message, details = [] } = cause
    if (code === 'NETWORK')
      throw new CarillonError('UNAVAILABLE', `Nothing answers at ${url}`, { remedy: 'Is the service running?', cause })
    if (code === 'UNREADABLE' && status === undefined)
      throw new CarillonError('UNAVAILABLE', `${url} redirects to another address`, {
        remedy: 'Set CARILLON_URL to that one.',
        cause,
      })
    if (code === 'UNREADABLE')
      throw new CarillonError('UNAVAILABLE', `The service answered ${status}, and not as Carillon does`, { cause })
    const reasons = details.map(({ field, reason }) => `\n  ${field} ${reason}`)
    throw new CarillonError(code, `The service refused it: ${message}${reasons.join('')}`, { cause })
  }
}
