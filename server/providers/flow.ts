// A sign-in with a provider that has begun in this browser. It is kept in a sealed cookie of that browser, so that nobody else can
// finish it (RFC 6749, section 10.12), and nothing is stored before the provider has said who signs in.
import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { equalSecrets, hashOf } from '../basics/secrets.ts'
import { type Bond, type FlowNeeds, flowCookie, flowLifetimeMs, readFlow } from '../factors/bond.ts'
import { setCookie } from '../http/request/credentials.ts'
import type { SignIn } from '../tokens/revocations.ts'
import type { Checks } from './provider.ts'

/** The signed-in user who links an account, instead of a sign-in. */
export type Linking = Pick<SignIn, 'userId' | 'signInId' | 'generation'> & {
  proof: 'session' | 'access-token'
}

export type Flow = Checks & {
  provider: string
  variant: 'stateful' | 'stateless'
  /** What `returnTo()` accepted. */
  returnTo: string
  expiresAt: number
  /** The SHA-256 of a verifier that the page keeps (RFC 7636, S256): a request that exchanges the code has to bring the verifier. */
  challenge?: string | undefined
  /** The origin of the page that began by a form, if it is not the origin of the service: the request has to come from there. */
  origin?: string
  linking?: Linking
}

/** With new random checks of 32 bytes each. */
export function beginFlow(flow: Omit<Flow, keyof Checks | 'expiresAt'>, now: number): Flow {
  const random = () => randomBytes(32).toString('base64url')
  return { ...flow, state: random(), nonce: random(), verifier: random(), expiresAt: now + flowLifetimeMs }
}

/** Names the cookie of a flow, so that each tab has its own. Not secret. */
export function flowId(state: string): string {
  return state.slice(0, 8)
}

/** Requests of a page on another site bring no cookie: its verifier and its origin take the place of the cookie. */
export function bondOf({ state, challenge, origin }: Flow): Bond {
  const isOfPage = challenge !== undefined && origin !== undefined
  return isOfPage ? { challenge, origin } : { flow: flowId(state), stateHash: hashOf(state), challenge, origin }
}

export async function keepFlow(dependencies: FlowNeeds, reply: FastifyReply, flow: Flow): Promise<void> {
  const sealed = await dependencies.sealing.seal('provider-sign-ins', JSON.stringify(flow))
  setCookie(reply, flowCookie(dependencies, flowId(flow.state)), sealed)
}

/** Undefined without the cookie of this flow, or if it is too old, or belongs to another flow or provider. */
export async function findFlow(
  dependencies: FlowNeeds,
  request: FastifyRequest,
  { state, provider, now }: { state: string; provider: string; now: number },
): Promise<Flow | undefined> {
  const flow = await readFlow<Flow>(dependencies, request, flowId(state))
  const isThis = flow !== undefined && flow.provider === provider && equalSecrets(flow.state, state)
  return isThis && now < flow.expiresAt ? flow : undefined
}
