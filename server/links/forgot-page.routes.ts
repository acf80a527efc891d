// The page for a forgotten password: a form, which works without a script, that requests the mail with the link.
import type { FastifyRequest } from 'fastify'
import { type CarillonError, invalidField } from '../basics/errors.ts'
import { forAnyone, forVisitor } from '../http/operation.ts'
import type { View } from '../pages/frame.ts'
import { type Html, html } from '../pages/html.ts'
import {
  commonSentence,
  type PageNeeds,
  type Reader,
  sendPage,
  viewOf,
  type WholePage,
  writePage,
} from '../pages/page.ts'
import { pagePath } from '../pages/places.ts'
import type { TextsOf } from '../pages/texts/texts.ts'
import type { Exchange } from '../sessions/finish-sign-in.ts'
import { type ForgotNeeds, requestReset } from './passwords.routes.ts'
import { ForgotForm } from './passwords.schemas.ts'

export const forgotPage = forVisitor({
  summary: 'The page for a forgotten password; if the service sends no mail, it says whom to ask',
  responses: { 200: 'html' },
  async handle(dependencies: PageNeeds, request, reply) {
    const user = await dependencies.pages.readerOf(request.caller)
    const { view, page } = await pageFor(dependencies, request, { user, isSent: 'sent' in (request.query as object) })
    return sendPage(reply, view, page)
  },
})

export const forgot = forAnyone({
  summary: 'The form of that page: the response is the same whether there is such an account or not',
  body: ForgotForm,
  acceptsForm: true,
  // Otherwise other sites could make the browsers of their visitors request mails, each from an address of its own.
  signsIn: true,
  responses: { 303: 'none' },
  refusals: ['NOT_FOUND'],
  failurePage: failedPage,
  /** A username may look like an e-mail address, so a text with `@` is looked up as both. */
  async handle(dependencies: PageNeeds & ForgotNeeds, request, reply) {
    const account = request.body.account.trim()
    if (account === '') throw invalidField('account', 'is missing')
    if (account.includes('@')) requestReset(dependencies, { email: account }, request)
    requestReset(dependencies, { username: account }, request)
    return reply.redirect(`${pagePath(dependencies, 'forgot')}?sent`, 303)
  },
})

async function failedPage(dependencies: PageNeeds, error: CarillonError, { request, reply }: Exchange) {
  return writePage(reply, await pageFor(dependencies, request, { error }))
}

type Shown = { user?: Reader | undefined; isSent?: boolean; error?: CarillonError }

async function pageFor(
  dependencies: PageNeeds,
  request: FastifyRequest,
  { user, isSent, error }: Shown,
): Promise<WholePage> {
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
