// What pages share: their reader, language, files and policy.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CarillonError } from '../basics/errors.ts'
import type { Exchange, Subject } from '../http/operation.ts'
import { sessionSecrets } from '../http/request/credentials.ts'
import { pathOf } from '../http/requests.ts'
import { sendCompressed } from '../http/response/send.ts'
import type { Site } from '../http/site.ts'
import { drawing } from './drawing.ts'
import type { Page, View } from './frame.ts'
import { type Html, html } from './html.ts'
import type { ServedScripts } from './served-scripts.ts'

export type PageSettings = {
  prefix: string
  name: string
  accent: string | undefined
  logo: { bytes: Buffer; type: string } | undefined
  /** As far as the settings say, only this machine reaches the service. */
  isHere: boolean
  hasDemonstration: boolean
  demonstrationPlaces: number
  hasDocumentationLink: boolean
  hasMail: boolean
  hasOperatorPage: boolean
  securityContact: string | undefined
  imageHosts: readonly string[]
}

export type Reader = {
  id: string
  username: string | null
  externalId: string | null
  displayName: string | null
  locale: string | null
  email: string | null
  emailVerifiedAt: number | null
  passwordEndsAt: number | null
  role: string | null
}

export type Pages = PageSettings & {
  scripts: ServedScripts
  readerOf: (caller: Subject | null) => Promise<Reader | undefined>
  /** The service was just installed if there is one. */
  onlyUser: () => Promise<Pick<Reader, 'role'> | undefined>
  hasOwnKey: () => Promise<boolean>
}

export type PageNeeds = { site: Site; pages: Pages }

export async function viewOf(
  { pages }: { pages: Pages },
  request: FastifyRequest,
  user?: Reader,
): Promise<View> {
  const { languageFor, textsOf } = await import('./texts/texts.ts')
  const { scripts, hasDemonstration, hasDocumentationLink } = pages
  const language = languageFor(request.headers['accept-language'], user?.locale)
  // `*` has no path, nor has an absolute form without one.
  const root = '../'.repeat(Math.max(0, pathOf(request.url).split('/').length - 2))
  const address = (name: string) => `${root}carillon-scripts/${name}`
  return {
    language,
    texts: (await textsOf('service', language)).frame,
    textsOf: (name) => textsOf(name, language),
    name: pages.name,
    root,
    pages: `${root}${pages.prefix.slice(1)}${pages.prefix && '/'}`,
    user: user && (user.displayName ?? user.username ?? user.externalId ?? ''),
    canSignOut: user !== undefined,
    isOperator: pages.hasOperatorPage && user?.role === 'operator',
    hasDemonstration,
    hasDocumentationLink,
    file: (name) => address(scripts.hashed(name)),
    preloads: (entries) => scripts.preloads(['every-page.js', ...entries]).map(address),
    hasTheme: pages.accent !== undefined,
    logo: pages.logo && `${root}carillon-logo`,
  }
}

export async function viewFor(
  needs: { pages: Pages },
  request: FastifyRequest & { caller: Subject | null },
): Promise<View> {
  return viewOf(needs, request, await needs.pages.readerOf(request.caller))
}

export async function passwordNote(view: View, { passwordEndsAt }: Reader) {
  const { inbox: texts } = await view.textsOf('service')
  return (
    passwordEndsAt !== null &&
    html`<p class="card" role="status">${texts.generatedPassword} <a href="${view.pages}account#password">${texts.ownPassword}</a></p>
  `
  )
}

/**
 * `formAction`: origins of forms and redirects. `referrer`: for a page with a private address. Its
 * forms need `Sec-Fetch-Site`.
 */
export type Policy = {
  formAction?: readonly string[]
  frames?: string
  images?: readonly string[]
  referrer?: 'no-referrer'
}

export type WholePage = { view: View; page: Page; policy?: Policy | undefined }

/** No secret stays over two responses, so the length reveals nothing (BREACH). */
export async function sendPage(reply: FastifyReply, view: View, page: Page, policy?: Policy) {
  return sendCompressed(reply, await writePage(reply, { view, page, policy }))
}

export async function writePage(
  reply: FastifyReply,
  { view, page, policy }: WholePage,
): Promise<string> {
  const { documentOf } = await import('./frame.ts')
  setPageHeaders(reply, policy)
  return documentOf(view, page)
}

/** With `no-referrer`, browsers would send `Origin: null` with forms. */
export function setPageHeaders(reply: FastifyReply, policy: Policy = {}): void {
  const { formAction = [], frames, images = [], referrer = 'same-origin' } = policy
  const allowed =
    `default-src 'none'; script-src 'self'; style-src 'self'; img-src ${["'self'", ...images].join(' ')}; connect-src 'self'; ` +
    `${frames === undefined ? '' : `frame-src ${frames}; `}form-action ${["'self'", ...formAction].join(' ')}; frame-ancestors 'none'; base-uri 'none'`
  reply
    .headers({
      'content-security-policy': allowed,
      'referrer-policy': referrer,
      'cross-origin-opener-policy': 'same-origin',
      'permissions-policy': 'camera=(), microphone=()',
      vary: 'Accept-Encoding, Accept-Language, Cookie',
    })
    .type('text/html; charset=utf-8')
}

export function notStarted({ texts }: View): Html {
  return html`<p class="not-started fault">${texts.unsupportedBrowser}</p>`
}

export async function failurePage(
  needs: PageNeeds,
  error: CarillonError,
  { request, reply }: Exchange,
) {
  // The store may have failed.
  const canSignOut = sessionSecrets(request.raw.headers.cookie, needs.site.cookie.name).length > 0
  const view = { ...(await viewOf(needs, request)), canSignOut }
  const { failureTitle, notFoundTitle, back } = view.texts
  // A route that takes only POST, such as /login, has no page.
  const code = error.code === 'METHOD_NOT_ALLOWED' ? 'NOT_FOUND' : error.code
  const title = code === 'NOT_FOUND' ? notFoundTitle : failureTitle
  const main = html`${drawing}<h1>${title}</h1>
<p role="alert">${commonSentence(view, { code })}</p>
<p><a class="button" href="${view.root || './'}">${back}</a></p>`
  return writePage(reply, { view, page: { title, main } })
}

export function commonSentence(
  { texts }: Pick<View, 'texts'>,
  { code }: Pick<CarillonError, 'code'>,
): string {
  const sentences: Readonly<Record<string, string>> = texts.failures
  return sentences[code] ?? texts.failures.other
}
