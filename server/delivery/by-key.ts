// Changes what a producer has sent, by its own key: in every inbox of its application that has the key.
import { CarillonError } from '../basics/errors.ts'
import { newOrderedId } from '../basics/ids.ts'
import type { Store } from '../store/store.ts'
import { beginKeyChange, continueKeyChange, inboxesOf, isKeyChangeDone, type KeyChange } from './by-key.store.ts'

/** `imageHosts`: the hosts of absolute image URLs. */
export type ByKey = { store: Store; wall: () => number; imageHosts: readonly string[] }
type Change = Pick<KeyChange, 'key' | 'application' | 'kind' | 'given'> & { producerId: string }

/** A request waits for a change of so many inboxes. */
const maxAwaited = 1_000
/** And so long, if many senders change at once. */
const longestWaitMs = 5_000

/** Resolves when the change is done, or is stored as one that has more inboxes to reach. Throws NOT_FOUND if no inbox has the key. */
export async function changeByKey(
  { store, wall }: ByKey,
  change: Change,
): Promise<{ inboxes: number; isDone: boolean }> {
  const { key, application } = change
  const { inboxes, sentAt } = await store.read(inboxesOf, { key, application })
  if (inboxes === 0 || sentAt === null)
    throw new CarillonError('NOT_FOUND', 'No inbox has a notification with this key of your application')
  // The clock may be behind that of the node that sent it.
  const at = Math.max(wall(), Date.parse(sentAt))
  const id = newOrderedId(at)
  const giveUpAt = performance.now() + longestWaitMs
  if (await store.write(beginKeyChange, { ...change, id, at, inboxes })) return { inboxes, isDone: true }
  if (inboxes > maxAwaited) return { inboxes, isDone: false }
  while (!(await store.read(isKeyChangeDone, id))) {
    if (performance.now() > giveUpAt) return { inboxes, isDone: false }
    await store.write(continueKeyChange, { key, application })
  }
  return { inboxes, isDone: true }
}
