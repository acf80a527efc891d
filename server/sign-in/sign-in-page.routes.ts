import type { FastifyRequest } from 'fastify'
import { displayTime } from '../basics/clock.ts'
import {
  type CarillonError,
  invalidCredentials,
  invalidField,
  invalidRequest,
  secondFactorKinds,
} from '../basics/errors.ts'
import { canHavePasskeys } from '../factors/passkeys/ceremonies.ts'
import { type Exchange, forAnyone, forVisitor } from '../http/operation.ts'
import { acceptsHtml } from '../http/response/send.ts'
import {
  commonSentence,
  type PageNeeds,
  type Reader,
  sendPage,
  viewOf,
  type WholePage,
  writePage,
} from '../pages/page.ts'
import { acceptedPlace, maxReturnToLength, originOf, pagePath } from '../pages/places.ts'
import type { Store } from '../store/store.ts'
import type { FactorPolicy } from '../tokens/factor-policy.ts'
import { hasVerifiedEmail } from '../users/users.store.ts'
import { SignInForm } from './sign-in.schemas.ts'
import { endSignIn, type SignInNeeds } from './sign-in.ts'
import { signInByFactor, signInByPassword } from './sign-in-attempts.ts'
import type { SecondStep, SetupDemand, SignInView } from './sign-in-page.ts'

type Needs = PageNeeds & {
  store: Store
  policy: FactorPolicy
  providers: ReadonlyMap<string, { setting: { name: string; displayName: string } }>
}

export const signInPage = forVisitor({
  summary:
    'The sign-in page; `return_to` is where it leads afterwards: a path here, or a URL of an origin in `CARILLON_ALLOWED_ORIGINS`',
  responses: { 200: 'html', 303: 'none' },
  failurePage: failedPage,
  async handle(dependencies: Needs, request, reply) {
    const user = await dependencies.pages.readerOf(request.caller)
    const query = request.query as Query
    const demand =
      request.caller === null ? undefined : dependencies.policy.demandOn(request.caller)
    // After a provider, the user need not agree again.
    if (user !== undefined && query.after === 'provider' && demand === undefined)
      return reply.redirect(await placeAfter(dependencies, query.return_to), 303)
    const shown = { user, demand, wanted: query.return_to, done: doneIn(query) }
    const { view, page, policy } = await pageFor(dependencies, request, shown)
    return sendPage(reply, view, page, policy)
  },
})

/** The longest name, password and `return_to`, encoded. Larger ones cost others time (I2). */
const formLimit = 8 * 1024

/** Applications and mail programs may add fields. */
type Query = { return_to?: unknown; after?: unknown; erased?: unknown }

function doneIn({ after, ...query }: Query): Shown['done'] {
  if (after === 'link') return 'linkSent'
  if (after !== 'sign-out') return undefined
  return 'erased' in query ? 'erased' : 'signedOut'
}

export const signIn = forAnyone({
  summary:
    'The form of the sign-in page: with a session to `return_to`, otherwise to the inbox, or to the page of the operator who is the only user; a refused `return_to` is ignored',
  body: SignInForm,
  bodyLimit: formLimit,
  acceptsForm: true,
  signsIn: true,
  responses: { 200: 'html', 303: 'none' },
  refusals: [
    'INVALID_CREDENTIALS',
    'SECOND_FACTOR_REQUIRED',
    'UNAUTHORIZED',
    'TOO_MANY_REQUESTS',
    'UNAVAILABLE',
  ],
  failurePage: failedPage,
  async handle(dependencies: Needs & SignInNeeds, request, reply) {
    const form = request.body
    const asPage = async (step: SecondStep) => {
      const { view, page, policy } = await pageFor(dependencies, request, {
        wanted: form.return_to,
        step,
      })
      return sendPage(reply, view, page, policy)
    }
    // The script sends it after a provider led back with a challenge, when nothing is proved.
    const second = stepIn(form)
    if (second !== undefined && form.code === undefined) return asPage(second)
    let demand: unknown
    try {
      demand = (await proveUser(dependencies, form, { request, reply })).secondFactor
    } catch (error) {
      const { secondFactor } = error as Partial<CarillonError>
      if (secondFactor === undefined || !acceptsHtml(request)) throw error
      return asPage({ ...secondFactor, username: displayedName(form) })
    }
    const place = await placeAfter(dependencies, form.return_to)
    if (demand === undefined) return reply.redirect(place, 303)
    return reply.redirect(
      `${pagePath(dependencies, 'sign-in')}?return_to=${encodeURIComponent(place)}`,
      303,
    )
  },
})

export const signOut = forAnyone({
  summary:
    'The sign-out button of the pages: ends every session and token that the request presents, then leads to the sign-in page',
  acceptsForm: true,
  responses: { 303: 'none' },
  refusals: ['UNAVAILABLE'],
  async handle(dependencies: SignInNeeds & PageNeeds, request, reply) {
    await endSignIn(dependencies, request, reply)
    return reply.redirect(`${pagePath(dependencies, 'sign-in')}?after=sign-out`, 303)
  },
})

const maxLength = 256

function displayedName({ username = '' }: SignInForm): string {
  const name = username.trim()
  return name.length > maxLength ? '' : name
}

/** Pages cannot keep tokens. */
async function proveUser(dependencies: SignInNeeds, form: SignInForm, exchange: Exchange) {
  const { password = '', challenge, code = '' } = form
  const username = form.username?.trim() ?? ''
  if (challenge !== undefined)
    return signInByFactor(dependencies, { challenge, ...presentedCode(code) }, exchange)
  const missing = Object.entries({ username, password }).filter(([, text]) => text === '')
  if (missing.length > 0)
    throw invalidRequest(missing.map(([field]) => ({ field, reason: 'is missing' })))
  if (username.length > maxLength || password.length > maxLength) throw invalidCredentials()
  return signInByPassword(dependencies, { username, password, variant: 'stateful' }, exchange)
}

/** Recovery codes have letters, so one field takes both. Apps display `123 456`. */
function presentedCode(text: string): { code: string } | { recoveryCode: string } {
  const compact = text.replaceAll(/\s/g, '')
  if (compact === '') throw invalidField('code', 'is missing')
  return /^\d{1,16}$/.test(compact) ? { code: compact } : { recoveryCode: compact.slice(0, 64) }
}

/** The challenge decides what completes the sign-in. */
function stepIn({ challenge, factors = '', ...form }: SignInForm): SecondStep | undefined {
  const named = factors.split(' ')
  const kinds = secondFactorKinds.filter((kind) => named.includes(kind))
  return challenge === undefined
    ? undefined
    : { challenge, factors: kinds, username: displayedName(form) }
}

/** The page keeps what was typed but the password. */
async function failedPage(dependencies: Needs, error: CarillonError, { request, reply }: Exchange) {
  // The body may be unread or unchecked.
  const texts = Object.entries(request.body ?? {}).filter(([, value]) => typeof value === 'string')
  const form: SignInForm = Object.fromEntries(texts)
  const wanted = form.return_to ?? (request.query as Query).return_to
  const username = displayedName(form)
  const step = error.code === 'UNAUTHORIZED' ? undefined : stepIn(form)
  return writePage(reply, await pageFor(dependencies, request, { wanted, username, step, error }))
}

type Shown = {
  user?: Reader | undefined
  wanted: unknown
  username?: string
  demand?: ReturnType<FactorPolicy['demandOn']>
  done?: 'signedOut' | 'erased' | 'linkSent' | undefined
  step?: SecondStep | undefined
  error?: CarillonError
}

async function pageFor(
  dependencies: Needs,
  request: FastifyRequest,
  shown: Shown,
): Promise<WholePage> {
  const { user, demand, wanted, username = '', done, step, error } = shown
  const view = await viewOf(dependencies, request, user)
  const pages = await import('./sign-in-page.ts')
  const { signIn: texts } = await view.textsOf('service')
  const place = placeIn(dependencies, wanted)
  const isElsewhere =
    place !== undefined && originOf(dependencies, place) !== originOf(dependencies, '/')
  const given: SignInView = {
    view,
    texts,
    next: place ?? (await homePath(dependencies)),
    nextHost: isElsewhere ? new URL(place).host : undefined,
    returnTo: place,
    hasPasskeys: canHavePasskeys(dependencies, request),
    done: done === undefined ? '' : texts[done],
    fault:
      error &&
      (await faultOf(error, {
        view,
        texts,
        isStep: step !== undefined,
        hasForm: request.body != null,
      })),
  }
  const policy = { formAction: formTargets(dependencies) }
  if (user !== undefined && demand !== undefined) {
    const setup = setupDemand(dependencies, { user, demand, language: view.language })
    return { view, page: pages.setupPage(given, view.user ?? '', setup), policy }
  }
  if (user !== undefined) return { view, page: pages.signedInPage(given, view.user ?? ''), policy }
  if (step !== undefined) return { view, page: pages.secondStepPage(given, step), policy }
  const { hasMail } = dependencies.pages
  const providers = providerLinks(dependencies, view.root, place)
  const takesEmail = await dependencies.store.read(hasVerifiedEmail).catch(() => true)
  return {
    view,
    page: pages.passwordPage(given, { username, takesEmail, providers, hasMail }),
    policy,
  }
}

type Demanded = { user: Reader; demand: NonNullable<Shown['demand']>; language: string }

function setupDemand({ pages }: Needs, { user, demand, language }: Demanded): SetupDemand {
  const canMail = pages.hasMail && user.email !== null && user.emailVerifiedAt !== null
  return { ...demand, by: displayTime(Date.parse(demand.by), language), canMail }
}

type Faulty = Pick<SignInView, 'view' | 'texts'> & { isStep: boolean; hasForm: boolean }

async function faultOf(
  error: CarillonError,
  { view, texts, isStep, hasForm }: Faulty,
): Promise<string> {
  const { code, details, retryAfter: seconds = 1 } = error
  const { second, failures } = texts
  if (isStep && code === 'INVALID_CREDENTIALS') return second.wrong
  if (isStep && code === 'INVALID_REQUEST') return second.empty
  if (details !== undefined && code === 'INVALID_CREDENTIALS') return failures.passwordEnded
  if (code === 'TOO_MANY_REQUESTS' || code === 'UNAVAILABLE' || code === 'FACTOR_UNREADABLE') {
    const { failures: sentences, inSeconds, inMinutes } = await view.textsOf('requests')
    if (code === 'FACTOR_UNREADABLE') return sentences[code]
    return `${sentences[code]} ${seconds < 100 ? inSeconds(seconds) : inMinutes(Math.ceil(seconds / 60))}`
  }
  const sentences: Readonly<Record<string, string>> = hasForm ? failures : {}
  return sentences[code] ?? commonSentence(view, error)
}

/** Ignores a place that no link may choose (P1). */
function placeIn(dependencies: Needs, wanted: unknown): string | undefined {
  return typeof wanted === 'string' ? acceptedPlace(dependencies, wanted) : undefined
}

async function placeAfter(dependencies: Needs, wanted: unknown): Promise<string> {
  return placeIn(dependencies, wanted) ?? homePath(dependencies)
}

/** A new service shows itself to its operator. A failure's page needs no store. */
async function homePath(dependencies: Needs): Promise<string> {
  const { hasOperatorPage, onlyUser } = dependencies.pages
  const user = await onlyUser().catch(() => undefined)
  const isOperator = hasOperatorPage && user?.role === 'operator'
  return pagePath(dependencies, isOperator ? 'operator' : 'inbox')
}

/** Browsers also apply `form-action` to redirects. */
function formTargets(dependencies: Needs): string[] {
  const listed = dependencies.site.returnUrls.map((url) => new URL(url).origin)
  return [...new Set([originOf(dependencies, '/'), ...dependencies.site.allowedOrigins, ...listed])]
}

/** The links lead back to this page, which completes the sign-in. */
function providerLinks(dependencies: Needs, root: string, place: string | undefined) {
  const back = `${pagePath(dependencies, 'sign-in')}?after=provider`
  const whole = place === undefined ? back : `${back}&return_to=${encodeURIComponent(place)}`
  const wanted = whole.length <= maxReturnToLength ? whole : (place as string)
  const query = new URLSearchParams({ variant: 'stateful', return_to: wanted })
  return [...dependencies.providers.values()].map(({ setting: { name, displayName } }) => {
    return { name: displayName, href: `${root}login/with/${name}?${query}` }
  })
}
