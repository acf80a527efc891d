import { CarillonError, unavailable } from '../../basics/errors.ts'

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
    if (code === 'NETWORK')
      throw unavailable(`No service answers at ${url}`, 'Is the service running?')
    if (code === 'UNREADABLE' && status === undefined)
      throw unavailable(`${url} redirects to another address`, 'Set CARILLON_URL to that one.')
    if (code === 'UNREADABLE')
      throw unavailable(`The response with status ${status} is not from Carillon`)
    const reasons = details.map(({ field, reason }) => `\n  ${nameOf(field)} ${reason}`)
    throw new CarillonError(
      code,
      `The service refused the request: ${message}${reasons.join('')}`,
      { cause },
    )
  }
}
