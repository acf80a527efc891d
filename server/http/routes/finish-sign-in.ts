// The last step of every sign-in, whatever the user proved: issues a session or a token, ends the proofs that the request presents,
// and returns the response.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { newId } from '../../ids.ts'
import { auditEntry, type Source } from '../../sign-in/audit/entry.ts'
import { endPresented, endTokens } from '../../sign-in/end-presented.ts'
import type { UserDependencies } from '../../sign-in/users/users.ts'
import type { AuditEntry, Producer, User } from '../../store/store.ts'
import { iso } from '../../times.ts'
import type { Dependencies } from '../dependencies.ts'
import { addressOf } from '../request/address.ts'
import { presentedTokens, sessionSecrets } from '../request/guards.ts'
import { presentedDevices } from '../request/presented-devices.ts'
import { setCookie } from '../response/cookies.ts'
import { displayUser } from '../response/send.ts'
import type { GuardedRequest } from './operation.ts'

export type Variant = 'stateful' | 'stateless'
export type Exchange = { request: FastifyRequest; reply: FastifyReply }
/** `method`: what the user proved. */
export type SignInFacts = { variant: Variant; method: 'password' | 'passkey' | 'provider'; source: RequestSource }

const maxUserAgent = 256

export type RequestSource = Source & { address: string; requestId: string; route: string }

/** Who sends this request, as a user. Call it before the first await: Node does not know the address of a closed connection. */
export function sourceOf({ trustedProxies }: Dependencies, request: FastifyRequest): RequestSource {
  const { raw, id } = request
  const userAgent = raw.headers['user-agent']?.slice(0, maxUserAgent) ?? null
  const route = request.routeOptions.url ?? ''
  return { actor: 'user', address: addressOf(raw, trustedProxies), userAgent, requestId: id, route }
}

/** The changes of users that a producer requests, and that the audit log ascribes to it. */
export function usersFor(dependencies: Dependencies, request: GuardedRequest<Producer>): UserDependencies {
  const actor = `producer:${request.caller.id}`
  return { ...dependencies.users, source: { ...sourceOf(dependencies, request), actor } }
}

/** `user` as it was read for the check of the proof. Throws INVALID_CREDENTIALS if its proofs have been revoked since. */
export async function finishSignIn(
  dependencies: Dependencies,
  user: User,
  { variant, method, source }: SignInFacts,
  exchange: Exchange,
): Promise<object> {
  const at = dependencies.users.now()
  const signInId = newId(at)
  const { id: userId, username } = user
  const entry = auditEntry(source, { event: 'sign-in', at, userId, username, signInId, detail: { variant, method } })
  const issue = variant === 'stateless' ? issueToken : issueSession
  const issued = await issue(dependencies, user, { ...exchange, entry, signInId })
  return { User: displayUser(user), ...issued }
}

type Issue = Exchange & { entry: AuditEntry; signInId: string }

async function issueToken(dependencies: Dependencies, user: User, { request, reply, entry, signInId }: Issue) {
  const { accessTokens, cookie, deviceCookie, devices, store } = dependencies
  const { token, expiresAt } = await accessTokens.issue(user, signInId)
  const secrets = sessionSecrets(request.raw.headers.cookie, cookie.name)
  await endPresented(dependencies, { secrets, tokens: presentedTokens(request.raw) })
  await store.recordAudit([entry])
  if (secrets.length > 0) setCookie(reply, cookie, '')
  const deviceToken = devices.afterSignIn(presentedDevices(request, deviceCookie), user)
  return { token, expiresAt: iso(expiresAt), deviceToken, variant: 'stateless' }
}

async function issueSession(dependencies: Dependencies, user: User, { request, reply, entry, signInId }: Issue) {
  const { sessions, accessTokens, cookie, deviceCookie, devices } = dependencies
  const replaces = sessionSecrets(request.raw.headers.cookie, cookie.name)
  const detail = { signInId, device: null, address: entry.address, audit: [entry] }
  const { secret, expiresAt } = await sessions.issue(user, { replaces, ...detail })
  await endTokens(accessTokens, presentedTokens(request.raw))
  // A client that reads one cookie only reads the first.
  setCookie(reply, cookie, secret)
  setCookie(reply, deviceCookie, devices.afterSignIn(presentedDevices(request, deviceCookie), user))
  return { expiresAt: iso(expiresAt), variant: 'stateful' }
}
