// A failure on a route that browsers load, as a page with a way back: for browsers, not for scripts.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CarillonError } from '../basics/errors.ts'
import { sessionSecrets } from '../http/request/credentials.ts'
import { html } from './html.ts'
import { type PageNeeds, viewOf, type WholePage, writePage } from './page.ts'

/** The page of a failure on a route that has none of its own. */
export async function failurePage(
  needs: PageNeeds,
  error: CarillonError,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): Promise<string> {
  // The store may be what failed, so the user is not read.
  const canSignOut = sessionSecrets(request.raw.headers.cookie, needs.site.cookie.name).length > 0
  const view = { ...(await viewOf(needs, request)), canSignOut }
  const { failureTitle, notFoundTitle, back } = view.texts
  const title = error.code === 'NOT_FOUND' ? notFoundTitle : failureTitle
  const page = {
    title,
    main: html`<h1>${title}</h1>
<p role="alert">${commonSentence(view, error)}</p>
<p><a class="button" href="${view.root || './'}">${back}</a></p>`,
  }
  return writePage(reply, { view, page })
}

export function commonSentence(
  { texts }: Pick<WholePage['view'], 'texts'>,
  { code }: Pick<CarillonError, 'code'>,
): string {
  const sentences: Readonly<Record<string, string>> = texts.failures
  return sentences[code] ?? texts.failures.other
}
