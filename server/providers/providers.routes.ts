import { recorded, sourceOf } from '../audit/entry.ts'
import { iso } from '../basics/clock.ts'
import {
  type CarillonError,
  conflict,
  forbidden,
  invalidField,
  notFound,
} from '../basics/errors.ts'
import { type Exchange, forAnyone, forUser } from '../http/operation.ts'
import { sendData, sendObject } from '../http/response/send.ts'
import { html } from '../pages/html.ts'
import { commonSentence, viewOf, writePage } from '../pages/page.ts'
import { originOf, pagePath, readReturnTo } from '../pages/places.ts'
import { changeCredential, sendProof } from '../sessions/own-sign-in.ts'
import { StatelessLogin, TokenResponse } from '../sessions/sessions.schemas.ts'
import { findEnabledUser } from '../users/find-user.ts'
import { exchangeCode as exchange, finishFlow } from './finish-flow.ts'
import type { ProviderNeeds } from './flow.ts'
import * as flows from './flow.ts'
import * as stored from './provider-accounts.store.ts'
import * as shapes from './providers.schemas.ts'

export const list = forAnyone({
  summary: 'The providers with which users can sign in, for the buttons of a page',
  responses: { 200: shapes.ProviderList },
  async handle({ providers, site }: ProviderNeeds, _, reply) {
    const items = [...providers.values()].map(({ setting: { name, displayName } }) => {
      return { name, displayName, url: `${site.publicUrl()}/login/with/${name}` }
    })
    return sendObject(reply, { items })
  },
})

export const start = forAnyone({
  summary:
    'Sign in with a provider by a link: the browser goes on to the provider. A sign-in whose code a page of another origin gets begins by a form',
  query: shapes.ProviderQuery,
  responses: { 302: 'none' },
  refusals: ['UNAVAILABLE'],
  failurePage,
  async handle(dependencies: ProviderNeeds, request, reply) {
    const { variant = dependencies.site.variant, return_to: wanted, challenge } = request.query
    const provider = flows.providerOf(dependencies, request)
    const returnTo = readReturnTo(dependencies, 'return_to', wanted)
    // The link's author may have made the challenge, and redirect the code.
    const reason = `needs a form of the page: POST /login/with/${provider.setting.name}/start (docs/sign-in/providers.md)`
    if (challenge !== undefined) throw invalidField('challenge', reason)
    if (variant === 'stateless' && originOf(dependencies, returnTo) !== originOf(dependencies, '/'))
      throw invalidField('return_to', reason)
    return reply.redirect(
      await flows.begin(dependencies, { provider, variant, returnTo }, { request, reply }),
      302,
    )
  },
})

export const startByForm = forAnyone({
  summary:
    'Begin a sign-in whose code a page exchanges: a form that the page itself submits; the browser goes on to the provider',
  body: shapes.ProviderForm,
  acceptsForm: true,
  responses: { 303: 'none' },
  refusals: ['FORBIDDEN', 'UNAVAILABLE'],
  failurePage,
  /** Browsers set `Origin`. */
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
      throw invalidField(
        'return_to',
        `must have the origin of the page that sent the form, ${origin}`,
      )
    const begun = {
      provider,
      returnTo: place,
      challenge,
      ...(!isOurs && { origin }),
      variant: 'stateless' as const,
    }
    return reply.redirect(await flows.begin(dependencies, begun, { request, reply }), 303)
  },
})

async function failurePage(
  dependencies: ProviderNeeds,
  error: CarillonError,
  { request, reply }: Exchange,
) {
  const view = await viewOf(dependencies, request)
  const { provider: texts } = (await view.textsOf('service')).signIn
  const provider = dependencies.providers.get((request.params as { provider: string }).provider)
  const name = provider?.setting.displayName
  const title = name === undefined ? view.texts.failureTitle : texts.title(name)
  const sentences: Readonly<Record<string, string | ((name: string) => string) | undefined>> = name
    ? texts
    : {}
  const found = sentences[error.code]
  const sentence =
    typeof found === 'function' ? found(name ?? '') : (found ?? commonSentence(view, error))
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
    return reply.redirect(await finishFlow(dependencies, provider, { request, reply }), 303)
  },
})

export const exchangeCode = forAnyone({
  summary:
    'An access token for the code that a stateless sign-in with a provider, or a link to one by a token, added to `return_to`',
  body: shapes.ProviderCodeBody,
  responses: { 200: StatelessLogin },
  refusals: ['INVALID_CREDENTIALS', 'SECOND_FACTOR_REQUIRED', 'UNAVAILABLE'],
  async handle(dependencies: ProviderNeeds, request, reply) {
    const provider = flows.providerOf(dependencies, request)
    return sendObject(reply, await exchange(dependencies, { provider, request, reply }))
  },
})

export const listAccounts = forUser({
  summary: 'The accounts at providers with which the signed-in user can sign in',
  responses: { 200: shapes.ProviderAccountsResponse },
  async handle({ store, providers }: ProviderNeeds, { caller }, reply) {
    const settings = new Map(
      [...providers.values()].map(({ setting }) => [setting.issuer, setting]),
    )
    const accounts = await store.read(stored.providerAccounts, caller.userId)
    const items = accounts.map(({ issuer, email, createdAt, lastUsedAt }) => {
      const { name = null, displayName = issuer } = settings.get(issuer) ?? {}
      return {
        provider: name,
        displayName,
        email,
        createdAt: iso(createdAt),
        lastUsedAt: iso(lastUsedAt),
      }
    })
    return sendData(reply, { items })
  },
})

export const link = forUser({
  summary:
    'Begin to link an account at a provider: the page sends its browser to the URL in the response',
  body: shapes.ProviderLinkBody,
  responses: { 201: shapes.ProviderLinkResponse },
  /** Another site could begin it for its own account. */
  async handle(dependencies: ProviderNeeds, request, reply) {
    const { caller } = request
    const provider = flows.providerOf(dependencies, request)
    const returnTo = readReturnTo(dependencies, 'returnTo', request.body.returnTo)
    const { credentialGeneration: generation } = await findEnabledUser(dependencies, caller)
    const begun = {
      provider,
      variant: 'stateful',
      returnTo,
      linking: { caller, generation },
    } as const
    const url = await flows.begin(dependencies, begun, { request, reply })
    return sendData(reply.code(201), { url })
  },
})

export const unlink = forUser({
  summary:
    'Unlink an account at a provider; refused if the user has no other way to sign in. A new cookie for a session, 200 and a new token for a token',
  responses: { 200: TokenResponse, 204: 'none' },
  refusals: ['CONFLICT', 'TOO_MANY_REQUESTS'],
  async handle(dependencies: ProviderNeeds, request, reply) {
    const { userId, signInId } = request.caller
    const { users, providers } = dependencies
    const { issuer, name, displayName } = flows.providerOf(dependencies, request).setting
    const facts = {
      event: 'provider-unlinked',
      userId,
      signInId,
      detail: { provider: name },
    } as const
    const entry = recorded({ ...users, source: sourceOf(dependencies, request) }, facts)
    const issuers = [...providers.values()].map(({ setting }) => setting.issuer)
    const change = { userId, issuer, issuers, ...entry }
    const { unlinkProviderAccount } = stored
    const { outcome, proof } = await changeCredential(
      dependencies,
      { request, reply },
      unlinkProviderAccount,
      change,
    )
    if (outcome === 'absent') throw notFound(`No account at ${displayName} is linked to you`)
    const remedy = 'Set up another way first, such as a passkey.'
    if (outcome === 'last')
      throw conflict(`Your account at ${displayName} is your only way to sign in`, remedy)
    return sendProof(reply, proof)
  },
})
