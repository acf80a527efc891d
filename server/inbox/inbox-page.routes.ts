import { forVisitor } from '../http/operation.ts'
import type { Page, View } from '../pages/frame.ts'
import { type Html, html } from '../pages/html.ts'
import { notStarted, type PageNeeds, passwordNote, sendPage, viewOf } from '../pages/page.ts'
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
    const isFirstUser = (await dependencies.pages.onlyUser()) !== undefined
    const steps = isFirstUser && (await firstSteps(view, dependencies))
    const page: Page = {
      title: view.texts.inbox,
      current: 'inbox',
      needsScript: true,
      scripts: ['carillon-inbox.js', 'page-inbox.js'],
      styles: ['inbox.css'],
      main: html`<div class="inbox-top"><h1>${view.texts.inbox}</h1>
  <a class="button" href="${view.pages}account#notifications">${texts.settings}</a></div>
  ${await passwordNote(view, user)}${steps}${notStarted(view)}
  <carillon-inbox data-root="${view.root}" lang="${view.language}" sign-in-url="${signIn}" title-badge>
  <div id="category-field" slot="header" class="not-yet"><label class="for-readers" for="category">${texts.category}</label><select id="category"><option value="">${texts.allCategories}</option></select></div>
  </carillon-inbox>`,
    }
    return sendPage(reply, view, page, { images: dependencies.pages.imageHosts })
  },
})

async function firstSteps(view: View, { site, pages }: PageNeeds): Promise<Html> {
  const { firstSteps: texts, docs } = await view.textsOf('service')
  const step = (name: string, text: string, isDone = false) =>
    html`<label class="choice"><input type="checkbox" id="step-${name}" disabled${isDone && html` checked`}>${text}</label>`
  return html`<section class="card first-steps" aria-labelledby="first-steps" data-copy="${docs.copy}" data-copied="${docs.copied}" data-not-copied="${docs.notCopied}" data-origins="${site.allowedOrigins.join(' ')}">
  <h2 id="first-steps">${texts.title}</h2>
  <ol>
  <li>${step('sign-in', texts.signedIn, true)}</li>
  <li>${step('test', texts.test)}
  <p><button type="button" class="primary" id="send-test" data-title="${texts.notification.title}" data-sent="${texts.sent}" data-refused="${texts.refused}">${texts.send}</button> <span role="status"></span></p></li>
  <li>${step('bell', texts.bell, site.allowedOrigins.length > 0)}
  <p class="field"><label for="page-address">${texts.address}</label><input type="url" id="page-address" placeholder="https://app.example.org"></p>
  <p>${texts.lines}</p><div class="with-button"><pre id="bell-lines" data-url="${site.publicUrl()}">${bellLines(site.publicUrl())}</pre></div>
  <div id="bell-setting" hidden><p>${texts.setting}</p><div class="with-button"><pre></pre></div></div></li>
  <li>${step('key', texts.key, await pages.hasOwnKey())}
  <div class="with-button"><pre>npx carillon key add NAME</pre></div></li>
  </ol></section>
  `
}

function bellLines(url: string): string {
  return `<script type="module" src="${url}/carillon-inbox.js"></script>\n<carillon-bell></carillon-bell>`
}
