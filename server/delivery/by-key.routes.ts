// The routes by which a producer changes, withdraws or resolves what it has sent, by its own key: in every inbox of its application that has
// the key.
import { type Fault, invalidRequest, notFound } from '../basics/errors.ts'
import { newOrderedId } from '../basics/ids.ts'
import { maxKeys } from '../basics/strict-json.ts'
import { type Guarded, operationFor } from '../http/operation.ts'
import { sendData } from '../http/response/send.ts'
import type { Sender } from '../producers/producer-key.ts'
import type { Store } from '../store/store.ts'
import { beginKeyChange, continueKeyChange, inboxesOf, isKeyChangeDone, type KeyChange } from './by-key.store.ts'
import { type ContentRules, contentFaults } from './content-faults.ts'
import { mebibyte, withoutNulls } from './delivery.routes.ts'
import { KeyChangeResponse, NotificationChange } from './delivery.schemas.ts'

/** `imageHosts`: the hosts of absolute image URLs. */
type ByKey = { store: Store; wall: () => number; imageHosts: readonly string[] }
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
    const faults = changeFaults(body, { at: byKey.wall(), imageHosts: byKey.imageHosts })
    if (faults.length > 0) throw invalidRequest(faults)
    return sendChange(byKey, { request, reply }, 'update', JSON.stringify(body))
  },
})

/** What has the key may be Markdown, so the links of a new body are checked unless the change says that it is text. */
function changeFaults(change: NotificationChange, rules: ContentRules): Fault[] {
  const { format = 'markdown', ...others } = change
  const faults = contentFaults({ ...withoutNulls(others), format: format ?? 'text' }, rules)
  if (change.format === 'markdown' && change.body === undefined)
    faults.push({ field: 'body', reason: 'must be sent with the format "markdown", because its links are checked' })
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

async function sendChange(byKey: ByKey, { request, reply }: Guarded<Sender>, kind: Change['kind'], given?: string) {
  const { id: producerId, application } = await request.caller.checkAgain()
  const change = { kind, given: given ?? null, producerId, application, key: request.params.key }
  const { inboxes, isDone } = await changeByKey(byKey, change)
  return sendData(reply.code(isDone ? 200 : 202), { inboxes })
}

type Change = Pick<KeyChange, 'key' | 'application' | 'kind' | 'given'> & { producerId: string }

/** A change of more inboxes goes on after its response. */
const maxAwaited = 1_000
/** So does one that takes longer, because many senders change something at once. */
const maxWaitMs = 5_000

/** Resolves when the change is done, or is stored as one that has more inboxes to reach. Throws NOT_FOUND if no inbox has the key. */
export async function changeByKey(
  { store, wall }: ByKey,
  change: Change,
): Promise<{ inboxes: number; isDone: boolean }> {
  const { key, application } = change
  const { inboxes, sentAt } = await store.read(inboxesOf, { key, application })
  if (inboxes === 0 || sentAt === null) throw notFound('No inbox has a notification with this key of your application')
  // The clock may be behind that of the node that sent it.
  const at = Math.max(wall(), Date.parse(sentAt))
  const id = newOrderedId(at)
  const giveUpAt = performance.now() + maxWaitMs
  if (await store.write(beginKeyChange, { ...change, id, at, inboxes })) return { inboxes, isDone: true }
  if (inboxes > maxAwaited) return { inboxes, isDone: false }
  while (!(await store.read(isKeyChangeDone, id))) {
    if (performance.now() > giveUpAt) return { inboxes, isDone: false }
    await store.write(continueKeyChange, { key, application })
  }
  return { inboxes, isDone: true }
}
