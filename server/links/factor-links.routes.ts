// A sign-in with a password alone needs a link for a first second factor after the grace; the
// service mails it.
import { sourceOf } from '../audit/entry.ts'
import { conflict } from '../basics/errors.ts'
import { forUser } from '../http/operation.ts'
import { acceptsHtml } from '../http/response/send.ts'
import { failurePage, type PageNeeds } from '../pages/page.ts'
import { pagePath } from '../pages/places.ts'
import { findEnabledUser, type UserNeeds } from '../users/users.ts'
import type { ForgottenPasswords } from './forgotten.ts'

type Needs = UserNeeds & PageNeeds & { forgotten: ForgottenPasswords | undefined }

export const mailLink = forUser({
  summary:
    'Mails the link with which a sign-in that can only set up a second factor adds the first one',
  // Browsers send an empty form from the button of the sign-in page.
  acceptsForm: true,
  responses: { 202: 'none', 303: 'none' },
  refusals: ['CONFLICT', 'TOO_MANY_REQUESTS'],
  failurePage,
  async handle(needs: Needs, request, reply) {
    const { caller, headers } = request
    const { users, forgotten } = needs
    if (caller.scope !== 'setup' || caller.factor !== undefined)
      throw conflict('This sign-in needs no link', 'Add the second factor without one.')
    const user = await findEnabledUser(users, caller)
    const source = sourceOf(needs, request)
    const address = await forgotten?.sendFactorLink(user, source, headers['accept-language'])
    if (address === undefined)
      throw conflict(
        'The service can send you no link: it sends no mail, or your e-mail address is not verified',
        'Ask the operator for one: carillon user link NAME --purpose factor.',
      )
    if (!acceptsHtml(request)) return reply.code(202).send()
    return reply.redirect(`${pagePath(needs, 'sign-in')}?after=link`, 303)
  },
})
