// Who sends this request, and from where: what the audit log and the log lines of sign-ins say of it.
import type { FastifyRequest } from 'fastify'
import type { Source } from '../../sign-in/audit/entry.ts'
import type { UserDependencies } from '../../sign-in/users/users.ts'
import type { Producer } from '../../store/store.ts'
import type { Dependencies } from '../dependencies.ts'
import type { GuardedRequest } from '../routes/operation.ts'
import { addressOf } from './address.ts'

const maxUserAgent = 256

export type RequestSource = Source & { address: string; requestId: string; route: string }

/** Who sends this request, as a user. Call it before the first await: Node does not know the address of a closed connection. */
export function sourceOf({ trustedProxies }: Dependencies, request: FastifyRequest): RequestSource {
  const { raw, id } = request
  const userAgent = raw.headers['user-agent']?.slice(0, maxUserAgent) ?? null
  const route = request.routeOptions.url ?? ''
  return { actor: 'user', address: addressOf(raw, trustedProxies), userAgent, requestId: id, route }
}

/** The users that a producer reaches, and the changes that it requests, which the audit log ascribes to it. */
export function usersFor(dependencies: Dependencies, request: GuardedRequest<Producer>): UserDependencies {
  const { id, application } = request.caller
  const actor = `producer:${id}`
  return { ...dependencies.users, application, source: { ...sourceOf(dependencies, request), actor } }
}
