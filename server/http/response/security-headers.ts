// The fields of every response. Made once: for each request that would cost more than the rest of a cached response.

/** For responses that are data: they load nothing, and no page may frame them, cache them or guess their type (OWASP ASVS 5.0, chapter 3). */
export function securityHeaders(settings: {
  isHttps: boolean
  hstsSubdomains?: boolean
}): Readonly<Record<string, string>> {
  return Object.freeze({
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    ...(settings.isHttps && {
      'strict-transport-security': `max-age=63072000${settings.hstsSubdomains ? '; includeSubDomains' : ''}`,
    }),
  })
}
