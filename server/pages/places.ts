// The places to which the settings of this service let a sign-in lead. returnTo() checks the form of the text.
import type { Dependencies } from '../http/dependencies.ts'
import { returnTo } from '../http/request/origin/return-to.ts'
import { pagePath } from './page.ts'

/** The pages of this service to which one of its own pages, mails or providers may lead back, by a path. */
const ownPages = ['sign-in', 'account', 'inbox']

/**
 * Like `returnTo`, it returns undefined for a place that a link must not choose (P1). If CARILLON_RETURN_URLS is set, it accepts only
 * these URLs, and paths of the service's own pages. The sign-in page checks by itself where it leads to.
 */
export function acceptedPlace(dependencies: Dependencies, text: string): string | undefined {
  const { publicUrl, allowedOrigins, returnUrls } = dependencies
  if (returnUrls.includes(text)) return text
  const place = returnTo(text, { publicUrl: publicUrl(), allowedOrigins })
  if (place === undefined || returnUrls.length === 0) return place
  const path = place.replace(/[?#].*$/, '')
  return ownPages.some((page) => pagePath(dependencies, page) === path) ? place : undefined
}

export function originOf({ publicUrl }: Dependencies, place: string): string {
  return new URL(place, publicUrl()).origin
}
