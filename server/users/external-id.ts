// What may be an external id: the id that a user has in an application (RFC 7643, section 3.1). It is compared byte by byte, so
// that `aB` and `Ab` are two users, and it is never folded or normalized.

/** Code points. */
export const maxExternalIdLength = 255

/** Why the text cannot be an external id, or undefined if it can. */
export function externalIdFault(id: string): string | undefined {
  if (id === '') return 'must have at least 1 character'
  if (id.length > maxExternalIdLength && [...id].length > maxExternalIdLength)
    return `must have at most ${maxExternalIdLength} characters`
  if (/\p{Cc}/u.test(id)) return 'must have no control characters'
  if (!id.isWellFormed()) return 'must be valid Unicode: it has half of a surrogate pair'
  if (id === '.' || id === '..') return 'must not be "." or "..", because URL parsers remove these from a path'
  return undefined
}
