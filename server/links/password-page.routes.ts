// The two pages to which a one-time link leads. The token is in the fragment of the address, which no request has: the script
// (pages/password/) sends it to `POST /password/link` and `POST /password/reset` (passwords.ts).
import { forVisitor } from '../http/operation.ts'
import { html } from '../pages/html.ts'
import { type PageNeeds, sendPage, viewOf } from '../pages/page.ts'

type Needs = PageNeeds & { users: { passwordMinLength: number } }

const passwordPage = (purpose: 'reset' | 'invite', summary: string) =>
  forVisitor({
    summary,
    responses: { 200: 'html' },
    /** No cache keeps it (the default): a browser would otherwise show it again by "back", with a typed password. */
    async handle(dependencies: Needs, request, reply) {
      const view = await viewOf(dependencies, request, await dependencies.pages.readerOf(request.caller))
      const [{ front, signIn: words, password: texts }, { password: shared }, requests] = await Promise.all([
        view.textsOf('service'),
        view.textsOf('account'),
        view.textsOf('requests'),
      ])
      const { title, newLink } = texts[purpose]
      const minLength = dependencies.users.passwordMinLength
      const signIn = html`<p><a class="button primary" href="${view.pages}sign-in">${view.texts.signIn}</a></p>`
      const isFirst = purpose === 'invite'
      const requestLink = html`<p><a class="button primary" href="${view.pages}forgot">${texts.requestLink}</a></p>`
      const missing = !isFirst && dependencies.pages.hasMail ? requestLink : signIn
      const elsewhere = !isFirst && html`<p>${texts.doneElsewhere}</p>`
      const signedIn = html`<section id="signed-in" hidden data-title="${isFirst ? front.welcome(view.name) : texts.doneTitle}"><p>${texts.signedIn}</p>${elsewhere}<p><a class="button primary" href="${view.pages}account">${view.texts.account}</a></p></section>`
      const main = html`<p class="not-started fault">${view.texts.unsupportedBrowser}</p>
<div class="narrow card" id="password-page" data-root="${view.root}" data-min="${minLength}" data-show="${words.showPassword}" data-hide="${words.hidePassword}" data-progress="${texts.progress}" data-failed="${requests.failures.NETWORK}">
<h1 id="heading" tabindex="-1">${title}</h1>
<form id="form" novalidate hidden>
${isFirst && html`<p>${front.welcome(view.name)}.</p>`}
<p id="named" hidden>${texts.username} <strong id="username"></strong></p>
<input id="account" autocomplete="username" hidden readonly>
<label for="password">${isFirst ? words.password : shared.next}</label>
<p class="hint" id="hint">${shared.rules(minLength)}</p>
<div class="field with-button">
<input id="password" type="password" autocomplete="new-password" autocapitalize="none" autocorrect="off" spellcheck="false" aria-describedby="hint fault">
<button id="reveal" type="button">${words.showPassword}</button>
</div>
<p class="fault" id="fault" role="alert"></p>
<button class="primary whole" type="submit">${texts.submit}</button>
<p class="hint" id="progress" role="status"></p>
</form>
<section id="done" hidden data-title="${texts.doneTitle}"><p>${texts.done}</p>${elsewhere}${signIn}</section>
${signedIn}
<section id="invalid" hidden data-title="${texts.invalidTitle}"><p>${texts.invalid}</p><p>${newLink}</p>${signIn}</section>
<section id="missing" hidden data-title="${texts.missingTitle}"><p>${texts.missing}</p>${missing}</section>
</div>`
      const page = { title, main, needsScript: true, scripts: ['page-password.js'] } as const
      return sendPage(reply, view, page, { referrer: 'no-referrer' })
    },
  })

const newSummary = 'The page of a link to set a new password, unless `CARILLON_RESET_PAGE` names another one'
export const resetPage = passwordPage('reset', newSummary)
const firstSummary = 'The page of a link to set a first password, unless `CARILLON_INVITE_PAGE` names another one'
export const invitePage = passwordPage('invite', firstSummary)
