import { record } from '../audit/audit.store.ts'
import { recorded, type Source } from '../audit/entry.ts'
import { notFound } from '../basics/errors.ts'
import { newOrderedId } from '../basics/ids.ts'
import type { Store } from '../store/store.ts'
import {
  beginKeyChange,
  continueKeyChange,
  inboxesOf,
  isKeyChangeDone,
  type KeyChange,
} from './by-key.store.ts'

export type ByKey = { store: Store; wall: () => number; imageHosts: readonly string[] }

export type KeyChangeOf = Pick<KeyChange, 'key' | 'application' | 'kind' | 'given'> & {
  producerId: string
}

/** A larger or longer change goes on after its response. */
const maxAwaited = 1_000
const maxWaitMs = 5_000

/** Resolves when the change is done, or stored for later inboxes. Throws NOT_FOUND. */
export async function changeByKey(
  { store, wall }: ByKey,
  change: KeyChangeOf,
): Promise<{ inboxes: number; isDone: boolean }> {
  const { key, application } = change
  const { inboxes, sentAt } = await store.read(inboxesOf, { key, application })
  if (inboxes === 0 || sentAt === null)
    throw notFound('No inbox has a notification with this key of your application')
  // The clock may be behind the sender's node.
  const at = Math.max(wall(), Date.parse(sentAt))
  const id = newOrderedId(at)
  const giveUpAt = performance.now() + maxWaitMs
  if (await store.write(beginKeyChange, { ...change, id, at, inboxes }))
    return { inboxes, isDone: true }
  if (inboxes > maxAwaited) return { inboxes, isDone: false }
  while (!(await store.read(isKeyChangeDone, id))) {
    if (performance.now() > giveUpAt) return { inboxes, isDone: false }
    await store.write(continueKeyChange, { key, application })
  }
  return { inboxes, isDone: true }
}

/** An operator withdraws them. */
export async function withdrawByKey(
  byKey: ByKey,
  keyed: Pick<KeyChange, 'key' | 'application'>,
  acting: { source?: Source; now: () => number },
): Promise<{ inboxes: number; isDone: boolean }> {
  const change = { ...keyed, kind: 'delete', given: null, producerId: 'carillon' } as const
  const withdrawn = await changeByKey(byKey, change)
  const detail = { ...keyed, inboxes: withdrawn.inboxes }
  const { audit } = recorded(acting, { event: 'notifications-withdrawn', detail })
  await byKey.store.write(record, audit)
  return withdrawn
}
