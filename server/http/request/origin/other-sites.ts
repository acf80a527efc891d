// Which requests of pages of other sites does the service accept? It needs no CSRF token: browsers say where a request comes from.
import { isIP } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { afterUnreadBody } from '../../connections/drop-unread.ts'

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

/**
 * True if a browser says that another site sent it, in Sec-Fetch-Site or, an older one, in Origin; compare Go's
 * http.CrossOriginProtection. Without both fields it is no browser, and no cookie was added automatically.
 */
export function isCrossSite({ fetchSite, origin, host, allowed }: Origins): boolean {
  if (origin !== undefined && allowed.includes(origin)) return false
  if (fetchSite !== undefined) return fetchSite !== 'same-origin' && fetchSite !== 'none'
  if (origin === undefined) return false
  const parsed = URL.parse(origin)
  // Only in the spelling that a browser sends: URL.parse repairs others, such as a soft hyphen (0xAD) in the host.
  return host === undefined || parsed?.origin !== origin || parsed.host !== host.toLowerCase()
}

const preflight = {
  'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers': 'authorization, content-type, idempotency-key, if-none-match, last-event-id',
  'access-control-max-age': '600',
}

/**
 * Lets pages of allowed origins send requests and read responses (the CORS protocol, Fetch Standard, section 3.2). `allowed` has whole
 * origins, never patterns. Returns true if the request is a preflight whose response is sent here.
 */
export function allowOrigin(request: FastifyRequest, reply: FastifyReply, allowed: readonly string[]): boolean {
  if (allowed.length === 0) return false
  reply.header('vary', 'Origin')
  const { origin } = request.headers
  if (origin === undefined || !allowed.includes(origin)) return false
  reply.headers({
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': 'etag, retry-after',
  })
  if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return false
  afterUnreadBody(request, reply, () => reply.code(204).headers(preflight).send())
  return true
}

/**
 * Whether a `Host` field is one of the known names, `localhost`, or an address. A page of another site can make its own name resolve to this
 * machine (DNS rebinding); its scripts then reach the service as their own origin, but `Host` still has the other site's name.
 */
export type IsKnownHost = (host: string) => boolean

/** `names` are host names without ports. Ports are not compared: a port forward changes them, and rebinding cannot use one. */
export function knownHosts(names: readonly string[]): IsKnownHost {
  const known = new Set(['localhost', ...names.map(normalized)])
  return (host) => {
    const name = normalized(host.replace(/:\d*$/, ''))
    return known.has(name) || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0
  }
}

/** DNS compares names without regard to case, and ignores one full stop at the end (RFC 1034, section 3.1). */
function normalized(name: string): string {
  return name.toLowerCase().replace(/\.$/, '')
}
