// The events of one tab that its loop has not read yet, and the end of that loop.
import { unlessAborted } from '../../transport/cancellation.ts'
import type { StreamEvent } from '../../transport/types.ts'
import { stateEvent } from './position.ts'

/** If a loop falls further behind, one `resync` replaces its events. */
const maxQueued = 1_000

export class EventQueue {
  #events: StreamEvent[] = []
  #end: { error: unknown } | undefined
  #wake = () => {}

  push(event: StreamEvent): void {
    if (this.#events.length < maxQueued) this.#events.push(event)
    else this.#events = [stateEvent('resync', event, event.position)]
    this.#wake()
  }

  /** The loop ends after the queued events, with `error` if there is one. Only the first call counts. */
  end(error?: unknown): void {
    this.#end ??= { error }
    this.#wake()
  }

  async *read(signal: AbortSignal): AsyncGenerator<StreamEvent, void> {
    for (;;) {
      signal.throwIfAborted()
      const event = this.#events.shift()
      if (event) yield event
      else if (this.#end) break
      else await unlessAborted(new Promise<void>((resolve) => (this.#wake = resolve)), signal)
    }
    if (this.#end.error) throw this.#end.error
  }
}
