// The route of a producer: one request, notifications in many inboxes.
import type { FastifyReply } from 'fastify'
import { type Fault, invalidRequest } from '../../errors.ts'
import { externalIdFault } from '../../sign-in/users/external-id.ts'
import type { Recipient } from '../../store/store.ts'
import type { Dependencies } from '../dependencies.ts'
import { DeliveryBody } from '../openapi/request-schemas.ts'
import type { Sender } from '../request/guards.ts'
import { maxKeys } from '../request/strict-json.ts'
import { sendData } from '../response/send.ts'
import type { GuardedRequest, Operation } from './operation.ts'

const mebibyte = 1024 * 1024

export const send: Operation<Sender> = {
  id: 'sendNotification',
  tag: 'producers',
  summary: 'Send a notification to up to 1,000 recipients: all that are known, or none',
  body: DeliveryBody,
  bodyLimit: mebibyte,
  maxFields: maxKeys,
  headers: { 'Idempotency-Key': 'The same key and body again: the same response and no second notification' },
  responses: { 201: 'DeliveryResponse' },
  refusals: ['CONFLICT', 'UNPROCESSABLE'],
  handle: sendNotification,
}

async function sendNotification({ deliveries }: Dependencies, request: GuardedRequest<Sender>, reply: FastifyReply) {
  const { caller, body, raw } = request
  const key = raw.headersDistinct['idempotency-key']
  if (key !== undefined && key.length > 1)
    throw invalidRequest([{ field: 'Idempotency-Key', reason: 'must be sent once' }])
  const { recipients, ...content } = body as DeliveryBody
  refuseInvalid(recipients)
  const delivery = { recipients: recipients.map(toRecipient), ...withoutNulls(content) }
  const createsUsers = caller.scopes.includes('users')
  const outcome = await deliveries.deliver(caller.id, delivery, {
    idempotencyKey: key?.[0],
    createsUsers,
    checkedKey: caller,
  })
  return sendData(reply.code(201), outcome)
}

/** A null means that the member is absent, also for the comparison of two bodies with one idempotency key. */
function withoutNulls<Members extends object>(members: Members) {
  const given = Object.entries(members).filter(([, value]) => value !== null)
  return Object.fromEntries(given) as { [Name in keyof Members]: Exclude<Members[Name], null> }
}

type NamedRecipient = DeliveryBody['recipients'][number]

function refuseInvalid(recipients: readonly NamedRecipient[]): void {
  const details = recipients.flatMap((recipient, n) => {
    const fault = faultOf(recipient)
    return fault === undefined ? [] : { ...fault, field: [`recipients.${n}`, fault.field].filter(Boolean).join('.') }
  })
  if (details.length > 0) throw invalidRequest(details)
}

/** `field` is empty if the fault is of the whole recipient. */
function faultOf({ username, userId, externalId, issuer }: NamedRecipient): Fault | undefined {
  if ([username, userId, externalId].filter(isText).length !== 1)
    return { field: '', reason: 'must have exactly one of username, userId and externalId' }
  if (!isText(externalId)) return isText(issuer) ? { field: 'issuer', reason: 'is only for an externalId' } : undefined
  const reason = externalIdFault(externalId)
  return reason === undefined ? undefined : { field: 'externalId', reason }
}

/** Of a recipient without a fault. */
function toRecipient({ username, userId, externalId, issuer }: NamedRecipient): Recipient {
  if (isText(username)) return { username }
  if (isText(externalId)) return { externalId, ...(isText(issuer) && { issuer }) }
  return { userId: userId as string }
}

/** A null means that the member is absent. */
function isText(member: string | null | undefined): member is string {
  return typeof member === 'string'
}
