import type { FastifyRequest } from 'fastify'
import { type CarillonError, invalidField } from '../basics/errors.ts'
import { type Exchange, forAnyone, forVisitor } from '../http/operation.ts'
import type { View } from '../pages/frame.ts'
import { type Html, html } from '../pages/html.ts'
import {
  commonSentence,
  notStarted,
  type PageNeeds,
  type Reader,
  sendPage,
  viewFor,
  viewOf,
  writePage,
} from '../pages/page.ts'
import { pagePath } from '../pages/places.ts'
import type { TextsOf } from '../pages/texts/texts.ts'
import { type ForgotNeeds, requestReset } from './forgotten.ts'
import { ForgotForm } from './passwords.schemas.ts'

export const forgotPage = forVisitor({
  summary: 'The page for a forgotten password; if the service sends no mail, it says whom to ask',
  responses: { 200: 'html' },
  async handle(dependencies: PageNeeds, request, reply) {
    const user = await dependencies.pages.readerOf(request.caller)
    const { view, page } = await pageFor(dependencies, request, {
      user,
      isSent: 'sent' in (request.query as object),
    })
    return sendPage(reply, view, page)
  },
})

export const forgot = forAnyone({
  summary:
    'The form of that page: the response is the same whether there is such an account or not',
  body: ForgotForm,
  acceptsForm: true,
  // Other sites could make browsers request mails.
  signsIn: true,
  responses: { 303: 'none' },
  refusals: ['NOT_FOUND'],
  failurePage: failedPage,
  /** A username may look like an address. */
  async handle(dependencies: PageNeeds & ForgotNeeds, request, reply) {
    const account = request.body.account.trim()
    if (account === '') throw invalidField('account', 'is missing')
    const named = account.includes('@')
      ? [{ email: account }, { username: account }]
      : [{ username: account }]
    await Promise.all(named.map((one) => requestReset(dependencies, one, request)))
    return reply.redirect(`${pagePath(dependencies, 'forgot')}?sent`, 303)
  },
})

async function failedPage(
  dependencies: PageNeeds,
  error: CarillonError,
  { request, reply }: Exchange,
) {
  return writePage(reply, await pageFor(dependencies, request, { error }))
}

type Shown = { user?: Reader | undefined; isSent?: boolean; error?: CarillonError }

async function pageFor(
  dependencies: PageNeeds,
  request: FastifyRequest,
  { user, isSent, error }: Shown,
) {
  const view = await viewOf(dependencies, request, user)
  const { signIn: texts } = await view.textsOf('service')
  const { noMail, sentTitle, sent, notSent, empty, back } = texts.forgotten
  const isEmpty = error?.code === 'INVALID_REQUEST' && request.body != null
  let title = texts.forgot
  let content = form(view, texts, error && (isEmpty ? empty : commonSentence(view, error)))
  if (!dependencies.pages.hasMail) content = html`<p>${noMail}</p>`
  else if (isSent) {
    title = sentTitle
    content = html`<p role="status">${sent}</p>\n<p class="hint">${notSent}</p>`
  }
  const main = html`<div class="card narrow">
<h1>${title}</h1>
${content}
<p class="centered"><a href="${view.pages}sign-in">${back}</a></p>
</div>`
  return { view, page: { title, styles: ['sign-in.css'], main } }
}

function form(view: View, texts: TextsOf<'service'>['signIn'], fault = ''): Html {
  return html`<p>${texts.forgotten.intro}</p>
<form method="post" action="${view.pages}forgot">
<p id="fault" class="fault" role="alert">${fault}</p>
<div class="field"><label for="account">${texts.username}</label>
<input id="account" name="account" autocomplete="username" autocapitalize="none" spellcheck="false" required maxlength="254" autofocus${fault !== '' && html` aria-invalid="true" aria-describedby="fault"`}></div>
<p><button type="submit" class="primary whole">${texts.forgotten.submit}</button></p>
</form>`
}

// The script (pages/password/) sends the fragment.

type Needs = PageNeeds & { users: { passwordMinLength: number } }

const passwordPage = (purpose: 'reset' | 'invite', setting: string) =>
  forVisitor({
    summary: `The page of a link to set a ${purpose === 'reset' ? 'new' : 'first'} password, unless \`${setting}\` names another one`,
    responses: { 200: 'html' },
    /** Otherwise "Back" would show a typed password. */
    async handle(dependencies: Needs, request, reply) {
      const view = await viewFor(dependencies, request)
      const [{ front, signIn: words, password: texts }, { password: shared }, requests] =
        await Promise.all([
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
      const main = html`${notStarted(view)}
<div class="narrow card" id="password-page" data-root="${view.root}" data-min="${minLength}" data-show="${words.showPassword}" data-hide="${words.hidePassword}" data-progress="${texts.progress}" data-failed="${requests.failures.NETWORK}">
<h1 id="heading" tabindex="-1">${title}</h1>
<form id="form" novalidate hidden>
${isFirst && html`<p>${front.welcome(view.name)}.</p>`}
<p id="named" hidden>${texts.username} <strong id="username"></strong></p>
<p id="mailed" hidden>${texts.mailedTo} <strong id="address"></strong></p>
<input id="account" autocomplete="username" hidden readonly>
<label for="password">${isFirst ? words.password : shared.next}</label>
<p class="hint" id="hint">${shared.rules(minLength)}</p>
<div class="field with-eye">
<input id="password" type="password" autocomplete="new-password" autocapitalize="none" autocorrect="off" spellcheck="false" aria-describedby="hint fault">
<button id="reveal" type="button" class="eye" aria-label="${words.showPassword}"></button>
</div>
<p class="fault" id="fault" role="alert"></p>
<button class="primary whole" type="submit">${texts.submit}</button>
<p class="hint" id="progress" role="status"></p>
</form>
<section id="done" hidden data-title="${texts.doneTitle}"><p>${texts.done}</p>${elsewhere}${signIn}</section>
<section id="signed-in" hidden data-title="${isFirst ? front.welcome(view.name) : texts.doneTitle}"><p>${texts.signedIn}</p>${elsewhere}<p><a class="button primary" href="${view.pages}account">${view.texts.account}</a></p></section>
<section id="invalid" hidden data-title="${texts.invalidTitle}"><p>${texts.invalid}</p><p>${newLink}</p>${signIn}</section>
<section id="missing" hidden data-title="${texts.missingTitle}"><p>${texts.missing}</p>${missing}</section>
</div>`
      const page = { title, main, needsScript: true, scripts: ['page-password.js'] } as const
      return sendPage(reply, view, page, { referrer: 'no-referrer' })
    },
  })

export const resetPage = passwordPage('reset', 'CARILLON_RESET_PAGE')
export const invitePage = passwordPage('invite', 'CARILLON_INVITE_PAGE')
