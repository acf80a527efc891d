// A failure on a route of the pages, as a page with a way back: for browsers that load it, not for scripts.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CarillonError } from '../../../errors.ts'
import { html } from '../../../pages/html.ts'
import type { Dependencies } from '../../dependencies.ts'
import { sendPage, viewOf } from './page.ts'

export async function sendFailurePage(
  dependencies: Dependencies,
  { code, status }: CarillonError,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const view = await viewOf(dependencies, request)
  const { failureTitle, failures, back } = view.texts
  const sentences: Readonly<Record<string, string>> = failures
  await sendPage(reply.code(status), view, {
    title: failureTitle,
    main: html`<h1>${failureTitle}</h1>
<p role="alert">${sentences[code] ?? failures.other}</p>
<p><a class="button" href="${view.pages}account">${back}</a></p>`,
  })
}
