import { type Fault, invalidRequest } from '../basics/errors.ts'
import { maxKeys } from '../basics/strict-json.ts'
import { type Guarded, operationFor } from '../http/operation.ts'
import { sendData } from '../http/response/send.ts'
import type { Sender } from '../producers/producer-key.ts'
import { type ByKey, changeByKey, type KeyChangeOf } from './by-key.ts'
import { type ContentRules, contentFaults } from './content-faults.ts'
import { mebibyte, withoutNulls } from './delivery.routes.ts'
import { KeyChangeResponse, NotificationChange } from './delivery.schemas.ts'

type Needs = { byKey: ByKey }
const responses = { 200: KeyChangeResponse, 202: KeyChangeResponse }

export const update = operationFor<Sender>()({
  summary:
    'Change members of the notifications with this key; null removes one. They keep their place and read state',
  body: NotificationChange,
  bodyLimit: mebibyte,
  maxFields: maxKeys,
  responses,
  async handle({ byKey }: Needs, request, reply) {
    const { body } = request
    const faults = changeFaults(body, { at: byKey.wall(), imageHosts: byKey.imageHosts })
    if (faults.length > 0) throw invalidRequest(faults)
    return sendChange(byKey, { request, reply }, 'update', JSON.stringify(body))
  },
})

/** Checks links as in Markdown, unless the change says that the notification is text. */
function changeFaults(change: NotificationChange, rules: ContentRules): Fault[] {
  const { format = 'markdown', ...others } = change
  const faults = contentFaults({ ...withoutNulls(others), format: format ?? 'text' }, rules)
  if (change.format === 'markdown' && change.body === undefined)
    faults.push({
      field: 'body',
      reason: 'must be sent with the format "markdown", because its links are checked',
    })
  return faults
}

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

async function sendChange(
  byKey: ByKey,
  { request, reply }: Guarded<Sender>,
  kind: KeyChangeOf['kind'],
  given?: string,
) {
  const { id: producerId, application } = await request.caller.checkAgain()
  const change = { kind, given: given ?? null, producerId, application, key: request.params.key }
  const { inboxes, isDone } = await changeByKey(byKey, change)
  return sendData(reply.code(isDone ? 200 : 202), { inboxes })
}
