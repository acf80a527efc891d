import { setTimeout as sleep } from 'node:timers/promises'
import { listOutbox } from '../../reach/outbox.store.ts'
import type { Store } from '../../store/store.ts'

const maxWaitMs = 30_000
const everyMs = 250

/** 0 if it was not tried within 30 s; undefined if it was sent. */
export async function triesOf(store: Store, id: string): Promise<number | undefined> {
  for (let waitedMs = 0; ; waitedMs += everyMs) {
    const [row] = await store.read(listOutbox, { id, limit: 1 })
    if (row === undefined || row.tries > 0 || waitedMs >= maxWaitMs) return row?.tries
    await sleep(everyMs)
  }
}
