// The routes of sign-in: login in both variants, the restricted route, logout, and who is signed in.
import type { FastifyReply } from 'fastify'
import { sourceOf } from '../audit/entry.ts'
import { notAuthenticated } from '../basics/errors.ts'
import type { FactorNeeds } from '../factors/factors.ts'
import { continueSignIn } from '../factors/second-factor.routes.ts'
import { knownDevice, presentedDevices } from '../guessing/device-tokens.ts'
import { type Exchange, forAnyone, forUser, forVisitor, type GuardedRequest } from '../http/operation.ts'
import { presentedTokens, sessionSecret, sessionSecrets, setCookie } from '../http/request/credentials.ts'
import { comesFromOtherSite } from '../http/requests.ts'
import { goneSignal, sendData, sendObject } from '../http/response/send.ts'
import { endPresented } from '../sessions/finish-sign-in.ts'
import { Login } from '../sessions/sessions.schemas.ts'
import { checkCredentials, findAccount } from '../users/credentials.ts'
import { displaySession } from '../users/display-user.ts'
import { SessionResponse } from '../users/users.schemas.ts'
import type { User } from '../users/users.store.ts'
import { readerOf } from '../users/users.ts'
import { LoginBody, RestrictedResponse } from './sign-in.schemas.ts'

export const login = forAnyone({
  summary: 'Sign in: a session cookie (stateful) or an access token (stateless)',
  body: LoginBody,
  acceptsForm: true,
  responses: { 200: Login },
  refusals: ['INVALID_CREDENTIALS', 'FORBIDDEN', 'SECOND_FACTOR_REQUIRED', 'TOO_MANY_REQUESTS', 'UNAVAILABLE'],
  async handle(dependencies: FactorNeeds, request, reply) {
    return sendObject(reply, await signInByPassword(dependencies, request.body, { request, reply }))
  },
})

/** What the response says. Throws the refusals of `login`. */
export async function signInByPassword(dependencies: FactorNeeds, body: LoginBody, { request, reply }: Exchange) {
  const { variant = dependencies.site.variant, username, password } = body
  const source = sourceOf(dependencies, request)
  const turn = { address: source.address, signal: goneSignal(reply) }
  const presented = presentedDevices(dependencies, request)
  const deviceOf = (user: User | undefined) => knownDevice(dependencies, presented, user)
  const account = await findAccount(dependencies, username, (user) => deviceOf(user) !== undefined)
  const device = deviceOf(account.user)
  try {
    const user = await checkCredentials(dependencies, account, { password, device, ...turn })
    await dependencies.guesses.beginSignIn({ userId: user.id, address: source.address }, 'password')
    return await continueSignIn(dependencies, user, { variant, method: 'password', source }, { request, reply })
  } catch (error) {
    throw dependencies.signInLog.noted(error, source, { account, variant })
  }
}

type EndNeeds = Pick<FactorNeeds, 'site' | 'sessions' | 'accessTokens'>

export const logout = forAnyone({
  summary: 'Sign out: ends every session and token that the request presents; 204 even if none was valid',
  refusals: ['UNAVAILABLE'],
  async handle(dependencies: EndNeeds, request, reply) {
    await endSignIn(dependencies, request, reply)
  },
})

/** Ends every session and token that the request presents, and removes the cookie. */
export async function endSignIn(dependencies: EndNeeds, request: GuardedRequest<null>, reply: FastifyReply) {
  const { cookie, allowedOrigins } = dependencies.site
  const source = sourceOf(dependencies, request)
  // A form of another site can send a cookie past the cross-site check with a username in its URL (`Authorization: Basic`).
  const isForeign = comesFromOtherSite(request, allowedOrigins)
  const secrets = isForeign ? [] : sessionSecrets(request.raw.headers.cookie, cookie.name)
  await endPresented(dependencies, { secrets, tokens: presentedTokens(request.raw), source })
  if (!isForeign) setCookie(reply, cookie, '')
}

export const restricted = forUser({
  summary: 'The restricted route: 200 with valid proof, 401 without',
  responses: { 200: RestrictedResponse },
  async handle(_, { caller }, reply) {
    const { userId, username, proof } = caller
    return sendData(reply, { userId, username, proof })
  },
})

export const session = forVisitor({
  summary:
    'Who is signed in, if anyone: null and no error without a valid proof; 401 for a cookie that was just replaced',
  responses: { 200: SessionResponse },
  refusals: ['UNAUTHORIZED'],
  async handle(dependencies: Pick<FactorNeeds, 'store' | 'sessions' | 'site'>, { caller, raw }, reply) {
    const { sessions, site } = dependencies
    const secret = caller === null ? sessionSecret(raw.headers.cookie, site.cookie.name) : null
    // Another tab has changed a credential: this one must not look signed out. The client repeats the request with the new cookie.
    if (secret !== null && (await sessions.isJustReplaced(secret))) throw notAuthenticated()
    const user = await readerOf(dependencies, caller)
    return sendData(reply, caller === null || user === undefined ? null : displaySession(user, caller))
  },
})
