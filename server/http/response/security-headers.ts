// The header fields that stand on every answer, errors and malformed requests included: constants, since computing them
// for each request costs more than the rest of a cached answer.

/** For answers that are data: nothing may load, frame, cache or sniff them. OWASP ASVS 5.0, chapter 3. */
export function securityHeaders({
  isHttps,
  hstsSubdomains = false,
}: {
  isHttps: boolean
  hstsSubdomains?: boolean
}): Readonly<Record<string, string>> {
  return Object.freeze({
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    ...(isHttps && {
      'strict-transport-security': `max-age=63072000${hstsSubdomains ? '; includeSubDomains' : ''}`,
    }),
  })
}
