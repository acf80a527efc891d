// Does this request come from another site's page? No token to carry: browsers say it themselves in Sec-Fetch-Site, and
// older ones in Origin. Compare Go's http.CrossOriginProtection.

export type Origins = {
  /** `Sec-Fetch-Site` (Fetch Metadata, W3C). */
  fetchSite: string | undefined
  origin: string | undefined
  host: string | undefined
  /** Origins that may, exactly as browsers send them. */
  allowed: readonly string[]
}

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS'])

export function isSafeMethod(method: string): boolean {
  return safeMethods.has(method)
}

/** True where a browser says that another site sent it. Neither field: no browser, so no cookie was sent unasked. */
export function isCrossSite({ fetchSite, origin, host, allowed }: Origins): boolean {
  if (origin !== undefined && allowed.includes(origin)) return false
  if (fetchSite !== undefined) return fetchSite !== 'same-origin' && fetchSite !== 'none'
  if (origin === undefined) return false
  const parsed = URL.parse(origin)
  // Only the spelling that a browser sends: URL.parse repairs others, such as a soft hyphen (0xAD) within the host.
  return host === undefined || parsed?.origin !== origin || parsed.host !== host.toLowerCase()
}
