// A path has one spelling (Z8): which are refused, and which methods does a path take (Z10)?
import type { Route } from '../operation.ts'

/** RFC 3986, section 2.3: no URI has to encode these. */
const encodedUnreserved = /%(?:2[de]|3\d|4[1-9a-f]|5[\daf]|6[1-9a-f]|7[\dae])/i
/** Browsers and some proxies read a backslash as a slash. */
const encodedSlash = /%(?:2f|5c)/i

/** Only these parameters may have a slash, as `%2F`. */
const freeTexts = [':externalId', ':category', ':key']

/** `path` is still encoded. */
export function isOtherSpelling(path: string, route = ''): boolean {
  return encodedUnreserved.test(path) || (encodedSlash.test(path) && !isWithinFreeText(path, route))
}

function isWithinFreeText(path: string, route: string): boolean {
  const pattern = route.split('/')
  const segments = path.split('/', pattern.length + 1)
  if (segments.length !== pattern.length) return false
  return segments.every(
    (segment, i) => !encodedSlash.test(segment) || freeTexts.includes(pattern[i] ?? ''),
  )
}

export function allowedMethods(
  routes: readonly Pick<Route, 'method' | 'path'>[],
  path: string,
): string[] {
  const maxSegments = Math.max(0, ...routes.map((route) => route.path.split('/').length))
  // Splitting 15,000 slashes for each route costs 5 ms.
  const segments = path.split('/', maxSegments + 1)
  const known = routes.filter(
    (route) => takes(route.path.split('/'), segments) && !isOtherSpelling(path, route.path),
  )
  const methods = known.map(({ method }) => method)
  return [...new Set(methods.includes('GET') ? [...methods, 'HEAD'] : methods)]
}

/** Another program may take these for slashes or dot segments (RFC 3986, section 5.2.4). */
function takes(pattern: readonly string[], segments: readonly string[]): boolean {
  const isText = (segment: string) => !['', '.', '..'].includes(segment) && !segment.includes('\\')
  const isTaken = (text: string, at: number) =>
    pattern[at]?.startsWith(':') ? isText(text) : pattern[at] === text
  return segments.length === pattern.length && segments.every(isTaken)
}
