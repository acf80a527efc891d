// Work that must not keep the event loop: items are worked on a few at a time, in slices. What fails is tried again.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { yieldToEventLoop } from '../../event-loop.ts'

const atOnce = 8
const retryMs = 1_000

export class InSlices<Item> {
  readonly #work: (item: Item) => Promise<void>
  readonly #onFailure: (error: unknown) => void
  readonly #waiting = new Set<Item>()
  readonly #failed = new Set<Item>()
  #retrying: NodeJS.Timeout | undefined
  #workers = 0

  constructor(work: (item: Item) => Promise<void>, onFailure: (error: unknown) => void) {
    this.#work = work
    this.#onFailure = onFailure
  }

  /** Works on it soon; once, however often it is added until then. */
  add(item: Item): void {
    this.#waiting.add(item)
    if (this.#workers >= atOnce) return
    this.#workers++
    // Not in this turn: what comes together is one piece of work.
    void nextTurn().then(() => this.#workOff())
  }

  remove(item: Item): void {
    this.#waiting.delete(item)
    this.#failed.delete(item)
  }

  async #workOff(): Promise<void> {
    for (const item of this.#waiting) {
      this.#waiting.delete(item)
      try {
        await this.#work(item)
      } catch (error) {
        this.#tryLater(item, error)
      }
      await yieldToEventLoop()
    }
    this.#workers--
  }

  /** A store that is away fails for everybody: that is told once a second, not once for each of them. */
  #tryLater(item: Item, error: unknown): void {
    this.#failed.add(item)
    if (this.#retrying !== undefined) return
    this.#onFailure(error)
    this.#retrying = setTimeout(() => {
      this.#retrying = undefined
      const again = [...this.#failed]
      this.#failed.clear()
      for (const one of again) this.add(one)
    }, retryMs).unref()
  }
}
