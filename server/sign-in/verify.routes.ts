import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isIdShaped } from '../basics/ids.ts'
import type { AddressRanges } from '../basics/ip-addresses.ts'
import { refusedProof } from '../guards/refused-proof.ts'
import { forVisitor } from '../http/operation.ts'
import { comesFromTrustedProxy } from '../http/request/address.ts'
import { acceptsHtml } from '../http/response/send.ts'
import type { PageNeeds, Reader } from '../pages/page.ts'
import { acceptedPlace, maxReturnToLength } from '../pages/places.ts'

export const verify = forVisitor({
  summary:
    'For a reverse proxy (nginx `auth_request`, Traefik `forwardAuth`, Caddy `forward_auth`): 200 with `Remote-User`, `Remote-Name` and `Remote-User-Id` ' +
    'if the request has the proof of a user; otherwise it leads a browser to the sign-in page',
  // Proxies use an internal name. Rebinding gains a page nothing: the cookie has the public name.
  anyHost: true,
  headers: {
    'x-original-url':
      'The URL that the browser requested, from nginx: 401 instead of 302, with the sign-in page in `Location`',
    'x-forwarded-proto': 'The scheme of that URL, from Traefik and Caddy',
    'x-forwarded-host': 'Its host, and its port if it has one',
    'x-forwarded-uri': 'Its path and query',
  },
  responses: { 200: 'none', 302: 'none' },
  async handle(dependencies: PageNeeds, request, reply) {
    const { isAuthRequest, url } = originalRequestOf(request.raw, dependencies.site.trustedProxies)
    const user = await dependencies.pages.readerOf(request.caller)
    if (user !== undefined) return reply.headers(identityOf(user)).code(200).send()
    const location = signInAddress(dependencies, url)
    if (!isAuthRequest && acceptsHtml(request)) return reply.redirect(location, 302)
    if (isAuthRequest) reply.header('location', location)
    throw refusedProof(request, 'user')
  },
})

/** An external id could equal another user's username, and a username another's id (U1). */
function identityOf({ id, username, displayName }: Reader): Readonly<Record<string, string>> {
  const name = username === null || isIdShaped(username) ? id : username
  return {
    'remote-user': fieldValue(name),
    'remote-name': fieldValue(displayName ?? name),
    'remote-user-id': id,
  }
}

/** Node writes each UTF-8 byte as a character. Control characters, which end fields, become ' '. */
function fieldValue(text: string): string {
  return Buffer.from(text.replaceAll(/\p{Cc}/gu, ' ').trim()).toString('latin1')
}

/** Traefik resolves relative addresses against its own name of this service. */
function signInAddress(dependencies: PageNeeds, original: string | undefined): string {
  const page = `${dependencies.site.publicUrl()}${dependencies.pages.prefix}/sign-in`
  const goal = original && acceptedPlace(dependencies, original)
  return goal === undefined ? page : `${page}?return_to=${encodeURIComponent(goal)}`
}

/** `url`: the way back. `isAuthRequest`: nginx's `auth_request`, which passes on no redirect. */
function originalRequestOf(request: IncomingMessage, trustedProxies: AddressRanges) {
  const { headers } = request
  const isAuthRequest = headers['x-original-url'] !== undefined
  // From other peers it is the client's claim (A11).
  if (!comesFromTrustedProxy(request, trustedProxies)) return { isAuthRequest, url: undefined }
  return {
    isAuthRequest,
    url: httpUrl(isAuthRequest ? only(headers, 'x-original-url') : forwardedUrl(headers)),
  }
}

function forwardedUrl(headers: IncomingHttpHeaders): string | undefined {
  const scheme = only(headers, 'x-forwarded-proto')
  const host = only(headers, 'x-forwarded-host')
  const target = only(headers, 'x-forwarded-uri')
  if (scheme === undefined || host === undefined || !target?.startsWith('/')) return undefined
  return `${scheme}://${host}${target}`
}

/** Node joins two fields, so a proxy that appends to the client's value would be misread. */
function only(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' && !value.includes(', ') ? value : undefined
}

/** As browsers write it: its origin is compared byte by byte. */
function httpUrl(text = ''): string | undefined {
  const url = text.length > maxReturnToLength ? null : URL.parse(text)
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? url.href : undefined
}
