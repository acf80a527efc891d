import { setTimeout as sleep } from 'node:timers/promises'
import { listOutbox, type OutboxRow } from '../../reach/outbox.store.ts'
import type { Store } from '../../store/store.ts'

const maxWaitMs = 30_000
const everyMs = 250

/** Undefined if it is gone. It has no tries if there was none within 30 s. */
export async function triedRow(store: Store, id: string): Promise<OutboxRow | undefined> {
  for (let waitedMs = 0; ; waitedMs += everyMs) {
    const [row] = await store.read(listOutbox, { id, limit: 1 })
    if (row === undefined || row.tries > 0 || waitedMs >= maxWaitMs) return row
    await sleep(everyMs)
  }
}
