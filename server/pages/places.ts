// Where the pages are, and where may a browser be sent after a sign-in? To a path here, or to a page of an allowed origin; never to a site that
// a link chose (P1, an open redirect).
import { invalidField } from '../basics/errors.ts'
import type { Site } from '../http/site.ts'

type Places = { site: Site; pages: { prefix: string } }

/** The path of a page as browsers see it, also behind a proxy that strips the path of the public URL: for `Location`. */
export function pagePath({ site, pages }: Places, name: string): string {
  return `${new URL(site.publicUrl()).pathname.replace(/\/$/, '')}${pages.prefix}/${name}`
}

/** The sign-in page, which leads back to the page `name`. */
export function signInPath(places: Places, name: string): string {
  const goal = encodeURIComponent(pagePath(places, name))
  return `${pagePath(places, 'sign-in')}?return_to=${goal}`
}

/** The pages of this service to which one of its own pages, mails or providers may lead back, by a path. */
const ownPages = ['sign-in', 'account', 'inbox']

/**
 * Like `returnTo`, it returns undefined for a place that a link must not choose (P1). If CARILLON_RETURN_URLS is set, it accepts only
 * these URLs, and paths of the service's own pages. The sign-in page checks by itself where it leads to.
 */
export function acceptedPlace(places: Places, text: string): string | undefined {
  const { returnUrls } = places.site
  if (returnUrls.includes(text)) return text
  const place = returnTo(text, places.site)
  if (place === undefined || returnUrls.length === 0) return place
  const path = place.replace(/[?#].*/, '')
  return ownPages.some((page) => pagePath(places, page) === path) ? place : undefined
}

/** Throws INVALID_REQUEST for a place that a link must not choose (P1). Without one, it is the inbox. */
export function readReturnTo(places: Places, field: string, wanted: string | null | undefined): string {
  if (typeof wanted !== 'string') return pagePath(places, 'inbox')
  const place = acceptedPlace(places, wanted)
  if (place !== undefined) return place
  const reason =
    places.site.returnUrls.length > 0
      ? 'must be a URL in CARILLON_RETURN_URLS, byte by byte, or the path of a page of this service'
      : 'must be a path of this service, or a URL whose origin is in CARILLON_ALLOWED_ORIGINS'
  throw invalidField(field, reason)
}

export function originOf({ site }: Pick<Places, 'site'>, place: string): string {
  return new URL(place, site.publicUrl()).origin
}

/** Characters. It travels in a cookie, of which a browser stores 4 KiB. */
export const maxReturnToLength = 1_024

/**
 * The text for `Location`, or undefined if `text` is neither a path that begins with one slash, nor a URL whose origin is that of the
 * public URL or in the list, byte by byte. Browsers read a backslash as a slash, and leave out tabs and line breaks (URL Standard,
 * section 4.4), so a text with one of them is refused before it is parsed.
 */
export function returnTo(text: string, site: Pick<Site, 'publicUrl' | 'allowedOrigins'>): string | undefined {
  if (text.length > maxReturnToLength || /[\\\p{C}\p{Z}]/u.test(text)) return undefined
  const here = new URL(site.publicUrl()).origin
  if (text.startsWith('/')) return pathHere(text, here)
  const isOf = (one: string) => text.startsWith(one) && /^(?:[/?#]|$)/.test(text.slice(one.length))
  const origin = [here, ...site.allowedOrigins].find(isOf)
  if (origin === undefined) return undefined
  const url = URL.parse(text)
  return url?.origin === origin && url.username === '' && url.password === '' ? url.href : undefined
}

/** A path with `..` may begin with two slashes once it is resolved: `/.//host` is such a path. */
function pathHere(text: string, here: string): string | undefined {
  const url = text.startsWith('//') ? null : URL.parse(text, here)
  if (url === null || url.origin !== here || url.pathname.startsWith('//')) return undefined
  return url.pathname + url.search + url.hash
}
