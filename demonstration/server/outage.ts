// The database of one world is away for some seconds: every operation of its store fails, as if the system refused it.
import type { Store } from '../../server/store/store.ts'
import { takenBack } from '../../server/store/unavailable.ts'

export class Outage {
  #end: NodeJS.Timeout | undefined
  /** The end of the outage by the clock of the process; null if there is none. */
  endsAt: number | null = null

  /** A second outage replaces the first. By a timer and not by the clock of the world, which the visitor sets forward. */
  begin(seconds: number, now: number): void {
    this.stop()
    this.endsAt = now + seconds * 1_000
    this.#end = setTimeout(() => this.stop(), seconds * 1_000).unref()
  }

  stop(): void {
    clearTimeout(this.#end)
    this.endsAt = null
  }

  /** The store, whose operations reject with UNAVAILABLE during an outage. It can still be closed, and listened to. */
  around(store: Store): Store {
    const unlessAway = <Result>(run: () => Promise<Result>) =>
      this.endsAt === null ? run() : Promise.reject(takenBack(new Error('an outage of the demonstration')))
    const read: Store['read'] = (operation, ...input) => unlessAway(() => store.read(operation, ...input))
    const write: Store['write'] = (operation, input) => unlessAway(() => store.write(operation, input))
    return Object.setPrototypeOf({ read, write, check: () => unlessAway(() => store.check()) }, store)
  }
}
