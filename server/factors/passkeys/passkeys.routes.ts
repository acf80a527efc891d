import { sourceOf } from '../../audit/entry.ts'
import { forUser } from '../../http/operation.ts'
import { sendData } from '../../http/response/send.ts'
import { findEnabledUser } from '../../users/find-user.ts'
import { FactorAddedResponse } from '../factors.schemas.ts'
import { factorsOf } from '../factors.store.ts'
import { displayAdded, type FactorNeeds } from '../factors.ts'
import * as ceremonies from './ceremonies.ts'
import * as shapes from './passkeys.schemas.ts'
import { addPasskey, passkeyNames, passkeysIn } from './passkeys.ts'

export const creationOptions = forUser({
  summary: 'What a browser needs to create a passkey: parseCreationOptionsFromJSON() reads it',
  responses: { 200: shapes.PasskeyCreationOptionsResponse },
  refusals: ['UNPROCESSABLE'],
  async handle(dependencies: FactorNeeds, request, reply) {
    const relyingParty = ceremonies.relyingPartyFor(dependencies, request)
    const user = await findEnabledUser(dependencies, request.caller)
    const { id } = user
    const { store, sealing, users } = dependencies
    const challenge = ceremonies.newChallenge(
      sealing,
      { ceremony: 'create', userId: id },
      users.now(),
    )
    const existing = passkeysIn(await store.read(factorsOf, id))
    const named = { id, ...passkeyNames(user) }
    return sendData(
      reply,
      await ceremonies.creationOptions({ relyingParty, challenge, user: named, existing }),
    )
  },
})

export const add = forUser({
  summary: 'Adds the passkey that the browser created; with the first factor, recovery codes',
  body: shapes.NewPasskeyBody,
  ...shapes.passkeyLimits,
  responses: { 201: FactorAddedResponse },
  refusals: ['CONFLICT', 'UNPROCESSABLE', 'LINK_INVALID', 'TOO_MANY_REQUESTS'],
  async handle(dependencies: FactorNeeds, request, reply) {
    const { response, ...labels } = request.body
    const { userId } = request.caller
    const addition = { userId, ...labels, source: sourceOf(dependencies, request) }
    const added = await addPasskey(dependencies, response as ceremonies.Registration, addition, {
      request,
      reply,
    })
    const { factor, outcome, codes, proof } = added
    return sendData(reply.code(201), { ...displayAdded(factor, outcome, codes), ...proof })
  },
})
