// The user's acts that the server has not confirmed, sent one after the other.
import { defaultTiming, isFinal } from '../stream/subscription.ts'
import { delayAfter } from '../transport/backoff.ts'
import { pause } from '../transport/cancellation.ts'
import type { Act } from './state.ts'

/** `isDone`: the server has accepted it, but the snapshot may not show it. */
type PendingAct = Act & { isDone?: boolean; resolve(): void; reject(error: unknown): void }

type ActsHost = {
  /**
   * Throws unless the acts' user is still signed in. `isRetry`: another user may be signed in, even
   * after another greeting.
   */
  confirm(isRetry: boolean): Promise<void>
  transmit(act: Act): Promise<void>
  readonly isClosed: boolean
  show(): void
}

export class Acts {
  readonly #host: ActsHost
  pending: readonly PendingAct[] = []
  wake = () => {}
  #sent: Promise<void> = Promise.resolve()

  constructor(host: ActsHost) {
    this.#host = host
  }

  add(act: Act): Promise<void> {
    const settled = new Promise<void>((resolve, reject) => {
      this.pending = [...this.pending, Object.assign(act, { resolve, reject })]
    })
    const added = this.pending.at(-1) as PendingAct
    // An application may ignore the promise, since the list shows the outcome.
    settled.catch(() => {})
    this.#host.show()
    this.#sent = this.#sent.then(() => this.#send(added))
    return settled
  }

  remove(acts: readonly PendingAct[]): void {
    this.pending = this.pending.filter((act) => !acts.includes(act))
  }

  rejectAll(error: unknown): void {
    for (const act of this.pending) act.reject(error)
    this.pending = []
  }

  async #send(act: PendingAct): Promise<void> {
    for (let failures = 0; !act.isDone && this.pending.includes(act); ) {
      try {
        await this.#host.confirm(failures > 0)
        if (!this.pending.includes(act)) return
        await this.#host.transmit(act)
        act.isDone = true
        act.resolve()
      } catch (error) {
        if (isFinal(error, true)) {
          act.reject(error)
          this.remove([act])
        } else if (this.#host.isClosed) this.rejectAll(error)
        else
          await pause(
            delayAfter(error, failures++, defaultTiming),
            undefined,
            (end) => (this.wake = end),
          )
      }
      this.#host.show()
    }
  }
}
