// The page for a forgotten password: a form, which works without a script, that requests the mail with the link.
import type { FastifyRequest } from 'fastify'
import { type CarillonError, invalidField } from '../basics/errors.ts'
import { forAnyone, forVisitor } from '../http/operation.ts'
import type { Page, View } from '../pages/frame.ts'
import { type Html, html } from '../pages/html.ts'
import { commonSentence, type PageNeeds, type Reader, sendPage, viewOf, writePage } from '../pages/page.ts'
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

async function pageFor(dependencies: PageNeeds, request: FastifyRequest, { user, isSent, error }: Shown) {
  const view = await viewOf(dependencies, request, user)
  const given = { view, texts: (await view.textsOf('service')).signIn }
  const { noMail, sentTitle, sent, notSent } = given.texts.forgotten
  if (!dependencies.pages.hasMail) return { view, page: framed(given, given.texts.forgot, html`<p>${noMail}</p>`) }
  const sentMain = html`<p role="status">${sent}</p>\n<p class="hint">${notSent}</p>`
  if (isSent) return { view, page: framed(given, sentTitle, sentMain) }
  const isEmpty = error?.code === 'INVALID_REQUEST' && request.body != null
  const fault = error && (isEmpty ? given.texts.forgotten.empty : commonSentence(view, error))
  return { view, page: formPage(given, fault) }
}

type Given = { view: View; texts: TextsOf<'service'>['signIn'] }

function formPage(given: Given, fault = ''): Page {
  const { view, texts } = given
  return framed(
    given,
    texts.forgot,
    html`<p>${texts.forgotten.intro}</p>
<form method="post" action="${view.pages}forgot">
<p id="fault" class="fault" role="alert">${fault}</p>
<div class="field"><label for="account">${texts.username}</label>
<input id="account" name="account" autocomplete="username" autocapitalize="none" spellcheck="false" required maxlength="254" autofocus${fault !== '' && html` aria-invalid="true" aria-describedby="fault"`}></div>
<p><button type="submit" class="primary whole">${texts.forgotten.submit}</button></p>
</form>`,
  )
}

function framed({ view, texts }: Given, title: string, main: Html): Page {
  return {
    title,
    styles: ['sign-in.css'],
    main: html`<div class="card narrow">
<h1>${title}</h1>
${main}
<p class="centered"><a href="${view.pages}sign-in">${texts.forgotten.back}</a></p>
</div>`,
  }
}
