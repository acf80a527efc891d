import { forVisitor } from '../http/operation.ts'
import type { Page, View } from '../pages/frame.ts'
import { type Html, html } from '../pages/html.ts'
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
    const isFirstUser = await dependencies.pages.hasOneUser()
    const page: Page = {
      title: view.texts.inbox,
      current: 'inbox',
      needsScript: true,
      scripts: ['carillon-inbox.js', 'page-inbox.js'],
      styles: ['inbox.css'],
      main: html`<div class="inbox-top"><h1>${view.texts.inbox}</h1>
  <a class="button" href="${view.pages}account#notifications">${texts.settings}</a></div>
  ${isFirstUser && (await firstSteps(view, dependencies.site.publicUrl()))}<p class="not-started fault">${view.texts.unsupportedBrowser}</p>
  <carillon-inbox data-root="${view.root}" lang="${view.language}" sign-in-url="${signIn}" title-badge>
  <div id="category-field" slot="header" class="not-yet"><label class="for-readers" for="category">${texts.category}</label><select id="category"><option value="">${texts.allCategories}</option></select></div>
  </carillon-inbox>`,
    }
    return sendPage(reply, view, page, { images: dependencies.pages.imageHosts })
  },
})

/** What the operator of a new service does next, as long as there is no other user. */
async function firstSteps(view: View, url: string): Promise<Html> {
  const { firstSteps: texts, docs } = await view.textsOf('service')
  const bell = `<script type="module" src="${url}/carillon-inbox.js"></script>\n<carillon-bell></carillon-bell>`
  return html`<section class="card first-steps" aria-labelledby="first-steps" data-copy="${docs.copy}" data-copied="${docs.copied}" data-not-copied="${docs.notCopied}">
  <h2 id="first-steps">${texts.title}</h2>
  <p><button type="button" class="primary" id="send-test" data-sent="${texts.sent}" data-refused="${texts.refused}">${texts.send}</button> <span role="status"></span></p>
  <p>${texts.bell}</p><div class="with-button"><pre>${bell}</pre></div>
  <p>${texts.user}</p><div class="with-button"><pre>npx carillon user add NAME</pre></div>
  <p>${texts.key}</p><div class="with-button"><pre>npx carillon key add NAME</pre></div>
  </section>
  `
}
