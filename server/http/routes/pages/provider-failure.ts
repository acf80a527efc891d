// A sign-in with a provider that failed, as a page: the browser's tab is at the address of the provider's redirect, where nothing else is.
import type { FastifyRequest } from 'fastify'
import type { CarillonError } from '../../../errors.ts'
import { html } from '../../../pages/html.ts'
import type { Dependencies } from '../../dependencies.ts'
import { commonSentence } from './failure-page.ts'
import { pagePath, viewOf, type WholePage } from './page.ts'

/** `place`: where the sign-in began, for a way back. */
type Failed = { request: FastifyRequest; place: string | undefined }

export async function providerFailurePage(
  dependencies: Dependencies,
  error: CarillonError,
  { request, place }: Failed,
): Promise<WholePage> {
  const view = await viewOf(dependencies, request)
  const { textsOf } = await import('carillon-inbox/languages')
  const { provider: texts } = await textsOf('sign-in', view.language)
  const { provider: wanted } = request.params as { provider: string }
  const known = dependencies.providers.all.get(wanted)?.setting.displayName
  const title = known === undefined ? view.texts.failureTitle : texts.title(known)
  const sentences: Readonly<Record<string, string | ((name: string) => string) | undefined>> = known ? texts : {}
  const found = sentences[error.code]
  const sentence = typeof found === 'function' ? found(known ?? '') : (found ?? commonSentence(view, error))
  return {
    view,
    page: {
      title,
      styles: ['sign-in.css'],
      main: html`<div class="card narrow">
<h1>${title}</h1>
<p class="fault" role="alert">${sentence}</p>
<p><a class="button" href="${place ?? pagePath(dependencies, 'sign-in')}">${view.texts.back}</a></p>
</div>`,
    },
  }
}
