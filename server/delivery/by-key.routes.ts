// The routes by which a producer changes, withdraws or resolves what it has sent, by its own key.
import type { FastifyReply } from 'fastify'
import { invalidRequest } from '../basics/errors.ts'
import { maxKeys } from '../basics/strict-json.ts'
import { type GuardedRequest, operationFor } from '../http/operation.ts'
import { sendData } from '../http/response/send.ts'
import type { Sender } from '../producers/producer-key.ts'
import type { KeyChange } from './by-key.store.ts'
import { type ByKey, changeByKey } from './by-key.ts'
import { contentFaults } from './content-faults.ts'
import { mebibyte, withoutNulls } from './delivery.routes.ts'
import { KeyChangeResponse, NotificationChange } from './delivery.schemas.ts'

type Needs = { byKey: ByKey }
const responses = { 200: KeyChangeResponse, 202: KeyChangeResponse }

export const update = operationFor<Sender>()({
  summary: 'Change members of the notifications with this key; null removes one. They keep their place and read state',
  body: NotificationChange,
  bodyLimit: mebibyte,
  maxFields: maxKeys,
  responses,
  async handle({ byKey }: Needs, request, reply) {
    const { body } = request
    const faults = contentFaults(withoutNulls(body), { at: byKey.wall(), imageHosts: byKey.imageHosts })
    if (faults.length > 0) throw invalidRequest(faults)
    return sendChange(byKey, { request, reply }, 'update', JSON.stringify(body))
  },
})

export const remove = operationFor<Sender>()({
  summary: 'Withdraw the notifications with this key',
  responses,
  handle: ({ byKey }: Needs, request, reply) => sendChange(byKey, { request, reply }, 'delete'),
})

export const resolve = operationFor<Sender>()({
  summary: 'Mark the notifications with this key as read, and archive them',
  responses,
  handle: ({ byKey }: Needs, request, reply) => sendChange(byKey, { request, reply }, 'resolve'),
})

type Exchange = { request: GuardedRequest<Sender>; reply: FastifyReply }

async function sendChange(
  byKey: ByKey,
  { request, reply }: Exchange,
  kind: KeyChange['kind'],
  given: string | null = null,
) {
  const { id: producerId, application } = await request.caller.checkAgain()
  const change = { kind, given, producerId, application, key: request.params.key }
  const { inboxes, isDone } = await changeByKey(byKey, change)
  return sendData(reply.code(isDone ? 200 : 202), { inboxes })
}
