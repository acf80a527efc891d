// Ids and names in paths.
import { CarillonError } from './errors.ts'

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Throws NOT_FOUND if `id` is not a UUID, without a request: as part of a path, `..` or `counts` is another route. */
export function idInPath(id: string, message: string): string {
  if (!uuid.test(id)) throw new CarillonError('NOT_FOUND', message, { status: 404 })
  return id
}

/** Throws INVALID_REQUEST for a text that cannot be a segment of a path, without a request: `..` is another route. `what`: `a key`. */
export function nameInPath(name: string, what: string): string {
  if (['', '.', '..'].includes(name))
    throw new CarillonError('INVALID_REQUEST', `"${name}" cannot be ${what}`, { status: 400 })
  return encodeURIComponent(name)
}
