import { notFound } from '../basics/errors.ts'
import { forVisitor } from '../http/operation.ts'
import { acceptsHtml } from '../http/response/send.ts'
import { readInbox } from '../inbox/inbox.store.ts'
import { drawing } from '../pages/drawing.ts'
import { type Html, html } from '../pages/html.ts'
import { type PageNeeds, sendPage, viewOf } from '../pages/page.ts'
import type { TextsOf } from '../pages/texts/texts.ts'
import type { UserDependencies } from '../users/find-user.ts'
import { listUsers } from '../users/users.store.ts'
import { firstUsername } from '../users/users.ts'

type Needs = PageNeeds & { users: UserDependencies }

export const front = forVisitor({
  summary:
    'Greets a browser, signed in or not, and leads to the other pages; a request that does not accept HTML gets 404',
  responses: { 200: 'html' },
  refusals: ['NOT_FOUND'],
  async handle(dependencies: Needs, request, reply) {
    if (!acceptsHtml(request))
      throw notFound('Pages are for browsers', '/docs and /openapi.json describe the API.')
    const { caller } = request
    const user = await dependencies.pages.readerOf(caller)
    const view = await viewOf(dependencies, request, user)
    const { front: texts } = await view.textsOf('service')
    const title = view.user === undefined ? texts.welcome(view.name) : texts.hello(view.user)
    const { root, pages, texts: names } = view
    const isSignedOut = caller === null || user === undefined
    const { unread } = isSignedOut
      ? { unread: 0 }
      : await dependencies.users.store.read(readInbox, caller.userId)
    const greeting = unread === 0 ? texts.nothingUnread : texts.unread(unread)
    const main = html`<div class="hero">${drawing}<h1>${title}</h1>
<p class="lead">${isSignedOut ? texts.welcomeText : greeting}</p>
${isSignedOut && html`<p><a class="button primary" href="${pages}sign-in">${names.signIn}</a></p>`}</div>
${isSignedOut && (await firstHint(dependencies, texts))}
<ul class="places">
${!isSignedOut && place(`${pages}inbox`, names.inbox, texts.inboxText)}
${!isSignedOut && place(`${pages}account`, names.account, texts.accountText)}
${view.hasDemonstration && place(`${pages}demonstration`, names.demonstration, texts.demonstrationText)}
${view.hasDocumentationLink && place(`${root}docs`, names.documentation, texts.documentationText)}
</ul>`
    return sendPage(reply, view, { title, styles: ['front.css'], main })
  },
})

function place(address: string, name: string, text: string): Html {
  return html`<li class="card"><h2><a href="${address}">${name}</a></h2><p>${text}</p></li>`
}

/** Only an operator on that machine sees it; others learn nothing of users. */
async function firstHint(
  { pages, users }: Needs,
  texts: TextsOf<'service'>['front'],
): Promise<Html | undefined> {
  if (!pages.isHere) return undefined
  const [first, ...others] = await users.store.read(listUsers, { after: '', limit: 2 })
  if (first === undefined)
    return hintOf(texts.noUsersTitle, texts.noUsers, 'npx carillon user add NAME')
  if (others.length > 0 || first.username !== firstUsername) return undefined
  return hintOf(texts.firstStartTitle, texts.firstStart, 'first-sign-in.txt')
}

function hintOf(title: string, text: string, code: string): Html {
  return html`<section class="card first"><h2>${title}</h2><p>${text}</p><pre>${code}</pre></section>`
}
