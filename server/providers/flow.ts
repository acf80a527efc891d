// A sign-in with a provider that has begun in this browser. It is kept in a sealed cookie of that browser, so that nobody else can
// finish it (RFC 6749, section 10.12), and nothing is stored before the provider has said who signs in.
import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { notFound } from '../basics/errors.ts'
import { equalSecrets, hashOf } from '../basics/secrets.ts'
import { type Bond, flowCookie, flowLifetimeMs, readFlow } from '../factors/challenges.ts'
import type { FactorNeeds } from '../factors/factors.ts'
import type { Exchange, GuardedRequest, Subject } from '../http/operation.ts'
import { cookiePairs, setCookie } from '../http/request/credentials.ts'
import type { PageNeeds } from '../pages/page.ts'
import type { Checks, Provider } from './provider.ts'

/** `providers`: by name, in the order of the setting. */
export type ProviderNeeds = FactorNeeds & PageNeeds & { providers: ReadonlyMap<string, Provider> }

/** The signed-in user who links an account, instead of a sign-in. `generation`: of the user's credentials when it began. */
export type Linking = { caller: Subject; generation: number }

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

/** Sign-ins that one browser may have open. More of these cookies would fill the header fields of its requests. */
const maxFlows = 4

type Begun = Omit<Flow, keyof Checks | 'provider' | 'expiresAt'> & { provider: Provider }

/** Begins a flow, with new random checks of 32 bytes each: sets its cookie, and returns the address at the provider. */
export async function begin(dependencies: ProviderNeeds, { provider, ...begun }: Begun, { request, reply }: Exchange) {
  const random = () => randomBytes(32).toString('base64url')
  const checks = { state: random(), nonce: random(), verifier: random() }
  const expiresAt = dependencies.users.now() + flowLifetimeMs
  const address = await provider.authorizationUrl(redirectUri(dependencies, provider), checks)
  const names = cookiePairs(request.raw.headers.cookie ?? '').map(({ name }) => name)
  const beginning = flowCookie(dependencies.site, '').name
  const ofFlows = names.filter((name) => name.startsWith(beginning) && /^[\w-]+$/.test(name))
  // Browsers send older cookies first (RFC 6265bis, section 5.8.3).
  for (const name of ofFlows.slice(0, 1 - maxFlows)) setCookie(reply, { ...dependencies.site.cookie, name }, '')
  await keepFlow(dependencies, reply, { ...begun, ...checks, provider: provider.setting.name, expiresAt })
  return address
}

export function redirectUri({ site }: Pick<FactorNeeds, 'site'>, { setting }: Provider): string {
  return `${site.publicUrl()}/login/with/${setting.name}/callback`
}

/** Throws NOT_FOUND. */
export function providerOf({ providers }: ProviderNeeds, { params }: Pick<GuardedRequest, 'params'>): Provider {
  const provider = providers.get(params.provider)
  if (provider !== undefined) return provider
  throw notFound('There is no such provider', 'GET /login/providers lists them.')
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

export async function keepFlow(dependencies: FactorNeeds, reply: FastifyReply, flow: Flow): Promise<void> {
  const sealed = await dependencies.sealing.seal('provider-sign-ins', JSON.stringify(flow))
  setCookie(reply, flowCookie(dependencies.site, flowId(flow.state)), sealed)
}

/** The flow that this response of the provider continues. Undefined without its cookie, or if it is too old or of another provider. */
export async function flowOf(dependencies: FactorNeeds, request: FastifyRequest, { setting }: Provider) {
  const [first = '', ...others] = new URL(request.url, 'http://localhost').searchParams.getAll('state')
  const state = others.length === 0 ? first : ''
  const flow = await readFlow<Flow>(dependencies, request, flowId(state))
  const isThis = flow !== undefined && flow.provider === setting.name && equalSecrets(flow.state, state)
  return isThis && dependencies.users.now() < flow.expiresAt ? flow : undefined
}
