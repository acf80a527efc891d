// What did the browser request from the proxy that sends `GET /verify`? For the way back after a sign-in, and for nothing else.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { AddressRanges } from '../basics/ip-addresses.ts'
import { comesFromTrustedProxy } from '../http/request/address.ts'

/** `isAuthRequest`: the proxy is an nginx with `auth_request`, which passes no redirect on. `url`: undefined without a trusted proxy that says it. */
export type OriginalRequest = { isAuthRequest: boolean; url: string | undefined }

type Request = Pick<IncomingMessage, 'headers' | 'socket'>

export function originalRequestOf(request: Request, trustedProxies: AddressRanges): OriginalRequest {
  const { headers } = request
  const isAuthRequest = headers['x-original-url'] !== undefined
  // From any other peer it is the client's own claim (A11).
  if (!comesFromTrustedProxy(request, trustedProxies)) return { isAuthRequest, url: undefined }
  return { isAuthRequest, url: httpUrl(isAuthRequest ? only(headers, 'x-original-url') : forwardedUrl(headers)) }
}

/** Traefik and Caddy send it in three fields. */
function forwardedUrl(headers: IncomingHttpHeaders): string | undefined {
  const [scheme, host, target] = ['proto', 'host', 'uri'].map((part) => only(headers, `x-forwarded-${part}`))
  if (scheme === undefined || host === undefined || !target?.startsWith('/')) return undefined
  return `${scheme}://${host}${target}`
}

/** The value of a field that came once: Node joins two, and a proxy that appends to the client's value would be read wrong. */
function only(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' && !value.includes(', ') ? value : undefined
}

/** As browsers write it, so that its origin can be compared byte by byte; undefined if it is none of http or https. */
function httpUrl(text: string | undefined): string | undefined {
  const url = URL.parse(text ?? '')
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? url.href : undefined
}
