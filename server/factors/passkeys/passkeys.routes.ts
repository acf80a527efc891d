import { sourceOf } from '../../audit/entry.ts'
import { refusalCode } from '../../audit/sign-in-log.ts'
import { forAnyone, forUser } from '../../http/operation.ts'
import { sendData, sendObject } from '../../http/response/send.ts'
import { finishSignIn } from '../../sessions/finish-sign-in.ts'
import { Login } from '../../sessions/sessions.schemas.ts'
import { findUser } from '../../users/users.store.ts'
import { findEnabledUser } from '../../users/users.ts'
import { displayAdded } from '../factors.routes.ts'
import { FactorAddedResponse } from '../factors.schemas.ts'
import { factorsOf } from '../factors.store.ts'
import type { FactorNeeds } from '../factors.ts'
import { findWaiting, passkeyLimits } from '../second-factor.routes.ts'
import type { Assertion, Registration } from './ceremonies.ts'
import * as ceremonies from './ceremonies.ts'
import * as shapes from './passkeys.schemas.ts'
import { addPasskey, namedUser, passkeysIn, usePasskey } from './passkeys.ts'

export const creationOptions = forUser({
  summary: 'What a browser needs to create a passkey: parseCreationOptionsFromJSON() reads it',
  responses: { 200: shapes.PasskeyCreationOptionsResponse },
  refusals: ['UNPROCESSABLE'],
  async handle(dependencies: FactorNeeds, request, reply) {
    const relyingParty = ceremonies.relyingPartyFor(dependencies, request)
    const { id, username, email, displayName } = await findEnabledUser(dependencies, request.caller)
    const { store, sealing, users } = dependencies
    // What an authenticator displays beside the passkey; a user of an application may have no name at all here.
    const name = username ?? email ?? displayName ?? id
    const challenge = ceremonies.newChallenge(sealing, { ceremony: 'create', userId: id }, users.now())
    const existing = passkeysIn(await store.read(factorsOf, id))
    const user = { id, name, displayName: displayName ?? name }
    return sendData(reply, await ceremonies.creationOptions({ relyingParty, challenge, user, existing }))
  },
})

export const add = forUser({
  summary: 'Adds the passkey that the browser created; with the first factor, recovery codes',
  body: shapes.NewPasskeyBody,
  ...passkeyLimits,
  responses: { 201: FactorAddedResponse },
  refusals: ['CONFLICT', 'UNPROCESSABLE', 'TOO_MANY_REQUESTS'],
  async handle(dependencies: FactorNeeds, request, reply) {
    const { response, label } = request.body
    const { userId } = request.caller
    const addition = { userId, label, source: sourceOf(dependencies, request) }
    const added = await addPasskey(dependencies, response as Registration, addition, { request, reply })
    const { factor, outcome, codes, proof } = added
    return sendData(reply.code(201), { ...displayAdded(factor, outcome, codes), ...proof })
  },
})

export const requestOptions = forAnyone({
  summary: 'What a browser needs to use a passkey, for every purpose: parseRequestOptionsFromJSON() reads it',
  body: shapes.PasskeyOptionsBody,
  responses: { 200: shapes.PasskeyRequestOptions },
  refusals: ['UNAUTHORIZED', 'UNPROCESSABLE', 'UNAVAILABLE'],
  /** Anyone may request it. It stores nothing, and it says something of a user only to a client that knows the password. */
  async handle(dependencies: FactorNeeds, request, reply) {
    const { challenge: waitingFor } = request.body ?? {}
    const relyingParty = ceremonies.relyingPartyFor(dependencies, request)
    const { store, sealing, users } = dependencies
    const waiting = waitingFor === undefined ? undefined : await findWaiting(dependencies, waitingFor, request)
    const allowed = waiting === undefined ? [] : passkeysIn(await store.read(factorsOf, waiting.user.id))
    const challenge = ceremonies.newChallenge(sealing, { ceremony: 'get' }, users.now())
    return sendObject(reply, await ceremonies.requestOptions({ relyingParty, challenge, allowed }))
  },
})

export const login = forAnyone({
  summary: 'Sign in with a passkey alone; the response is that of /login',
  body: shapes.PasskeySignInBody,
  ...passkeyLimits,
  responses: { 200: Login },
  refusals: ['INVALID_CREDENTIALS', 'UNPROCESSABLE', 'TOO_MANY_REQUESTS', 'UNAVAILABLE'],
  async handle(dependencies: FactorNeeds, request, reply) {
    const { variant = dependencies.site.variant, ...body } = request.body
    const response = body.response as Assertion
    const source = sourceOf(dependencies, request)
    try {
      const guesser = { address: source.address }
      const user = await usePasskey(dependencies, response, { request, source, guesser })
      const facts = { variant, method: 'passkey', source } as const
      return sendObject(reply, await finishSignIn(dependencies, user, facts, { request, reply }))
    } catch (error) {
      const name = namedUser(response) ?? ''
      // The failure itself is more important than the name of its user.
      const isUser = name !== '' && refusalCode(error) !== undefined
      const user = isUser ? await dependencies.store.read(findUser, name).catch(() => undefined) : undefined
      throw dependencies.signInLog.noted(error, source, { account: { name, user }, variant })
    }
  },
})
