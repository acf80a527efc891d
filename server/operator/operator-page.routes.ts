import { noSuchRoute } from '../basics/errors.ts'
import { factorsOf } from '../factors/factors.store.ts'
import { forVisitor } from '../http/operation.ts'
import { html } from '../pages/html.ts'
import { notStarted, type PageNeeds, sendPage, viewOf } from '../pages/page.ts'
import { signInPath } from '../pages/places.ts'
import type { Store } from '../store/store.ts'
import type { OperatorPage } from './operator.ts'

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
    const { needsFactor } = (await view.textsOf('service')).operator
    const { factors } = await store.read(factorsOf, user.id)
    const hasFactor = factors.some(({ confirmedAt }) => confirmedAt !== null)
    const isOpen = hasFactor || !operatorPage.needsFactor
    return sendPage(reply, view, {
      title: view.texts.operator,
      current: 'operator',
      isWide: true,
      needsScript: true,
      scripts: isOpen ? ['page-operator.js'] : [],
      styles: ['account.css', 'security.css', 'uPlot.min.css', 'operator.css'],
      main: html`<h1>${view.texts.operator}</h1>
  ${
    isOpen
      ? html`<div id="operator" data-root="${view.root}" data-pages="${view.pages}"><div class="skeleton">${notStarted(view)}</div></div>`
      : html`<p class="fault" role="alert">${needsFactor.text}</p><p><a class="button" href="${view.pages}account#factors">${needsFactor.link}</a></p>`
  }`,
    })
  },
})
