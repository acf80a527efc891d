// What all pages of the service share on the server: who reads the page, in which language, with which files, and what it may load.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Subject } from '../guards/subject.ts'
import type { Dependencies } from '../http/dependencies.ts'
import { pathOf } from '../http/request/spelling.ts'
import { sendCompressed } from '../http/response/encoded-file.ts'
import type { User } from '../store/store.ts'
import type { Page, View } from './frame.ts'

/** The path of a page as browsers see it, also behind a proxy that strips the path of the public URL: for `Location`. */
export function pagePath({ publicUrl, pages }: Pick<Dependencies, 'publicUrl' | 'pages'>, name: string): string {
  return `${new URL(publicUrl()).pathname.replace(/\/$/, '')}${pages.prefix}/${name}`
}

/** The enabled user of a proof, whose language and name the page has; undefined without one. */
export async function readerOf({ store }: Dependencies, subject: Subject | null): Promise<User | undefined> {
  const user = subject === null ? undefined : await store.findUser(subject.userId)
  return user?.disabledAt === null ? user : undefined
}

/** Loads what only pages need at the first of them. */
export async function viewOf(dependencies: Dependencies, request: FastifyRequest, user?: User): Promise<View> {
  const [{ textsOf }, { languageFor }] = await Promise.all([import('./texts/texts.ts'), import('./language.ts')])
  const { pages, scripts } = dependencies
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
    hasDemonstration: pages.hasDemonstration,
    hasDocumentationLink: pages.hasDocumentationLink,
    file: (name) => address(scripts.hashed(name)),
    // The script of every page is part of the first paint: so are its imports.
    preloads: (entries) => scripts.preloads(['every-page.js', ...entries]).map(address),
    hasTheme: pages.accent !== undefined,
    logo: pages.logo && `${root}carillon-logo`,
  }
}

/**
 * `formAction`: further origins that a form may lead to, also by a redirect of its response. `referrer`: for a page whose address nobody else
 * needs to know; its forms need a browser that sends `Sec-Fetch-Site`.
 */
export type Policy = { formAction?: readonly string[]; frames?: true; referrer?: 'no-referrer' }

export type WholePage = { view: View; page: Page; policy?: Policy }

/** Compressed. Nothing in a page stays secret over two responses, so its length reveals nothing to a page that causes many (BREACH). */
export async function sendPage(reply: FastifyReply, view: View, page: Page, policy?: Policy) {
  return sendCompressed(reply, await writePage(reply, { view, page, ...(policy && { policy }) }))
}

/** Sets the header fields, and returns the document. */
export async function writePage(reply: FastifyReply, { view, page, policy }: WholePage): Promise<string> {
  const { documentOf } = await import('./frame.ts')
  setPageHeaders(reply, policy)
  return documentOf(view, page)
}

/** A page loads its own files and routes only. The referrer is sent to this origin: without it, browsers send `Origin: null` with a form. */
export function setPageHeaders(reply: FastifyReply, policy: Policy = {}): void {
  const { formAction = [], frames, referrer = 'same-origin' } = policy
  const allowed =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    `${frames ? "frame-src 'self'; " : ''}form-action ${["'self'", ...formAction].join(' ')}; frame-ancestors 'none'; base-uri 'none'`
  reply
    .headers({
      'content-security-policy': allowed,
      'referrer-policy': referrer,
      vary: 'Accept-Encoding, Accept-Language, Cookie',
    })
    .type('text/html; charset=utf-8')
}

/** Whether the client asks for a page and not for data. */
export function acceptsHtml({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  return headers.accept?.toLowerCase().includes('text/html') ?? false
}
