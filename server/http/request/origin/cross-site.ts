// Does this request come from another site's page? Needs no CSRF token: browsers say it in Sec-Fetch-Site, older ones in Origin.
// Compare Go's http.CrossOriginProtection.

export type Origins = {
  /** `Sec-Fetch-Site` (Fetch Metadata, W3C). */
  fetchSite: string | undefined
  origin: string | undefined
  host: string | undefined
  /** Allowed origins, exactly as browsers send them. */
  allowed: readonly string[]
}

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS'])

export function isSafeMethod(method: string): boolean {
  return safeMethods.has(method)
}

/** True if a browser says that another site sent it. Without both fields it is no browser, and no cookie was added automatically. */
export function isCrossSite({ fetchSite, origin, host, allowed }: Origins): boolean {
  if (origin !== undefined && allowed.includes(origin)) return false
  if (fetchSite !== undefined) return fetchSite !== 'same-origin' && fetchSite !== 'none'
  if (origin === undefined) return false
  const parsed = URL.parse(origin)
  // Only in the spelling that a browser sends: URL.parse repairs others, such as a soft hyphen (0xAD) in the host.
  return host === undefined || parsed?.origin !== origin || parsed.host !== host.toLowerCase()
}
