// The routes of passwords: a new one by the signed-in user or by a one-time link, and the links that an application requests for its users.
import type { FastifyRequest } from 'fastify'
import { type RequestSource, sourceOf } from '../audit/entry.ts'
import { iso } from '../basics/clock.ts'
import { type CarillonError, notFound, secondFactorRequired } from '../basics/errors.ts'
import { offeredFactors } from '../factors/factors.store.ts'
import type { FactorNeeds } from '../factors/factors.ts'
import { continueSignIn } from '../factors/second-factor.routes.ts'
import { presentedDevices, tokenAfterLink } from '../guessing/device-tokens.ts'
import { forAnyone, forProducer, forUser } from '../http/operation.ts'
import { setCookie } from '../http/request/credentials.ts'
import { goneSignal, sendData, sendObject } from '../http/response/send.ts'
import type { Site } from '../http/site.ts'
import type { PageNeeds } from '../pages/page.ts'
import { acceptedPlace, readReturnTo } from '../pages/places.ts'
import { passwordFaults } from '../passwords/policy.ts'
import { newProof, rotationOf, sendProof } from '../sessions/own-sign-in.ts'
import { Login, TokenResponse } from '../sessions/sessions.schemas.ts'
import { checkCredentials } from '../users/credentials.ts'
import { refuseFaults } from '../users/profile.ts'
import { findCredentials, findUser } from '../users/users.store.ts'
import { changePassword, findEnabledUser, type UserNeeds, userKey, usersFor } from '../users/users.ts'
import type { Forgotten, ForgottenPasswords } from './forgotten.ts'
import type { Link } from './links.store.ts'
import { createLink, findLiveLink, type LinkSettings, linkInvalid, resetPassword } from './links.ts'
import * as shapes from './passwords.schemas.ts'

/** `forgotten`: undefined without a mail server. */
export type ForgotNeeds = { site: Site; forgotten: ForgottenPasswords | undefined }

/** Longer than any password that is accepted, so that the policy says what is wrong with a long one. */
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
    const { url, expiresAt } = await createLink(users, dependencies.links, userKey(request), { ...wanted, returnTo })
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
  refusals: ['CONFLICT', 'LINK_INVALID', 'SECOND_FACTOR_REQUIRED', 'TOO_MANY_REQUESTS', 'UNAVAILABLE'],
  async handle(dependencies: FactorNeeds, request, reply) {
    const { token, newPassword, variant } = request.body
    const { guesses, signInLog, site } = dependencies
    const source = sourceOf(dependencies, request)
    const users = { ...dependencies.users, source }
    const link = await presentedLink(dependencies, token, source)
    const { userId } = link
    const attempt = { address: source.address, account: userId, device: `link ${token}`, signal: goneSignal(reply) }
    const change = { token, newPassword, attempt }
    const { before, user } = await resetPassword(users, link, change).catch((error: unknown) => {
      // It was used, or voided, while the new password was being hashed.
      if ((error as Partial<CarillonError>).code === refused.code) signInLog.refused(source, noAccount, refused)
      throw error
    })
    await guesses.forgetPasswordGuesses(userId)
    const deviceToken = tokenAfterLink(dependencies, presentedDevices(dependencies, request), { before, user })
    if (variant === undefined) {
      setCookie(reply, site.deviceCookie, deviceToken)
      return reply.code(204).send()
    }
    try {
      const facts = { variant, method: 'link', source } as const
      return sendObject(reply, await continueSignIn(dependencies, user, facts, { request, reply }))
    } catch (error) {
      const { secondFactor, code } = error as Partial<CarillonError>
      // Another new password has replaced this one since.
      if (code === 'INVALID_CREDENTIALS') throw linkInvalid()
      if (secondFactor && variant === 'stateless') throw secondFactorRequired({ ...secondFactor, deviceToken })
      if (secondFactor) setCookie(reply, site.deviceCookie, deviceToken)
      throw error
    }
  },
})

/** An invalid link names no account. */
const noAccount = { name: '', user: undefined }
const refused = { event: 'link-refused', code: 'LINK_INVALID' } as const

/**
 * A wrong token counts as a guess of its address. A right one is not delayed by the guesses of others at that address: 32 random bytes
 * are not guessed, and the owner of an account that is being attacked needs a way in (docs/decisions/0042-links-and-mail.md).
 */
async function presentedLink(dependencies: FactorNeeds, token: string, source: RequestSource): Promise<Link> {
  const { guesses, signInLog, users } = dependencies
  const link = await findLiveLink(users, token)
  if (link !== undefined) return link
  signInLog.refused(source, noAccount, refused)
  await guesses.begin(guesses.of({ address: source.address }, 'link'))
  throw linkInvalid()
}

export const readLink = forAnyone({
  summary: 'Whose password a one-time link sets, for the page that it leads to; the link stays usable',
  body: shapes.LinkTokenBody,
  responses: { 200: shapes.LinkFactsResponse },
  refusals: ['LINK_INVALID', 'TOO_MANY_REQUESTS', 'UNAVAILABLE'],
  async handle(dependencies: FactorNeeds & PageNeeds, request, reply) {
    const { token } = request.body
    const link = await presentedLink(dependencies, token, sourceOf(dependencies, request))
    const { userId, purpose, expiresAt, email, returnTo } = link
    const user = await dependencies.store.read(findUser, userId)
    if (typeof user?.username !== 'string' || user.disabledAt !== null) throw linkInvalid()
    return sendData(reply, {
      username: user.username,
      purpose,
      expiresAt: iso(expiresAt),
      // The settings may have changed since.
      returnTo: returnTo ? acceptedPlace(dependencies, returnTo) : undefined,
      mailedTo: email?.replace(/^(.).*@/u, '$1***@'),
    })
  },
})

export const forgot = forAnyone({
  summary: 'Send a link to set a new password by e-mail; the response is the same whether there is such a user or not',
  body: shapes.ForgotBody,
  responses: { 202: 'none' },
  refusals: ['NOT_FOUND'],
  /** Whether the service can send mail at all says nothing about a user, and a page needs to know it: 404 then, and not a false 202. */
  async handle(dependencies: ForgotNeeds, request, reply) {
    requestReset(dependencies, request.body, request)
    return reply.code(202).send()
  },
})

/** Throws NOT_FOUND without a mail server. */
export function requestReset(dependencies: ForgotNeeds, whose: Forgotten, request: FastifyRequest): void {
  const { forgotten } = dependencies
  if (forgotten === undefined)
    throw notFound(
      'This service sends no mail',
      'Request a link from its operator: carillon user link NAME, or CARILLON_SMTP_URL.',
    )
  forgotten.request(whose, sourceOf(dependencies, request), request.headers['accept-language'])
}

export const change = forUser({
  summary:
    'Set a new password with the current one: every other session and token of the user ends. 204 and a new cookie for a session, 200 and a new token for a token',
  body: shapes.PasswordChangeBody,
  bodyLimit: passwordBodyLimit,
  responses: { 200: TokenResponse, 204: 'none' },
  refusals: ['INVALID_CREDENTIALS', 'TOO_MANY_REQUESTS', 'UNAVAILABLE'],
  /** The current password is proof enough that the user is there: the sign-in may be older than ten minutes. */
  async handle(dependencies: FactorNeeds, request, reply) {
    const { currentPassword, newPassword } = request.body
    const { store } = dependencies
    const source = sourceOf(dependencies, request)
    const { id, username } = await findEnabledUser(dependencies, request.caller)
    // A user who signs in by a provider or a passkey may have neither a name nor a password: every password is wrong then.
    const name = username ?? ''
    const found = await store.read(findCredentials, name)
    const account = { name, user: found?.id === id ? found : undefined }
    const { address } = source
    const attempt = { device: request.caller.signInId, signal: goneSignal(reply) }
    // First, because it needs no hash.
    const wanted = { username: name, password: newPassword, field: 'newPassword' }
    refuseFaults(await passwordFaults(dependencies.users, wanted))
    await checkCredentials(dependencies, account, { password: currentPassword, from: address, ...attempt })
    // Not fresh with a second factor: a person who has learned the password could remove the factor. A token stays as fresh as it is.
    const isProof = request.caller.proof === 'session' && (await store.read(offeredFactors, id)).length === 0
    const own = rotationOf(dependencies, request, isProof)
    const user = { id, username: name, rotation: own.rotation }
    await changePassword({ ...dependencies.users, source }, user, { newPassword, attempt: { address, ...attempt } })
    return sendProof(reply, await newProof(dependencies, { request, reply }, own))
  },
})
