// What all pages of the service share on the server: who reads the page, in which language, with which files, and what it may load; and the page
// of a failure on a route that browsers load, with a way back.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CarillonError } from '../basics/errors.ts'
import type { Exchange, Subject } from '../http/operation.ts'
import { sessionSecrets } from '../http/request/credentials.ts'
import { pathOf } from '../http/requests.ts'
import { sendCompressed } from '../http/response/send.ts'
import type { Site } from '../http/site.ts'
import type { Page, View } from './frame.ts'
import { html } from './html.ts'
import type { ServedScripts } from './served-scripts.ts'

/** The settings of the pages. `prefix`: '' or such as `/hello`, where they are inside the service. */
export type PageSettings = {
  prefix: string
  name: string
  accent: string | undefined
  logo: { bytes: Buffer; type: string } | undefined
  /** Only this machine reaches the service, as far as the settings say. */
  isHere: boolean
  hasDemonstration: boolean
  hasDocumentationLink: boolean
  hasMail: boolean
  /** A URI. */
  securityContact: string | undefined
  /** The hosts of images that notifications may show. */
  imageHosts: readonly string[]
}

/** The user who reads a page, whose language and name it has. */
export type Reader = {
  id: string
  username: string | null
  externalId: string | null
  displayName: string | null
  locale: string | null
}

export type Pages = PageSettings & {
  scripts: ServedScripts
  /** Undefined without a proof, and for a disabled user. */
  readerOf: (caller: Subject | null) => Promise<Reader | undefined>
  /** Whether there is exactly one user: the service has just been installed, and that user is its operator. */
  hasOneUser: () => Promise<boolean>
}

/** What every page needs. */
export type PageNeeds = { site: Site; pages: Pages }

/** Loads what only pages need at the first of them. */
export async function viewOf({ pages }: { pages: Pages }, request: FastifyRequest, user?: Reader): Promise<View> {
  const { languageFor, textsOf } = await import('./texts/texts.ts')
  const { scripts, hasDemonstration, hasDocumentationLink } = pages
  const language = languageFor(request.headers['accept-language'], user?.locale)
  // The target `*` has no path, nor has an absolute form that ends with the host.
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
    hasDemonstration,
    hasDocumentationLink,
    file: (name) => address(scripts.hashed(name)),
    // The script of every page is part of the first paint: so are its imports.
    preloads: (entries) => scripts.preloads(['every-page.js', ...entries]).map(address),
    hasTheme: pages.accent !== undefined,
    logo: pages.logo && `${root}carillon-logo`,
  }
}

/**
 * `formAction`: further origins that a form may lead to, also by a redirect of its response. `frames`: origins of frames. `images`: other
 * hosts of images. `referrer`: for a page whose address nobody else needs to know; its forms need a browser that sends `Sec-Fetch-Site`.
 */
export type Policy = {
  formAction?: readonly string[]
  frames?: string
  images?: readonly string[]
  referrer?: 'no-referrer'
}

export type WholePage = { view: View; page: Page; policy?: Policy | undefined }

/** Compressed. Nothing in a page stays secret over two responses, so its length reveals nothing to a page that causes many (BREACH). */
export async function sendPage(reply: FastifyReply, view: View, page: Page, policy?: Policy) {
  return sendCompressed(reply, await writePage(reply, { view, page, policy }))
}

/** Sets the header fields, and returns the document. */
export async function writePage(reply: FastifyReply, { view, page, policy }: WholePage): Promise<string> {
  const { documentOf } = await import('./frame.ts')
  setPageHeaders(reply, policy)
  return documentOf(view, page)
}

/** A page loads its own files and routes only. The referrer is sent to this origin: without it, browsers send `Origin: null` with a form. */
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

/** The page of a failure on a route that has none of its own. */
export async function failurePage(needs: PageNeeds, error: CarillonError, { request, reply }: Exchange) {
  // The store may be what failed, so the user is not read.
  const canSignOut = sessionSecrets(request.raw.headers.cookie, needs.site.cookie.name).length > 0
  const view = { ...(await viewOf(needs, request)), canSignOut }
  const { failureTitle, notFoundTitle, back } = view.texts
  const title = error.code === 'NOT_FOUND' ? notFoundTitle : failureTitle
  const main = html`<h1>${title}</h1>
<p role="alert">${commonSentence(view, error)}</p>
<p><a class="button" href="${view.root || './'}">${back}</a></p>`
  return writePage(reply, { view, page: { title, main } })
}

export function commonSentence({ texts }: Pick<View, 'texts'>, { code }: Pick<CarillonError, 'code'>): string {
  const sentences: Readonly<Record<string, string>> = texts.failures
  return sentences[code] ?? texts.failures.other
}
