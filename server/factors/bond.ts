// Who may use what a sign-in with a provider put into the fragment of `return_to`, a code or the challenge of a second factor: the browser
// that began, by the cookie of its flow, or the page that began, by its verifier and its origin. A redirect of that page may carry the
// fragment to another site (RFC 9700, section 4.1), which has neither.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Dependencies } from '../http/dependencies.ts'
import { sessionSecret } from '../http/request/cookies.ts'
import { setCookie } from '../http/response/cookies.ts'
import { equalSecrets, hashOf } from '../sealing/secrets.ts'
import { type Flow, flowId, flowLifetimeMs } from '../providers/flow.ts'

/** Kept with a code or a challenge. `flow`: the cookie that is needed. `origin`: the page's, if it is not that of the service. */
export type Bond = { flow?: string; stateHash?: string; challenge?: string | undefined; origin?: string | undefined }

/** Requests of a page on another site bring no cookie: its verifier and its origin take the place of the cookie. */
export function bondOf({ state, challenge, origin }: Flow): Bond {
  const isOfPage = challenge !== undefined && origin !== undefined
  return isOfPage ? { challenge, origin } : { flow: flowId(state), stateHash: hashOf(state), challenge, origin }
}

export async function isBound(
  dependencies: Dependencies,
  { raw: { headers } }: FastifyRequest,
  { bond, verifier }: { bond: Bond; verifier?: string | undefined },
): Promise<boolean> {
  const { challenge, origin, flow, stateHash = '' } = bond
  if (origin !== undefined && headers.origin !== origin) return false
  if (challenge !== undefined && (verifier === undefined || !equalSecrets(hashOf(verifier), challenge))) return false
  if (flow === undefined) return challenge !== undefined
  const sealed = sessionSecret(headers.cookie, flowCookie(dependencies, flow).name)
  const text = sealed === null ? undefined : await dependencies.providers.sealing.open('provider-sign-ins', sealed)
  return text !== undefined && equalSecrets(hashOf((JSON.parse(text) as Flow).state), stateHash)
}

/** Removes the cookie of the flow, if there is one. */
export function forgetFlow(dependencies: Dependencies, reply: FastifyReply, id: string | undefined): void {
  if (id !== undefined) setCookie(reply, flowCookie(dependencies, id), '')
}

export function flowPrefix({ cookie }: Dependencies): string {
  return `${cookie.name}-with-`
}

/** `id`: see `flowId`. */
export function flowCookie(dependencies: Dependencies, id: string) {
  return { ...dependencies.cookie, name: flowPrefix(dependencies) + id, lifetimeMs: flowLifetimeMs }
}
