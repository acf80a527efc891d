import type { Source } from '../audit/entry.ts'
import { iso, isoOrNull } from '../basics/clock.ts'
import { invalidField } from '../basics/errors.ts'
import { forProducer, type GuardedRequest, type ProducerCaller } from '../http/operation.ts'
import { goneSignal, sendData } from '../http/response/send.ts'
import {
  ChangedWebhook,
  EventsQuery,
  EventsResponse,
  NewWebhook,
  WebhookBody,
  WebhookChange,
  WebhookList,
} from './webhooks.schemas.ts'
import { listWebhooks, type Webhook } from './webhooks.store.ts'
import { addWebhook, changeWebhook, displayedWebhook, foundOf, removeWebhook } from './webhooks.ts'
import type { Webhooks } from './work.ts'

type Needs = { webhooks: Webhooks }

export const add = forProducer({
  summary: 'Add a webhook: events of the application are sent to its URL, or wait to be read',
  body: WebhookBody,
  bodyLimit: 16 * 1024,
  responses: { 201: NewWebhook },
  refusals: ['CONFLICT'],
  async handle({ webhooks }: Needs, request, reply) {
    const { webhook, secret } = await addWebhook(
      actingFor(webhooks, request),
      request.caller.application,
      request.body,
    )
    await webhooks.reload()
    return sendData(reply.status(201), { ...bodyOf(webhook), secret })
  },
})

export const list = forProducer({
  summary: 'The webhooks of the application, without their secrets',
  responses: { 200: WebhookList },
  async handle({ webhooks }: Needs, { caller }, reply) {
    const all = await webhooks.needs.store.read(listWebhooks)
    return sendData(reply, {
      items: all.filter((one) => one.application === caller.application).map(bodyOf),
    })
  },
})

export const change = forProducer({
  summary: 'Change a webhook, or give it a new secret; a webhook that was disabled is enabled',
  body: WebhookChange,
  bodyLimit: 16 * 1024,
  responses: { 200: ChangedWebhook },
  refusals: ['NOT_FOUND'],
  async handle({ webhooks }: Needs, request, reply) {
    const named = { id: request.params.id, application: request.caller.application }
    const { webhook, secret } = await changeWebhook(
      actingFor(webhooks, request),
      named,
      request.body,
    )
    await webhooks.reload()
    return sendData(reply, { ...bodyOf(webhook), ...(secret && { secret }) })
  },
})

export const remove = forProducer({
  summary: 'Remove a webhook, and what waits for it',
  refusals: ['NOT_FOUND'],
  async handle({ webhooks }: Needs, request) {
    await removeWebhook(actingFor(webhooks, request), request.params.id, request.caller.application)
  },
})

export const events = forProducer({
  summary:
    'The events that wait to be read, on request held until there is one; `after` acknowledges those of the response before',
  query: EventsQuery,
  responses: { 200: EventsResponse },
  refusals: ['NOT_FOUND', 'CONFLICT'],
  async handle({ webhooks }: Needs, request, reply) {
    const { after, wait = 0 } = request.query
    if (after !== undefined && !/^[1-9]\d{0,14}$/.test(after))
      throw invalidField('after', 'must be the cursor of a response')
    const webhook = await foundOf(webhooks.needs, request.params.id, request.caller.application)
    const reading = {
      after: after === undefined ? null : Number(after),
      waitMs: wait * 1_000,
      signal: goneSignal(reply),
    }
    return sendData(reply, await webhooks.read(webhook, reading))
  },
})

function actingFor({ needs }: Webhooks, { caller, id }: GuardedRequest<ProducerCaller>) {
  const source: Source = {
    actor: `producer:${caller.id}`,
    address: null,
    userAgent: null,
    requestId: id,
  }
  return { ...needs, source }
}

function bodyOf(webhook: Webhook) {
  const { createdAt, lastSuccessAt, failingSince, disabledAt, attempts, ...others } =
    displayedWebhook(webhook)
  return {
    ...others,
    createdAt: iso(createdAt),
    lastSuccessAt: isoOrNull(lastSuccessAt),
    failingSince: isoOrNull(failingSince),
    disabledAt: isoOrNull(disabledAt),
    attempts: attempts.map(({ at, outcome }) => ({ at: iso(at), outcome })),
  }
}
