import type { IncomingMessage } from 'node:http'
import { type Fault, invalidField, invalidRequest, noSuchRoute } from '../basics/errors.ts'
import { maxKeys } from '../basics/strict-json.ts'
import type { Guesses } from '../guessing/guesses.ts'
import { forUser, operationFor } from '../http/operation.ts'
import { sendData } from '../http/response/send.ts'
import { type PageNeeds, viewOf } from '../pages/page.ts'
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
  headers: {
    'Idempotency-Key':
      'The same key and body renotify: the same response and no second notification',
  },
  responses: { 201: DeliveryResponse },
  refusals: ['CONFLICT', 'UNPROCESSABLE'],
  async handle({ deliveries }: { deliveries: Deliveries }, request, reply) {
    const { caller, body, raw } = request
    const options = { idempotencyKey: idempotencyKeyOf(raw), sender: caller }
    const { recipients: named, ...content } = body as DeliveryBody
    const recipients = named.map(withoutNulls)
    refuseInvalid(recipients)
    const delivery = { recipients: recipients as Recipient[], ...withoutNulls(content) }
    return sendData(reply.code(201), await deliveries.deliver(caller.id, delivery, options))
  },
})

type TestNeeds = PageNeeds & {
  guesses: Pick<Guesses, 'beginTestNotification'>
  deliveries: Deliveries
}

export const sendTest = forUser({
  summary:
    'Send yourself a notification, at most ten an hour: to try a new service, while it has one user',
  refusals: ['NOT_FOUND', 'TOO_MANY_REQUESTS'],
  async handle(dependencies: TestNeeds, request) {
    const { pages, guesses, deliveries } = dependencies
    if (!(await pages.onlyUser())) throw noSuchRoute()
    const { userId } = request.caller
    await guesses.beginTestNotification(userId)
    const view = await viewOf(dependencies, request, await pages.readerOf(request.caller))
    const { title, body } = (await view.textsOf('service')).firstSteps.notification
    await deliveries.deliver('carillon', {
      recipients: [{ userId }],
      title,
      body,
      category: 'welcome',
      icon: 'bell',
    })
  },
})

function idempotencyKeyOf(raw: IncomingMessage): string | undefined {
  if (raw.headers['idempotency-key'] === undefined) return undefined
  const [key, another] = raw.headersDistinct['idempotency-key'] ?? []
  if (another !== undefined) throw invalidField('Idempotency-Key', 'must be sent once')
  return key
}

export function withoutNulls<Members extends object>(members: Members) {
  const without: Partial<Members> = {}
  for (const member in members) if (members[member] !== null) without[member] = members[member]
  return without as WithoutNulls<Members>
}

type NamedRecipient = WithoutNulls<DeliveryBody['recipients'][number]>

function refuseInvalid(recipients: readonly NamedRecipient[]): void {
  const details: Fault[] = []
  for (const [n, recipient] of recipients.entries()) {
    const fault = faultOf(recipient)
    if (fault)
      details.push({ ...fault, field: [`recipients.${n}`, fault.field].filter(Boolean).join('.') })
  }
  if (details.length > 0) throw invalidRequest(details)
}

function faultOf({ username, userId, externalId, issuer }: NamedRecipient): Fault | undefined {
  if ([username, userId, externalId].filter((name) => name !== undefined).length !== 1)
    return { field: '', reason: 'must have exactly one of username, userId and externalId' }
  if (issuer !== undefined && /\p{Cc}/u.test(issuer))
    return { field: 'issuer', reason: 'must have no control characters' }
  if (issuer !== undefined && externalId === undefined)
    return { field: 'issuer', reason: 'is only for an externalId' }
  const reason = externalId === undefined ? undefined : externalIdFault(externalId)
  return reason === undefined ? undefined : { field: 'externalId', reason }
}
