import { forAnyone, forVisitor } from '../http/operation.ts'
import { html } from '../pages/html.ts'
import { notStarted, type PageNeeds, sendPage, viewOf } from '../pages/page.ts'
import { pagePath, signInPath } from '../pages/places.ts'

type Needs = PageNeeds & {
  users: { passwordMinLength: number }
  providers: ReadonlyMap<string, { setting: { displayName: string } }>
}

export const account = forVisitor({
  summary: 'The account page of the signed-in user; without a session it leads to the sign-in page',
  responses: { 200: 'html', 303: 'none' },
  async handle(dependencies: Needs, request, reply) {
    const user = await dependencies.pages.readerOf(request.caller)
    if (user === undefined) return reply.redirect(signInPath(dependencies, 'account'), 303)
    const view = await viewOf(dependencies, request, user)
    const offered = Array.from(dependencies.providers, ([name, { setting }]) => {
      return { name, displayName: setting.displayName }
    })
    return sendPage(reply, view, {
      title: view.texts.account,
      current: 'account',
      needsScript: true,
      scripts: ['page-account.js'],
      styles: ['account.css', 'security.css'],
      main: html`<h1>${view.texts.account}</h1>
  <div id="account" data-root="${view.root}" data-pages="${view.pages}" data-password-min="${dependencies.users.passwordMinLength}" data-providers="${JSON.stringify(offered)}"><div class="skeleton">${notStarted(view)}</div></div>`,
    })
  },
})

export const changePassword = forAnyone({
  summary:
    'Leads a password manager to where a password is changed (https://www.w3.org/TR/change-password-url/)',
  responses: { 303: 'none' },
  async handle(dependencies: PageNeeds, _, reply) {
    return reply.redirect(`${pagePath(dependencies, 'account')}#password`, 303)
  },
})
