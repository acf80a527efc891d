// Changes what a producer has sent, by its own key: in every inbox of its application that has the key.
import { CarillonError } from '../basics/errors.ts'
import { newOrderedId } from '../basics/ids.ts'
import type { Store } from '../store/store.ts'
import { beginKeyChange, continueKeyChange, countInboxesOf, isKeyChangeDone, type KeyChange } from './by-key.store.ts'

/** `imageHosts`: the hosts of absolute image URLs. */
export type ByKey = { store: Store; wall: () => number; imageHosts: readonly string[] }
type Change = Pick<KeyChange, 'key' | 'application' | 'kind' | 'given'> & { producerId: string }

/** A request waits for a change of so many inboxes. */
const maxAwaited = 1_000

/** Resolves when the change is done, or is stored as one that has more inboxes to reach. Throws NOT_FOUND if no inbox has the key. */
export async function changeByKey(
  { store, wall }: ByKey,
  change: Change,
): Promise<{ inboxes: number; isDone: boolean }> {
  const { key, application } = change
  const at = wall()
  const inboxes = await store.read(countInboxesOf, { key, application })
  if (inboxes === 0)
    throw new CarillonError('NOT_FOUND', 'No inbox has a notification with this key of your application')
  const id = newOrderedId(at)
  if (await store.write(beginKeyChange, { ...change, id, at, inboxes })) return { inboxes, isDone: true }
  if (inboxes > maxAwaited) return { inboxes, isDone: false }
  while (!(await store.read(isKeyChangeDone, id))) await store.write(continueKeyChange, { key, application })
  return { inboxes, isDone: true }
}
