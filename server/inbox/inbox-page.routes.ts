import { forVisitor } from '../http/operation.ts'
import { html } from '../pages/html.ts'
import { type PageNeeds, sendPage, viewOf } from '../pages/page.ts'
import { signInPath } from '../pages/places.ts'

export const inbox = forVisitor({
  summary: 'The inbox of the signed-in user; without a session it leads to the sign-in page',
  responses: { 200: 'html', 303: 'none' },
  async handle(dependencies: PageNeeds, request, reply) {
    const user = await dependencies.pages.readerOf(request.caller)
    const signIn = signInPath(dependencies, 'inbox')
    if (user === undefined) return reply.redirect(signIn, 303)
    const view = await viewOf(dependencies, request, user)
    const { inbox: texts } = await view.textsOf('service')
    return sendPage(reply, view, {
      title: texts.title,
      current: 'inbox',
      needsScript: true,
      scripts: ['carillon-inbox.js', 'page-inbox.js'],
      styles: ['inbox.css'],
      main: html`<div class="inbox-top"><h1>${texts.title}</h1>
  <a class="button" href="${view.pages}account#preferences">${texts.settings}</a></div>
  <p class="not-started fault">${view.texts.unsupportedBrowser}</p>
  <carillon-inbox data-root="${view.root}" lang="${view.language}" sign-in-url="${signIn}" title-badge>
  <div id="category-field" slot="header" class="not-yet"><label class="for-readers" for="category">${texts.category}</label><select id="category"><option value="">${texts.allCategories}</option></select></div>
  </carillon-inbox>`,
    })
  },
})
