// Who sends a request, and from where: for the audit log and the log lines of sign-ins.
import type { FastifyRequest } from 'fastify'
import { addressOf } from '../http/request/address.ts'
import type { Site } from '../http/site.ts'
import type { Source } from './entry.ts'

const maxUserAgent = 256

export type RequestSource = Source & { address: string; requestId: string; route: string }

/** Who sends this request, as a user. Call it before the first await: Node does not know the address of a closed connection. */
export function sourceOf({ site }: { site: Pick<Site, 'trustedProxies'> }, request: FastifyRequest): RequestSource {
  const { raw, id } = request
  const userAgent = raw.headers['user-agent']?.slice(0, maxUserAgent) ?? null
  const route = request.routeOptions.url ?? ''
  return { actor: 'user', address: addressOf(raw, site.trustedProxies), userAgent, requestId: id, route }
}
