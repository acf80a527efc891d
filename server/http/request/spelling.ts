// Does a path have the spelling of its route? The router decodes a path before it matches, so `/%6cogin` would be `/login`, and a proxy
// that limits or forbids `/login` would not notice. Each path has one spelling; any other is 404.

/** A percent-encoded letter, digit, `-`, `.`, `_` or `~`: no URI has to encode these (RFC 3986, section 2.3). */
const encodedUnreserved = /%(?:2[de]|3\d|4[1-9a-f]|5[\daf]|6[1-9a-f]|7[\dae])/i
/** A backslash counts as a slash: browsers and some proxies read it as one. */
const encodedSlash = /%(?:2f|5c)/i

/** The one parameter that may be any text: in it, and nowhere else, a slash may be sent as `%2F`. */
const freeText = ':externalId'

/** The path of a request target, without the query. An absolute form (`http://host/login`) has the same path. */
export function pathOf(target: string): string {
  const start = target.charCodeAt(0) === 0x2f ? 0 : target.indexOf('/', target.indexOf('://') + 3)
  const end = target.indexOf('?')
  if (start < 0 || (end >= 0 && end < start)) return ''
  return start === 0 && end < 0 ? target : target.slice(start, end < 0 ? undefined : end)
}

/** The longest path of ours has an external id: 255 characters of 4 bytes each, each byte as `%FF`. */
const maxEncodedPathLength = 3_200

/** A longer encoded path becomes one that no route has: the router decodes before any hook; 5,000 `%25` take 1 ms. */
export function targetToRoute(target: string): string {
  if (target.length <= maxEncodedPathLength) return target
  const path = pathOf(target)
  return path.length > maxEncodedPathLength && path.includes('%') ? '/-' : target
}

/** Whether a path, still encoded, has another spelling than its route. Without a route, no encoded slash is allowed. */
export function isOtherSpelling(path: string, route = ''): boolean {
  if (!path.includes('%')) return false
  return encodedUnreserved.test(path) || (encodedSlash.test(path) && !isWithinFreeText(path, route))
}

function isWithinFreeText(path: string, route: string): boolean {
  const pattern = route.split('/')
  const segments = path.split('/', pattern.length + 1)
  if (segments.length !== pattern.length) return false
  return segments.every((segment, i) => !encodedSlash.test(segment) || pattern[i] === freeText)
}
