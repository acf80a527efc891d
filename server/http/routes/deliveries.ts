// The route of a producer: one request, notifications in many inboxes.
import type { FastifyReply } from 'fastify'
import { invalidRequest } from '../../errors.ts'
import type { Producer, Recipient } from '../../store/store.ts'
import type { Dependencies } from '../dependencies.ts'
import { DeliveryBody } from '../openapi/schemas.ts'
import { maxKeys } from '../request/strict-json.ts'
import { sendData } from '../response/send.ts'
import type { GuardedRequest, Operation } from './operation.ts'

const mebibyte = 1024 * 1024

export const send: Operation<Producer> = {
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

async function sendNotification({ deliveries }: Dependencies, request: GuardedRequest<Producer>, reply: FastifyReply) {
  const { caller, body, raw } = request
  const key = raw.headersDistinct['idempotency-key']
  if (key !== undefined && key.length > 1)
    throw invalidRequest([{ field: 'Idempotency-Key', reason: 'must be sent once' }])
  const { recipients, ...content } = body as DeliveryBody
  const delivery = { recipients: recipients.map(toRecipient), ...withoutNulls(content) }
  const outcome = await deliveries.deliver(caller.id, delivery, key?.[0])
  return sendData(reply.code(201), outcome)
}

/** A null means that the member is absent, also for the comparison of two bodies with one idempotency key. */
function withoutNulls<Members extends object>(members: Members) {
  const given = Object.entries(members).filter(([, value]) => value !== null)
  return Object.fromEntries(given) as { [Name in keyof Members]: Exclude<Members[Name], null> }
}

/** The schema has checked that exactly one of the two is there. */
function toRecipient({ username, userId }: DeliveryBody['recipients'][number]): Recipient {
  return username === undefined ? { userId: userId as string } : { username }
}
