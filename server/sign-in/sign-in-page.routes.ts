// The sign-in page, which leads back to the application that sent the user here; and the sign-out button of all pages.
import type { FastifyRequest } from 'fastify'
import { CarillonError, invalidCredentials, invalidField, invalidRequest, secondFactorKinds } from '../basics/errors.ts'
import type { FactorNeeds } from '../factors/factors.ts'
import { relyingPartyFor } from '../factors/passkeys/ceremonies.ts'
import { signInByFactor } from '../factors/second-factor.routes.ts'
import { type Exchange, forAnyone, forVisitor } from '../http/operation.ts'
import { acceptsHtml } from '../http/response/send.ts'
import type { PageNeeds, Reader, WholePage } from '../pages/page.ts'
import { commonSentence, sendPage, viewOf, writePage } from '../pages/page.ts'
import { acceptedPlace, maxReturnToLength, originOf, pagePath } from '../pages/places.ts'
import type { Store } from '../store/store.ts'
import { hasVerifiedEmail } from '../users/users.store.ts'
import { endSignIn, signInByPassword } from './sign-in.routes.ts'
import { SignInForm } from './sign-in.schemas.ts'
import type { SecondStep, SignInView } from './sign-in-page.ts'

type Needs = PageNeeds & {
  store: Store
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
    // The way back from a provider: the user has not to agree again.
    if (user !== undefined && query.after === 'provider')
      return reply.redirect(placeAfter(dependencies, query.return_to), 303)
    const signedOut = 'erased' in query ? 'erased' : 'signedOut'
    const done = query.after === 'sign-out' ? signedOut : undefined
    const { view, page, policy } = await pageFor(dependencies, request, { user, wanted: query.return_to, done })
    return sendPage(reply, view, page, policy)
  },
})

/** Bytes of the longest name, password and `return_to`, each percent-encoded. A larger form costs the others time (I2). */
const formLimit = 8 * 1024

/** Other fields do not matter: an application or a mail program may add its own. */
type Query = { return_to?: unknown; after?: unknown; erased?: unknown }

export const signIn = forAnyone({
  summary:
    'The form of the sign-in page: with a session to `return_to`, otherwise to the inbox; a refused `return_to` is ignored',
  body: SignInForm,
  bodyLimit: formLimit,
  acceptsForm: true,
  signsIn: true,
  responses: { 200: 'html', 303: 'none' },
  refusals: ['INVALID_CREDENTIALS', 'SECOND_FACTOR_REQUIRED', 'UNAUTHORIZED', 'TOO_MANY_REQUESTS', 'UNAVAILABLE'],
  failurePage: failedPage,
  async handle(dependencies: Needs & FactorNeeds, request, reply) {
    const form = request.body
    const asPage = async (step: SecondStep) => {
      const { view, page, policy } = await pageFor(dependencies, request, { wanted: form.return_to, step })
      return sendPage(reply, view, page, policy)
    }
    // From the script, after a provider has led back with a challenge: nothing is proved yet.
    const second = stepIn(form)
    if (second !== undefined && form.code === undefined) return asPage(second)
    try {
      await proveUser(dependencies, form, { request, reply })
    } catch (error) {
      const { secondFactor } = error as Partial<CarillonError>
      if (secondFactor === undefined || !acceptsHtml(request)) throw error
      return asPage({ ...secondFactor, username: displayedName(form) })
    }
    return reply.redirect(placeAfter(dependencies, form.return_to), 303)
  },
})

export const signOut = forAnyone({
  summary:
    'The sign-out button of the pages: ends every session and token that the request presents, then leads to the sign-in page',
  // A button in a form without fields: browsers send an empty form.
  acceptsForm: true,
  responses: { 303: 'none' },
  refusals: ['UNAVAILABLE'],
  async handle(dependencies: FactorNeeds & PageNeeds, request, reply) {
    await endSignIn(dependencies, request, reply)
    return reply.redirect(`${pagePath(dependencies, 'sign-in')}?after=sign-out`, 303)
  },
})

/** No user has a longer name, and none a longer password. */
const maxLength = 256

/** The fields take no more, so a longer name was not typed into them. */
function displayedName({ username = '' }: SignInForm): string {
  const name = username.trim()
  return name.length > maxLength ? '' : name
}

/** Always a session, whatever CARILLON_VARIANT is: a page cannot keep a token. */
async function proveUser(dependencies: FactorNeeds, form: SignInForm, exchange: Exchange): Promise<object> {
  const { password = '', challenge, code = '' } = form
  const username = form.username?.trim() ?? ''
  if (challenge !== undefined) return signInByFactor(dependencies, { challenge, ...presentedCode(code) }, exchange)
  const missing = Object.entries({ username, password }).filter(([, text]) => text === '')
  if (missing.length > 0) throw invalidRequest(missing.map(([field]) => ({ field, reason: 'is missing' })))
  if (username.length > maxLength || password.length > maxLength) throw invalidCredentials()
  return signInByPassword(dependencies, { username, password, variant: 'stateful' }, exchange)
}

/** A recovery code has letters, so one field takes both. Apps display a code as `123 456`. */
function presentedCode(text: string): { code: string } | { recoveryCode: string } {
  const compact = text.replaceAll(/\s/g, '')
  if (compact === '') throw invalidField('code', 'is missing')
  return /^\d{1,16}$/.test(compact) ? { code: compact } : { recoveryCode: compact.slice(0, 64) }
}

/** Only for what the page displays: the challenge decides what completes the sign-in. */
function stepIn({ challenge, factors = '', ...form }: SignInForm): SecondStep | undefined {
  const named = factors.split(' ')
  const kinds = secondFactorKinds.filter((kind) => named.includes(kind))
  return challenge === undefined ? undefined : { challenge, factors: kinds, username: displayedName(form) }
}

/** The form again, with what was typed except the password, and why it was refused. */
async function failedPage(dependencies: Needs, error: CarillonError, { request, reply }: Exchange) {
  // The body may not have passed its check. It is undefined if the refusal came before it was read.
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
  done?: 'signedOut' | 'erased' | undefined
  step?: SecondStep | undefined
  error?: CarillonError
}

async function pageFor(dependencies: Needs, request: FastifyRequest, shown: Shown): Promise<WholePage> {
  const { user, wanted, username = '', done, step, error } = shown
  const view = await viewOf(dependencies, request, user)
  const pages = await import('./sign-in-page.ts')
  const { signIn: texts } = await view.textsOf('service')
  const place = placeIn(dependencies, wanted)
  const isElsewhere = place !== undefined && originOf(dependencies, place) !== originOf(dependencies, '/')
  const given: SignInView = {
    view,
    texts,
    next: place ?? pagePath(dependencies, 'inbox'),
    nextHost: isElsewhere ? new URL(place).host : undefined,
    returnTo: place,
    hasPasskeys: acceptsPasskeys(dependencies, request),
    done: done === undefined ? '' : texts[done],
    fault: error && (await faultOf(error, { view, texts, isStep: step !== undefined, hasForm: request.body != null })),
  }
  const policy = { formAction: formTargets(dependencies) }
  if (user !== undefined) return { view, page: pages.signedInPage(given, view.user ?? ''), policy }
  if (step !== undefined) return { view, page: pages.secondStepPage(given, step), policy }
  const { hasMail } = dependencies.pages
  const providers = providerLinks(dependencies, view.root, place)
  // The page of a failure needs no store.
  const takesEmail = await dependencies.store.read(hasVerifiedEmail).catch(() => true)
  return { view, page: pages.passwordPage(given, { username, takesEmail, providers, hasMail }), policy }
}

type Faulty = Pick<SignInView, 'view' | 'texts'> & { isStep: boolean; hasForm: boolean }

async function faultOf(error: CarillonError, { view, texts, isStep, hasForm }: Faulty): Promise<string> {
  const { code, retryAfter: seconds = 1 } = error
  const { second, failures } = texts
  if (isStep && code === 'INVALID_CREDENTIALS') return second.wrong
  if (isStep && code === 'INVALID_REQUEST') return second.empty
  if (code === 'TOO_MANY_REQUESTS' || code === 'UNAVAILABLE' || code === 'FACTOR_UNREADABLE') {
    const { failures: sentences, inSeconds, inMinutes } = await view.textsOf('requests')
    if (code === 'FACTOR_UNREADABLE') return sentences[code]
    return `${sentences[code]} ${seconds < 100 ? inSeconds(seconds) : inMinutes(Math.ceil(seconds / 60))}`
  }
  const sentences: Readonly<Record<string, string>> = hasForm ? failures : {}
  return sentences[code] ?? commonSentence(view, error)
}

/** Undefined for a place that a link must not choose (P1): it is ignored. */
function placeIn(dependencies: Needs, wanted: unknown): string | undefined {
  return typeof wanted === 'string' ? acceptedPlace(dependencies, wanted) : undefined
}

function placeAfter(dependencies: Needs, wanted: unknown): string {
  return placeIn(dependencies, wanted) ?? pagePath(dependencies, 'inbox')
}

/** Browsers apply `form-action` to the redirect that follows the form, too. */
function formTargets(dependencies: Needs): string[] {
  const listed = dependencies.site.returnUrls.map((url) => new URL(url).origin)
  return [...new Set([originOf(dependencies, '/'), ...dependencies.site.allowedOrigins, ...listed])]
}

function acceptsPasskeys(dependencies: Needs, request: FastifyRequest): boolean {
  try {
    relyingPartyFor(dependencies, request)
    return true
  } catch (error) {
    if (error instanceof CarillonError && error.code === 'UNPROCESSABLE') return false
    throw error
  }
}

/** They lead back to this page, which completes the sign-in if a second factor is needed, and then goes on. */
function providerLinks(dependencies: Needs, root: string, place: string | undefined) {
  const back = `${pagePath(dependencies, 'sign-in')}?after=provider`
  const whole = place === undefined ? back : `${back}&return_to=${encodeURIComponent(place)}`
  const wanted = whole.length <= maxReturnToLength ? whole : (place as string)
  const query = new URLSearchParams({ variant: 'stateful', return_to: wanted })
  return [...dependencies.providers.values()].map(({ setting: { name, displayName } }) => {
    return { name: displayName, href: `${root}login/with/${name}?${query}` }
  })
}
