// RFC 8058.
import { notFound } from '../../basics/errors.ts'
import * as t from '../../http/openapi/schema.ts'
import { forAnyone, forVisitor } from '../../http/operation.ts'
import { html } from '../../pages/html.ts'
import { type PageNeeds, sendPage, viewOf } from '../../pages/page.ts'
import { readUnsubscribeToken, type Unsubscribing, unsubscribe } from './unsubscribe.ts'

type Needs = PageNeeds & { unsubscribing: Unsubscribing }

const query = t.object({ token: t.optional(t.text(0, 4_000, 'From the mail')) })
const body = t.component('OneClick', { 'List-Unsubscribe': t.constant('One-Click') })

export const page = forVisitor({
  summary:
    'The page that asks whether to turn mails off; it changes nothing, because scanners follow the links of mails',
  query,
  responses: { 200: 'html' },
  refusals: ['NOT_FOUND'],
  async handle(dependencies: Needs, request, reply) {
    const { categories } = await tokenOf(dependencies, request.query.token)
    const view = await viewOf(dependencies, request)
    const { unsubscribe: texts } = await view.textsOf('service')
    const main = html`<div class="card narrow">
<h1>${texts.title}</h1>
<p>${categories === undefined ? texts.questionAll : texts.question}</p>
<form method="post" action="?token=${request.query.token ?? ''}">
<input type="hidden" name="List-Unsubscribe" value="One-Click">
<p><button type="submit" class="primary whole">${texts.submit}</button></p>
</form>
</div>`
    const asked = { title: texts.title, styles: ['sign-in.css'], main }
    return sendPage(reply, view, asked, { referrer: 'no-referrer' })
  },
})

export const oneClick = forAnyone({
  summary: 'Turn off mails about the categories of the mail with this link; it needs no sign-in',
  query,
  body,
  acceptsForm: true,
  acceptsMultipart: true,
  responses: { 200: 'html' },
  refusals: ['NOT_FOUND'],
  async handle(dependencies: Needs, request, reply) {
    const found = await tokenOf(dependencies, request.query.token)
    const outcome = await unsubscribe(dependencies.unsubscribing, found)
    const view = await viewOf(dependencies, request)
    const { unsubscribe: texts } = await view.textsOf('service')
    const done = outcome === 'all' ? texts.doneAll : texts.done
    const main = html`<div class="card narrow"><h1>${texts.doneTitle}</h1>\n<p role="status">${done}</p></div>`
    return sendPage(reply, view, { title: texts.doneTitle, styles: ['sign-in.css'], main })
  },
})

async function tokenOf({ unsubscribing }: Needs, token = '') {
  const found = await readUnsubscribeToken(unsubscribing, token)
  if (found === undefined)
    throw notFound('This link is not valid', 'Change the preferences on the account page.')
  return found
}
