// The route of a producer: one request, notifications in many inboxes.
import { invalidRequest } from '../../errors.ts'
import type { Deliveries } from '../../inbox/delivery/deliver.ts'
import type { Producer, Recipient } from '../../store/store.ts'
import { DeliveryBody } from '../openapi/schemas.ts'
import { maxKeys } from '../request/strict-json.ts'
import { sendData } from '../response/send.ts'
import type { Operation } from './operation.ts'

const mebibyte = 1024 * 1024

export function deliveryOperations(deliveries: Deliveries) {
  const send: Operation<Producer> = {
    summary: 'Send a notification to up to 1,000 recipients: all that are known, or none',
    body: DeliveryBody,
    bodyLimit: mebibyte,
    maxFields: maxKeys,
    headers: { 'Idempotency-Key': 'The same key and body again: the same answer and no second notification' },
    responses: { 201: ['Delivery'], 409: ['Error'], 422: ['Error'] },
    async handle(producer, request, reply) {
      const key = request.raw.headersDistinct['idempotency-key']
      if (key !== undefined && key.length > 1)
        throw invalidRequest([{ field: 'Idempotency-Key', reason: 'must be sent once' }])
      const { recipients, ...content } = request.body as DeliveryBody
      const outcome = await deliveries.deliver(
        producer.id,
        { recipients: recipients.map(toRecipient), ...content },
        key?.[0],
      )
      return sendData(reply.code(201), outcome)
    },
  }
  return { send }
}

/** The schema has made sure that it is one of the two. */
function toRecipient({ username, userId }: DeliveryBody['recipients'][number]): Recipient {
  return username === undefined ? { userId: userId as string } : { username }
}
