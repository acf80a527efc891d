// The routes of a sign-in with a provider (OpenID Connect). The accounts of users are in provider-accounts.routes.ts.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sourceOf } from '../audit/entry.ts'
import { CarillonError, forbidden, invalidField } from '../basics/errors.ts'
import { type Bond, findChallenge, flowLifetimeMs, forgetFlow, isBound, makeChallenge } from '../factors/challenges.ts'
import { useChallenge } from '../factors/factors.store.ts'
import { continueSignIn } from '../factors/second-factor.routes.ts'
import { visitor } from '../guards/guards.ts'
import { type Exchange, forAnyone, type GuardedRequest, type Subject } from '../http/operation.ts'
import { sendObject } from '../http/response/send.ts'
import { html } from '../pages/html.ts'
import { commonSentence, viewOf, writePage } from '../pages/page.ts'
import { originOf, pagePath, readReturnTo } from '../pages/places.ts'
import { newProof, rotationOf } from '../sessions/own-sign-in.ts'
import { StatelessLogin } from '../sessions/sessions.schemas.ts'
import type { TokenSubject } from '../tokens/access-token.ts'
import { displayUser } from '../users/display-user.ts'
import type { User } from '../users/users.store.ts'
import { readerOf } from '../users/users.ts'
import type { Flow, Linking, ProviderNeeds } from './flow.ts'
import * as flows from './flow.ts'
import type { Provider } from './provider.ts'
import { linkAccount, noActiveUser, type SignedIn, signInEnded, userOfAccount } from './provider-accounts.routes.ts'
import { ProviderCodeBody, ProviderForm, ProviderList, ProviderQuery } from './providers.schemas.ts'

const codeLifetimeMs = 60_000
const purpose = 'provider'

export const list = forAnyone({
  summary: 'The providers with which users can sign in, for the buttons of a page',
  responses: { 200: ProviderList },
  async handle({ providers, site }: Pick<ProviderNeeds, 'providers' | 'site'>, _, reply) {
    const items = [...providers.values()].map(({ setting: { name, displayName } }) => {
      return { name, displayName, url: `${site.publicUrl()}/login/with/${name}` }
    })
    return sendObject(reply, { items })
  },
})

export const start = forAnyone({
  summary:
    'Sign in with a provider by a link: the browser goes on to the provider. A sign-in whose code a page of another origin gets begins by a form',
  query: ProviderQuery,
  responses: { 302: 'none' },
  refusals: ['UNAVAILABLE'],
  failurePage,
  async handle(dependencies: ProviderNeeds, request, reply) {
    const { variant = dependencies.site.variant, return_to: wanted, challenge } = request.query
    const provider = flows.providerOf(dependencies, request)
    const returnTo = readReturnTo(dependencies, 'return_to', wanted)
    // The author of the link may have written the challenge, too, and the page at `return_to` may redirect the browser with the code.
    const reason = `needs a form of the page: POST /login/with/${provider.setting.name}/start (docs/sign-in/providers.md)`
    if (challenge !== undefined) throw invalidField('challenge', reason)
    if (variant === 'stateless' && originOf(dependencies, returnTo) !== originOf(dependencies, '/'))
      throw invalidField('return_to', reason)
    return reply.redirect(await flows.begin(dependencies, { provider, variant, returnTo }, { request, reply }), 302)
  },
})

export const startByForm = forAnyone({
  summary:
    'Begin a sign-in whose code a page exchanges: a form that the page itself submits; the browser goes on to the provider',
  body: ProviderForm,
  acceptsForm: true,
  responses: { 303: 'none' },
  refusals: ['FORBIDDEN', 'UNAVAILABLE'],
  failurePage,
  /** A browser sets `Origin`, so the flow begins on a page that may use its code, and not by a link of another site. */
  async handle(dependencies: ProviderNeeds, request, reply) {
    const { origin } = request.raw.headers
    const isOurs = origin === originOf(dependencies, '/')
    if (origin === undefined || !(isOurs || dependencies.site.allowedOrigins.includes(origin))) {
      const problem = `This sign-in was begun by a page of ${(origin ?? 'no origin').slice(0, 200)}`
      const remedy =
        'Submit a form of a page whose origin is in CARILLON_ALLOWED_ORIGINS. With the Referrer-Policy no-referrer or same-origin a browser sends the origin null.'
      throw forbidden(problem, remedy)
    }
    const { return_to: wanted, challenge } = request.body
    const provider = flows.providerOf(dependencies, request)
    const place = readReturnTo(dependencies, 'return_to', wanted)
    if (originOf(dependencies, place) !== origin)
      throw invalidField('return_to', `must have the origin of the page that sent the form, ${origin}`)
    const begun = { provider, returnTo: place, challenge, ...(!isOurs && { origin }), variant: 'stateless' as const }
    return reply.redirect(await flows.begin(dependencies, begun, { request, reply }), 303)
  },
})

/** The tab is at the address of the redirect, where nothing else is: the page leads back to where the sign-in began, if that is known. */
async function failurePage(dependencies: ProviderNeeds, error: CarillonError, { request, reply }: Exchange) {
  const view = await viewOf(dependencies, request)
  const { provider: texts } = (await view.textsOf('service')).signIn
  const provider = dependencies.providers.get((request.params as { provider: string }).provider)
  const name = provider?.setting.displayName
  const title = name === undefined ? view.texts.failureTitle : texts.title(name)
  const sentences: Readonly<Record<string, string | ((name: string) => string) | undefined>> = name ? texts : {}
  const found = sentences[error.code]
  const sentence = typeof found === 'function' ? found(name ?? '') : (found ?? commonSentence(view, error))
  const flow = provider && (await flows.flowOf(dependencies, request, provider))
  const back = flow?.returnTo ?? pagePath(dependencies, 'sign-in')
  const main = html`<div class="card narrow">
<h1>${title}</h1>
<p class="fault" role="alert">${sentence}</p>
<p><a class="button" href="${back}">${view.texts.back}</a></p>
</div>`
  return writePage(reply, { view, page: { title, styles: ['sign-in.css'], main } })
}

export const callback = forAnyone({
  summary: 'Where the provider sends the browser back: it goes on to `return_to`',
  responses: { 303: 'none' },
  refusals: ['INVALID_REQUEST', 'FORBIDDEN', 'CONFLICT', 'TOO_MANY_REQUESTS', 'UNAVAILABLE'],
  failurePage,
  async handle(dependencies: ProviderNeeds, request, reply) {
    const provider = flows.providerOf(dependencies, request)
    const source = sourceFrom(dependencies, provider, request)
    const flow = await flows.flowOf(dependencies, request, provider)
    if (flow === undefined) {
      const problem = `This sign-in did not begin in this browser in the last ${flowLifetimeMs / 60_000} minutes`
      const remedy = `Begin again at ${dependencies.site.publicUrl()}/login/with/${provider.setting.name}.`
      throw new CarillonError('INVALID_REQUEST', problem, { remedy })
    }
    const { search } = new URL(request.url, 'http://localhost')
    const response = new URL(flows.redirectUri(dependencies, provider) + search)
    const forget = () => forgetFlow(dependencies, reply, flows.flowId(flow.state))
    let user: User | undefined
    try {
      const signedIn = { provider, identity: await provider.identify(response, flow), source }
      if (flow.linking === undefined) user = await userOfAccount(dependencies, signedIn)
      const next = await finishFlow(dependencies, { flow, user, signedIn }, { request, reply })
      // The cookie proves later that this browser may use the code or the challenge. The user has five minutes for a second factor.
      if (next === undefined || flows.bondOf(flow).flow === undefined) forget()
      else await flows.keepFlow(dependencies, reply, flow)
      // In the fragment, which browsers send to no server.
      const place = next && `${flow.returnTo.replace(/#.*/, '')}#${new URLSearchParams(next)}`
      return reply.redirect(place ?? flow.returnTo, 303)
    } catch (error) {
      forget()
      const account = { name: source.actor, user }
      throw dependencies.signInLog.noted(error, source, { account, variant: flow.variant })
    }
  },
})

/** Without a known user, a refusal has a hash of the provider's name. */
function sourceFrom({ site }: Pick<ProviderNeeds, 'site'>, { setting }: Provider, request: FastifyRequest) {
  return { ...sourceOf({ site }, request), actor: `provider:${setting.name}` }
}

type Finished = { flow: Flow; user: User | undefined; signedIn: SignedIn }

/** Returns what the page at `returnTo` needs to complete the sign-in; undefined if it is complete. */
async function finishFlow(dependencies: ProviderNeeds, { flow, user, signedIn }: Finished, exchange: Exchange) {
  if (flow.linking !== undefined) return finishLinking(dependencies, { flow, signedIn }, flow.linking, exchange)
  if (user === undefined || user.disabledAt !== null) throw noActiveUser(signedIn.provider)
  if (flow.variant === 'stateless') return codeFor(dependencies, flow, user.id, user.credentialGeneration)
  try {
    const { source } = signedIn
    const facts = { variant: 'stateful', method: 'provider', source, bond: flows.bondOf(flow) } as const
    await continueSignIn(dependencies, user, facts, exchange)
    return undefined
  } catch (error) {
    const { secondFactor, code } = error as Partial<CarillonError>
    if (secondFactor !== undefined)
      return { challenge: secondFactor.challenge, factors: secondFactor.factors.join(' ') }
    throw code === 'INVALID_CREDENTIALS' ? noActiveUser(signedIn.provider) : error
  }
}

/** A page that began with a token gets a code for the next token of its sign-in, because no URL may have a token. */
async function finishLinking(
  dependencies: ProviderNeeds,
  { flow, signedIn }: Pick<Finished, 'flow' | 'signedIn'>,
  linking: Linking,
  { request, reply }: Exchange,
) {
  const caller = await callerOf(dependencies, request, linking)
  const presented = { caller, raw: request.raw }
  const own = rotationOf(dependencies, presented)
  const outcome = await linkAccount(dependencies, signedIn, own.rotation)
  if (outcome === 'unchanged') return undefined
  if (caller.proof === 'access-token') return codeFor(dependencies, flow, caller.userId, linking.generation)
  await newProof(dependencies, { request: presented, reply }, own)
  return undefined
}

/** The code that the page exchanges for a token, within a minute. */
async function codeFor(dependencies: ProviderNeeds, flow: Flow, userId: string, generation: number) {
  const data: CodeData = { provider: flow.provider, generation, rotated: flow.linking?.caller, ...flows.bondOf(flow) }
  return { 'sign-in-code': await makeChallenge(dependencies, { userId, purpose, data, lifetimeMs: codeLifetimeMs }) }
}

export const exchangeCode = forAnyone({
  summary:
    'An access token for the code that a stateless sign-in with a provider, or a link to one by a token, added to `return_to`',
  body: ProviderCodeBody,
  responses: { 200: StatelessLogin },
  refusals: ['INVALID_CREDENTIALS', 'SECOND_FACTOR_REQUIRED', 'UNAVAILABLE'],
  async handle(dependencies: ProviderNeeds, request, reply) {
    const provider = flows.providerOf(dependencies, request)
    const source = sourceFrom(dependencies, provider, request)
    let user: User | undefined
    try {
      const code = await userOfCode(dependencies, { provider, request, reply })
      user = code.user
      if (code.rotated !== undefined) {
        const issued = await dependencies.accessTokens.rotated(code.rotated as TokenSubject, user, null)
        return sendObject(reply, { User: displayUser(user), ...issued, variant: 'stateless' })
      }
      const facts = { variant: 'stateless', method: 'provider', source } as const
      return sendObject(reply, await continueSignIn(dependencies, user, facts, { request, reply }))
    } catch (error) {
      throw dependencies.signInLog.noted(error, source, { account: { name: source.actor, user }, variant: 'stateless' })
    }
  },
})

type Coded = { provider: Provider; request: GuardedRequest<null, unknown, ProviderCodeBody>; reply: FastifyReply }

/** Uses the code up. Throws INVALID_CREDENTIALS. */
async function userOfCode(dependencies: ProviderNeeds, { provider, request, reply }: Coded) {
  const { code, verifier } = request.body
  const found = await findChallenge(dependencies, code, purpose)
  const data = found?.data as CodeData | undefined
  if (found === undefined || data?.provider !== provider.setting.name) throw invalidCode()
  if (!(await isBound(dependencies, request, { ...data, verifier }))) throw invalidCode()
  const used = await dependencies.store.write(useChallenge, { ...found.key, at: dependencies.users.now() })
  const user = await readerOf(dependencies, used && found.key)
  if (user?.credentialGeneration !== data.generation) throw invalidCode()
  forgetFlow(dependencies, reply, data.flow)
  return { user, rotated: data.rotated }
}

/** `rotated`: the caller who linked the account by a token. */
type CodeData = Bond & { provider: string; generation: number; rotated: Subject | undefined }

/** The same for every code that is not valid here and now. */
function invalidCode(): CarillonError {
  const problem = 'This code is not valid here: it was used, has expired, or belongs to another browser or page'
  return new CarillonError('INVALID_CREDENTIALS', problem, { remedy: 'Sign in again.' })
}

/** Who began to link an account: the session of the request, or the token, which may have expired. Throws FORBIDDEN if the sign-in has ended since. */
async function callerOf(dependencies: ProviderNeeds, request: FastifyRequest, { caller: begun }: Linking) {
  if (begun.proof === 'access-token') {
    const subject = { ...begun, expiresAt: Number.POSITIVE_INFINITY } as TokenSubject
    if (dependencies.accessTokens.validUntil(subject) === null) throw signInEnded()
    return subject
  }
  const caller = await visitor.admit(dependencies, request)
  // A token of the session has the same sign-in, and could not give the browser the next cookie.
  const isSame = caller?.userId === begun.userId && caller.signInId === begun.signInId && caller.proof === begun.proof
  if (!isSame) throw signInEnded()
  return caller
}
