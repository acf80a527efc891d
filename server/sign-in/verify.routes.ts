import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { notAuthenticated } from '../basics/errors.ts'
import { isIdShaped } from '../basics/ids.ts'
import type { AddressRanges } from '../basics/ip-addresses.ts'
import { forVisitor } from '../http/operation.ts'
import { comesFromTrustedProxy } from '../http/request/address.ts'
import { acceptsHtml } from '../http/response/send.ts'
import type { PageNeeds, Reader } from '../pages/page.ts'
import { acceptedPlace, maxReturnToLength } from '../pages/places.ts'

export const verify = forVisitor({
  summary:
    'For a reverse proxy (nginx `auth_request`, Traefik `forwardAuth`, Caddy `forward_auth`): 200 with `Remote-User`, `Remote-Name` and `Remote-User-Id` ' +
    'if the request has the proof of a user; otherwise it leads a browser to the sign-in page',
  // A proxy uses an internal name. A page that rebinds its own name gets nothing: the cookie is for the public name only.
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
    // nginx treats every other status as a failure; its configuration makes a redirect of it.
    if (isAuthRequest) reply.header('location', location)
    throw notAuthenticated()
  },
})

/** Never the external id, which could equal the username of another user, nor a username that could be the id of another one (U1). */
function identityOf({ id, username, displayName }: Reader): Readonly<Record<string, string>> {
  const name = username === null || isIdShaped(username) ? id : username
  return { 'remote-user': fieldValue(name), 'remote-name': fieldValue(displayName ?? name), 'remote-user-id': id }
}

/** The UTF-8 bytes, of which Node writes each character as one. A control character could end the field, so a space replaces it. */
function fieldValue(text: string): string {
  return Buffer.from(text.replaceAll(/\p{Cc}/gu, ' ').trim()).toString('latin1')
}

/** Absolute: Traefik resolves a relative address against its own name of this service. */
function signInAddress(dependencies: PageNeeds, original: string | undefined): string {
  const page = `${dependencies.site.publicUrl()}${dependencies.pages.prefix}/sign-in`
  const goal = original && acceptedPlace(dependencies, original)
  return goal === undefined ? page : `${page}?return_to=${encodeURIComponent(goal)}`
}

/** The `url` is only for the way back after a sign-in. `isAuthRequest`: an nginx with `auth_request`, which passes no redirect on. */
function originalRequestOf(request: IncomingMessage, trustedProxies: AddressRanges) {
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

/** The URL as browsers write it, so that its origin can be compared byte by byte. Undefined if it is too long, or not one of http or https. */
function httpUrl(text = ''): string | undefined {
  const url = text.length > maxReturnToLength ? null : URL.parse(text)
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? url.href : undefined
}
