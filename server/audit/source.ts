// What a request says of its sender: who and from where, for the audit log and the log lines of sign-ins; its devices; the host whose
// passkeys it uses; and for a producer, which users it means.
import type { FastifyRequest } from 'fastify'
import type { Source } from './entry.ts'
import { noSuchRoute } from '../basics/errors.ts'
import { type RelyingParty, relyingPartyOf } from '../factors/passkeys/relying-party.ts'
import type { Dependencies } from '../http/dependencies.ts'
import type { GuardedRequest } from '../http/operation.ts'
import { addressOf } from '../http/request/address.ts'
import { sessionSecrets } from '../http/request/cookies.ts'
import type { Producer } from '../store/store.ts'
import type { UserDependencies, UserKey } from '../users/users.ts'

const maxUserAgent = 256

export type RequestSource = Source & { address: string; requestId: string; route: string }

/** Who sends this request, as a user. Call it before the first await: Node does not know the address of a closed connection. */
export function sourceOf({ trustedProxies }: Dependencies, request: FastifyRequest): RequestSource {
  const { raw, id } = request
  const userAgent = raw.headers['user-agent']?.slice(0, maxUserAgent) ?? null
  const route = request.routeOptions.url ?? ''
  return { actor: 'user', address: addressOf(raw, trustedProxies), userAgent, requestId: id, route }
}

/** The device tokens: the application's, in the body of a sign-in, and those of the browser's cookie. */
export function presentedDevices({ deviceCookie }: Dependencies, { body, raw }: FastifyRequest): string[] {
  const { deviceToken } = (body ?? {}) as { deviceToken?: unknown }
  const cookies = sessionSecrets(raw.headers.cookie, deviceCookie.name)
  return typeof deviceToken === 'string' ? [deviceToken, ...cookies] : cookies
}

/** Throws UNPROCESSABLE if browsers accept no passkeys here. */
export function relyingPartyFor(
  { publicUrl, allowedOrigins }: Dependencies,
  { headers }: FastifyRequest,
): RelyingParty {
  return relyingPartyOf({ publicUrl: publicUrl(), host: headers.host, allowedOrigins })
}

/** The user whom the path names. Throws NOT_FOUND for an empty external id: `/api/users/external/` is not a route. */
export function userKey({ params: { id, externalId } }: GuardedRequest): UserKey {
  if (externalId === '') throw noSuchRoute()
  // A UUID may be sent in upper case (RFC 9562, section 4).
  return externalId === undefined ? { id: id.toLowerCase() } : { externalId }
}

/** The users that a producer reaches, and the changes that it requests, which the audit log ascribes to it. */
export function usersFor(dependencies: Dependencies, request: GuardedRequest<Producer>): UserDependencies {
  const { id, application } = request.caller
  const actor = `producer:${id}`
  return { ...dependencies.users, application, source: { ...sourceOf(dependencies, request), actor } }
}
