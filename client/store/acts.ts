// The acts of the user that the server has not confirmed yet. They are sent one after the other, in their order.

import { defaultTiming, isFinal } from '../stream/subscription.ts'
import { delayAfter } from '../transport/backoff.ts'
import { pause } from '../transport/cancellation.ts'
import type { Act } from './state.ts'

/** `isDone`: the server has accepted it. What is known does not have to show it yet. */
export type PendingAct = Act & { isDone?: boolean; resolve(): void; reject(error: unknown): void }

export type ActsDependencies = {
  /** Resolves if the server still has the user who made the acts. */
  confirm(): Promise<unknown>
  transmit(act: Act): Promise<void>
  /** No list is open, so acts do not wait for a connection. */
  isClosed(): boolean
  /** Acts were added or removed, or are done. */
  onChange(): void
}

export class Acts {
  readonly #dependencies: ActsDependencies
  pending: readonly PendingAct[] = []
  /** Ends a wait early. */
  wake = () => {}
  #isSending = false

  constructor(dependencies: ActsDependencies) {
    this.#dependencies = dependencies
  }

  /** Settles when the server has accepted or refused the act. */
  add(act: Act): Promise<void> {
    const settled = new Promise<void>((resolve, reject) => {
      this.pending = [...this.pending, { ...act, resolve, reject }]
    })
    // An application may ignore the promise: the list shows the outcome.
    settled.catch(() => {})
    this.#dependencies.onChange()
    void this.#send()
    return settled
  }

  remove(acts: readonly PendingAct[]): void {
    this.pending = this.pending.filter((act) => !acts.includes(act))
  }

  rejectAll(error: unknown): void {
    for (const act of this.pending) act.reject(error)
    this.pending = []
  }

  async #send(): Promise<void> {
    if (this.#isSending) return
    this.#isSending = true
    const { confirm, transmit, isClosed, onChange } = this.#dependencies
    for (let failures = 0; ; onChange()) {
      const act = this.pending.find(({ isDone }) => !isDone)
      if (!act) break
      try {
        await confirm()
        await transmit(act)
        act.isDone = true
        act.resolve()
        failures = 0
      } catch (error) {
        if (isFinal(error, true)) {
          act.reject(error)
          this.remove([act])
        } else if (isClosed()) this.rejectAll(error)
        else await pause(delayAfter(error, failures++, defaultTiming), undefined, (end) => (this.wake = end))
      }
    }
    this.#isSending = false
  }
}
