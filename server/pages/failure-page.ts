// A failure on a route that browsers load, as a page with a way back: for browsers, not for scripts.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CarillonError } from '../basics/errors.ts'
import { isBodyUnread, sendBeforeBody } from '../http/connections/drop-unread.ts'
import type { Dependencies } from '../http/dependencies.ts'
import { sessionSecrets } from '../http/request/cookies.ts'
import { html } from './html.ts'
import { pagePath, viewOf, type WholePage, writePage } from './page.ts'

export async function sendFailurePage(
  dependencies: Dependencies,
  error: CarillonError,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const ofRoute = request.routeOptions.config.operation?.failurePage
  const whole = await (ofRoute ?? commonPage)(dependencies, error, request)
  const text = await writePage(reply.code(error.status), whole)
  // A form of another site is refused before its body is read.
  if (isBodyUnread(request.raw)) sendBeforeBody(request, reply, text)
  else reply.send(text)
}

async function commonPage(dependencies: Dependencies, error: CarillonError, request: FastifyRequest) {
  // The store may be what failed, so the user is not read.
  const canSignOut = sessionSecrets(request.raw.headers.cookie, dependencies.cookie.name).length > 0
  const view = { ...(await viewOf(dependencies, request)), canSignOut }
  const { failureTitle, back } = view.texts
  return {
    view,
    page: {
      title: failureTitle,
      main: html`<h1>${failureTitle}</h1>
<p role="alert">${commonSentence(view, error)}</p>
<p><a class="button" href="${view.root || './'}">${back}</a></p>`,
    },
  }
}

export function commonSentence(
  { texts }: Pick<WholePage['view'], 'texts'>,
  { code }: Pick<CarillonError, 'code'>,
): string {
  const sentences: Readonly<Record<string, string>> = texts.failures
  return sentences[code] ?? texts.failures.other
}

/** `place`: where the sign-in began, for a way back. */
type Failed = { request: FastifyRequest; place: string | undefined }

/** A sign-in with a provider that failed: the tab is at the address of the redirect, where nothing else is. */
export async function providerFailurePage(
  dependencies: Dependencies,
  error: CarillonError,
  { request, place }: Failed,
): Promise<WholePage> {
  const view = await viewOf(dependencies, request)
  const { provider: texts } = (await view.textsOf('service')).signIn
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
