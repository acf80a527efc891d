// Is a path written as its route is? The router decodes before it matches, so `/%6cogin` would be `/login`, and whoever
// limits or forbids `/login` in front of us would not notice. Each path has one spelling; others are no route.

/** A percent-encoded letter, digit, `-`, `.`, `_` or `~`: no URI has to encode these (RFC 3986, section 2.3). */
const encodedUnreserved = /%(?:2[de]|3\d|4[1-9a-f]|5[\daf]|6[1-9a-f]|7[\dae])/i
/** A backslash counts as a slash: browsers and some proxies read it as one. */
const encodedSlash = /%(?:2f|5c)/i

/** What a route says about its path: the pattern, and which of its parameters may be any text, a slash included. */
export type Spelled = { path: string; freeText?: string | undefined }

/** The path of a request target, without the query. An absolute form (`http://host/login`) has the same path. */
export function pathOf(target: string): string {
  const start = target.charCodeAt(0) === 0x2f ? 0 : target.indexOf('/', target.indexOf('://') + 3)
  const end = target.indexOf('?')
  if (start < 0 || (end >= 0 && end < start)) return ''
  return start === 0 && end < 0 ? target : target.slice(start, end < 0 ? undefined : end)
}

/** Our paths have 70 characters at most; an id of any length is none of ours. */
const maxEncodedPathLength = 1_024

/**
 * The target that the router gets. It decodes a path before any hook runs, and one of 5,000 `%25` took 1 ms of the event loop: a
 * path that long which needs decoding is no route.
 */
export function targetToRoute(target: string): string {
  if (target.length <= maxEncodedPathLength) return target
  const path = pathOf(target)
  return path.length > maxEncodedPathLength && path.includes('%') ? '/-' : target
}

/** Whether a path, still encoded, is another spelling than the one that its route has. Without a route: of any route. */
export function isOtherSpelling(path: string, route: Spelled | undefined): boolean {
  if (!path.includes('%')) return false
  return encodedUnreserved.test(path) || (encodedSlash.test(path) && !isWithinFreeText(path, route))
}

function isWithinFreeText(path: string, route: Spelled | undefined): boolean {
  if (route?.freeText === undefined) return false
  const pattern = route.path.split('/')
  const segments = path.split('/', pattern.length + 1)
  if (segments.length !== pattern.length) return false
  return segments.every((segment, i) => !encodedSlash.test(segment) || pattern[i] === `:${route.freeText}`)
}
