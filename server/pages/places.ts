// Where may a browser go after a sign-in? A link must not choose freely (P1, an open redirect).
import { invalidField } from '../basics/errors.ts'
import type { Site } from '../http/site.ts'

type Places = { site: Site; pages: { prefix: string } }

/** Also behind a proxy that strips the public URL's path. */
export function pagePath({ site, pages }: Places, name: string): string {
  return `${new URL(site.publicUrl()).pathname.replace(/\/$/, '')}${pages.prefix}/${name}`
}

export function signInPath(places: Places, name: string): string {
  const goal = encodeURIComponent(pagePath(places, name))
  return `${pagePath(places, 'sign-in')}?return_to=${goal}`
}

const ownPages = ['sign-in', 'account', 'inbox', 'operator']

/**
 * Undefined for what no link may choose. If CARILLON_RETURN_URLS is set, links may choose only its
 * URLs and our pages.
 */
export function acceptedPlace(places: Places, text: string): string | undefined {
  const { returnUrls } = places.site
  if (returnUrls.includes(text)) return text
  const place = returnTo(text, places.site)
  if (place === undefined || returnUrls.length === 0) return place
  const path = place.replace(/[?#].*/, '')
  return ownPages.some((page) => pagePath(places, page) === path) ? place : undefined
}

/** Throws INVALID_REQUEST. The inbox by default. */
export function readReturnTo(
  places: Places,
  field: string,
  wanted: string | null | undefined,
): string {
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

/** A cookie has the place, and browsers store 4 KiB. */
export const maxReturnToLength = 1_024

/** Browsers take a backslash for a slash, and drop tabs and line breaks (URL Standard, 4.4). */
export function returnTo(
  text: string,
  site: Pick<Site, 'publicUrl' | 'allowedOrigins'>,
): string | undefined {
  if (text.length > maxReturnToLength || /[\\\p{C}\p{Z}]/u.test(text)) return undefined
  const here = new URL(site.publicUrl()).origin
  if (text.startsWith('/')) return pathHere(text, here)
  const isOf = (one: string) => text.startsWith(one) && /^(?:[/?#]|$)/.test(text.slice(one.length))
  const origin = [here, ...site.allowedOrigins].find(isOf)
  if (origin === undefined) return undefined
  const url = URL.parse(text)
  return url?.origin === origin && url.username === '' && url.password === '' ? url.href : undefined
}

/** Resolved, `/.//host` begins with two slashes. */
function pathHere(text: string, here: string): string | undefined {
  const url = text.startsWith('//') ? null : URL.parse(text, here)
  if (url === null || url.origin !== here || url.pathname.startsWith('//')) return undefined
  return url.pathname + url.search + url.hash
}
