// A secret is only in the response that makes it.
import { invalidField, messageOf } from '../basics/errors.ts'
import { applicationForm, isApplication } from '../config/values.ts'
import { sendData } from '../http/response/send.ts'
import { readRate } from '../producers/key-rates.ts'
import { displayedKey, ProducerKeys } from '../producers/producer-key.ts'
import { type KeyRate, listProducers } from '../producers/producers.store.ts'
import * as shapes from './operator.schemas.ts'
import { forOperator, type OperatorNeeds, sendVisible, usersOf } from './operator.ts'

const hourMs = 3_600_000

export const list = forOperator({
  summary: 'The producer keys with their last use, without their secrets',
  responses: { 200: shapes.KeysResponse },
  async handle({ store }: OperatorNeeds, _, reply) {
    return sendVisible(reply, { items: (await store.read(listProducers)).map(displayedKey) })
  },
})

export const create = forOperator({
  summary: 'Create a producer key; this response alone has its secret',
  body: shapes.NewKey,
  maxFields: 16,
  responses: { 201: shapes.KeySecretResponse },
  async handle(needs: OperatorNeeds, request, reply) {
    const { name, application, scopes, days } = request.body
    if (application !== undefined && !isApplication(application))
      throw invalidField('application', `must be ${applicationForm}`)
    const expiresAt = days === undefined ? null : needs.users.now() + days * 24 * hourMs
    const rate = request.body.rate === undefined ? null : rateIn(request.body.rate)
    const wanted = { name, application, scopes: [...new Set(scopes)], expiresAt, rate }
    return sendData(reply.code(201), await new ProducerKeys(usersOf(needs, request)).issue(wanted))
  },
})

export const rotate = forOperator({
  summary:
    'Give a producer key a new secret, which this response alone has; the one before is accepted for a while',
  body: shapes.Rotation,
  responses: { 201: shapes.KeySecretResponse },
  async handle(needs: OperatorNeeds, request, reply) {
    const id = request.params.keyId
    const keys = new ProducerKeys(usersOf(needs, request))
    const { key } = await keys.rotate(id, request.body.overlapHours * hourMs)
    return sendData(reply.code(201), { id, key })
  },
})

export const revoke = forOperator({
  summary: 'Revoke a producer key, at once',
  async handle(needs: OperatorNeeds, request) {
    await new ProducerKeys(usersOf(needs, request)).revoke(request.params.keyId)
  },
})

function rateIn(text: string): KeyRate {
  try {
    return readRate(text)
  } catch (error) {
    throw invalidField('rate', messageOf(error))
  }
}
