import { noSuchRoute } from '../basics/errors.ts'
import { forVisitor } from '../http/operation.ts'
import { html } from '../pages/html.ts'
import { notStarted, type PageNeeds, passwordNote, sendPage, viewOf } from '../pages/page.ts'
import { signInPath } from '../pages/places.ts'
import type { Store } from '../store/store.ts'
import { factorTimes, type OperatorPage } from './operator.ts'

export const operator = forVisitor({
  summary:
    'The page of the operator; without a session it leads to the sign-in page, and no other user sees it',
  responses: { 200: 'html', 303: 'none' },
  refusals: ['NOT_FOUND'],
  async handle(needs: PageNeeds & { store: Store; operatorPage: OperatorPage }, request, reply) {
    const { pages, operatorPage, store } = needs
    if (!pages.hasOperatorPage) throw noSuchRoute()
    const user = await pages.readerOf(request.caller)
    if (user === undefined) return reply.redirect(signInPath(needs, 'operator'), 303)
    if (user.role !== 'operator') throw noSuchRoute()
    const view = await viewOf(needs, request, user)
    const { operator: texts, firstSteps } = await view.textsOf('service')
    const isOpen = !operatorPage.needsFactor || (await factorTimes(store, user.id)).length > 0
    return sendPage(reply, view, {
      title: view.texts.operator,
      current: 'operator',
      isWide: true,
      needsScript: true,
      scripts: isOpen ? ['page-operator.js'] : [],
      styles: ['account.css', 'security.css', 'uPlot.min.css', 'operator.css'],
      main: html`<h1>${view.texts.operator}</h1>
  ${await passwordNote(view, user)}${(await pages.onlyUser()) && html`<p><a class="button" href="${view.pages}inbox#first-steps">${firstSteps.title}</a></p>`}
  ${
    isOpen
      ? html`<div id="operator" data-root="${view.root}" data-pages="${view.pages}"><div class="skeleton">${notStarted(view)}</div></div>`
      : html`<p class="fault" role="alert">${texts.needsFactor.text}</p><p><a class="button" href="${view.pages}account#factors">${texts.needsFactor.link}</a></p>`
  }`,
    })
  },
})
