// The page of a sign-in with a provider that failed.
import type { CarillonError } from '../basics/errors.ts'
import type { Page, View } from '../pages/frame.ts'
import { html } from '../pages/html.ts'
import { commonSentence } from '../pages/page.ts'

/** `name`: the provider's, if it is known. `back`: where the button leads. */
export async function providerFailurePage(
  view: View,
  error: CarillonError,
  { name, back }: { name: string | undefined; back: string },
): Promise<Page> {
  const { provider: texts } = (await view.textsOf('service')).signIn
  const title = name === undefined ? view.texts.failureTitle : texts.title(name)
  const sentences: Readonly<Record<string, string | ((name: string) => string) | undefined>> = name ? texts : {}
  const found = sentences[error.code]
  const sentence = typeof found === 'function' ? found(name ?? '') : (found ?? commonSentence(view, error))
  return {
    title,
    styles: ['sign-in.css'],
    main: html`<div class="card narrow">
<h1>${title}</h1>
<p class="fault" role="alert">${sentence}</p>
<p><a class="button" href="${back}">${view.texts.back}</a></p>
</div>`,
  }
}
