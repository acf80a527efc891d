// Who may use what a sign-in with a provider put into the fragment of `return_to`, a code or the challenge of a second factor: the browser
// that began, by the cookie of its flow, or the page that began, by its verifier and its origin. A redirect of that page may carry the
// fragment to another site (RFC 9700, section 4.1), which has neither.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { equalSecrets, hashOf, type Sealing } from '../basics/secrets.ts'
import { sessionSecret, setCookie } from '../http/request/credentials.ts'
import type { Cookie, Site } from '../http/site.ts'

/** Kept with a code or a challenge. `flow`: the cookie that is needed. `origin`: the page's, if it is not that of the service. */
export type Bond = { flow?: string; stateHash?: string; challenge?: string | undefined; origin?: string | undefined }

/** How long a user may take at the provider. */
export const flowLifetimeMs = 10 * 60_000

type CookieNeeds = { site: Pick<Site, 'cookie'> }
export type FlowNeeds = CookieNeeds & { sealing: Sealing }

export async function isBound(
  dependencies: FlowNeeds,
  request: FastifyRequest,
  { bond, verifier }: { bond: Bond; verifier?: string | undefined },
): Promise<boolean> {
  const { challenge, origin, flow: id, stateHash = '' } = bond
  if (origin !== undefined && request.raw.headers.origin !== origin) return false
  if (challenge !== undefined && (verifier === undefined || !equalSecrets(hashOf(verifier), challenge))) return false
  if (id === undefined) return challenge !== undefined
  const flow = await readFlow(dependencies, request, id)
  return flow !== undefined && equalSecrets(hashOf(flow.state), stateHash)
}

/** What the cookie of a flow says; undefined without one that was made here. `id`: see `flowId`. */
export async function readFlow<Flow extends { state: string }>(
  { site, sealing }: FlowNeeds,
  { raw }: FastifyRequest,
  id: string,
): Promise<Flow | undefined> {
  const sealed = sessionSecret(raw.headers.cookie, flowCookie({ site }, id).name)
  const text = sealed === null ? undefined : await sealing.open('provider-sign-ins', sealed)
  return text === undefined ? undefined : JSON.parse(text)
}

/** Removes the cookie of the flow, if there is one. */
export function forgetFlow(dependencies: CookieNeeds, reply: FastifyReply, id: string | undefined): void {
  if (id !== undefined) setCookie(reply, flowCookie(dependencies, id), '')
}

/** With '' as `id`, its name is the beginning of the names of all such cookies. */
export function flowCookie({ site: { cookie } }: CookieNeeds, id: string): Cookie {
  return { ...cookie, name: `${cookie.name}-with-${id}`, lifetimeMs: flowLifetimeMs }
}
