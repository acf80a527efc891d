import { sourceOf } from '../audit/entry.ts'
import { iso } from '../basics/clock.ts'
import { conflict, linkInvalid } from '../basics/errors.ts'
import type { FactorNeeds } from '../factors/factors.ts'
import { forAnyone, forProducer, forUser } from '../http/operation.ts'
import { acceptsHtml, sendData, sendObject } from '../http/response/send.ts'
import { failurePage, type PageNeeds } from '../pages/page.ts'
import { acceptedPlace, pagePath, readReturnTo } from '../pages/places.ts'
import { sendProof } from '../sessions/own-sign-in.ts'
import { Login, TokenResponse } from '../sessions/sessions.schemas.ts'
import type { SignInNeeds } from '../sign-in/sign-in.ts'
import { findEnabledUser, type UserNeeds, userKey, usersFor } from '../users/find-user.ts'
import { findUser } from '../users/users.store.ts'
import { type ForgotNeeds, requestReset } from './forgotten.ts'
import { createLink, type LinkSettings } from './links.ts'
import { changeOwnPassword, presentedLink, resetByLink } from './new-password.ts'
import * as shapes from './passwords.schemas.ts'

/** The policy explains a long password. */
const passwordBodyLimit = 16 * 1024

export const linkFor = forProducer({
  summary: 'A link by which this user sets a password, once; the last three of a purpose are valid',
  body: shapes.LinkBody,
  responses: { 201: shapes.UserLinkResponse },
  refusals: ['CONFLICT'],
  async handle(dependencies: UserNeeds & PageNeeds & { links: LinkSettings }, request, reply) {
    const users = usersFor(dependencies, request)
    const wanted = request.body
    const returnTo = wanted.returnTo && readReturnTo(dependencies, 'returnTo', wanted.returnTo)
    const { url, expiresAt } = await createLink(users, dependencies.links, userKey(request), {
      ...wanted,
      returnTo,
    })
    return sendData(reply.code(201), { url, expiresAt: iso(expiresAt) })
  },
})

export const linkForExternal = { ...linkFor, summary: 'The same, by external id' }

export const reset = forAnyone({
  summary:
    'Set a new password with the token of a one-time link: every session and token of the user ends; with `variant`, the user is signed in',
  body: shapes.ResetBody,
  bodyLimit: passwordBodyLimit,
  signsIn: true,
  responses: { 200: Login, 204: 'none' },
  refusals: [
    'CONFLICT',
    'LINK_INVALID',
    'SECOND_FACTOR_REQUIRED',
    'TOO_MANY_REQUESTS',
    'UNAVAILABLE',
  ],
  async handle(dependencies: SignInNeeds, request, reply) {
    const signedIn = await resetByLink(dependencies, request.body, { request, reply })
    return signedIn === undefined ? reply.code(204).send() : sendObject(reply, signedIn)
  },
})

export const readLink = forAnyone({
  summary:
    'Whose password a one-time link sets, for the page that it leads to; the link stays usable',
  body: shapes.LinkTokenBody,
  responses: { 200: shapes.LinkFactsResponse },
  refusals: ['LINK_INVALID', 'TOO_MANY_REQUESTS', 'UNAVAILABLE'],
  async handle(dependencies: SignInNeeds & PageNeeds, request, reply) {
    const { token } = request.body
    const link = await presentedLink(dependencies, token, sourceOf(dependencies, request))
    const { userId, purpose, expiresAt, email, returnTo } = link
    const user = await dependencies.store.read(findUser, userId)
    if (typeof user?.username !== 'string' || user.disabledAt !== null) throw linkInvalid()
    return sendData(reply, {
      username: user.username,
      purpose,
      expiresAt: iso(expiresAt),
      // Settings may have changed since.
      returnTo: returnTo ? acceptedPlace(dependencies, returnTo) : undefined,
      mailedTo: email?.replace(/^(.).*@/u, '$1***@'),
    })
  },
})

export const forgot = forAnyone({
  summary:
    'Send a link to set a new password by e-mail; the response is the same whether there is such a user or not',
  body: shapes.ForgotBody,
  responses: { 202: 'none' },
  refusals: ['NOT_FOUND'],
  /** 404 without a mail server reveals no user. */
  async handle(dependencies: ForgotNeeds, request, reply) {
    await requestReset(dependencies, request.body, request)
    return reply.code(202).send()
  },
})

export const change = forUser({
  summary:
    'Set a new password with the current one: every other session and token of the user ends. 204 and a new cookie for a session, 200 and a new token for a token',
  body: shapes.PasswordChangeBody,
  bodyLimit: passwordBodyLimit,
  responses: { 200: TokenResponse, 204: 'none' },
  refusals: ['INVALID_CREDENTIALS', 'TOO_MANY_REQUESTS', 'UNAVAILABLE'],
  /** The current password proves enough. */
  async handle(dependencies: FactorNeeds, request, reply) {
    return sendProof(reply, await changeOwnPassword(dependencies, request.body, { request, reply }))
  },
})

export const mailFactorLink = forUser({
  summary:
    'Mails the link with which a sign-in that can only set up a second factor adds the first one',
  // The sign-in page's button sends an empty form.
  acceptsForm: true,
  responses: { 202: 'none', 303: 'none' },
  refusals: ['CONFLICT', 'TOO_MANY_REQUESTS'],
  failurePage,
  async handle(needs: UserNeeds & PageNeeds & ForgotNeeds, request, reply) {
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
