import { notAuthenticated } from '../basics/errors.ts'
import { ConfirmationBody, SecondFactorBody } from '../factors/factors.schemas.ts'
import { factorsOf } from '../factors/factors.store.ts'
import type { FactorNeeds } from '../factors/factors.ts'
import * as ceremonies from '../factors/passkeys/ceremonies.ts'
import * as passkeyShapes from '../factors/passkeys/passkeys.schemas.ts'
import { passkeysIn } from '../factors/passkeys/passkeys.ts'
import { forAnyone, forUser, forVisitor } from '../http/operation.ts'
import { sessionSecret } from '../http/request/credentials.ts'
import { sendData, sendObject } from '../http/response/send.ts'
import type { SignInsNeeds } from '../sessions/own-sign-in.ts'
import { Login, TokenResponse } from '../sessions/sessions.schemas.ts'
import { displaySession } from '../users/display-user.ts'
import { readerOf } from '../users/find-user.ts'
import { SessionResponse } from '../users/users.schemas.ts'
import { LoginBody, RestrictedResponse } from './sign-in.schemas.ts'
import { endSignIn, findWaiting, type SignInNeeds } from './sign-in.ts'
import * as attempts from './sign-in-attempts.ts'

export const login = forAnyone({
  summary: 'Sign in: a session cookie (stateful) or an access token (stateless)',
  body: LoginBody,
  acceptsForm: true,
  responses: { 200: Login },
  refusals: [
    'INVALID_CREDENTIALS',
    'FORBIDDEN',
    'SECOND_FACTOR_REQUIRED',
    'TOO_MANY_REQUESTS',
    'UNAVAILABLE',
  ],
  async handle(dependencies: SignInNeeds, request, reply) {
    return sendObject(
      reply,
      await attempts.signInByPassword(dependencies, request.body, { request, reply }),
    )
  },
})

export const requestPasskeyOptions = forAnyone({
  summary:
    'What a browser needs to use a passkey, for every purpose: parseRequestOptionsFromJSON() reads it',
  body: passkeyShapes.PasskeyOptionsBody,
  responses: { 200: passkeyShapes.PasskeyRequestOptions },
  refusals: ['UNAUTHORIZED', 'UNPROCESSABLE', 'UNAVAILABLE'],
  /** Stores nothing, and tells of a user only a client with the password. */
  async handle(needs: FactorNeeds, request, reply) {
    const { challenge: waitingFor } = request.body ?? {}
    const relyingParty = ceremonies.relyingPartyFor(needs, request)
    const { store, sealing, users } = needs
    const waiting =
      waitingFor === undefined ? undefined : await findWaiting(needs, waitingFor, request)
    const allowed =
      waiting === undefined ? [] : passkeysIn(await store.read(factorsOf, waiting.user.id))
    const challenge = ceremonies.newChallenge(sealing, { ceremony: 'get' }, users.now())
    return sendObject(reply, await ceremonies.requestOptions({ relyingParty, challenge, allowed }))
  },
})

export const loginWithPasskey = forAnyone({
  summary: 'Sign in with a passkey alone; the response is that of /login',
  body: passkeyShapes.PasskeySignInBody,
  ...passkeyShapes.passkeyLimits,
  responses: { 200: Login },
  refusals: ['INVALID_CREDENTIALS', 'UNPROCESSABLE', 'TOO_MANY_REQUESTS', 'UNAVAILABLE'],
  async handle(needs: SignInNeeds, request, reply) {
    const { variant = needs.site.variant, ...body } = request.body
    const response = body.response as ceremonies.Assertion
    return sendObject(
      reply,
      await attempts.signInByPasskey(needs, { variant, response }, { request, reply }),
    )
  },
})

const factorRefusals = [
  'INVALID_CREDENTIALS',
  'FACTOR_UNREADABLE',
  'UNPROCESSABLE',
  'TOO_MANY_REQUESTS',
] as const

export const complete = forAnyone({
  summary: 'Completes a sign-in that needs a second factor; the response is that of /login',
  body: SecondFactorBody,
  ...passkeyShapes.passkeyLimits,
  responses: { 200: Login },
  refusals: [...factorRefusals, 'UNAUTHORIZED', 'UNAVAILABLE'],
  async handle(needs: SignInNeeds, request, reply) {
    return sendObject(reply, await attempts.signInByFactor(needs, request.body, { request, reply }))
  },
})

export const confirm = forUser({
  summary:
    'Makes this sign-in fresh for 10 minutes, by a second factor or a password: 204 and a new cookie for a session, a new token for a token',
  body: ConfirmationBody,
  ...passkeyShapes.passkeyLimits,
  responses: { 201: TokenResponse, 204: 'none' },
  refusals: [...factorRefusals, 'SECOND_FACTOR_REQUIRED'],
  async handle(needs: FactorNeeds, request, reply) {
    const proof = await attempts.confirmSignIn(needs, request.body, { request, reply })
    return proof === undefined ? reply.code(204).send() : sendData(reply.code(201), proof)
  },
})

export const logout = forAnyone({
  summary:
    'Sign out: ends every session and token that the request presents; 204 even if none was valid',
  refusals: ['UNAVAILABLE'],
  async handle(dependencies: SignInsNeeds, request, reply) {
    await endSignIn(dependencies, request, reply)
  },
})

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
  async handle(dependencies: SignInNeeds, { caller, raw }, reply) {
    const { sessions, site, policy } = dependencies
    const secret = caller === null ? sessionSecret(raw.headers.cookie, site.cookie.name) : null
    // Another tab changed a credential: the client repeats the request with the new cookie.
    if (secret !== null && (await sessions.isJustReplaced(secret))) throw notAuthenticated()
    const user = await readerOf(dependencies, caller)
    return sendData(
      reply,
      caller === null || user === undefined ? null : displaySession(user, caller, policy),
    )
  },
})
