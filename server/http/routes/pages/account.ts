// The account page: the user's name, password, sign-ins and factors. pages/account/ has its script, which uses the routes of routes/account/.
import type { FastifyReply } from 'fastify'
import { html } from '../../../pages/html.ts'
import type { Subject } from '../../../sign-in/subject.ts'
import type { Dependencies } from '../../dependencies.ts'
import type { GuardedRequest, Operation } from '../operation.ts'
import { pagePath, readerOf, sendPage, viewOf } from './page.ts'

export const account: Operation<Subject | null> = {
  id: 'getAccountPage',
  tag: 'pages',
  summary: 'The account page of the signed-in user; without a session it leads to the sign-in page',
  responses: { 200: 'html', 303: 'none' },
  handle: sendAccount,
}

async function sendAccount(dependencies: Dependencies, request: GuardedRequest<Subject | null>, reply: FastifyReply) {
  const user = await readerOf(dependencies, request.caller)
  if (user === undefined) return reply.redirect(signInPath(dependencies, 'account'), 303)
  const view = await viewOf(dependencies, request, user)
  const offered = [...dependencies.providers.all.values()].map(({ setting: { name, displayName } }) => ({
    name,
    displayName,
  }))
  return sendPage(reply, view, {
    title: view.texts.account,
    current: 'account',
    needsScript: true,
    isWide: true,
    scripts: ['page-account.js'],
    styles: ['account.css', 'security.css'],
    main: html`<h1>${view.texts.account}</h1>
<div id="account" data-root="${view.root}" data-pages="${view.pages}" data-password-min="${dependencies.users.passwordMinLength}" data-providers="${JSON.stringify(offered)}"><p class="not-started fault">${view.texts.unsupportedBrowser}</p></div>`,
  })
}

/** The sign-in page, which leads back to the page `name`. */
export function signInPath(dependencies: Dependencies, name: string): string {
  const returnTo = encodeURIComponent(pagePath(dependencies, name))
  return `${pagePath(dependencies, 'sign-in')}?return_to=${returnTo}`
}
