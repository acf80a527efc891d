// A begun sign-in with a provider. Nothing is stored: only its sealed cookie can finish it (RFC
// 6749, 10.12).
import type { FastifyReply, FastifyRequest } from 'fastify'
import { notFound } from '../basics/errors.ts'
import { equalSecrets, hashOf, randomText } from '../basics/secrets.ts'
import { type Bond, flowCookie, flowLifetimeMs, readFlow } from '../factors/challenges.ts'
import type { Exchange, GuardedRequest, Subject } from '../http/operation.ts'
import { cookiePairs, setCookie } from '../http/request/credentials.ts'
import type { PageNeeds } from '../pages/page.ts'
import type { SignInNeeds, Variant } from '../sign-in/sign-in.ts'
import type { Checks, Provider } from './provider.ts'

export type ProviderNeeds = SignInNeeds & PageNeeds & { providers: ReadonlyMap<string, Provider> }

export type Linking = { caller: Subject; generation: number }

export type Flow = Checks & {
  provider: string
  variant: Variant
  returnTo: string
  expiresAt: number
  /** SHA-256 of the page's verifier (RFC 7636, S256). */
  challenge?: string | undefined
  /** The request has to come from there. */
  origin?: string
  linking?: Linking
}

/** More cookies would fill the header fields. */
const maxFlows = 4

type Begun = Omit<Flow, keyof Checks | 'provider' | 'expiresAt'> & { provider: Provider }

export async function begin(
  dependencies: ProviderNeeds,
  { provider, ...begun }: Begun,
  { request, reply }: Exchange,
) {
  const checks = { state: randomText(), nonce: randomText(), verifier: randomText() }
  const expiresAt = dependencies.users.now() + flowLifetimeMs
  const address = await provider.authorizationUrl(redirectUri(dependencies, provider), checks)
  const names = cookiePairs(request.raw.headers.cookie ?? '').map(({ name }) => name)
  const beginning = flowCookie(dependencies.site, '').name
  const ofFlows = names.filter((name) => name.startsWith(beginning) && /^[\w-]+$/.test(name))
  // Browsers send older cookies first (RFC 6265bis, section 5.8.3).
  for (const name of ofFlows.slice(0, 1 - maxFlows))
    setCookie(reply, { ...dependencies.site.cookie, name }, '')
  await keepFlow(dependencies, reply, {
    ...begun,
    ...checks,
    provider: provider.setting.name,
    expiresAt,
  })
  return address
}

export function redirectUri({ site }: SignInNeeds, { setting }: Provider): string {
  return `${site.publicUrl()}/login/with/${setting.name}/callback`
}

export function providerOf(
  { providers }: ProviderNeeds,
  { params }: Pick<GuardedRequest, 'params'>,
): Provider {
  const provider = providers.get(params.provider)
  if (provider !== undefined) return provider
  throw notFound('There is no such provider', 'GET /login/providers lists them.')
}

/** Each tab has its own. Not secret. */
export function flowId(state: string): string {
  return state.slice(0, 8)
}

/** A page of another site has verifier and origin in place of a cookie. */
export function bondOf({ state, challenge, origin }: Flow): Bond {
  const isOfPage = challenge !== undefined && origin !== undefined
  return isOfPage
    ? { challenge, origin }
    : { flow: flowId(state), stateHash: hashOf(state), challenge, origin }
}

export async function keepFlow(
  dependencies: SignInNeeds,
  reply: FastifyReply,
  flow: Flow,
): Promise<void> {
  const sealed = await dependencies.sealing.seal('provider-sign-ins', JSON.stringify(flow))
  setCookie(reply, flowCookie(dependencies.site, flowId(flow.state)), sealed)
}

export async function flowOf(
  dependencies: SignInNeeds,
  request: FastifyRequest,
  { setting }: Provider,
) {
  const [first = '', ...others] = new URL(request.url, 'http://localhost').searchParams.getAll(
    'state',
  )
  const state = others.length === 0 ? first : ''
  const flow = await readFlow<Flow>(dependencies, request, flowId(state))
  const isThis =
    flow !== undefined && flow.provider === setting.name && equalSecrets(flow.state, state)
  return isThis && dependencies.users.now() < flow.expiresAt ? flow : undefined
}
