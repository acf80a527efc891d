// Does the client already have this response?

/**
 * If-None-Match (RFC 9110, section 13.1.2), by weak comparison: a `W/` before the tag makes no difference. Undefined: the request
 * has no such field.
 */
export function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch === etag || ifNoneMatch === '*') return true
  if (!ifNoneMatch.includes(etag)) return false
  return ifNoneMatch.matchAll(/[ \t,]*(?:W\/)?("[^"]*")(?=[ \t]*(?:,|$))/gy).some(([, tag]) => tag === etag)
}
