// The route of a producer: one request, notifications in many inboxes.
import type { IncomingMessage } from 'node:http'
import { type Fault, invalidField, invalidRequest } from '../basics/errors.ts'
import { maxKeys } from '../basics/strict-json.ts'
import { operationFor } from '../http/operation.ts'
import { sendData } from '../http/response/send.ts'
import type { Sender } from '../producers/producer-key.ts'
import { externalIdFault } from '../users/profile.ts'
import type { Deliveries } from './deliver.ts'
import { DeliveryBody, DeliveryResponse, type WithoutNulls } from './delivery.schemas.ts'
import type { Recipient } from './delivery.ts'

export const mebibyte = 1024 * 1024

export const send = operationFor<Sender>()({
  summary: 'Send a notification to up to 1,000 recipients: all that are known, or none',
  body: DeliveryBody,
  bodyLimit: mebibyte,
  maxFields: maxKeys,
  headers: { 'Idempotency-Key': 'The same key and body again: the same response and no second notification' },
  responses: { 201: DeliveryResponse },
  refusals: ['CONFLICT', 'UNPROCESSABLE'],
  async handle({ deliveries }: { deliveries: Deliveries }, request, reply) {
    const { caller, body, raw } = request
    const idempotencyKey = idempotencyKeyOf(raw)
    const { recipients, ...content } = body as DeliveryBody
    refuseInvalid(recipients)
    const delivery = { recipients: recipients.map(toRecipient), ...withoutNulls(content) }
    const createsUsers = caller.scopes.includes('users')
    const outcome = await deliveries.deliver(caller.id, delivery, {
      idempotencyKey,
      createsUsers,
      application: caller.application,
      checkedKey: caller,
    })
    return sendData(reply.code(201), outcome)
  },
})

function idempotencyKeyOf(raw: IncomingMessage): string | undefined {
  if (raw.headers['idempotency-key'] === undefined) return undefined
  const [key, another] = raw.headersDistinct['idempotency-key'] ?? []
  if (another !== undefined) throw invalidField('Idempotency-Key', 'must be sent once')
  return key
}

/** A null means that the member is absent, also for the comparison of two bodies with one idempotency key. */
export function withoutNulls<Members extends object>(members: Members) {
  const without: Partial<Members> = {}
  for (const member in members) if (members[member] !== null) without[member] = members[member]
  return without as WithoutNulls<Members>
}

type NamedRecipient = DeliveryBody['recipients'][number]

function refuseInvalid(recipients: readonly NamedRecipient[]): void {
  const details: Fault[] = []
  for (const [n, recipient] of recipients.entries()) {
    const fault = faultOf(recipient)
    if (fault) details.push({ ...fault, field: [`recipients.${n}`, fault.field].filter(Boolean).join('.') })
  }
  if (details.length > 0) throw invalidRequest(details)
}

/** `field` is empty if the fault is of the whole recipient. */
function faultOf({ username, userId, externalId, issuer }: NamedRecipient): Fault | undefined {
  if (Number(isText(username)) + Number(isText(userId)) + Number(isText(externalId)) !== 1)
    return { field: '', reason: 'must have exactly one of username, userId and externalId' }
  if (isText(issuer) && /\p{Cc}/u.test(issuer)) return { field: 'issuer', reason: 'must have no control characters' }
  if (!isText(externalId)) return isText(issuer) ? { field: 'issuer', reason: 'is only for an externalId' } : undefined
  const reason = externalIdFault(externalId)
  return reason === undefined ? undefined : { field: 'externalId', reason }
}

/** `recipient` has no fault. */
function toRecipient({ username, userId, externalId, issuer }: NamedRecipient): Recipient {
  if (isText(username)) return { username }
  if (isText(externalId)) return { externalId, ...(isText(issuer) && { issuer }) }
  return { userId: userId as string }
}

/** A null means that the member is absent. */
function isText(member: string | null | undefined): member is string {
  return typeof member === 'string'
}
