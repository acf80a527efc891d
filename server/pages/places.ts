// Where the pages are, and the places to which the settings of this service let a sign-in lead. returnTo() checks the form of the text.
import { returnTo } from '../http/request/return-to.ts'
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
  const { publicUrl, allowedOrigins, returnUrls } = places.site
  if (returnUrls.includes(text)) return text
  const place = returnTo(text, { publicUrl: publicUrl(), allowedOrigins })
  if (place === undefined || returnUrls.length === 0) return place
  const path = place.replace(/[?#].*$/, '')
  return ownPages.some((page) => pagePath(places, page) === path) ? place : undefined
}

export function originOf({ site }: Pick<Places, 'site'>, place: string): string {
  return new URL(place, site.publicUrl()).origin
}
