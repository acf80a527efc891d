// Who may use what a sign-in with a provider put into the fragment of `return_to`, a code or the challenge of a second factor: the browser
// that began, by the cookie of its flow, or the page that began, by its verifier and its origin. A redirect of that page may carry the
// fragment to another site (RFC 9700, section 4.1), which has neither.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { equalSecrets, hashOf, type Sealing } from '../basics/secrets.ts'
import { sessionSecret, setCookie } from '../http/request/credentials.ts'
import type { Site } from '../http/site.ts'

/** Kept with a code or a challenge. `flow`: the cookie that is needed. `origin`: the page's, if it is not that of the service. */
export type Bond = { flow?: string; stateHash?: string; challenge?: string | undefined; origin?: string | undefined }

/** How long a user may take at the provider. */
export const flowLifetimeMs = 10 * 60_000

type CookieNeeds = { site: Pick<Site, 'cookie'> }

export async function isBound(
  dependencies: CookieNeeds & { factors: { sealing: Sealing } },
  { raw: { headers } }: FastifyRequest,
  { bond, verifier }: { bond: Bond; verifier?: string | undefined },
): Promise<boolean> {
  const { challenge, origin, flow, stateHash = '' } = bond
  if (origin !== undefined && headers.origin !== origin) return false
  if (challenge !== undefined && (verifier === undefined || !equalSecrets(hashOf(verifier), challenge))) return false
  if (flow === undefined) return challenge !== undefined
  const sealed = sessionSecret(headers.cookie, flowCookie(dependencies, flow).name)
  const text = sealed === null ? undefined : await dependencies.factors.sealing.open('provider-sign-ins', sealed)
  return text !== undefined && equalSecrets(hashOf((JSON.parse(text) as { state: string }).state), stateHash)
}

/** Removes the cookie of the flow, if there is one. */
export function forgetFlow(dependencies: CookieNeeds, reply: FastifyReply, id: string | undefined): void {
  if (id !== undefined) setCookie(reply, flowCookie(dependencies, id), '')
}

export function flowPrefix({ site }: CookieNeeds): string {
  return `${site.cookie.name}-with-`
}

/** `id`: see `flowId`. */
export function flowCookie(dependencies: CookieNeeds, id: string) {
  return { ...dependencies.site.cookie, name: flowPrefix(dependencies) + id, lifetimeMs: flowLifetimeMs }
}
