import type { Dependencies } from '../http/dependencies.ts'
import { forVisitor } from '../http/operation.ts'
import { html } from '../pages/html.ts'
import { pagePath, readerOf, sendPage, viewOf } from '../pages/page.ts'

export const account = forVisitor({
  summary: 'The account page of the signed-in user; without a session it leads to the sign-in page',
  responses: { 200: 'html', 303: 'none' },
  async handle(dependencies, request, reply) {
    const user = await readerOf(dependencies, request.caller)
    if (user === undefined) return reply.redirect(signInPath(dependencies, 'account'), 303)
    const view = await viewOf(dependencies, request, user)
    const offered = [...dependencies.providers.all.values()].map(({ setting: { name, displayName } }) => ({
      name,
      displayName,
    }))
    return sendPage(reply, view, {
      title: view.texts.account,
      current: 'account',
      needsScript: true,
      isWide: true,
      scripts: ['page-account.js'],
      styles: ['account.css', 'security.css'],
      main: html`<h1>${view.texts.account}</h1>
  <div id="account" data-root="${view.root}" data-pages="${view.pages}" data-password-min="${dependencies.users.passwordMinLength}" data-providers="${JSON.stringify(offered)}"><p class="not-started fault">${view.texts.unsupportedBrowser}</p></div>`,
    })
  },
})

/** The sign-in page, which leads back to the page `name`. */
export function signInPath(dependencies: Dependencies, name: string): string {
  const returnTo = encodeURIComponent(pagePath(dependencies, name))
  return `${pagePath(dependencies, 'sign-in')}?return_to=${returnTo}`
}
